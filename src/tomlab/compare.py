"""Compare the models and methods of a run in pairs: `python -m tomlab.compare`.

Prints a - b, its interval and p for each headline, from the scores that the pipeline wrote of what
`params.yaml` names.
"""

import argparse
import sys
from importlib import import_module

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.records import tidy
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


def of_run() -> dict[str, pd.DataFrame]:
    """By benchmark the differences of a run. InputError: none."""
    run, found = params.load()["run"], {}
    for name in run["benchmarks"]:
        scores = scores_of(name, run["models"])
        if scores is not None:
            series = import_module(f"tomlab.benchmarks.{name}.metrics").series
            paper = import_module(f"tomlab.benchmarks.{name}.paper")
            cells = list(paper.HEADLINES.values())
            found[name] = differences(name, series(scores), cells, paper.REFERENCES)
    if not found:
        where = paths.RESULTS / "scores"
        raise InputError(f"{where}: no scores of a benchmark in `run`; `make figures` writes them")
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0, or 1 with one clear message."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.compare", description=__doc__.split("\n", 1)[0]
    )
    parser.parse_args(arguments)
    try:
        for name, found in of_run().items():
            shown = found[_SHOWN].round(3).astype(object)
            shown = shown.where(shown.notna(), "–")
            print(f"\n{name}\n{shown.to_string(index=False)}")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
