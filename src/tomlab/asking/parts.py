"""More answers than memory holds: items are asked and scored part by part, by whole groups.

    python -m tomlab.asking.parts bigtom random --items items.parquet

Responses, scores and metrics are those of the evaluation's notebook with the same settings
(`make params` writes them), under `--to`. docs/scale.md says what it takes.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.models import specs
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
    files = {
        kind: folder / kind / benchmark.NAME / f"{model.name}.parquet"
        for kind in ("responses", "scores", "metrics")
    }
    with ExitStack() as stack:
        responses, scores = (
            stack.enter_context(Written(files[kind])) for kind in ("responses", "scores")
        )
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
    tidy.write(metrics, "metrics", files["metrics"])
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


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0, or 1 with one clear message."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.asking.parts", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("benchmark")
    parser.add_argument("model", help="of `run.models`")
    parser.add_argument("--items", type=Path, help="Parquet (default: those of the run)")
    parser.add_argument("--to", type=Path, default=paths.RESULTS / "parts", help="a folder")
    parser.add_argument("--groups", type=int, default=GROUPS, help="of a part (%(default)s)")
    args = parser.parse_args(arguments)
    name, model = args.benchmark, args.model
    try:
        if args.groups < 1:
            raise InputError(f"--groups: found {args.groups}, expected 1 or more")
        settings = paths.RESULTS / "settings" / "3_evaluation" / f"{name}-{model}.json"
        if paths.kind(settings) != "file":
            found = f"{settings}: no such file; `make params` writes it for what `run` names"
            raise InputError(found)
        values = json.loads(settings.read_text(encoding="utf-8"))["parameters"]
        embedder = values.get("embedder")
        work = in_parts(
            import_module(f"tomlab.benchmarks.{name}"),
            args.items or paths.result("items", name),
            specs.model(model),
            values["methods"],
            args.to,
            groups=args.groups,
            drawn={
                "samples": values["samples"],
                "seed": values["draw_seed"],
                "orders": values["orders"],
                "wordings": values["wordings"],
            },
            options={
                "seed": values["sampling_seed"],
                "replaced": values["prompts"],
                "max_tokens": values["max_tokens"],
                "limits": specs.limits(),
            },
            scoring={"embedder": specs.model(embedder)} if embedder else None,
        )
        metrics = asyncio.run(work)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    print(f"{len(metrics)} numbers, with the responses and scores, in {args.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
