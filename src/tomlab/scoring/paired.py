"""Differences between two models on one method, or two methods of one model, on the same units.

Only units that both sides have count: answers, or question sets, stories, templates for set-level
metrics. Intervals are those of `scoring.stats`, over whole groups.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd

from tomlab.asking.likelihood import is_weighed
from tomlab.scoring import stats
from tomlab.scoring.series import Found, Series, Statistic, Told

LEVEL = 0.05
_LEAST = 1e-6  # the smallest p that is looked for
_UNEQUAL = 1e-12  # more than rounding
_PAIR = ["benchmark", "metric", "condition", "varies", "same", "a", "b"]
_NUMBERS = ["difference", "ci_low", "ci_high", "ci_method", "p"]
_NUMBERS += ["n", "n_groups", "n_discordant", "n_left_out"]

Side = tuple[str, str]  # model, method


def differences(
    benchmark: str,
    told: Told,
    cells: Collection[str | tuple[str, str]] | None = None,
    references: Sequence[str] = (),
) -> pd.DataFrame:
    """a - b for every two models on each method, and for each method less each of `references`.

    told: what the benchmark's `series` yields; cells: metrics, or pairs of metric and condition,
    all if not given. A row a difference: `varies` says what a and b are, `same` the method or
    model that they share; n, n_groups: units that both have and their groups; n_left_out: units
    that one has; n_discordant: groups whose sums differ; p: of no difference, see `p_of_interval`;
    p_holm: Holm's (1979), among those of one metric and condition that share a method or model.
    Where the metric is not defined on common units, there is no row.
    """
    made: dict[tuple[str, str], dict[Side, Found]] = defaultdict(dict)
    for model, method, one in told:
        cell = one.metric, one.condition
        if cells is None or one.metric in cells or cell in cells:
            made[cell][model, method] = one
    rows = [
        dict(zip(_PAIR, (benchmark, *cell, *pair), strict=True)) | found
        for cell, by_side in made.items()
        for pair in _pairs([*by_side], references)
        if (found := difference(*map(by_side.get, sides(*pair))))
    ]
    if not rows:
        return pd.DataFrame(columns=[*_PAIR, *_NUMBERS, "p_holm"])
    table = pd.DataFrame(rows)
    family = table.groupby(["metric", "condition", "varies", "same"], sort=False)["p"]
    table["p_holm"] = family.transform(holm)
    return table


def holm(p: pd.Series) -> pd.Series:
    """As statsmodels' `multipletests`, which takes seconds to import."""
    rising = p.dropna().sort_values()
    holds = (rising * np.arange(len(rising), 0, -1)).cummax().clip(upper=1)
    return holds.reindex(p.index)


def sides(varies: str, same: str, a: str, b: str) -> tuple[Side, Side]:
    """Model and method of a and of b, as a row of `differences` names them."""
    return ((a, same), (b, same)) if varies == "model" else ((same, a), (same, b))


def _pairs(sides: list[Side], references: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """What varies, what both share, a and b, in the order in which they are told."""
    for shared in dict.fromkeys(method for _, method in sides):
        names = [model for model, method in sides if method == shared]
        yield from (("model", shared, a, b) for a, b in combinations(names, 2))
    for shared in dict.fromkeys(model for model, _ in sides):
        names = [method for model, method in sides if model == shared]
        # What is asked by likelihood is no intervention on what is generated.
        others = [name for name in names if name not in references and not is_weighed(name)]
        pairs = product((name for name in references if name in names), others)
        yield from (("method", shared, other, reference) for reference, other in pairs)


def difference(a: Found, b: Found, by: float = 0.0) -> dict | None:
    """a - b on the units that both have, as the numbers of a row of `differences`; None without.
    The p is of a difference `by` so much.
    Where there is no interval, as a label or a right answer is in too few groups, there is no p.

    A mean of bounded values, or of kinds' means, has the interval of unit differences
    (`cluster_interval`, `balanced_interval`). Where units have several values, as a story has
    beliefs, that is of two shares (`linear_interval`). All else has that of the two sides' sums
    side by side (`cluster_statistic`).
    """
    sides = _of_sums(a), _of_sums(b)
    units = [side.rows.index.unique() for side in sides]
    common = units[0].intersection(units[1], sort=False)
    if common.empty:
        return None
    both = [side.rows.loc[common] for side in sides]
    sums = [side.sums(rows) for side, rows in zip(sides, both, strict=True)]
    # The same units are of the same groups.
    sums = [frame.reindex_like(sums[0]).fillna(0.0) for frame in sums]
    low, high = a.bounds if isinstance(a, Series) else stats.SHARE
    width = high - low
    scale = 1.0
    if isinstance(a, Series) and np.isfinite(width) and all(r.index.is_unique for r in both):
        scale = width
        interval = partial(_of_units, a, both, width)
    elif isinstance(a, Series) and a.bounds == stats.SHARE:
        interval = partial(_of_two_shares, sums, len(common))
    else:
        interval = partial(_side_by_side, sides[0], sums, len(common), width)

    found = interval(1 - LEVEL)
    if np.isnan(found.value):
        return None
    ends = [scale * end for end in (found.value, found.ci_low, found.ci_high)]
    discordant = (sums[0] - sums[1]).abs().gt(_UNEQUAL).any(axis=1)
    n = len(common), len(discordant), int(discordant.sum()), sum(map(len, units)) - 2 * len(common)
    told = *ends, found.ci_method, p_of_interval(interval, by / scale), *n
    return dict(zip(_NUMBERS, told, strict=True))


def _of_units(
    side: Series, both: Sequence[pd.DataFrame], width: float, confidence: float
) -> stats.Interval:
    """The interval of the differences by unit, as a share of the greatest possible one."""
    moved = (both[0]["value"] - both[1]["value"]) / width
    groups = both[0]["group"]
    if side.kinds is None:
        sums = stats.group_sums(moved, groups, stats.DIFFERENCE)
        how = {"bounds": stats.DIFFERENCE, "confidence": confidence}
        return stats.interval_of_sums(sums, n=len(moved), **how)
    how = {"weights": side.weights, "bounds": stats.DIFFERENCE, "confidence": confidence}
    return stats.balanced_interval(moved, both[0]["kind"], groups, **how)


def _of_two_shares(sums: Sequence[pd.DataFrame], n: int, confidence: float) -> stats.Interval:
    return stats.linear_interval(sums, (1, -1), n=n, confidence=confidence)


def _side_by_side(
    side: Statistic, sums: Sequence[pd.DataFrame], n: int, width: float, confidence: float
) -> stats.Interval:
    size = sums[0].shape[1]

    def apart(counts: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return side.statistic(counts[..., :size]) - side.statistic(counts[..., size:])

    how = {"bounds": (-width, width), "confidence": confidence}
    found = stats.cluster_statistic(pd.concat(sums, axis=1), apart, n=n, **how)
    return side.told(found, *sums)


def _of_sums(side: Found) -> Statistic:
    """A mean as the statistic of sums that it is."""
    if isinstance(side, Statistic):
        return side
    values = {"value": side.values.to_numpy(float), "group": side.groups.to_numpy()}
    if side.kinds is not None:
        values["kind"] = side.kinds.to_numpy()
    rows = pd.DataFrame(values, side.values.index)
    made = {"sums": lambda own: stats.group_sums(own["value"], own["group"])}
    return Statistic(side.metric, side.condition, rows, statistic=stats.ratio, **made)


def p_of_interval(interval: Callable[[float], stats.Interval], by: float = 0.0) -> float:
    """The two-sided p of a difference `by` so much: 1 less the confidence at which `interval`
    reaches it, so that p and interval can't contradict each other: p is below .05 exactly where the
    interval of 95 % leaves it out. No less than a millionth; nan where there is no interval.
    """

    def beyond(p: float) -> float:
        with np.errstate(over="ignore"):
            found = interval(1 - p)
        return found.ci_low - by if found.value > by else by - found.ci_high

    from scipy.optimize import brentq

    if np.isnan(at_level := beyond(LEVEL)):
        return np.nan
    holds = at_level > 0
    low, high = (_LEAST, LEVEL) if holds else (LEVEL, 1 - _LEAST)
    if holds and beyond(low) > 0:
        return low
    if not holds and beyond(high) <= 0:
        return 1.0
    p = float(brentq(beyond, low, high, xtol=1e-5))
    # The root is only found to five digits, and may lie that near to .05.
    return min(p, np.nextafter(LEVEL, 0)) if holds else p
