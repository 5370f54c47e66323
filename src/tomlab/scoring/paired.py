"""Differences between two models on one method, or two methods of one model, on the same units.

Only units that both sides have count: answers, or question sets, stories, templates for set-level
metrics. Intervals are those of `scoring.stats`, over whole groups.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from tomlab.scoring.series import Found, Series, Told
from tomlab.scoring.stats import DIFFERENCE, SHARE, Interval, cluster_interval, cluster_statistic
from tomlab.scoring.stats import ratio as mean

# As `p_method`; up to how many groups that differ all swaps are counted.
SWAPS, INVERTED = "exact swaps", "inverted interval"
FEW = 14
LEVEL = 0.05
_LEAST = 1e-6  # the smallest p that is looked for
_UNEQUAL = 1e-12  # more than rounding
_PAIR = ["benchmark", "metric", "condition", "varies", "same", "a", "b"]

Side = tuple[str, str]  # model, method


def differences(
    benchmark: str,
    told: Told,
    cells: Collection[str | tuple[str, str]] | None = None,
    references: Sequence[str] = (),
) -> pd.DataFrame:
    """a - b for every two models on each method, and for each method less each of `references`.

    told: what the benchmark's `series` yields; cells: metrics, or pairs of metric and condition,
    all if not given. One row a difference: `varies` says what a and
    b are, `same` the method or model that they share. n, n_groups: units that both have and their
    groups; n_left_out: units that one has; n_discordant: groups whose sums differ. Sides without a
    unit in common, or on whose common units the metric is not defined, have no row.

    p is of no difference, see `p_of_swaps` and `p_of_interval`; p_holm is Holm's (1979), among the
    differences of one metric and condition that share a method or model; q is the false-discovery
    rate over all rows (Benjamini and Hochberg 1995). discordance, mean_square: of the groups'
    differences, by what they add to the whole, for `scoring.power`; missing for what is no mean.
    """
    made: dict[tuple[str, str], dict[Side, Found]] = defaultdict(dict)
    for model, method, one in told:
        cell = one.metric, one.condition
        if cells is None or one.metric in cells or cell in cells:
            made[cell][model, method] = one
    rows = [
        dict(zip(_PAIR, (benchmark, *cell, varies, same, a, b), strict=True)) | found
        for cell, sides in made.items()
        for varies, same, a, b in _pairs(list(sides), references)
        if (found := difference(*(sides[_side(varies, same, name)] for name in (a, b))))
    ]
    if not rows:
        return pd.DataFrame(columns=[*_PAIR, *_NUMBERS, "p_holm", "q"])
    table = pd.DataFrame(rows)
    family = table.groupby(["metric", "condition", "varies", "same"], sort=False)["p"]
    table["p_holm"] = family.transform(holm)
    from scipy.stats import false_discovery_control  # a second to import, and few stages compare

    table["q"] = false_discovery_control(table["p"])
    return table


def sides(row: pd.Series) -> tuple[Side, Side]:
    """Model and method of a and of b, of a row of `differences`."""
    return tuple(_side(row["varies"], row["same"], row[name]) for name in ("a", "b"))


def _side(varies: str, same: str, name: str) -> Side:
    return (name, same) if varies == "model" else (same, name)


def _pairs(sides: list[Side], references: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """What varies, what both share, a and b, in the order in which they are told."""
    models, methods = defaultdict(list), defaultdict(list)
    for model, method in sides:
        models[method].append(model)
        methods[model].append(method)
    for method, names in models.items():
        yield from (("model", method, a, b) for a, b in combinations(names, 2))
    for model, names in methods.items():
        others = [name for name in names if name not in references]
        pairs = product((name for name in references if name in names), others)
        yield from (("method", model, other, reference) for reference, other in pairs)


_NUMBERS = ["difference", "ci_low", "ci_high", "ci_method", "p", "p_method"]
_NUMBERS += ["n", "n_groups", "n_discordant", "n_left_out", "discordance", "mean_square"]


def difference(a: Found, b: Found) -> dict | None:
    """a - b on the units that both have, as the numbers of a row of `differences`; None without.

    A mean of bounded values has the interval of unit differences (`cluster_interval`), all else
    that of the two sides' sums side by side (`cluster_statistic`).
    """
    units = [_rows(side).index.unique() for side in (a, b)]
    common = units[0].intersection(units[1], sort=False)
    if common.empty:
        return None
    both = [_rows(side).loc[common] for side in (a, b)]
    sums = [_sums(side, rows) for side, rows in zip((a, b), both, strict=True)]
    # The same units are of the same groups.
    sums = [frame.reindex_like(sums[0]).fillna(0.0) for frame in sums]
    statistic = mean if isinstance(a, Series) else a.statistic
    bounds = a.bounds if isinstance(a, Series) else SHARE
    width = bounds[1] - bounds[0]
    is_paired = isinstance(a, Series) and all(rows.index.is_unique for rows in both)
    size = sums[0].shape[1]

    def apart(counts: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return statistic(counts[..., :size]) - statistic(counts[..., size:])

    def interval(confidence: float) -> Interval:
        how = {"confidence": confidence}
        if is_paired and np.isfinite(width):
            moved = (both[0]["value"] - both[1]["value"]) / width
            return cluster_interval(moved, both[0]["group"], bounds=DIFFERENCE, **how)
        side_by_side = pd.concat(sums, axis=1)
        return cluster_statistic(side_by_side, apart, n=len(common), bounds=(-width, width), **how)

    found = interval(1 - LEVEL)
    if np.isnan(found.value):
        return None
    scale = width if is_paired and np.isfinite(width) else 1.0
    counts = [frame.to_numpy(float) for frame in sums]
    discordant = (np.abs(counts[0] - counts[1]) > _UNEQUAL).any(axis=1)
    is_few = discordant.sum() <= FEW
    p = p_of_swaps(*counts, statistic) if is_few else p_of_interval(interval)
    pulls = (counts[0] - counts[1])[:, 0] * len(discordant) / max(counts[0][:, -1].sum(), 1)
    pulls = pulls if is_paired else np.array([np.nan])
    ends = [scale * end for end in (found.value, found.ci_low, found.ci_high)]
    how = found.ci_method, p, SWAPS if is_few else INVERTED
    n = len(common), len(discordant), int(discordant.sum()), sum(map(len, units)) - 2 * len(common)
    moments = float(np.abs(pulls).mean()), float((pulls**2).mean())
    return dict(zip(_NUMBERS, (*ends, *how, *n, *moments), strict=True))


def _rows(side: Found) -> pd.DataFrame:
    if not isinstance(side, Series):
        return side.rows
    values, groups = side.values.to_numpy(float), side.groups.to_numpy()
    return pd.DataFrame({"value": values, "group": groups}, side.values.index)


def _sums(side: Found, rows: pd.DataFrame) -> pd.DataFrame:
    if not isinstance(side, Series):
        return side.sums(rows)
    return rows.groupby("group", sort=False)["value"].agg(["sum", "count"])


def holm(p: pd.Series) -> pd.Series:
    """p values after Holm's correction for all of them (1979)."""
    in_order = p.sort_values()
    left = np.arange(len(p), 0, -1)
    return (in_order * left).cummax().clip(upper=1.0)[p.index]


def p_of_swaps(a: np.ndarray, b: np.ndarray, statistic: Callable) -> float:
    """The exact two-sided p of no difference, by swapping a and b within whole groups.

    a, b: the sums of both sides, shape (groups, columns). Were there no difference, each group's
    answers might as well be the other side's (Fisher 1935; for F1 and the like Noreen 1989 and Yeh
    2000): p is the share of all swaps that move the two at least as far apart as they are. With one
    yes or no a group it is McNemar's exact test. With d groups that differ it is no less than
    2^(1 - d), 1 without any.
    """
    differ = (np.abs(a - b) > _UNEQUAL).any(axis=1)
    if not differ.any():
        return 1.0
    # Swapping all groups turns the sign alone, so that the first may stay as it is.
    swaps = np.array(list(product((0.0, 1.0), repeat=int(differ.sum()) - 1)))
    moved = swaps @ (b - a)[differ][1:]
    with np.errstate(invalid="ignore"):
        apart = np.abs(statistic(a.sum(axis=0) + moved) - statistic(b.sum(axis=0) - moved))
    # Where swapping leaves it without a value, it counts as that far: the safe side.
    return float(np.mean(~(apart < apart[0] * (1 - 1e-9) - _UNEQUAL)))


def p_of_interval(interval: Callable[[float], Interval]) -> float:
    """The two-sided p of no difference by an interval: 1 less the confidence at which it reaches 0.

    interval: by confidence. Below .05 exactly where the interval of 95 % leaves out 0; no less than
    a millionth.
    """

    def beyond(p: float) -> float:
        with np.errstate(over="ignore"):
            found = interval(1 - p)
        return found.ci_low if found.value > 0 else -found.ci_high

    from scipy.optimize import brentq

    holds = beyond(LEVEL) > 0
    low, high = (_LEAST, LEVEL) if holds else (LEVEL, 1 - _LEAST)
    if holds and beyond(low) > 0:
        return low
    if not holds and beyond(high) <= 0:
        return 1.0
    return float(brentq(beyond, low, high, xtol=1e-5))
