"""From series of scores to rows of the metrics table, for metrics that are means."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from tomlab.records.tidy import OUTCOMES
from tomlab.scoring.stats import SHARE, Bounds, cluster_interval


class Series(NamedTuple):
    """The values that one metric is the mean of, the group of each, and their `bounds`."""

    metric: str
    condition: str
    values: pd.Series
    groups: pd.Series
    bounds: Bounds = SHARE


def rows(series: Iterable[Series], whose: Mapping) -> list[dict]:
    """A row of the metrics table for each series; whose: benchmark, model and method."""
    return [
        {**whose, "metric": metric, "condition": condition}
        | vars(cluster_interval(values, groups, bounds=bounds))
        for metric, condition, values, groups, bounds in series
    ]


def over_all(part: pd.DataFrame) -> Iterator[Series]:
    """The share of each outcome, and accuracy as the release reads (left to a grader: wrong)."""
    for outcome in OUTCOMES:
        yield Series("outcome_rate", outcome, part["outcome"] == outcome, part["group_id"])
    yield Series("released_rule", "all", part["by_released_rule"].eq(True), part["group_id"])
