"""From series of scores by unit to rows of the metrics table.

A unit is what two models are paired on when they are compared (see `scoring.paired`): an answer, a
story, a question set. It is the index of what a metric is computed from.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from tomlab.records.tidy import FEW_RIGHT, OUTCOMES, RARE
from tomlab.scoring.stats import (
    JACKKNIFE,
    SHARE,
    Bounds,
    Interval,
    balanced_interval,
    cluster_interval,
    cluster_statistic,
    fewest_trials,
)

# Groups in which each label has to occur for an interval of a mean over labels: that of a macro-F1
# holds the truth in .64 of cases with two, in .95 with ten (`checks/interval_coverage.py`).
LEAST_WITH_LABEL = 10
# Groups with a right answer for an interval of an F1 or of a mean of shares, unless none is right:
# with fewer, a difference between equal models would have p < .05 in .07 to .13 of cases.
LEAST_RIGHT = 5


class Series(NamedTuple):
    """The values by unit that one metric is the mean of, the group of each, and their `bounds`.

    Where a unit has several values, as a story has predicted beliefs, its label repeats. kinds: if
    the metric is the mean of each kind's mean, as a balanced accuracy is, the kind of each value;
    weights: of the kinds, as of `stats.balanced_interval`.
    """

    metric: str
    condition: str
    values: pd.Series
    groups: pd.Series
    bounds: Bounds = SHARE
    kinds: pd.Series | None = None
    weights: Mapping[str, float] | None = None


class Statistic(NamedTuple):
    """A metric that is no mean: `statistic` of the counts that `sums` makes, a row a group, from
    `rows` by unit; both as in `stats.cluster_statistic`. labels: if it is a mean over labels, how
    often each of them is asked about, in an array of (groups, labels) from the counts; right: if
    it is made of right answers, how many there are, in an array of (groups,); sizes: if answers
    count alike in it, as in a weighted F1, how many there are, in an array of (groups,).
    """

    metric: str
    condition: str
    rows: pd.DataFrame
    sums: Callable[[pd.DataFrame], pd.DataFrame]
    statistic: Callable[[np.ndarray], np.ndarray]
    labels: Callable[[np.ndarray], np.ndarray] | None = None
    right: Callable[[np.ndarray], np.ndarray] | None = None
    sizes: Callable[[np.ndarray], np.ndarray] | None = None

    def told(self, found: Interval, *sums: pd.DataFrame) -> Interval:
        """`found`, of `sums` (two of a difference), without its ends where one of the labels or a
        right answer is in too few groups.
        """
        counts = [one.to_numpy(float) for one in sums]
        why = None
        if self.labels:
            with_label = min((self.labels(own) > 0).sum(axis=0).min() for own in counts)
            why = RARE if with_label < LEAST_WITH_LABEL else None
        if self.right and found.ci_method == JACKKNIFE:
            with_right = min((self.right(own) > 0).sum() for own in counts)
            why = FEW_RIGHT if with_right < LEAST_RIGHT else why
        return replace(found, ci_low=np.nan, ci_high=np.nan, ci_method=why) if why else found


Found = Series | Statistic
# What a benchmark's `series` yields: model, method, and what one of their metrics is made of.
Told = Iterator[tuple[str, str, Found]]


def by_unit(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """`table` indexed by what identifies a unit: its columns `names`, by default those of an answer
    among the answers of one model and method.
    """
    first, *others = (table[name].astype(str) for name in names or ("item_id", "sample"))
    labels = first.str.cat(others, sep="/") if others else first
    return table.set_axis(labels.to_numpy())


def interval(found: Found) -> Interval:
    """The metric's value with its interval."""
    if isinstance(found, Series):
        if found.kinds is None:
            return cluster_interval(found.values, found.groups, bounds=found.bounds)
        return balanced_interval(found.values, found.kinds, found.groups, weights=found.weights)
    sums = found.sums(found.rows)
    trials = None
    if found.sizes:
        trials = fewest_trials([pd.Series(found.sizes(sums.to_numpy(float)))], [1.0])
    interval = cluster_statistic(sums, found.statistic, n=len(found.rows), trials=trials)
    return found.told(interval, sums)


def metric_row(one: Found, whose: Mapping) -> dict | None:
    """A row of the metrics table. whose: benchmark, model and method. None for a statistic that is
    not defined, because what it needs was not asked.
    """
    found = interval(one)
    if isinstance(one, Statistic) and np.isnan(found.value):
        return None
    return {**whose, "metric": one.metric, "condition": one.condition} | vars(found)


def table(benchmark: str, told: Told) -> pd.DataFrame:
    """The metrics table of what a benchmark's `series` yields."""
    rows = [
        metric_row(one, {"benchmark": benchmark, "model": model, "method": method})
        for model, method, one in told
    ]
    return pd.DataFrame(filter(None, rows))


def over_all(part: pd.DataFrame) -> Iterator[Series]:
    """The share of each outcome, and accuracy as the release reads (left to a grader: wrong)."""
    for outcome in OUTCOMES:
        yield Series("outcome_rate", outcome, part["outcome"] == outcome, part["group_id"])
    yield Series("released_rule", "all", part["by_released_rule"].eq(True), part["group_id"])
