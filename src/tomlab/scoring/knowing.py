"""Two numbers from the share right where a person knows, and the share right where not.

*Youden's J* (1950) is their sum minus 1: 0 for whoever answers alike in both cases, 1 for whoever
is always right. The *lean* is the first minus the second: above 0 for whoever answers as if people
knew more often than they do, below 0 for whoever answers as if they knew less often.
"""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from tomlab.scoring import stats
from tomlab.scoring.paired import p_of_interval
from tomlab.scoring.verdicts import compare


def of_pairs(knows: pd.Series, does_not: pd.Series) -> dict:
    """J and lean of answers to two versions of each item. J is then the share of items with both
    versions right minus the share with none, and `p`, that of the lean, is McNemar's exact one.

    knows, does_not: 1 or 0 by item, where the person knows and where not; items that lack a version
    are left out. Returns what `of_groups` returns, with intervals over items.
    """
    pairs = pd.concat([knows, does_not], axis=1, keys=["y", "x"]).dropna()
    items = pairs.index.to_series()
    intervals = {version: stats.cluster_interval(pairs[version], items) for version in pairs}
    both_or_none = pairs["y"] + pairs["x"] - 1
    one_of_two = pairs["y"] - pairs["x"]
    intervals["j"] = stats.cluster_interval(both_or_none, items, bounds=stats.DIFFERENCE)
    intervals["lean"] = stats.cluster_interval(one_of_two, items, bounds=stats.DIFFERENCE)
    return _row(intervals) | {"p": compare(pairs["y"], pairs["x"])["p"]}


def of_groups(knows: pd.DataFrame, does_not: pd.DataFrame, exact: bool = False) -> dict:
    """J and lean of answers to different questions where the person knows and where not.

    knows, does_not: `sum` and `count` by group, as `stats.group_sums` returns. exact: only the
    whole share is known, not that of each group; it gets Clopper-Pearson's interval for its
    effective groups, which is wide enough however alike the answers within a group are.

    Returns y (the share right of `knows`), x (of `does_not`), j and lean, each with its 95 %
    interval (`x_low`, `x_high`), the numbers of answers (`n_y`, `n_x`) and groups (`n_groups`), and
    `p` of the lean.
    """
    parts = [knows, does_not]
    intervals = dict(zip("yx", _shares(parts, exact, stats.CONFIDENCE), strict=True))
    intervals["j"] = _sum(parts, exact, (1, 1), stats.CONFIDENCE)
    lean_at = partial(_sum, parts, exact, (1, -1))
    intervals["lean"] = lean_at(stats.CONFIDENCE)
    row = _row(intervals) | {"p": p_of_interval(lean_at)}
    for name in ("j", "j_low", "j_high"):
        row[name] -= 1
    return row


def _shares(parts: Sequence[pd.DataFrame], exact: bool, confidence: float) -> list[stats.Interval]:
    intervals = []
    for part in parts:
        n = int(part["count"].sum())
        interval = stats.interval_of_sums(part, n=n, confidence=confidence)
        if exact:
            trials = stats.fewest_trials([part["count"]], [1.0])
            ends = stats.clopper_pearson(interval.value * trials, trials, confidence)
            interval = stats.Interval(interval.value, *ends, stats.EXACT, n, len(part))
        intervals.append(interval)
    return intervals


def _sum(
    parts: Sequence[pd.DataFrame], exact: bool, factors: Sequence[float], confidence: float
) -> stats.Interval:
    n = int(sum(part["count"].sum() for part in parts))
    intervals = _shares(parts, exact, confidence)
    return stats.linear_interval(parts, factors, n=n, intervals=intervals, confidence=confidence)


def _row(intervals: dict[str, stats.Interval]) -> dict:
    row = {}
    for name, interval in intervals.items():
        row[name] = interval.value
        row[f"{name}_low"] = interval.ci_low
        row[f"{name}_high"] = interval.ci_high
    counts = {"n_y": intervals["y"].n, "n_x": intervals["x"].n}
    return row | counts | {"n_groups": intervals["j"].n_groups}
