"""Models across benchmarks: one number a benchmark, and how far benchmarks rank models alike."""

from collections.abc import Mapping
from types import ModuleType

import numpy as np
import pandas as pd

from tomlab.records.published import PERCENT
from tomlab.reporting import printed
from tomlab.reporting.printed import ABSENT, WORDS
from tomlab.scoring.stats import DIFFERENCE, cluster_statistic

FEWEST = 5  # models that two benchmarks share, for a rank agreement


def numbers(metrics: pd.DataFrame, papers: Mapping[str, ModuleType]) -> pd.DataFrame:
    """The rows of metrics that stand for a benchmark: one a model that was asked by that method.

    papers: by benchmark its module `paper`; one without a STANDARD (`published.Standard`) is left
    out.
    """
    standards = {
        (name, *paper.HEADLINES[standard.headline], standard.method)
        for name, paper in papers.items()
        if (standard := getattr(paper, "STANDARD", None))
    }
    keys = metrics[["benchmark", "metric", "condition", "method"]]
    return metrics[[tuple(key) in standards for key in keys.to_numpy()]]


def table(metrics: pd.DataFrame, papers: Mapping[str, ModuleType]) -> pd.DataFrame:
    """A row a model, a column a benchmark, each cell its number with interval and n; below them
    chance and people. Nothing is averaged, and what was not run says so.
    """
    found = numbers(metrics, papers)
    text = [
        f"{printed.cell(row.value, row.ci_low, row.ci_high)} (n = {row.n}/{row.n_groups})"
        for row in found.itertuples()
    ]
    wide = found.assign(text=text).pivot(index="model", columns="benchmark", values="text")
    wide = wide.reindex(index=metrics["model"].unique()).fillna("not run")
    shown = [paper for name, paper in papers.items() if name in wide]
    standards = [paper.STANDARD for paper in shown]
    chances = [ABSENT if s.chance is None else printed.share(s.chance) for s in standards]
    below = {"chance": chances, "people": list(map(_people, shown))}
    heads = [f"{p.PUBLICATION.name}: {p.STANDARD.headline}, {p.STANDARD.method}" for p in shown]
    wide = wide[[name for name in papers if name in wide]].set_axis(heads, axis=1)
    return pd.concat([wide, pd.DataFrame(below, wide.columns).T])


def _people(paper: ModuleType) -> str:
    if paper.STANDARD.people is None:
        return "none published"
    table, column, which, _ = paper.STANDARD.people
    scale = 100 if paper.PUBLICATION.tables[table].unit == PERCENT else 1
    values = paper.PUBLICATION.read(table).query(which)[column].astype(float) / scale
    return ", ".join(map(printed.share, values))


def notes(metrics: pd.DataFrame, papers: Mapping[str, ModuleType]) -> str:
    """Where the numbers of people are from, and `ranks`."""
    shown = [papers[name] for name in numbers(metrics, papers)["benchmark"].unique()]
    asked = [(paper.PUBLICATION, paper.STANDARD.people) for paper in shown]
    sources = [f"{told}: {by.source(table)}" for by, (table, *_, told) in filter(all, asked)]
    people = [f"People: {'; '.join(sources)}."] if sources else []
    return " ".join([*people, ranks(metrics, papers)])


def ranks(metrics: pd.DataFrame, papers: Mapping[str, ModuleType]) -> str:
    """A sentence: how far the benchmarks rank the models alike, or why that can't be said.

    The mean of Spearman's correlation over the pairs of benchmarks that share at least `FEWEST`
    models, with an interval over models (`stats.cluster_statistic`).
    """
    found = numbers(metrics, papers)
    wide = found.pivot(index="model", columns="benchmark", values="value")
    if not _shared(wide) >= FEWEST:
        return WORDS["ranks_few"].format(few=FEWEST, found=_shared(wide))

    def agreement(counts: np.ndarray) -> np.ndarray:
        kept = np.atleast_2d(counts) > 0
        means = np.array([_mean_spearman(wide[rows]) for rows in kept])
        return means.reshape(np.shape(counts)[:-1])

    of_each = pd.DataFrame(np.eye(len(wide)))
    interval = cluster_statistic(of_each, agreement, n=len(wide), bounds=DIFFERENCE)
    if np.isnan(interval.value):
        return WORDS["ranks_tied"]
    number = printed.cell(interval.value, interval.ci_low, interval.ci_high, form=printed.signed)
    return WORDS["ranks"].format(number=number, models=len(wide), benchmarks=wide.shape[1])


def _shared(wide: pd.DataFrame) -> int:
    """The most models that two benchmarks share."""
    asked = wide.notna().astype(int)
    both = (asked.T @ asked).to_numpy()
    return int(both[np.triu_indices(len(both), 1)].max(initial=0))


def _mean_spearman(wide: pd.DataFrame) -> float:
    """Over the pairs of columns, nan where none has enough rows; ties share their rank."""
    # One model may be left out of the fewest.
    found = wide.corr("spearman", min_periods=FEWEST - 1).to_numpy()
    upper = found[np.triu_indices(len(found), 1)]
    return float(np.nanmean(upper)) if not np.isnan(upper).all() else np.nan
