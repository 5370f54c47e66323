"""Compare the models and methods of a run in pairs, or plan how many groups that takes.

    python -m tomlab.compare          # a - b, its interval and p, for each headline
    python -m tomlab.compare --plan   # which difference the run can show, and what another needs

Reads the scores that the pipeline wrote, of what `params.yaml` names.
"""

import argparse
import sys
from importlib import import_module

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.records import tidy
from tomlab.reporting.differences import WISHED, plan
from tomlab.scoring.paired import differences

_SHOWN = ["metric", "condition", "same", "a", "b", "difference", "ci_low", "ci_high", "p_holm", "n"]


def scores_of(benchmark: str, models: list[str]) -> pd.DataFrame | None:
    """A run's scores of one benchmark, by its calibrated judge where there is one; None without."""
    judged = paths.RESULTS / "judges" / benchmark / "scores.parquet"
    files = [paths.result("scores", benchmark, model) for model in models]
    found = [judged] if judged.exists() else [file for file in files if file.exists()]
    if not found:
        return None
    scores = tidy.read("scores", *found)
    return scores[scores["model"].isin(models)]


def of_run() -> dict[str, tuple[pd.DataFrame, dict]]:
    """By benchmark the differences of a run, and the headlines of its paper. InputError: none."""
    run, found = params.load()["run"], {}
    for name in run["benchmarks"]:
        scores = scores_of(name, run["models"])
        if scores is not None:
            series = import_module(f"tomlab.benchmarks.{name}.metrics").series
            paper = import_module(f"tomlab.benchmarks.{name}.paper")
            cells = list(paper.HEADLINES.values())
            told = differences(name, series(scores), cells, paper.REFERENCES)
            found[name] = told, paper.HEADLINES
    if not found:
        where = paths.RESULTS / "scores"
        raise InputError(f"{where}: no scores of a benchmark in `run`; `make figures` writes them")
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0, or 1 with one clear message."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.compare", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--plan", action="store_true", help="how many groups a difference needs")
    parser.add_argument(
        "--difference", type=float, default=WISHED, help="the wished one (default: %(default)s)"
    )
    args = parser.parse_args(arguments)
    try:
        if not 0 < args.difference <= 1:
            raise InputError(f"--difference: found {args.difference:g}, expected above 0, up to 1")
        for name, (found, headlines) in of_run().items():
            shown = plan(found, headlines, args.difference) if args.plan else found[_SHOWN]
            shown = shown.round(3).astype(object).where(shown.notna(), "–")
            print(f"\n{name}\n{shown.to_string(index=False)}")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
