"""Tables too large for memory: read by whole groups, written part by part."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from typing import Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tomlab.errors import InputError

AT_ONCE = 4096  # rows of a batch


def opened(path: Path | str, *columns: str) -> pq.ParquetFile:
    """A Parquet file that has these columns. Errors: `InputError` where it is none or lacks one."""
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: found no Parquet file ({error}); expected one") from None
    if missing := [name for name in columns if name not in file.schema_arrow.names]:
        raise InputError(f"{path}: columns {', '.join(missing)} are missing")
    return file


def by_groups(path: Path | str, column: str, groups: int) -> Iterator[pd.DataFrame]:
    """The rows of a file, in parts of so many whole groups of `column` each, in its order.

    In memory are one part and the names of all groups so far. Errors: `InputError` for what is no
    Parquet, and where the rows of a group do not stand together.
    """
    seen: set[str] = set()
    rest = None
    for batch in _batches(opened(path, column), path):
        rest = batch if rest is None else pa.concat_tables([rest, batch])
        names = rest[column].to_numpy()
        starts = np.flatnonzero(names[1:] != names[:-1]) + 1
        cuts = [0, *starts[groups - 1 :: groups]]
        for begin, end in pairwise(cuts):
            yield _whole(rest.slice(begin, end - begin), column, seen, path)
        rest = rest.slice(cuts[-1])
    if rest is not None and len(rest):
        yield _whole(rest, column, seen, path)


def _batches(file: pq.ParquetFile, path: Path | str) -> Iterator[pa.Table]:
    try:
        for batch in file.iter_batches(AT_ONCE):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: found a damaged Parquet file ({error})") from None


def _whole(part: pa.Table, column: str, seen: set[str], path: Path | str) -> pd.DataFrame:
    """A part as pandas has it, of groups that were not seen before."""
    table = part.to_pandas()
    names = table[column]
    again = names[(names != names.shift()) & (names.duplicated() | names.isin(seen))]
    if len(again):
        raise InputError(
            f"{path}: the rows of {column} {again.iloc[0]!r} do not stand together, as is expected "
            f"of a file that is read by parts; sort it by {column}"
        )
    seen.update(names.unique())
    return table.reset_index(drop=True)


class Written:
    """A Parquet file that is written part by part; it is there once all are.

    What a part leaves open, a column without a value, is settled by those that have some.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._folder, self._parts = path, path.with_suffix(".parts"), []

    def __enter__(self) -> Self:
        rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        return self

    def add(self, table: pd.DataFrame) -> None:
        """Write one part."""
        self._parts.append(self._folder / f"{len(self._parts)}.parquet")
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), self._parts[-1])

    def __exit__(self, failed: type[BaseException] | None, *_) -> None:
        if not failed and self._parts:
            schemas = [pq.read_schema(part) for part in self._parts]
            schema = pa.unify_schemas(schemas, promote_options="permissive")
            partial = self._folder / "whole"
            with pq.ParquetWriter(partial, schema) as file:
                for part in self._parts:
                    file.write_table(pq.read_table(part).cast(schema))
            partial.replace(self.path)
        rmtree(self._folder)
