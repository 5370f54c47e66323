"""What the book's own pages (front page, questions, coverage) read: the texts of each paper's
folder and the numbers of a run as its figures draw them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from tomlab import paths
from tomlab.errors import InputError
from tomlab.records import tidy
from tomlab.records.files import yaml_beside
from tomlab.records.published import COUNT, FRACTION, PERCENT, Paper
from tomlab.reporting import printed
from tomlab.scoring.variants import protocol

WORDS = yaml_beside(__file__)
FIGURES = "5_figures/{}.ipynb"  # where figures are shown, from the notebooks' folder


class Chapter(NamedTuple):
    """One benchmark: its module `paper`, the texts of its paper's folder by file, and the tables of
    the models that were run, asked as the protocol asks.
    """

    name: str
    paper: ModuleType
    texts: Mapping[str, Any]
    metrics: pd.DataFrame
    scores: pd.DataFrame


@cache
def texts(benchmark: str) -> dict[str, Any]:
    """The YAML files of a paper's folder by name; a benchmark without one has none."""
    folder = paths.PACKAGE / "papers" / benchmark
    return {path.stem: yaml_beside(str(path)) for path in sorted(folder.glob("*.yaml"))}


def chapters(benchmarks: Sequence[str], models: Sequence[str]) -> list[Chapter]:
    """The benchmarks of a run. Where judges scored anew for the figures, their scores count."""
    return list(_chapters(benchmarks, models))


def with_texts(chapters: Sequence[Chapter], name: str) -> list[Chapter]:
    """The benchmarks whose paper's folder has such a file, as `front`; others tell nothing."""
    return [chapter for chapter in chapters if name in chapter.texts]


def _chapters(benchmarks: Sequence[str], models: Sequence[str]) -> Iterator[Chapter]:
    for name in benchmarks:
        paper = import_module(f"tomlab.benchmarks.{name}.paper")
        judged = paths.RESULTS / "judges" / name / "scores.parquet"
        if judged.is_file():
            scores = tidy.read("scores", judged)
            scores = scores[scores["model"].isin(models)]
            metrics = import_module(f"tomlab.benchmarks.{name}").metrics(scores)
        else:
            scores = tidy.read("scores", *(paths.result("scores", name, m) for m in models))
            metrics = tidy.read("metrics", *(paths.result("metrics", name, m) for m in models))
        yield Chapter(name, paper, texts(name), metrics, protocol(scores))


def published(paper: Paper, table: str, rows: str, column: str, which: str = "one") -> str:
    """A printed number in words: the `one` of these rows, the `lowest` or `highest` with its model,
    or their `span`. rows: as `DataFrame.query`. Errors: `InputError` where there is no such number,
    or more than one for `one`.
    """
    found = paper.read(table).query(rows)
    found = found[found[column].notna()]
    if found.empty or (which == "one" and len(found) > 1):
        raise InputError(f"{paper.folder}/{table}: found {len(found)} rows of {rows!r}")
    values = in_shares(paper, table, found[column])
    form = _form(paper.tables[table].unit)
    if which in ("lowest", "highest"):
        at = values.idxmin() if which == "lowest" else values.idxmax()
        return f"{form(values[at])} ({found['model'][at]})"
    return "–".join(dict.fromkeys(map(form, [values.min(), values.max()])))


def in_shares(paper: Paper, table: str, values: pd.Series) -> pd.Series:
    """Printed numbers; percentages as shares."""
    scale = 100 if "percent" in (str(values.name), paper.tables[table].unit) else 1
    return values.astype(float) / scale


def exactly(value: float) -> str:
    """A share with a third digit where the paper prints one: .38, .495."""
    return f"{value:.3f}".removeprefix("0").removesuffix("0")


def plain(text: str) -> str:
    """A text in one line, as Markdown that shows it as it is."""
    return re.sub(r"([$*_<`|\\])", r"\\\1", " ".join(text.split()))


def _form(unit: str) -> Callable[[float], str]:
    if unit == COUNT:
        return "{:,.0f}".format
    return exactly if unit in (FRACTION, PERCENT) else printed.signed
