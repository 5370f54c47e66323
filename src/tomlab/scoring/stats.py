"""Uncertainty: intervals that resample whole groups, and agreement between raters."""

from collections.abc import Callable
from dataclasses import dataclass

import krippendorff
import numpy as np
import pandas as pd

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval. n: values; n_groups: groups; ci_method as in the metrics."""

    value: float
    ci_low: float
    ci_high: float
    ci_method: str
    n: int
    n_groups: int


def cluster_interval(
    values: pd.Series,
    groups: pd.Series,
    *,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean of bounded values with a percentile interval from resampling whole groups.

    values, groups: of one length. bounds: the least and greatest possible value, 0 and 1 for
    shares, -1 and 1 for differences of them, None for counts. Where resampling can't move the mean
    (one group, or all groups alike), the bootstrap would claim certainty; there the interval is
    Clopper-Pearson's for as many trials as there are groups, and for counts the values' range.
    """
    own = pd.Series(values.to_numpy(float))
    total, count = own.groupby(groups.to_numpy(), sort=True).agg(["sum", "count"]).to_numpy().T
    mean, method = float(total.sum() / count.sum()), "cluster bootstrap"
    if not np.allclose(total / count, mean):
        low, high = _percentile((total, count), _pooled, resamples, seed, paired=True)
    elif bounds is None:
        low, high = own.min(), own.max()
    else:
        least, width = bounds[0], bounds[1] - bounds[0]
        exact = clopper_pearson((mean - least) / width * len(total), len(total))
        low, high = (least + width * end for end in exact)
        method = "Clopper-Pearson"
    return Interval(mean, float(low), float(high), method, len(own), len(total))


def _pooled(total: np.ndarray, count: np.ndarray, axis: int) -> np.ndarray:
    return total.sum(axis) / count.sum(axis)


def _percentile(
    data: tuple, statistic: Callable, resamples: int, seed: int, **options: bool
) -> tuple[float, float]:
    from scipy.stats import bootstrap  # takes a second to import, which most notebooks never use

    options |= {"n_resamples": resamples, "confidence_level": CONFIDENCE, "method": "percentile"}
    drawn = bootstrap(data, statistic, rng=np.random.default_rng(seed), **options)
    return tuple(map(float, drawn.confidence_interval))


def cluster_statistic(
    sums: pd.DataFrame,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    n: int,
    strata: pd.Series | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """A statistic of summed counts, such as an F1, with an interval from resampling whole groups.

    sums: one row a group, the counts that the statistic is made of in its columns. statistic: from
    counts of shape (..., columns) to shares of shape (...), nan where it is not defined; resamples
    without a value are left out. strata: one label a group; groups are then drawn within theirs.
    n: the number of answers. Where resampling can't move the value, see `cluster_interval`.
    """
    counts = sums.to_numpy(float)
    value = float(statistic(counts.sum(axis=0)))
    labels = np.zeros(len(counts)) if strata is None else strata.to_numpy()
    rng, drawn_sums = np.random.default_rng(seed), np.zeros((resamples, counts.shape[1]))
    for label in pd.unique(labels):
        own = counts[labels == label]
        times = rng.multinomial(len(own), np.full(len(own), 1 / len(own)), size=resamples)
        drawn_sums += times @ own
    drawn = statistic(drawn_sums)
    drawn = drawn[~np.isnan(drawn)]
    low, high, method = value, value, "cluster bootstrap"
    if not np.isnan(value) and np.allclose(drawn, value):
        low, high = clopper_pearson(value * len(counts), len(counts))
        method = "Clopper-Pearson"
    elif not np.isnan(value):
        tail = 100 * (1 - CONFIDENCE) / 2
        low, high = np.percentile(drawn, [tail, 100 - tail])
    return Interval(value, float(low), float(high), method, n, len(counts))


def ratio(counts: np.ndarray) -> np.ndarray:
    """The first column over the second, nan where that is 0: a mean, for `cluster_statistic`."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts[..., 0] / counts[..., 1]


def clopper_pearson(successes: float, trials: int) -> tuple[float, float]:
    """The exact interval of a share; `successes` may be fractional."""
    from scipy.stats import beta  # see `_percentile`

    tail = (1 - CONFIDENCE) / 2
    low = beta.ppf(tail, successes, trials - successes + 1) if successes > 0 else 0.0
    high = beta.ppf(1 - tail, successes + 1, trials - successes) if successes < trials else 1.0
    return float(low), float(high)


def mean_interval(values: pd.Series, *, resamples: int = 2000, seed: int = 0) -> tuple:
    """Mean and percentile bootstrap interval (low, high) of ratings on any scale."""
    data = values.to_numpy(float)
    moves = len(data) > 1 and np.ptp(data) > 0
    ends = _percentile((data,), np.mean, resamples, seed) if moves else (np.nan, np.nan)
    return float(data.mean()), *ends


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


def alpha_interval(
    ratings: pd.DataFrame, level: str, groups: pd.Index | None = None, **options: int
) -> tuple[float, float]:
    """The interval of Krippendorff's alpha from resampling groups of units.

    ratings: as in `agreement`, coded by rank; level: "nominal" or "ordinal"; groups: one label a
    unit, each its own if not given; options: `resamples`, `seed`. nan where alpha cannot move.
    """
    used = (ratings.notna().sum(axis=1) >= 2).to_numpy()
    values = ratings[used].to_numpy(float)
    if not len(values):
        return np.nan, np.nan
    counts = np.stack([(values == code).sum(axis=1) for code in np.unique(values[values >= 0])], 1)
    # How often one rater's value meets another's in each unit: sums of it are all alpha needs.
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    pairs = pairs / (counts.sum(axis=1) - 1)[:, None, None]
    labels = np.arange(len(values)) if groups is None else groups[used]
    sums = pd.DataFrame(pairs.reshape(len(values), -1)).groupby(labels).sum()
    found = cluster_statistic(sums, lambda s: _alpha(s, level), n=len(values), **options)
    moved = found.ci_method == "cluster bootstrap"
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
