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

    def without_rare_ends(self, interval: Interval, *sums: pd.DataFrame) -> Interval:
        """The interval of `sums` (two of a difference), without its ends where one of the labels or
        a right answer is in too few groups.
        """
        counts = [frame.to_numpy(float) for frame in sums]
        why = None
        if self.labels:
            groups_by_label = [(self.labels(side) > 0).sum(axis=0) for side in counts]
            if np.min(groups_by_label) < LEAST_WITH_LABEL:
                why = RARE
        if self.right and interval.ci_method == JACKKNIFE:
            groups_with_right = [(self.right(side) > 0).sum() for side in counts]
            if min(groups_with_right) < LEAST_RIGHT:
                why = FEW_RIGHT
        if why is None:
            return interval
        return replace(interval, ci_low=np.nan, ci_high=np.nan, ci_method=why)


Measure = Series | Statistic
# What a benchmark's `series` yields: model, method, and what one of their metrics is made of.
Measures = Iterator[tuple[str, str, Measure]]


def table(benchmark: str, measures: Measures) -> pd.DataFrame:
    """The metrics table of what a benchmark's `series` yields."""
    rows = []
    for model, method, measure in measures:
        row = metric_row(measure, {"benchmark": benchmark, "model": model, "method": method})
        if row is not None:
            rows.append(row)
    return pd.DataFrame(rows)


def metric_row(measure: Measure, keys: Mapping) -> dict | None:
    """A row of the metrics table. keys: benchmark, model and method. None for a statistic that is
    not defined, because what it needs was not asked.
    """
    interval = interval_of(measure)
    if isinstance(measure, Statistic) and np.isnan(interval.value):
        return None
    metric = {"metric": measure.metric, "condition": measure.condition}
    return {**keys, **metric, **vars(interval)}


def interval_of(measure: Measure) -> Interval:
    """The metric's value with its interval."""
    if isinstance(measure, Statistic):
        sums = measure.sums(measure.rows)
        trials = None
        if measure.sizes:
            sizes = pd.Series(measure.sizes(sums.to_numpy(float)))
            trials = fewest_trials([sizes], [1.0])
        interval = cluster_statistic(sums, measure.statistic, n=len(measure.rows), trials=trials)
        return measure.without_rare_ends(interval, sums)
    values, groups = measure.values, measure.groups
    if measure.kinds is not None:
        return balanced_interval(values, measure.kinds, groups, weights=measure.weights)
    return cluster_interval(values, groups, bounds=measure.bounds)


def by_unit(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """`table` indexed by what identifies a unit: its columns `names`, by default those of an answer
    among the answers of one model and method.
    """
    if not names:
        names = ("item_id", "sample")
    columns = [table[name].astype(str) for name in names]
    labels = columns[0].str.cat(columns[1:], sep="/") if columns[1:] else columns[0]
    return table.set_axis(labels.to_numpy())


def over_all(part: pd.DataFrame) -> Iterator[Series]:
    """The share of each outcome, and accuracy as the release reads (left to a grader: wrong)."""
    for outcome in OUTCOMES:
        yield Series("outcome_rate", outcome, part["outcome"] == outcome, part["group_id"])
    yield Series("released_rule", "all", part["by_released_rule"].eq(True), part["group_id"])
