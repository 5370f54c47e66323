"""Two numbers from the share right where a person knows, and the share right where not.

*Youden's J* (1950) is their sum minus 1: 0 for whoever answers alike in both cases, 1 for whoever
is always right. The *lean* is the first minus the second: above 0 for whoever answers as if people
knew more often than they do, below 0 for whoever answers as if they knew less often.

y: share right where the person knows; x: where not, as the axes of the plane.
"""

from collections.abc import Sequence
from dataclasses import replace
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
    j_by_item = pairs["y"] + pairs["x"] - 1
    lean_by_item = pairs["y"] - pairs["x"]
    intervals = {version: stats.cluster_interval(pairs[version], items) for version in pairs}
    intervals["j"] = stats.cluster_interval(j_by_item, items, bounds=stats.DIFFERENCE)
    intervals["lean"] = stats.cluster_interval(lean_by_item, items, bounds=stats.DIFFERENCE)
    return _row(intervals) | {"p": compare(pairs["y"], pairs["x"])["p"]}


def of_groups(knows: pd.DataFrame, does_not: pd.DataFrame, exact: bool = False) -> dict:
    """J and lean of answers to different questions where the person knows and where not.

    knows, does_not: `sum` and `count` by group, as `stats.group_sums` returns. exact: only the
    total is known, so the interval is Clopper-Pearson's, as if all answers of a group were alike.

    Returns y (the share right of `knows`), x (of `does_not`), j and lean, each with its 95 %
    interval (`x_low`, `x_high`), the numbers of answers (`n_y`, `n_x`) and groups (`n_groups`), and
    `p` of the lean.
    """
    sums_by_case = [knows, does_not]
    y, x = _interval_of_each(sums_by_case, exact, stats.CONFIDENCE)
    both = _combined(sums_by_case, exact, (1, 1), stats.CONFIDENCE)
    j = replace(both, value=both.value - 1, ci_low=both.ci_low - 1, ci_high=both.ci_high - 1)
    lean_at = partial(_combined, sums_by_case, exact, (1, -1))
    intervals = {"y": y, "x": x, "j": j, "lean": lean_at(stats.CONFIDENCE)}
    return _row(intervals) | {"p": p_of_interval(lean_at)}


def speak_near_fact(questions: pd.DataFrame) -> pd.Series:
    """Whether all whom a question is about speak from one line before the fact to two after it.

    questions: `speakers` (who speaks each line) and `asked_about` have names with spaces between;
    `fact_line` counts lines from 0. False if `asked_about` is empty.
    """
    answers = []
    for question in questions.itertuples():
        first_line = max(question.fact_line - 1, 0)
        window = question.speakers.split()[first_line : question.fact_line + 3]
        people = question.asked_about.split()
        answers.append(len(people) > 0 and set(people) <= set(window))
    return pd.Series(answers, questions.index, dtype=bool)


def points_of_two_options(questions: pd.DataFrame, says_known: pd.Series | bool) -> pd.Series:
    """A reader's points: 1 for the right option, 0 for the wrong one, one half if both fit alike.

    questions: `right_denies` and `wrong_denies`, whether an option denies that the person knows.
    says_known: whether the reader says that the person knows, and so takes what does not deny it.
    """
    right_option_fits = questions["right_denies"].ne(says_known)
    only_one_denies = questions["right_denies"].ne(questions["wrong_denies"])
    return right_option_fits.astype(float).where(only_one_denies, 0.5)


def _interval_of_each(
    sums_by_case: Sequence[pd.DataFrame], exact: bool, confidence: float
) -> list[stats.Interval]:
    """The share right in each case, with its interval."""
    intervals = []
    for sums in sums_by_case:
        n = int(sums["count"].sum())
        interval = stats.interval_of_sums(sums, n=n, confidence=confidence)
        if exact:
            trials = stats.fewest_trials([sums["count"]], [1.0])
            ends = stats.clopper_pearson(interval.value * trials, trials, confidence)
            interval = stats.Interval(interval.value, *ends, stats.EXACT, n, len(sums))
        intervals.append(interval)
    return intervals


def _combined(
    sums_by_case: Sequence[pd.DataFrame],
    exact: bool,
    factors: Sequence[float],
    confidence: float,
) -> stats.Interval:
    """The sum of the two shares, each times its factor, with its interval."""
    n = int(sum(sums["count"].sum() for sums in sums_by_case))
    intervals = _interval_of_each(sums_by_case, exact, confidence)
    return stats.linear_interval(
        sums_by_case, factors, n=n, intervals=intervals, confidence=confidence
    )


def _row(intervals: dict[str, stats.Interval]) -> dict:
    """Intervals by name as one row."""
    row = {}
    for name, interval in intervals.items():
        row[name] = interval.value
        row[f"{name}_low"] = interval.ci_low
        row[f"{name}_high"] = interval.ci_high
    counts = {"n_y": intervals["y"].n, "n_x": intervals["x"].n}
    return row | counts | {"n_groups": intervals["j"].n_groups}
