"""Turns series of scores by unit into rows of the metrics table.

A unit is what two models are paired on when they are compared (see `scoring.paired`): an answer, a
story, a question set. The values that a metric is computed from are indexed by unit.
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

# A mean over labels gets an interval only if each label occurs in so many groups: the interval of a
# macro-F1 includes the true value in .64 of cases with two groups, in .95 with ten
# (`checks/interval_coverage.py`).
LEAST_WITH_LABEL = 10
# An F1 or a mean of shares gets an interval only if so many groups have a right answer, or none
# has: with fewer, equal models would seem to differ (p < .05) in .07 to .13 of cases.
LEAST_RIGHT = 5


class Series(NamedTuple):
    """A metric that is a mean: its `values` indexed by unit, the group of each, and their `bounds`.

    Where a unit has several values, as a story has predicted beliefs, its label repeats. kinds: the
    kind of each value, if the metric is the mean of each kind's mean, as a balanced accuracy is;
    weights: the weight of each kind, as in `stats.balanced_interval`.
    """

    metric: str
    condition: str
    values: pd.Series
    groups: pd.Series
    bounds: Bounds = SHARE
    kinds: pd.Series | None = None
    weights: Mapping[str, float] | None = None


class Statistic(NamedTuple):
    """A metric that is not a mean, such as an F1.

    `sums` turns `rows` (indexed by unit) into counts, one row a group, and `statistic` turns counts
    into the metric, both as in `stats.cluster_statistic`. The last three functions take the array
    of counts. labels: for a mean over labels, how often each label is asked about, as an array of
    (groups, labels); right: for a metric made of right answers, their number, as an array of
    (groups,); sizes: for a metric in which all answers weigh alike, as in a weighted F1, the number
    of answers, as an array of (groups,).
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
        """`interval`, but with nan for its ends and the reason as `ci_method` if a label or a right
        answer occurs in too few groups. sums: the counts, two frames for a difference.
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
# What a benchmark's `series` yields: model, method, and the values or counts of one metric.
Measures = Iterator[tuple[str, str, Measure]]


def table(benchmark: str, measures: Measures) -> pd.DataFrame:
    """The metrics table: a row for each metric that a benchmark's `series` yields, if defined."""
    rows = []
    for model, method, measure in measures:
        row = metric_row(measure, {"benchmark": benchmark, "model": model, "method": method})
        if row is not None:
            rows.append(row)
    return pd.DataFrame(rows)


def metric_row(measure: Measure, keys: Mapping) -> dict | None:
    """A row of the metrics table. keys: benchmark, model and method. None for a `Statistic` that is
    not defined, because the questions it needs were not asked.
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
    """`table` indexed by unit: its columns `names`, joined by "/". The default, `item_id` and
    `sample`, identifies an answer among the answers of one model and method.
    """
    if not names:
        names = ("item_id", "sample")
    columns = [table[name].astype(str) for name in names]
    labels = columns[0].str.cat(columns[1:], sep="/") if columns[1:] else columns[0]
    return table.set_axis(labels.to_numpy())


def over_all(part: pd.DataFrame) -> Iterator[Series]:
    """Yields the share of each outcome, and accuracy as the released code reads answers; those that
    it leaves to a grader count as wrong.
    """
    for outcome in OUTCOMES:
        yield Series("outcome_rate", outcome, part["outcome"] == outcome, part["group_id"])
    yield Series("released_rule", "all", part["by_released_rule"].eq(True), part["group_id"])
