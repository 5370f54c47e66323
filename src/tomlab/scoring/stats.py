"""Uncertainty over whole groups (templates, question sets, stories), and agreement between raters.

Intervals are of 95 %, unless another `confidence` is asked for, and the same whenever they are
computed: no random numbers, whatever the order of rows. How often they hold the truth is measured
by `checks/interval_coverage.py`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import krippendorff
import numpy as np
import pandas as pd
from scipy.special import betaincinv, stdtrit

from tomlab.records.tidy import CI_METHODS

CONFIDENCE = 0.95
Bounds = tuple[float, float]
SHARE, DIFFERENCE, COUNT = (0.0, 1.0), (-1.0, 1.0), (0.0, np.inf)
# As `ci_method` in the metrics.
JACKKNIFE, EXACT, ALIKE, PAIRED = CI_METHODS


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval. n: answers; n_groups: groups that have something to count."""

    value: float
    ci_low: float
    ci_high: float
    ci_method: str
    n: int
    n_groups: int


def cluster_interval(values: pd.Series, groups: pd.Series, *, bounds: Bounds = SHARE) -> Interval:
    """The mean of bounded values, with an interval over whole groups.

    values, groups: of one length. A mean of shares takes the narrower of two: `cluster_statistic`,
    and Clopper-Pearson's for as many trials as there are effective groups, (sum of sizes)^2 / (sum
    of squared sizes), which holds however alike the answers within a group are (Korn and Graubard
    1998). The error of the first is no less than that of groups which all differ as they do on
    average over answers: where the few large groups happen to agree, leaving them out tells too
    little. A mean of differences between two answers is the share of gains less that of losses;
    their intervals are added by squares (MOVER: Donner and Zou 2012, after Newcombe 1998), with
    their correlation over groups where it is negative.
    """
    return interval_of_sums(group_sums(values, groups, bounds), n=len(values), bounds=bounds)


def group_sums(values: pd.Series, groups: pd.Series, bounds: Bounds = SHARE) -> pd.DataFrame:
    """All that `interval_of_sums` needs of values, a row a group: their `sum` and `count`; of
    differences the sums of `gains` and of `losses`.
    """
    own, (of, labels) = values.to_numpy(float), pd.factorize(groups.to_numpy(), sort=True)
    sides = {"sum": own}
    if bounds == DIFFERENCE:
        sides = {"gains": own.clip(min=0), "losses": (-own).clip(min=0)}
    sides["count"] = ~np.isnan(own)
    return pd.DataFrame({name: exact_sums(side, of) for name, side in sides.items()}, labels)


def exact_sums(values: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Sums by group, rounded once: added one by one, those of fractions would differ in their last
    digits by the order of rows. of: the number of each value's group; nan adds nothing.
    """
    known = np.nan_to_num(values)
    if (known % 1 == 0).all():
        return np.bincount(of, known)
    parts = np.split(known[np.argsort(of)], np.bincount(of).cumsum()[:-1])
    return np.array([math.fsum(part) for part in parts])


def interval_of_sums(
    sums: pd.DataFrame, *, n: int, bounds: Bounds = SHARE, confidence: float = CONFIDENCE
) -> Interval:
    """As `cluster_interval`, of `group_sums` in whatever order; n: the number of answers."""
    if bounds == DIFFERENCE:
        return _difference(sums, n, confidence)
    total, size = sums.to_numpy(float).T
    total, size = (column[np.lexsort((total, size))] for column in (total, size))
    effective = size.sum() ** 2 / (size**2).sum()
    spread = (size * (total / size - total.sum() / size.sum()) ** 2).sum() / size.sum()
    least_error = np.sqrt(spread / effective)
    how = {"n": n, "bounds": bounds, "confidence": confidence}
    found = cluster_statistic(sums, ratio, least_error=least_error, **how)
    if bounds != SHARE or found.ci_method == ALIKE:
        return found
    low, high = clopper_pearson(found.value * effective, effective, confidence)
    if high - low < found.ci_high - found.ci_low:
        return replace(found, ci_low=low, ci_high=high, ci_method=EXACT)
    return found


def _difference(sums: pd.DataFrame, n: int, confidence: float) -> Interval:
    sums = sums.iloc[np.lexsort(sums.to_numpy(float).T[::-1])]
    gains, losses = (
        interval_of_sums(own.set_axis(["sum", "count"], axis=1), n=n, confidence=confidence)
        for own in (sums[["gains", "count"]], sums[["losses", "count"]])
    )
    apart, size = sums[["gains", "losses"]].to_numpy(float), sums["count"].to_numpy(float)
    moved = apart - np.outer(size, apart.sum(axis=0) / size.sum())
    spread = np.sqrt((moved**2).sum(axis=0).prod())
    together = 0.0 if spread == 0 else min(0.0, moved.prod(axis=1).sum() / spread)

    def reach(one: float, other: float) -> float:
        return np.sqrt(one**2 + other**2 - 2 * together * one * other)

    value = gains.value - losses.value
    down = reach(gains.value - gains.ci_low, losses.ci_high - losses.value)
    up = reach(gains.ci_high - gains.value, losses.value - losses.ci_low)
    ends = max(value - down, -1.0), min(value + up, 1.0)
    return Interval(value, *ends, PAIRED, n, gains.n_groups)


def cluster_statistic(
    sums: pd.DataFrame,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    n: int,
    bounds: Bounds = SHARE,
    confidence: float = CONFIDENCE,
    least_error: float = 0.0,
) -> Interval:
    """A statistic of summed counts, such as an F1, with an interval over whole groups.

    sums: one row a group, the counts that the statistic is made of in its columns; rows of zeros
    are no evidence and left out. statistic: from counts of shape (..., columns) to values of shape
    (...), nan where it is not defined. n: the number of answers. least_error: what the standard
    error is at least.

    The jackknife leaves out each group in turn (Quenouille 1949; Efron and Stein 1981). Squared
    deviations from the value of all groups are summed, not averaged, which errs to the safe side as
    MacKinnon and White's HC3 does (1985). Student's t has as many degrees of freedom as that sum is
    worth, 2 G / (kurtosis - 1), at most G - 1 (Satterthwaite 1946). Ends are taken on the logit
    between the `bounds`, on the log where one is infinite, on the plain scale where both are. Where
    leaving out moves nothing, all G groups being alike at c: c - q (c - low) to c + q (high - c),
    with q = 1 - .025^(1/G) the greatest share of other groups that would go unseen so often (for an
    infinite end: c (1 + q)). Where nothing can be left out (one group): Clopper-Pearson's for G
    trials.
    """
    # By column, as the last digits of sums differ by the order in memory, too.
    counts = np.asfortranarray(sums.to_numpy(float))
    counts = counts[counts.any(axis=1)]
    counts = counts[np.lexsort(counts.T)]
    total, size = counts.sum(axis=0), len(counts)
    value = float(statistic(total))
    if np.isnan(value):
        return Interval(value, np.nan, np.nan, JACKKNIFE, n, size)
    moved = statistic(total - counts) - value
    moved = moved[~np.isnan(moved)]
    if not len(moved) and np.isfinite(bounds).all():
        width = bounds[1] - bounds[0]
        exact = clopper_pearson((value - bounds[0]) / width * size, size, confidence)
        return Interval(value, *(bounds[0] + width * end for end in exact), EXACT, n, size)
    squares = (moved**2).sum()
    inside = bounds[0] < value < bounds[1]
    if not inside or not squares > 1e-24:
        unseen = 1 - ((1 - confidence) / 2) ** (1 / size)
        ends = zip(bounds, (value - abs(value), value + abs(value)), strict=True)
        low, high = (bound if np.isfinite(bound) else end for bound, end in ends)
        ends = value - unseen * (value - low), value + unseen * (high - value)
        return Interval(value, *ends, ALIKE, n, size)
    kurtosis = len(moved) * (moved**4).sum() / squares**2
    worth = 2 * size / (kurtosis - 1) if kurtosis > 1 else np.inf
    # A group that can't be left out is taken to move the value as the others do.
    error = max(np.sqrt(squares * size / len(moved)), least_error)
    quantile = stdtrit(max(min(size - 1, worth), 1), 1 - (1 - confidence) / 2)
    ends = _on_scale(value, quantile * error, bounds)
    return Interval(value, *ends, JACKKNIFE, n, size)


def _on_scale(value: float, reach: float, bounds: Bounds) -> tuple[float, float]:
    """`value` less and plus `reach`, on a scale on which neither end passes the bounds."""
    low, high = bounds
    if np.isinf(low):
        return value - reach, value + reach
    if np.isinf(high):
        factor = np.exp(reach / (value - low))
        return low + (value - low) / factor, low + (value - low) * factor
    share = (value - low) / (high - low)
    width = reach / ((high - low) * share * (1 - share))
    middle = np.log(share / (1 - share))
    ends = (1 / (1 + np.exp(-(middle + way * width))) for way in (-1, 1))
    return tuple(float(low + (high - low) * end) for end in ends)


def ratio(counts: np.ndarray) -> np.ndarray:
    """The first column over the second, nan where that is 0: a mean, for `cluster_statistic`."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts[..., 0] / counts[..., 1]


def clopper_pearson(
    successes: float, trials: float, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The exact interval of a share; both may be fractional."""
    tail = (1 - confidence) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes > 0 else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return float(low), float(high)


def agreement(ratings: pd.DataFrame, level: str) -> dict[str, float]:
    """Percent agreement and Krippendorff's alpha.

    ratings: one row a unit, one column a rater, missing where a rater gave none. level: "nominal",
    "ordinal" or "interval". Of the units that two or more rated; alpha is nan where all are alike.
    """
    rated = ratings[ratings.notna().sum(axis=1) >= 2]
    values = rated.to_numpy(float).T
    equal = float((rated.nunique(axis=1) == 1).mean())
    alike = len(np.unique(values[~np.isnan(values)])) < 2
    alpha = np.nan if alike else krippendorff.alpha(values, level_of_measurement=level)
    return {"units": len(rated), "percent_agreement": equal, "alpha": float(alpha)}


def alpha_interval(ratings: pd.DataFrame, level: str, groups: pd.Index) -> tuple[float, float]:
    """The interval of Krippendorff's alpha over groups of units, by `cluster_statistic`.

    ratings: as in `agreement`, coded by rank; level: "nominal" or "ordinal"; groups: one label a
    unit. nan where alpha is not defined or nothing moves it.
    """
    used = (ratings.notna().sum(axis=1) >= 2).to_numpy()
    values = ratings[used].to_numpy(float)
    if not len(values):
        return np.nan, np.nan
    counts = np.stack([(values == code).sum(axis=1) for code in np.unique(values[values >= 0])], 1)
    # How often one rater's value meets another's in each unit: sums of it are all alpha needs.
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    pairs = pairs / (counts.sum(axis=1) - 1)[:, None, None]
    sums = pd.DataFrame(pairs.reshape(len(values), -1)).groupby(groups[used]).sum()
    found = cluster_statistic(sums, lambda s: _alpha(s, level), n=len(values), bounds=DIFFERENCE)
    moved = found.ci_method == JACKKNIFE
    return (found.ci_low, found.ci_high) if moved else (np.nan, np.nan)


def _alpha(sums: np.ndarray, level: str) -> np.ndarray:
    """Krippendorff's alpha of summed pairs, shape (..., values * values)."""
    size = round(sums.shape[-1] ** 0.5)
    pairs = sums.reshape(*sums.shape[:-1], size, size)
    counts = pairs.sum(axis=-1)
    if level == "ordinal":
        middle = counts.cumsum(axis=-1) - counts / 2
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    else:
        distance = 1 - np.eye(size)
    observed = (pairs * distance).sum(axis=(-2, -1))
    expected = (counts[..., :, None] * counts[..., None, :] * distance).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - (counts.sum(axis=-1) - 1) * observed / expected
