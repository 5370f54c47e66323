"""Uncertainty over whole groups (templates, question sets, stories), and agreement between raters.

Intervals are of 95 %, unless another `confidence` is asked for, and the same whenever they are
computed: no random numbers, whatever the order of rows. How often they hold the truth is measured
by `checks/interval_coverage.py`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

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

    values, groups: of one length. A mean of shares takes the narrower of two: the jackknife of
    `cluster_statistic`, and Clopper-Pearson's for as many trials as there are effective groups,
    (sum of sizes)^2 / (sum of squared sizes), which holds however alike the answers within a group
    are (Korn and Graubard 1998). The error of the first is no less than that of groups which all
    differ as they do on average over answers: where the few large groups happen to agree, leaving
    them out tells too little. Values between other finite bounds, such as ratings, are shares of
    the way from one to the other. A mean of differences between two answers is the share of gains
    less that of losses, see `linear_interval`.
    """
    low, high = bounds
    if bounds in (SHARE, DIFFERENCE) or not np.isfinite(bounds).all():
        return interval_of_sums(group_sums(values, groups, bounds), n=len(values), bounds=bounds)
    width = high - low
    share = cluster_interval((values - low) / width, groups)
    ends = {name: low + width * getattr(share, name) for name in ("value", "ci_low", "ci_high")}
    return replace(share, **ends)


def balanced_interval(
    values: pd.Series,
    kinds: pd.Series,
    groups: pd.Series,
    *,
    weights: Mapping[str, float] | None = None,
    bounds: Bounds = SHARE,
    confidence: float = CONFIDENCE,
) -> Interval:
    """The mean of each kind's mean, such as a balanced accuracy, with an interval over groups.

    values: shares or, with the bounds of a `DIFFERENCE`, differences between two shares; kinds,
    groups: of the same length; weights: of the kinds, 1 in sum, all equal if not given. The value
    is nan where a kind of `weights` has no value.

    A mean of shares takes the narrower of two: `linear_interval`, and Clopper-Pearson's for as many
    trials as the kind allows that is in the fewest groups for its weight. A trial weighs no less
    than any answer of that kind does together with all answers of its group, so that the variance
    is at most that of a share in so many trials. Differences are gains less losses.
    """
    columns = {"value": values, "kind": kinds, "group": groups}
    rows = pd.DataFrame({name: column.to_numpy() for name, column in columns.items()})
    if weights is None:
        names = sorted(rows["kind"].unique())
        weights = {name: 1 / len(names) for name in names}
    rows = rows[rows["kind"].isin(list(weights))].dropna(subset="value")
    if rows["kind"].nunique() < len(weights):
        groups = rows["group"].nunique()
        return Interval(np.nan, np.nan, np.nan, PAIRED, len(values), groups)
    rows["value"] = rows["value"].astype(float)
    how = {"n": len(values), "confidence": confidence}
    if bounds == SHARE:
        return _balanced_share(rows, weights, **how)[0]
    gains = _balanced_share(rows.assign(value=rows["value"].clip(lower=0)), weights, **how)
    losses = _balanced_share(rows.assign(value=(-rows["value"]).clip(lower=0)), weights, **how)
    sides, sums = zip(gains, losses, strict=True)
    return linear_interval(sums, (1, -1), intervals=sides, **how)


def _balanced_share(
    rows: pd.DataFrame, weights: Mapping[str, float], *, n: int, confidence: float
) -> tuple[Interval, pd.DataFrame]:
    """The interval of `balanced_interval`, and the share by group: `sum`, and `count`, of which all
    groups together have 1.
    """
    shares = {}
    for name in weights:
        own = rows[rows["kind"] == name]
        shares[name] = group_sums(own["value"], own["group"])
    found = linear_interval([*shares.values()], [*weights.values()], n=n, confidence=confidence)
    parts = [shares[name] * (weights[name] / shares[name]["count"].sum()) for name in weights]
    by_group = pd.concat(parts).groupby(level=0).sum()
    trials = fewest_trials([share["count"] for share in shares.values()], [*weights.values()])
    low, high = clopper_pearson(min(found.value, 1.0) * trials, trials, confidence)
    if high - low < found.ci_high - found.ci_low:
        found = replace(found, ci_low=low, ci_high=high, ci_method=EXACT)
    return found, by_group


def fewest_trials(counts: Sequence[pd.Series], weights: Sequence[float]) -> float:
    """How many trials a mean of shares by `weights` is worth at least: as many as the share allows
    that is in the fewest groups for its weight. counts: of each share, its answers by group. Of one
    share these are its effective groups, (sum of counts)^2 / (sum of squared counts).
    """
    parts = [w * count / count.sum() for count, w in zip(counts, weights, strict=True)]
    by_group = pd.concat(parts).groupby(level=0).sum()
    weight_of_trial = []
    for count in counts:
        products = count * by_group[count.index]
        weight_of_trial.append(math.fsum(products) / count.sum())  # whatever the order of groups
    return 1 / max(weight_of_trial)


def linear_interval(
    shares: Sequence[pd.DataFrame],
    factors: Sequence[float],
    *,
    n: int,
    intervals: Sequence[Interval] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval:
    """A sum of shares, each times a factor, such as a gap (1, -1), with an interval over groups.

    shares: of each, `sum` and `count` by group, as of `group_sums`; n: the number of answers;
    intervals: of the shares, those of `interval_of_sums` if not given.

    The distances of their ends from the shares are added by squares, the lower end taking those
    that make the sum less (MOVER: Zou and Donner 2008; Donner and Zou 2012; after Newcombe 1998),
    with those correlations over groups that make the interval wider. Where a share does not differ
    between groups, no correlation is seen: two shares that move the sum in one direction are then
    taken to vary together as far as they have the same groups.
    """
    if intervals is None:
        intervals = [interval_of_sums(share, n=n, confidence=confidence) for share in shares]
    factors = np.array(factors, dtype=float)
    value = float(factors @ [interval.value for interval in intervals])
    columns = pd.concat(shares, axis=1).fillna(0.0)
    if np.isnan(value):
        return Interval(value, np.nan, np.nan, PAIRED, n, len(columns))
    down = np.array([interval.value - interval.ci_low for interval in intervals])
    up = np.array([interval.ci_high - interval.value for interval in intervals])
    rises = factors > 0
    together = _widening_correlations(columns.to_numpy(float), np.sign(factors))

    def reach(distances: np.ndarray) -> float:
        moved = np.abs(factors) * distances
        return float(np.sqrt(max(moved @ together @ moved, 0.0)))

    least = factors[~rises].sum()
    most = factors[rises].sum()
    low = max(value - reach(np.where(rises, down, up)), least)
    high = min(value + reach(np.where(rises, up, down)), most)
    return Interval(value, low, high, PAIRED, n, len(columns))


def _widening_correlations(columns: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Correlations over groups of shares that are added or, where a sign is -1, taken away; 0 in
    place of those that would make the interval of the sum narrower. columns: by group the sum and
    the count of each share.
    """
    columns = columns[np.lexsort(columns.T)]  # the last digits do not depend on names of groups
    totals, sizes = columns.T[0::2], columns.T[1::2]
    shares = totals.sum(axis=1) / sizes.sum(axis=1)
    moves = totals - sizes * shares[:, None]
    varies = [bool((np.abs(move) > 1e-12).any()) for move in moves]
    together = np.eye(len(signs))
    for i, j in combinations(range(len(signs)), 2):
        if varies[i] and varies[j]:
            alike = signs[i] * signs[j] * _cosine(moves[i], moves[j])
        else:
            alike = _cosine(sizes[i], sizes[j]) if signs[i] == signs[j] else 0.0
        together[i, j] = together[j, i] = max(alike, 0.0)
    return together


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


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
        shares = []
        for side in ("gains", "losses"):
            shares.append(sums[[side, "count"]].set_axis(["sum", "count"], axis=1))
        return linear_interval(shares, (1, -1), n=n, confidence=confidence)
    sums = sums[sums.iloc[:, 1] > 0]
    if sums.empty:
        return Interval(np.nan, np.nan, np.nan, JACKKNIFE, n, 0)
    total, size = sums.to_numpy(float).T
    order = np.lexsort((total, size))
    total, size = total[order], size[order]
    effective = size.sum() ** 2 / (size**2).sum()
    spread = (size * (total / size - total.sum() / size.sum()) ** 2).sum() / size.sum()
    least_error = np.sqrt(spread / effective)
    trials = effective if bounds == SHARE else None
    how = {"n": n, "bounds": bounds, "confidence": confidence}
    return cluster_statistic(sums, ratio, least_error=least_error, trials=trials, **how)


def cluster_statistic(
    sums: pd.DataFrame,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    n: int,
    bounds: Bounds = SHARE,
    confidence: float = CONFIDENCE,
    least_error: float = 0.0,
    trials: float | None = None,
) -> Interval:
    """A statistic of summed counts that is no mean, such as an F1, with an interval over whole
    groups.

    sums: one row a group, the counts that the statistic is made of in its columns; rows of zeros
    are no evidence and left out. statistic: from counts of shape (..., columns) to values of shape
    (...), nan where it is not defined. n: the number of answers. least_error: what the standard
    error is at least. trials: for a statistic from 0 to 1 that varies no more than a share does in
    so many trials, such as a weighted F1 of answers in so many effective groups: its interval is no
    wider than Clopper-Pearson's. Without it, where one group of many is wrong, that one alone
    decides how wide the interval is.

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
    low, high = _on_scale(value, quantile * error, bounds)
    if trials is not None:
        exact_low, exact_high = clopper_pearson(value * trials, trials, confidence)
        if exact_high - exact_low < high - low:
            return Interval(value, exact_low, exact_high, EXACT, n, size)
    return Interval(value, low, high, JACKKNIFE, n, size)


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
