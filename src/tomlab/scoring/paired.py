"""Differences between two models on one method, or two methods of one model, on the same units.

A unit is an answer or, for set-level metrics, a question set, story or template. Only units that
both sides have are compared. Intervals are those of `scoring.stats`, over whole groups.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from tomlab.models.specs import LIKELIHOOD
from tomlab.scoring import stats
from tomlab.scoring.series import Measure, Measures, Series, Statistic

LEVEL = 0.05
_LEAST = 1e-6  # the smallest p that is reported
_UNEQUAL = 1e-12  # a gap above this is more than a rounding error
_COLUMNS = ["benchmark", "metric", "condition", "varies", "same", "a", "b"]
_COLUMNS += ["difference", "ci_low", "ci_high", "ci_method", "p"]
_COLUMNS += ["n", "n_groups", "n_discordant", "n_left_out", "p_holm"]

Side = tuple[str, str]  # model, method
IntervalAt = Callable[[float], stats.Interval]  # the interval for a confidence, such as .95


def differences(
    benchmark: str,
    measures: Measures,
    cells: Collection[str | tuple[str, str]] | None = None,
    references: Sequence[str] = (),
) -> pd.DataFrame:
    """Each metric's differences a - b: between every two models on each method, and for each model
    between each method and each of the methods `references`.

    measures: what the benchmark's `series` yields; cells: the metrics, or pairs of metric and
    condition, to compare; all if not given. The result has one row per difference. varies: whether
    a and b are names of a "model" or a "method"; same: the method or model that they share; n: how
    many units both have; n_groups: how many groups these are in; n_left_out: how many units only
    one of them has; n_discordant: in how many groups their sums differ; p: the p-value of the
    hypothesis that there is no difference, see `p_of_interval`; p_holm: p with Holm's correction
    (1979) over the rows that have the same metric, condition, `varies` and `same`. A difference has
    no row if its metric is not defined on the common units.
    """
    by_cell: dict[tuple[str, str], dict[Side, Measure]] = defaultdict(dict)
    for model, method, measure in measures:
        cell = (measure.metric, measure.condition)
        if cells is None or measure.metric in cells or cell in cells:
            by_cell[cell][model, method] = measure
    rows = []
    for (metric, condition), by_side in by_cell.items():
        keys = {"benchmark": benchmark, "metric": metric, "condition": condition}
        for pair in _pairs(list(by_side), references):
            side_a, side_b = sides(**pair)
            numbers = difference(by_side[side_a], by_side[side_b])
            if numbers is not None:
                rows.append(keys | pair | numbers)
    table = pd.DataFrame(rows, columns=_COLUMNS)
    if rows:
        family = table.groupby(["metric", "condition", "varies", "same"], sort=False)["p"]
        table["p_holm"] = family.transform(holm)
    return table


def holm(p: pd.Series) -> pd.Series:
    """p-values with Holm's correction; nan stays nan and is not counted. They equal those of
    statsmodels' `multipletests`, which takes seconds to import.
    """
    rising = p.dropna().sort_values()
    corrected = (rising * np.arange(len(rising), 0, -1)).cummax().clip(upper=1)
    return corrected.reindex(p.index)


def sides(varies: str, same: str, a: str, b: str) -> tuple[Side, Side]:
    """The pairs (model, method) of a and of b, from these columns of a row of `differences`."""
    if varies == "model":
        return (a, same), (b, same)
    return (same, a), (same, b)


def _pairs(sides: list[Side], references: Sequence[str]) -> list[dict[str, str]]:
    """The pairs of sides to compare, as the columns varies, same, a and b of `differences`."""
    by_method = defaultdict(list)
    by_model = defaultdict(list)
    for model, method in sides:
        by_method[method].append(model)
        by_model[model].append(method)
    pairs = []
    for method, models in by_method.items():
        for a, b in combinations(models, 2):
            pairs.append({"varies": "model", "same": method, "a": a, "b": b})
    for model, methods in by_model.items():
        for reference in references:
            if reference not in methods:
                continue
            for method in methods:
                # Scoring options by likelihood is no intervention on how answers are generated.
                if method not in references and not method.endswith(LIKELIHOOD):
                    pairs.append({"varies": "method", "same": model, "a": method, "b": reference})
    return pairs


def difference(a: Measure, b: Measure, margin: float = 0.0) -> dict | None:
    """a - b on the units that both have, as the numbers of a row of `differences`; None if they
    have no units in common, or the metric is not defined on these.

    The p-value tests the hypothesis that the difference equals `margin`. It is nan where there is
    no interval, because a label or right answers occur in too few groups.

    If a metric is a mean of bounded values, or of kinds' means of these, and each unit has one
    value, its interval is that of the differences by unit (`interval_of_sums`,
    `balanced_interval`). If units have several values, as a story has several beliefs, and these
    are shares, the interval is that of a difference between two shares (`linear_interval`). Any
    other metric is computed for each side, and the interval is that of `cluster_statistic`.
    """
    statistic_a = _as_statistic(a)
    statistic_b = _as_statistic(b)
    units_a = statistic_a.rows.index.unique()
    units_b = statistic_b.rows.index.unique()
    common = units_a.intersection(units_b, sort=False)
    if common.empty:
        return None
    rows_a = statistic_a.rows.loc[common]
    rows_b = statistic_b.rows.loc[common]
    sums_a = statistic_a.sums(rows_a).fillna(0.0)
    # Both sides have the same groups, as they have the same units.
    sums_b = statistic_b.sums(rows_b).reindex_like(sums_a).fillna(0.0)
    sums = [sums_a, sums_b]
    low, high = a.bounds if isinstance(a, Series) else stats.SHARE
    width = high - low
    scale = 1.0
    is_one_value = rows_a.index.is_unique and rows_b.index.is_unique
    if isinstance(a, Series) and np.isfinite(width) and is_one_value:
        scale = width
        moves = (rows_a["value"] - rows_b["value"]) / width
        interval_at = partial(_interval_of_moves, a, rows_a, moves)
    elif isinstance(a, Series) and a.bounds == stats.SHARE:
        interval_at = partial(_interval_of_two_shares, sums, len(common))
    else:
        interval_at = partial(_interval_side_by_side, statistic_a, sums, len(common), width)
    interval = interval_at(1 - LEVEL)
    if np.isnan(interval.value):
        return None
    return {
        "difference": scale * interval.value,
        "ci_low": scale * interval.ci_low,
        "ci_high": scale * interval.ci_high,
        "ci_method": interval.ci_method,
        "p": p_of_interval(interval_at, margin / scale),
        "n": len(common),
        "n_groups": len(sums_a),
        "n_discordant": int((sums_a - sums_b).abs().gt(_UNEQUAL).any(axis=1).sum()),
        "n_left_out": len(units_a) + len(units_b) - 2 * len(common),
    }


def _as_statistic(measure: Measure) -> Statistic:
    """The measure itself if it is a `Statistic`; a mean as a ratio of sums and counts by group."""
    if isinstance(measure, Statistic):
        return measure
    values = {"value": measure.values.to_numpy(float), "group": measure.groups.to_numpy()}
    if measure.kinds is not None:
        values["kind"] = measure.kinds.to_numpy()
    rows = pd.DataFrame(values, measure.values.index)
    return Statistic(measure.metric, measure.condition, rows, _sums_of_values, stats.ratio)


def _sums_of_values(rows: pd.DataFrame) -> pd.DataFrame:
    return stats.group_sums(rows["value"], rows["group"])


def _interval_of_moves(
    side: Series, rows: pd.DataFrame, moves: pd.Series, confidence: float
) -> stats.Interval:
    """The interval of the mean of `moves`: a's value minus b's by unit, divided by the greatest
    difference that the metric's bounds allow. side: a; rows: the values of a.
    """
    bounds = stats.DIFFERENCE
    if side.kinds is None:
        sums = stats.group_sums(moves, rows["group"], bounds)
        return stats.interval_of_sums(sums, n=len(moves), bounds=bounds, confidence=confidence)
    return stats.balanced_interval(
        moves,
        rows["kind"],
        rows["group"],
        weights=side.weights,
        bounds=bounds,
        confidence=confidence,
    )


def _interval_of_two_shares(
    sums: Sequence[pd.DataFrame], n: int, confidence: float
) -> stats.Interval:
    """The interval of the difference between two shares. sums: of each side, by group."""
    return stats.linear_interval(sums, (1, -1), n=n, confidence=confidence)


def _interval_side_by_side(
    side: Statistic, sums: Sequence[pd.DataFrame], n: int, width: float, confidence: float
) -> stats.Interval:
    """The interval of the difference between the two sides' statistics, for any statistic.

    side: has the statistic; sums: of each side, by group; n: units; width: the greatest difference.
    """
    n_columns = sums[0].shape[1]

    def gap(counts: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return side.statistic(counts[..., :n_columns]) - side.statistic(counts[..., n_columns:])

    bounds = (-width, width)
    together = pd.concat(sums, axis=1)
    interval = stats.cluster_statistic(together, gap, n=n, bounds=bounds, confidence=confidence)
    return side.without_rare_ends(interval, *sums)


def p_of_interval(interval_at: IntervalAt, margin: float = 0.0) -> float:
    """The two-sided p-value of the hypothesis that the difference equals `margin`; at least a
    millionth, nan where there is no interval.

    It is 1 minus the confidence at which the interval just reaches `margin`. So p and interval
    can't contradict each other: p is below .05 exactly if the 95 % interval does not include
    `margin`.
    """
    from scipy.optimize import brentq

    def distance(p: float) -> float:
        """How far the interval for p stays away from `margin`; below 0 if it includes `margin`."""
        with np.errstate(over="ignore"):
            interval = interval_at(1 - p)
        if interval.value > margin:
            return interval.ci_low - margin
        return margin - interval.ci_high

    distance_at_level = distance(LEVEL)
    if np.isnan(distance_at_level):
        return np.nan
    # The root is only found to five digits, and so might come out on the wrong side of .05.
    if distance_at_level > 0:
        if distance(_LEAST) > 0:
            return _LEAST
        root = float(brentq(distance, _LEAST, LEVEL, xtol=1e-5))
        return min(root, np.nextafter(LEVEL, 0))
    if distance(1 - _LEAST) <= 0:
        return 1.0
    return float(brentq(distance, LEVEL, 1 - _LEAST, xtol=1e-5))
