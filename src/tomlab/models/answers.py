"""Kept answers: files of what models answered, from which anyone draws a run's figures again.

In `<folder>/<benchmark>/<model>.parquet` a row is an answer as the store has it (`store.row`), with
what it was asked for, in the order of requests: like ones lie together and pack well.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from reprlib import repr as shortened
from typing import Annotated, Literal, Self

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, Field, Json, TypeAdapter, ValidationError, model_validator
from pydantic_core import from_json

from tomlab.errors import InputError, refuse
from tomlab.models.specs import Reply
from tomlab.models.store import key_of, reply_of
from tomlab.params import Count, Name, complaint, fits

_TYPES = dict.fromkeys(
    ("key", "uses", "model", "request", "text", "finish_reason", "origin"), pa.string()
)
_TYPES |= dict.fromkeys(("prompt_tokens", "completion_tokens"), pa.int64())
_TYPES |= dict.fromkeys(("cost", "seconds", "created"), pa.float64())
SCHEMA = pa.schema([pa.field(n, kind, nullable=n == "cost") for n, kind in _TYPES.items()])
AT_ONCE = 5000  # rows in memory
_USES = "a line for each stage and what it asked for, with a space between the two"


class _Asked(BaseModel, strict=True, allow_inf_nan=False):
    """What was asked for and what came back, as it may stand in a file."""

    key: str
    request: str
    text: str
    finish_reason: Literal["stop", "length", "refusal", "other"]
    prompt_tokens: Count
    completion_tokens: Count

    @model_validator(mode="after")
    def _has_its_key(self) -> Self:
        if self.key != (key := key_of(self.request)):
            found = f"found key {self.key[:64]}, expected {key}, that of its request"
            raise ValueError(f"{found}; the file was changed by hand")
        return self


class _Answer(_Asked):
    """A whole row of a file."""

    request: Annotated[str, fits(lambda text: isinstance(from_json(text), dict), "a JSON object")]
    uses: Annotated[str, fits(lambda text: all(" " in use for use in text.splitlines()), _USES)]
    model: Name
    origin: Json[dict[str, str]]
    cost: Annotated[float, Field(ge=0)] | None
    seconds: Annotated[float, Field(ge=0)]
    created: Annotated[float, Field(ge=0, le=4e9)]  # seconds since 1970, until 2096


def files(folders: Iterable[Path]) -> list[Path]:
    """All files of kept answers in folders, in a fixed order."""
    return [path for folder in folders for path in sorted(folder.glob("*/*.parquet"))]


def look_up(folders: Iterable[Path], keys: Collection[str]) -> dict[str, Reply]:
    """The kept replies to requests, by key. Errors: `InputError` for a file that can't be read, a
    wrong answer (see `read`) and two answers to one request.
    """
    found: dict[str, tuple[Reply, Path]] = {}
    problems = []
    for path in files(folders) if keys else []:
        for rows in read(path, {*keys}, _Asked):
            for row in rows:
                reply, before = found.setdefault(row["key"], (reply_of(row), path))
                if reply != reply_of(row):
                    problems.append(f"{path}: request {row['key']} has another answer in {before}")
    refuse(problems, "kept answers")
    return {key: reply for key, (reply, _) in found.items()}


def read(
    path: Path, keys: set[str] | None = None, form: type[_Asked] = _Answer
) -> Iterator[list[dict]]:
    """The answers of a file, some thousand at a time. keys: of those that are wanted, if not all;
    form: what of them is read.
    Errors: `InputError` where the file can't be read, and for values that no answer has, such as a
    key that is not its request's.
    """
    before = 0
    try:
        file = pq.ParquetFile(path)
        if missing := [name for name in SCHEMA.names if name not in file.schema_arrow.names]:
            raise InputError(f"{path}: columns {', '.join(missing)} are missing")
        named = file.read(["key"])["key"].to_pylist()
        faults = [n for n, key in enumerate(named, 1) if not isinstance(key, str)]
        refuse([f"answer {n}: key: expected text" for n in faults], str(path))
        if keys is not None and keys.isdisjoint(named):
            return
        for batch in file.iter_batches(AT_ONCE, columns=[*form.model_fields]):
            of = [n for n in range(len(batch)) if keys is None or named[before + n] in keys]
            rows = batch.take(pa.array(of, pa.int64())).to_pylist()
            refuse(_faults(rows, form, [before + n + 1 for n in of]), str(path))
            yield rows
            before += len(batch)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a whole Parquet file ({error})") from None


def _faults(rows: list[dict], form: type[_Asked], numbers: Sequence[int]) -> list[str]:
    """What is wrong with answers. numbers: theirs in the file."""
    try:
        TypeAdapter(list[form]).validate_python(rows)
    except ValidationError as errors:
        told = [(case["loc"][0], case | {"loc": case["loc"][1:]}) for case in errors.errors()]
        return [f"answer {numbers[row]}: {complaint(case, shortened)}" for row, case in told]
    return []


def write(rows: Iterable[Mapping], path: Path) -> None:
    """Write a file of answers; the same ones are the same bytes, whatever their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([*rows], SCHEMA).sort_by([("request", "ascending")])
    partial = path.with_suffix(".partial")
    pq.write_table(table, partial, compression="zstd", compression_level=12, row_group_size=AT_ONCE)
    partial.replace(path)
