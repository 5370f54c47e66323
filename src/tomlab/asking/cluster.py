"""Scores more answers than one process can hold: some whole groups at a time, on a Dask cluster.

This needs the extra `dask`. docs/scale.md explains its use and its cost.
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

# Columns of the scores table that serve readers only: no metric uses them.
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
    """Scores a Parquet file of responses and writes scores and metrics to `folder`.

    client: a `distributed.Client` whose workers can read both files and write to `folder`. groups:
    how many groups one task scores. options: for the benchmark's `score`. Errors: `InputError` for
    tables that do not fit their schema, and for answers to unknown items. Returns the metrics.
    """
    items = Path(items).resolve()
    responses = Path(responses).resolve()
    folder = Path(folder).resolve()
    module = import_module(f"tomlab.benchmarks.{benchmark}")
    unit = next(iter(module.STRATA), module.UNIT)  # what intervals cluster on
    names = tidy.parquet(items, columns=[unit])[unit].unique().tolist()
    (folder / "scores").mkdir(parents=True, exist_ok=True)
    parts = [names[start : start + groups] for start in range(0, len(names), groups)]
    paths = [folder / "scores" / f"{number:06d}.parquet" for number in range(len(parts))]

    def score_part(names: Sequence[str], path: Path) -> int:
        """Writes the scores of the answers to some groups' items; returns the number of answers."""
        path.unlink(missing_ok=True)
        items_of_part = tidy.read("items", items, filters=[(unit, "in", names)])
        is_of_part = [("item_id", "in", items_of_part["item_id"].tolist())]
        answers = tidy.read("responses", responses, filters=is_of_part)
        if len(answers):
            scores = module.score(items_of_part, answers, **(options or {}))
            scores.drop(columns=[*FOR_READERS], errors="ignore").to_parquet(path, index=False)
        return len(answers)

    scored = sum(client.gather(client.map(score_part, parts, paths, pure=False)))
    unscored = pq.read_metadata(responses).num_rows - scored
    if unscored:
        raise InputError(f"{responses}: {unscored} answers are to no item in {items}")
    tables = [pq.read_table(path) for path in paths if path.exists()]
    metrics = module.metrics(pa.concat_tables(tables, promote_options="permissive").to_pandas())
    tidy.write(metrics, "metrics", folder / "metrics.parquet")
    return metrics
