"""Score more answers than one process can: whole groups at a time, on a Dask cluster.

This needs the extra `dask`. docs/scale.md says how it is used and what it takes.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tomlab.errors import InputError
from tomlab.records import tidy

# Columns of scores that people read and no metric needs.
FOR_READERS = ("chosen", "words", "source", "judge", "rows_lost", "cells_dropped")


def score(
    client: Any,
    benchmark: str,
    items: Path,
    responses: Path,
    folder: Path,
    *,
    groups: int = 500,
    options: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Score a file of answers, `groups` whole groups a task, into `folder`; the metrics table.

    client: a `distributed.Client`, whose workers see the Parquet files and `folder`; options: of
    the benchmark's `score`. Errors: `InputError` for tables that do not fit and unknown items.
    """
    items, responses, folder = (Path(path).resolve() for path in (items, responses, folder))
    module = import_module(f"tomlab.benchmarks.{benchmark}")
    unit = next(iter(module.STRATA), module.UNIT)  # what intervals cluster on
    names = tidy.parquet(items, columns=[unit])[unit].unique().tolist()
    (folder / "scores").mkdir(parents=True, exist_ok=True)
    parts = [names[start : start + groups] for start in range(0, len(names), groups)]
    paths = [folder / "scores" / f"{number:06d}.parquet" for number in range(len(parts))]

    def score_part(names: Sequence[str], path: Path) -> int:
        """Write the scores of answers to the items of some groups; how many answers these are."""
        path.unlink(missing_ok=True)
        own = tidy.read("items", items, filters=[(unit, "in", names)])
        asked = [("item_id", "in", own["item_id"].tolist())]
        answers = tidy.read("responses", responses, filters=asked)
        if len(answers):
            scores = module.score(own, answers, **(options or {}))
            scores.drop(columns=[*FOR_READERS], errors="ignore").to_parquet(path, index=False)
        return len(answers)

    scored = sum(client.gather(client.map(score_part, parts, paths, pure=False)))
    if lost := pq.read_metadata(responses).num_rows - scored:
        raise InputError(f"{responses}: {lost} answers are to no item in {items}")
    tables = [pq.read_table(path) for path in paths if path.exists()]
    metrics = module.metrics(pa.concat_tables(tables, promote_options="permissive").to_pandas())
    tidy.write(metrics, "metrics", folder / "metrics.parquet")
    return metrics
