"""Uncertainty over whole groups (templates, question sets, stories), and agreement between raters.

Intervals have a confidence of 95 % unless the caller asks for another `confidence`. They use no
random numbers and do not depend on the order of rows, so they are the same whenever computed.
`checks/interval_coverage.py` measures how often they include the true value.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal

import krippendorff
import numpy as np
import pandas as pd
from scipy.special import betaincinv, stdtrit

from tomlab.records.tidy import CI_METHODS

CONFIDENCE = 0.95
Bounds = tuple[float, float]
SHARE = (0.0, 1.0)
DIFFERENCE = (-1.0, 1.0)
COUNT = (0.0, np.inf)
# The values of `ci_method` in the metrics table.
JACKKNIFE, EXACT, ALIKE, PAIRED = CI_METHODS


@dataclass(frozen=True)
class Interval:
    """A value with its interval. n: number of answers; n_groups: groups with something to count."""

    value: float
    ci_low: float
    ci_high: float
    ci_method: str
    n: int
    n_groups: int


def cluster_interval(values: pd.Series, groups: pd.Series, *, bounds: Bounds = SHARE) -> Interval:
    """The mean of bounded values, with an interval over whole groups.

    values, groups: of the same length, the group of each value. A mean of shares gets the narrower
    of two intervals: the jackknife of `cluster_statistic`, and Clopper-Pearson's for as many trials
    as there are effective groups, (sum of sizes)^2 / (sum of squared sizes), which is valid however
    alike the answers within a group are (Korn and Graubard 1998). The jackknife's standard error is
    at least the one that results if all groups differ as they do on average over answers, because
    leaving out a few large groups that happen to agree shows too little spread. Values with other
    finite bounds, such as ratings, are rescaled to shares. A mean of differences between two
    answers is the share of gains minus the share of losses, see `linear_interval`.
    """
    if bounds in (SHARE, DIFFERENCE, COUNT):
        return interval_of_sums(group_sums(values, groups, bounds), n=len(values), bounds=bounds)
    low, high = bounds
    width = high - low
    share = cluster_interval((values - low) / width, groups)
    return replace(
        share,
        value=low + width * share.value,
        ci_low=low + width * share.ci_low,
        ci_high=low + width * share.ci_high,
    )


def shares(rows: pd.DataFrame, keys: Sequence[str], column: str, groups: str) -> pd.DataFrame:
    """The share of rows in which `column` is true, with its interval, for each value of `keys`.

    keys: columns that divide the rows, first in the result, before the fields of `Interval`;
    groups: the column that intervals cluster on.
    """
    table = []
    for values, part in rows.groupby(list(keys), sort=False):
        interval = cluster_interval(part[column], part[groups])
        table.append(dict(zip(keys, values, strict=True)) | vars(interval))
    return pd.DataFrame(table, columns=[*keys, *Interval.__dataclass_fields__])


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

    values: shares or, if `bounds` is `DIFFERENCE`, differences between two shares; kinds, groups:
    the kind and group of each value; weights: the weight of each kind, 1 in sum, all equal if not
    given. The result is nan if a kind in `weights` has no value.

    A mean of shares gets the narrower of two intervals: that of `linear_interval`, and
    Clopper-Pearson's for the number of trials that `fewest_trials` gives. The variance of the mean
    is at most that of a share in so many trials. A difference is gains minus losses.
    """
    rows = pd.DataFrame(
        {"value": values.to_numpy(), "kind": kinds.to_numpy(), "group": groups.to_numpy()}
    )
    if weights is None:
        names = sorted(rows["kind"].unique())
        weights = dict.fromkeys(names, 1 / len(names))
    rows = rows[rows["kind"].isin(list(weights))].dropna(subset="value")
    n = len(values)
    if rows["kind"].nunique() < len(weights):
        return Interval(np.nan, np.nan, np.nan, PAIRED, n, rows["group"].nunique())
    rows["value"] = rows["value"].astype(float)
    factors = list(weights.values())
    if bounds == SHARE:
        return _balanced_share(_sums_by_kind(rows, weights), factors, n, confidence)
    gains = _sums_by_kind(rows.assign(value=rows["value"].clip(lower=0)), weights)
    losses = _sums_by_kind(rows.assign(value=(-rows["value"]).clip(lower=0)), weights)
    intervals = [_balanced_share(sums, factors, n, confidence) for sums in (gains, losses)]
    shares = [_weighted_sums(sums, factors) for sums in (gains, losses)]
    return linear_interval(shares, (1, -1), n=n, intervals=intervals, confidence=confidence)


def _sums_by_kind(rows: pd.DataFrame, kinds: Iterable[str]) -> list[pd.DataFrame]:
    """The `group_sums` of each kind of rows."""
    by_kind = []
    for kind in kinds:
        answers = rows[rows["kind"] == kind]
        by_kind.append(group_sums(answers["value"], answers["group"]))
    return by_kind


def _balanced_share(
    by_kind: Sequence[pd.DataFrame], weights: Sequence[float], n: int, confidence: float
) -> Interval:
    """The interval of `balanced_interval` for shares. by_kind: the `group_sums` of each kind."""
    interval = linear_interval(by_kind, weights, n=n, confidence=confidence)
    trials = fewest_trials([sums["count"] for sums in by_kind], weights)
    return _narrower(interval, trials, confidence)


def _weighted_sums(by_kind: Sequence[pd.DataFrame], weights: Sequence[float]) -> pd.DataFrame:
    """The weighted share of all kinds as a row for each group: `sum` and `count`, scaled so that
    all counts together are 1.
    """
    pairs = zip(by_kind, weights, strict=True)
    parts = [sums * (weight / sums["count"].sum()) for sums, weight in pairs]
    return pd.concat(parts).groupby(level=0).sum()


def _narrower(interval: Interval, trials: float, confidence: float) -> Interval:
    """`interval`, that of a share, or Clopper-Pearson's for so many trials if it is narrower."""
    low, high = clopper_pearson(min(interval.value, 1.0) * trials, trials, confidence)
    if high - low < interval.ci_high - interval.ci_low:
        return replace(interval, ci_low=low, ci_high=high, ci_method=EXACT)
    return interval


def fewest_trials(counts: Sequence[pd.Series], weights: Sequence[float]) -> float:
    """How many independent trials a mean of shares, weighted by `weights`, is worth at least. The
    share that has the fewest groups for its weight decides. counts: for each share, the number of
    answers by group. For a single share the result is its number of effective groups, (sum of
    counts)^2 / (sum of squared counts).
    """
    parts = [weight * count / count.sum() for count, weight in zip(counts, weights, strict=True)]
    by_group = pd.concat(parts).groupby(level=0).sum()
    trial_weights = []
    for count in counts:
        products = count * by_group[count.index]
        # `fsum` gives the same sum in any order of groups.
        trial_weights.append(math.fsum(products) / count.sum())
    return 1 / max(trial_weights)


def linear_interval(
    shares: Sequence[pd.DataFrame],
    factors: Sequence[float],
    *,
    n: int,
    intervals: Sequence[Interval] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval:
    """A sum of shares, each times a factor, with an interval over groups. For example, the factors
    (1, -1) give a gap.

    shares: for each share, the `sum` and `count` by group, as `group_sums` returns; n: the number
    of answers; intervals: those of the shares, by default from `interval_of_sums`.

    Each end lies as far from the sum as the root of the summed squares of the distances between
    the shares and the ends of their intervals; the lower end uses the distances that make the sum
    less (MOVER: Zou and Donner 2008; Donner and Zou 2012; after Newcombe 1998). Correlations over
    groups count where they widen the interval. Where a share does not differ between groups, its
    correlation is unknown: two shares that move the sum in the same direction are then taken to be
    correlated as far as they have the same groups.
    """
    if intervals is None:
        intervals = [interval_of_sums(share, n=n, confidence=confidence) for share in shares]
    weights = np.array(factors, dtype=float)
    value = float(weights @ [interval.value for interval in intervals])
    columns = pd.concat(shares, axis=1).fillna(0.0)
    if np.isnan(value):
        return Interval(value, np.nan, np.nan, PAIRED, n, len(columns))
    down = np.array([interval.value - interval.ci_low for interval in intervals])
    up = np.array([interval.ci_high - interval.value for interval in intervals])
    rises = weights > 0
    downward = np.abs(weights) * np.where(rises, down, up)
    upward = np.abs(weights) * np.where(rises, up, down)
    correlations = _widening_correlations(columns.to_numpy(float), np.sign(weights))
    low = max(value - _root_of_squares(downward, correlations), weights[~rises].sum())
    high = min(value + _root_of_squares(upward, correlations), weights[rises].sum())
    return Interval(value, low, high, PAIRED, n, len(columns))


def _root_of_squares(distances: np.ndarray, correlations: np.ndarray) -> float:
    return float(np.sqrt(max(distances @ correlations @ distances, 0.0)))


def _widening_correlations(columns: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Correlations over groups between shares that are added or, where a sign is -1, subtracted: a
    matrix with 0 for those that would make the interval of the sum narrower. columns: one row a
    group, with the sum and the count of each share in turn.
    """
    columns = columns[np.lexsort(columns.T)]  # so that last digits do not depend on groups' names
    totals = columns.T[0::2]
    sizes = columns.T[1::2]
    shares = totals.sum(axis=1) / sizes.sum(axis=1)
    deviations = totals - sizes * shares[:, None]
    varies = (np.abs(deviations) > 1e-12).any(axis=1)
    correlations = np.eye(len(signs))
    for i, j in combinations(range(len(signs)), 2):
        if varies[i] and varies[j]:
            correlation = signs[i] * signs[j] * _cosine(deviations[i], deviations[j])
        elif signs[i] == signs[j]:
            correlation = _cosine(sizes[i], sizes[j])
        else:
            correlation = 0.0
        correlations[i, j] = max(correlation, 0.0)
        correlations[j, i] = correlations[i, j]
    return correlations


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def group_sums(values: pd.Series, groups: pd.Series, bounds: Bounds = SHARE) -> pd.DataFrame:
    """What `interval_of_sums` needs, one row a group: `sum` and `count` of the values that are not
    nan; for bounds of `DIFFERENCE`, the sums of `gains` and of `losses`, and `count`.
    """
    numbers = values.to_numpy(float)
    codes, labels = pd.factorize(groups.to_numpy(), sort=True)
    columns = {"sum": numbers}
    if bounds == DIFFERENCE:
        columns = {"gains": numbers.clip(min=0), "losses": (-numbers).clip(min=0)}
    columns["count"] = ~np.isnan(numbers)
    sums = {name: _exact_sums(column, codes) for name, column in columns.items()}
    return pd.DataFrame(sums, labels)


def _exact_sums(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The sum of values in each group, rounded once, because the last digits of fractions added one
    by one would depend on the order of rows. codes: the number of each value's group; nan adds 0.
    """
    values = np.nan_to_num(values)
    if (values % 1 == 0).all():
        return np.bincount(codes, values)
    parts = np.split(values[np.argsort(codes)], np.bincount(codes).cumsum()[:-1])
    return np.array([math.fsum(part) for part in parts])


def interval_of_sums(
    sums: pd.DataFrame, *, n: int, bounds: Bounds = SHARE, confidence: float = CONFIDENCE
) -> Interval:
    """The interval of `cluster_interval`, from `group_sums` in any order; n: number of answers."""
    if bounds == DIFFERENCE:
        # By place, which takes half the time.
        gains = sums.iloc[:, [0, 2]]
        losses = sums.iloc[:, [1, 2]]
        return linear_interval([gains, losses], (1, -1), n=n, confidence=confidence)
    # As an array: this function runs thousands of times, and selecting rows of a frame is slow.
    counts = sums.to_numpy(float)
    counts = counts[counts[:, 1] > 0]
    if not len(counts):
        return Interval(np.nan, np.nan, np.nan, JACKKNIFE, n, 0)
    total, size = counts.T
    order = np.lexsort((total, size))
    total = total[order]
    size = size[order]
    effective = size.sum() ** 2 / (size**2).sum()
    spread = (size * (total / size - total.sum() / size.sum()) ** 2).sum() / size.sum()
    return cluster_statistic(
        counts,
        ratio,
        n=n,
        bounds=bounds,
        confidence=confidence,
        least_error=np.sqrt(spread / effective),
        trials=effective if bounds == SHARE else None,
    )


def cluster_statistic(
    sums: pd.DataFrame | np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    n: int,
    bounds: Bounds = SHARE,
    confidence: float = CONFIDENCE,
    least_error: float = 0.0,
    trials: float | None = None,
) -> Interval:
    """A statistic of summed counts, such as an F1, with an interval over whole groups.

    sums: one row a group, and a column for each count that the statistic needs; rows of zeros are
    left out. statistic: a function from counts of shape (..., columns) to values of shape (...),
    nan where it is not defined. n: the number of answers. least_error: the standard error is at
    least this. trials: for a statistic from 0 to 1 that varies no more than a share in so many
    trials, such as a weighted F1 of answers in so many effective groups: its interval is no wider
    than Clopper-Pearson's for so many trials. Without `trials`, if one group of many is wrong, that
    group alone decides how wide the interval is.

    The jackknife leaves out each group in turn (Quenouille 1949; Efron and Stein 1981). Squared
    deviations from the value of all G groups are summed, not averaged, which errs on the safe side
    as MacKinnon and White's HC3 does (1985). Student's t has 2 G / (kurtosis - 1) degrees of
    freedom, at most G - 1 (Satterthwaite 1946). The ends are computed on the logit scale between
    the `bounds`, on the log scale if the upper bound is infinite, on the plain scale if the lower
    one is. If no group moves the value c when left out, all groups are taken to be alike, and the
    interval is c - q (c - low) to c + q (high - c), where q = 1 - .025^(1/G) is the greatest share
    of different groups that would go unseen so often (for an infinite end: c (1 + q)). If no group
    can be left out (there is only one), the interval is Clopper-Pearson's for G trials.
    """
    # Stored by column, because the order in memory changes the last digits of sums.
    counts = np.asfortranarray(sums, dtype=float)
    counts = counts[counts.any(axis=1)]
    counts = counts[np.lexsort(counts.T)]
    total = counts.sum(axis=0)
    size = len(counts)
    value = float(statistic(total))
    if np.isnan(value):
        return Interval(value, np.nan, np.nan, JACKKNIFE, n, size)
    moves = statistic(total - counts) - value
    moves = moves[~np.isnan(moves)]
    low, high = bounds
    if not len(moves) and np.isfinite(bounds).all():
        share = (value - low) / (high - low)
        ends = np.array(clopper_pearson(share * size, size, confidence))
        ci_low, ci_high = (low + (high - low) * ends).tolist()
        return Interval(value, ci_low, ci_high, EXACT, n, size)
    squares = (moves**2).sum()
    if not low < value < high or not squares > 1e-24:
        return Interval(value, *_ends_of_alike(value, bounds, size, confidence), ALIKE, n, size)
    kurtosis = len(moves) * (moves**4).sum() / squares**2
    degrees = 2 * size / (kurtosis - 1) if kurtosis > 1 else np.inf
    degrees = max(min(size - 1, degrees), 1)
    # A group is taken to move the value as the others do if the statistic is nan without it.
    error = max(np.sqrt(squares * size / len(moves)), least_error)
    distance = stdtrit(degrees, 1 - (1 - confidence) / 2) * error
    interval = Interval(value, *_ends_on_scale(value, distance, bounds), JACKKNIFE, n, size)
    return interval if trials is None else _narrower(interval, trials, confidence)


def _ends_of_alike(
    value: float, bounds: Bounds, size: int, confidence: float
) -> tuple[float, float]:
    """The ends of the interval if leaving out any one of `size` groups does not move the value."""
    unseen = 1 - ((1 - confidence) / 2) ** (1 / size)
    low = bounds[0] if np.isfinite(bounds[0]) else value - abs(value)
    high = bounds[1] if np.isfinite(bounds[1]) else value + abs(value)
    return value - unseen * (value - low), value + unseen * (high - value)


def _ends_on_scale(value: float, distance: float, bounds: Bounds) -> tuple[float, float]:
    """`value` minus and plus `distance`, on a scale on which neither end passes the bounds."""
    low, high = bounds
    if np.isinf(low):
        return value - distance, value + distance
    if np.isinf(high):
        factor = np.exp(distance / (value - low))
        return low + (value - low) / factor, low + (value - low) * factor
    share = (value - low) / (high - low)
    width = distance / ((high - low) * share * (1 - share))
    logit = np.log(share / (1 - share))
    lower_share = 1 / (1 + np.exp(-(logit - width)))
    upper_share = 1 / (1 + np.exp(-(logit + width)))
    return float(low + (high - low) * lower_share), float(low + (high - low) * upper_share)


def ratio(counts: np.ndarray) -> np.ndarray:
    """A mean for `cluster_statistic`: the first column over the second, nan if both are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts[..., 0] / counts[..., 1]


def clopper_pearson(
    successes: float, trials: float, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The exact interval of a share; `successes` and `trials` may be fractions."""
    tail = (1 - confidence) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes > 0 else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return float(low), float(high)


def agreement(
    ratings: pd.DataFrame, level: Literal["nominal", "ordinal", "interval"]
) -> dict[str, float]:
    """The number of `units` that two or more raters rated, and for these `percent_agreement` (the
    share, 0 to 1, in which all ratings are equal) and Krippendorff's `alpha`.

    ratings: one row a unit, one column a rater, missing where the rater gave no rating. alpha is
    nan if all ratings are the same.
    """
    rated = ratings[ratings.notna().sum(axis=1) >= 2]
    values = rated.to_numpy(float).T
    if len(np.unique(values[~np.isnan(values)])) < 2:
        alpha = np.nan
    else:
        alpha = float(krippendorff.alpha(values, level_of_measurement=level))
    agreeing = float((rated.nunique(axis=1) == 1).mean())
    return {"units": len(rated), "percent_agreement": agreeing, "alpha": alpha}


def alpha_interval(ratings: pd.DataFrame, level: str, groups: pd.Index) -> tuple[float, float]:
    """The interval of Krippendorff's alpha over groups of units, by `cluster_statistic`.

    ratings: as in `agreement`, coded by rank from 0; level: "nominal" or "ordinal"; groups: the
    group of each unit. Both ends are nan if alpha is not defined, or no group moves it when left
    out.
    """
    is_rated = (ratings.notna().sum(axis=1) >= 2).to_numpy()
    values = ratings[is_rated].to_numpy(float)
    if not len(values):
        return np.nan, np.nan
    codes = np.unique(values[values >= 0])
    counts = np.stack([(values == code).sum(axis=1) for code in codes], axis=1)
    # How often each value meets each other rater's value in a unit; alpha needs only the sums.
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(len(codes))
    pairs = pairs / (counts.sum(axis=1) - 1)[:, None, None]
    sums = pd.DataFrame(pairs.reshape(len(values), -1)).groupby(groups[is_rated]).sum()
    alpha = partial(_alpha, level=level)
    interval = cluster_statistic(sums, alpha, n=len(values), bounds=DIFFERENCE)
    if interval.ci_method != JACKKNIFE:
        return np.nan, np.nan
    return interval.ci_low, interval.ci_high


def _alpha(sums: np.ndarray, level: str) -> np.ndarray:
    """Krippendorff's alpha from the summed counts of pairs, shape (..., values * values)."""
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
