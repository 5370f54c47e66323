"""Kept answers: files of what models answered, from which anyone draws a run's figures again.

In `<folder>/<benchmark>/<model>.parquet` a row is an answer as the store has it (`store.row`), with
what it was asked for, in the order of requests: like ones lie together and pack well.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tomlab.errors import InputError, refuse
from tomlab.models.specs import Reply
from tomlab.models.store import REPLY, key_of, reply_of

_TYPES = dict.fromkeys(
    ("key", "uses", "model", "request", "text", "finish_reason", "origin"), pa.string()
)
_TYPES |= dict.fromkeys(("prompt_tokens", "completion_tokens"), pa.int64())
_TYPES |= dict.fromkeys(("cost", "seconds", "created"), pa.float64())
SCHEMA = pa.schema([pa.field(n, kind, nullable=n == "cost") for n, kind in _TYPES.items()])
AT_ONCE = 5000  # rows in memory


def files(folders: Iterable[Path]) -> list[Path]:
    """All files of kept answers in folders, in a fixed order."""
    return [path for folder in folders for path in sorted(folder.glob("*/*.parquet"))]


def look_up(folders: Iterable[Path], keys: Collection[str]) -> dict[str, Reply]:
    """The kept replies to requests, by key. Errors: `InputError` for a file that can't be read and
    for two answers to one request.
    """
    found: dict[str, tuple[Reply, Path]] = {}
    wanted, problems = pc.field("key").isin([*keys]), []
    for path in files(folders) if keys else []:
        opened(path)  # which says what is wrong with it
        table = pq.read_table(path, columns=["key", *REPLY], filters=wanted)
        for row in table.to_pylist():
            reply, before = found.setdefault(row["key"], (reply_of(row), path))
            if reply != reply_of(row):
                problems.append(f"{path}: request {row['key']} has another answer in {before}")
    refuse(problems, "kept answers")
    return {key: reply for key, (reply, _) in found.items()}


def read(path: Path) -> Iterator[list[dict[str, Any]]]:
    """The answers of a file, some thousand at a time. Errors: `InputError` for a wrong key."""
    before = 0
    for batch in opened(path).iter_batches(AT_ONCE):
        rows = batch.to_pylist()
        for number, row in enumerate(rows, before + 1):
            if row["key"] != (key := key_of(row["request"])):
                told = f"found key {row['key']}, expected {key}, that of its request"
                raise InputError(f"{path}: answer {number}: {told}; the file was changed by hand")
        yield rows
        before += len(rows)


def write(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write a file of answers; the same ones are the same bytes, whatever their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([*rows], SCHEMA).sort_by([("request", "ascending")])
    partial = path.with_suffix(".partial")
    pq.write_table(table, partial, compression="zstd", compression_level=12, row_group_size=AT_ONCE)
    partial.replace(path)


def opened(path: Path) -> pq.ParquetFile:
    """A file of answers. Errors: `InputError` where it is none."""
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: found no Parquet file ({error}); expected one") from None
    if missing := [name for name in SCHEMA.names if name not in file.schema_arrow.names]:
        raise InputError(f"{path}: columns {', '.join(missing)} are missing")
    return file
