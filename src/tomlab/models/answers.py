"""Kept answers: files of models' answers, from which anyone can draw a run's figures again.

Each row of `<folder>/<benchmark>/<model>.parquet` is an answer as the store has it (`store.row`),
with `uses`, the stages and purposes that asked for it. Rows are sorted by request: similar ones lie
together and compress well.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, Json, TypeAdapter, model_validator
from pydantic_core import from_json

from tomlab.errors import InputError, refuse
from tomlab.models.specs import Reply
from tomlab.models.store import key_of, reply_of
from tomlab.params import Count, Name, checked, fits

AT_ONCE = 5000  # rows in memory
_USES = "a line for each stage and what it asked for, with a space between the two"


class _Answer(BaseModel, strict=True, allow_inf_nan=False):
    """The columns of a file and their valid values."""

    key: str
    uses: Annotated[str, fits(lambda text: all(" " in use for use in text.splitlines()), _USES)]
    model: Name
    request: Annotated[str, fits(lambda text: isinstance(from_json(text), dict), "a JSON object")]
    text: str
    finish_reason: Literal["stop", "length", "refusal", "other", "likelihood"]
    origin: Json[dict[str, str]]
    prompt_tokens: Count
    completion_tokens: Count
    cost: Annotated[float, Field(ge=0)] | None
    seconds: Annotated[float, Field(ge=0)]
    created: Annotated[float, Field(ge=0, le=4e9)]  # seconds since 1970, until 2096

    @model_validator(mode="after")
    def _has_its_key(self) -> Self:
        key = key_of(self.request)
        if self.key != key:
            raise ValueError(f"found key {self.key[:64]}, expected {key}, that of its request")
        return self


_TYPES = [pa.string()] * 7 + [pa.int64()] * 2 + [pa.float64()] * 3
_COLUMNS = zip(_Answer.model_fields, _TYPES, strict=True)
SCHEMA = pa.schema([pa.field(name, kind, nullable=name == "cost") for name, kind in _COLUMNS])
_ROWS = TypeAdapter(dict[int, _Answer])


def look_up(folders: Iterable[Path], keys: Collection[str]) -> dict[str, Reply]:
    """The kept replies to some requests, by key. Errors: `InputError` if two files answer a request
    differently; those of `read`.
    """
    replies: dict[str, Reply] = {}
    files_of_keys: dict[str, Path] = {}
    problems = []
    for path in files(folders) if keys else []:
        for row in chain.from_iterable(read(path, keys)):
            key = row["key"]
            reply = replies.setdefault(key, reply_of(row))
            first_file = files_of_keys.setdefault(key, path)
            if reply != reply_of(row):
                problems.append(f"{path}: request {key} has another answer in {first_file}")
    refuse(problems, "kept answers")
    return replies


def files(folders: Iterable[Path]) -> list[Path]:
    """All files of kept answers in folders, in a fixed order."""
    paths = [sorted(folder.glob("*/*.parquet")) for folder in folders]
    return list(chain.from_iterable(paths))


def read(path: Path, keys: Collection[str] | None = None) -> Iterator[list[dict]]:
    """Yield the answers of a file in lists of up to 5,000 rows. keys: of the answers wanted; None
    for all. Errors: `InputError` for an unreadable file, a missing column or an invalid value, such
    as a key that is not that of the row's request.
    """
    wanted = None if keys is None else pa.array([*keys], pa.string())
    first = 1
    try:
        file = pq.ParquetFile(path)
        missing = [name for name in SCHEMA.names if name not in file.schema_arrow.names]
        if missing:
            raise InputError(f"{path}: columns {', '.join(missing)} are missing")
        for batch in file.iter_batches(AT_ONCE, columns=SCHEMA.names):
            numbers = pa.array(range(first, first + len(batch)))
            first += len(batch)
            batch = batch.append_column("number", numbers)
            if wanted is not None:
                batch = batch.filter(pc.is_in(batch["key"], wanted))
            rows = batch.to_pylist()
            numbered = {row.pop("number"): row for row in rows}
            checked(_ROWS.validate_python, numbered, f"{path}: answers by number")
            if rows:
                yield rows
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a whole Parquet file ({error})") from None


def write(rows: Iterable[Mapping], path: Path) -> None:
    """Write a file of answers. The same answers give the same bytes, whatever their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([*rows], SCHEMA).sort_by([("request", "ascending")])
    partial = path.with_suffix(".partial")
    pq.write_table(table, partial, compression="zstd", compression_level=12, row_group_size=AT_ONCE)
    partial.replace(path)
