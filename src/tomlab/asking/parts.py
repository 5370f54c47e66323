"""More answers than memory holds: items are asked and scored part by part, by whole groups.

docs/scale.md says how, and what it takes.
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab.asking import evaluation
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.models.specs import ModelSpec
from tomlab.records import tidy
from tomlab.records.parts import Written, by_groups, opened
from tomlab.scoring.series import Merged

GROUPS = 500  # a part


async def in_parts(
    benchmark: Benchmark,
    items: Path,
    model: ModelSpec,
    methods: Sequence[str],
    folder: Path,
    *,
    groups: int = GROUPS,
    drawn: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    scoring: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Ask and score a file of items, `groups` whole groups at a time; the metrics table.

    Groups are what intervals cluster on; the rows of each stand together in the file. Writes
    `responses`, `scores` and `metrics` to `<folder>/<kind>/<benchmark>/<model>.parquet`. drawn,
    options, scoring: of `evaluation.plan`, `evaluation.evaluate` and the benchmark's `score`. What
    `options["limits"]` says of errors is of each part. Errors: those of `evaluate`, and
    `InputError` for a file that is damaged or not in the order of groups.
    """
    drawn, options = dict(drawn or {}), dict(options or {})
    whole = next(iter(benchmark.STRATA), benchmark.UNIT)
    series = import_module(f"{benchmark.__name__}.metrics").series
    drawn["order"] = _order(benchmark, items, model, drawn.get("seed", 0))
    merged = Merged()
    name = f"{benchmark.NAME}/{model.name}.parquet"
    with (
        Written(folder / "responses" / name) as responses,
        Written(folder / "scores" / name) as scores,
    ):
        for number, part in enumerate(by_groups(items, whole, groups)):
            tidy.check(part, "items", f"{items}, part {number + 1}")
            # What is left out is said once.
            with redirect_stdout(StringIO() if number else sys.stdout):
                answers = await _answers(benchmark, part, model, methods, drawn, options)
            if answers is not None:
                scored = benchmark.score(part, answers, **(scoring or {}))
                merged.add(series(scored))
                responses.add(answers)
                scores.add(scored)
        metrics = merged.table(benchmark.NAME)
        if metrics.empty:
            where = f"{benchmark.NAME}, {model.name}"
            raise InputError(f"{where}: nothing to ask; see `methods`, `items`")
    tidy.write(metrics, "metrics", folder / "metrics" / name)
    return metrics


def _order(benchmark: Benchmark, items: Path, model: ModelSpec, seed: int) -> list[str] | None:
    """The order in which groups are drawn from all of them; None where a model is asked of all."""
    if not any(limits.get(benchmark.NAME) for limits in (model.groups, model.variants)):
        return None
    columns = [*dict.fromkeys([benchmark.UNIT, *benchmark.STRATA])]
    batches = opened(items, *columns).iter_batches(columns=columns)
    found = pd.concat([batch.to_pandas().drop_duplicates() for batch in batches])
    return evaluation.drawn(found, benchmark.UNIT, benchmark.STRATA, seed)


async def _answers(
    benchmark: Benchmark,
    items: pd.DataFrame,
    model: ModelSpec,
    methods: Sequence[str],
    drawn: Mapping[str, Any],
    options: Mapping[str, Any],
) -> pd.DataFrame | None:
    """The responses to items by all methods, those that build on an earlier answer last; None where
    nothing of these items is asked.
    """

    reminded = [m for m in methods if getattr(benchmark.METHODS[m], "reminder", False)]
    others = [method for method in methods if method not in reminded]
    questions = evaluation.plan(benchmark, items, model, others, **drawn)
    found = [await evaluation.evaluate(benchmark, questions, model, **options)] if questions else []
    if found and reminded:
        later = benchmark.remind(items, found[0])
        if questions := evaluation.plan(benchmark, later, model, reminded, **drawn):
            found.append(await evaluation.evaluate(benchmark, questions, model, **options))
    return pd.concat(found, ignore_index=True) if found else None
