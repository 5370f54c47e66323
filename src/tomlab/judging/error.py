"""A mean score, such as OmniToM's macro F1, corrected by people's labels of a part (Sec. 5; judges:
App. B.4). Intervals leave out whole groups, see `scoring.stats`; nothing is drawn by lot.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from tomlab.scoring.stats import JACKKNIFE, Interval, cluster_interval, cluster_statistic

LEAST_LABELLED = 2  # groups: of one, no spread is known


def by_labels(stories: pd.DataFrame, by_size: bool = False) -> Interval | None:
    """The mean score by people's labels of some stories and a judge's word on all; n counts the
    labelled ones. None where too few are labelled, or none of a stratum.

    stories: one row a story: `group` (left out as a whole), `judged` (the score by the judge; nan:
    an output without a table, which is 0 whoever judges), `labelled` (the score by people, nan
    where nobody said) and optionally `stratum`, whose means are averaged. by_size: each weighs as
    its stories do, so that the value is the mean of them all.

    Prediction-powered inference with its power tuning (PPI++: Angelopoulos, Duchi and Zrnic 2023,
    arXiv 2311.01453): the labelled mean, moved by lambda times what the judge says of the other
    stories less what it says of these. It is right on average however the judge errs, if the
    labelled stories were drawn by lot from each stratum and did not choose the judge or its
    threshold. Strata that are labelled as a whole have no say in lambda. Where the sum leaves 0 to
    1, lambda is 0.
    """
    rows = stories.assign(labelled=stories["labelled"].where(stories["judged"].notna()))
    known = rows.dropna(subset="labelled")
    if known["group"].nunique() < LEAST_LABELLED:
        return None
    sums, shape = _sums(rows.assign(n=1), _of_labels(rows))
    if known["labelled"].nunique() == 1:
        # Labels that are all alike say as much as their number, not as that of all stories.
        total = sums.sum().to_numpy().reshape(shape)
        usable = _averaged(total, lambda c: c[..., 1] / c[..., 0], by_size)
        found = cluster_interval(known["labelled"], known["group"])
        ends = (usable * end for end in (found.value, found.ci_low, found.ci_high))
        return replace(found, **dict(zip(("value", "ci_low", "ci_high"), ends, strict=True)))

    def mean(tuned: bool) -> Callable[[np.ndarray], np.ndarray]:
        return lambda sums: _ppi(sums.reshape(*sums.shape[:-1], *shape), tuned, by_size)

    found = cluster_statistic(sums, mean(True), n=len(known))
    if found.ci_method != JACKKNIFE and not np.isnan(found.value):
        found = cluster_statistic(sums, mean(False), n=len(known))
    return None if np.isnan(found.value) else found


def _of_labels(rows: pd.DataFrame) -> pd.DataFrame:
    """What `_ppi` needs of each story: counts and sums of all that were judged, then of those of
    them that were labelled.
    """
    judged, labelled = rows["judged"], rows["labelled"]
    also = judged.where(labelled.notna())
    return pd.DataFrame(
        {
            "stories": 1.0,
            "judged": judged.notna(),
            "f": judged,
            "ff": judged**2,
            "labelled": labelled.notna(),
            "y": labelled,
            "f_of_y": also,
            "fy": also * labelled,
        }
    ).astype(float)


def _ppi(sums: np.ndarray, tuned: bool, by_size: bool) -> np.ndarray:
    """The mean over strata from sums of shape (..., strata, columns of `_of_labels`)."""
    partly = (sums[..., 1] > sums[..., 4])[..., None] * sums
    _, all_n, all_f, all_ff, all_k, all_y, all_fk, all_fy = np.moveaxis(partly.sum(-2), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = (all_fy - all_fk * all_y / all_k) / (all_k - 1)
        variance = (all_ff - all_f**2 / all_n) / (all_n - 1)
        best = covariance / variance * (1 - all_k / all_n)
    power = np.clip(np.nan_to_num(best, nan=0.0, posinf=0.0, neginf=0.0), 0, 1) * tuned

    def of_stratum(c: np.ndarray) -> np.ndarray:
        stories, n, f, _, k, y, fk, _ = np.moveaxis(c, -1, 0)
        others = np.where(n > k, (f - fk) / np.maximum(n - k, 1) - fk / k, 0.0)
        return np.where(n > 0, y / k + power[..., None] * others, 0.0) * n / stories

    return _averaged(sums, of_stratum, by_size)


def _sums(rows: pd.DataFrame, values: pd.DataFrame) -> tuple[pd.DataFrame, tuple[int, int]]:
    """Sums by group, a block of columns a stratum; and how many strata and columns there are."""
    stratum = rows["stratum"] if "stratum" in rows else pd.Series("", index=rows.index)
    wide = values.groupby([rows["group"].rename("group"), stratum.rename("stratum")]).sum()
    wide = wide.unstack("stratum", fill_value=0.0).swaplevel(axis=1)
    strata = stratum.unique()
    wide = wide[[(name, column) for name in strata for column in values]]
    return wide, (len(strata), values.shape[1])


def _averaged(
    sums: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], by_size: bool = False
) -> np.ndarray:
    """A statistic of each stratum, averaged; nan where it is not defined in one. by_size: weighted
    by the first of the sums, without strata in which that is 0.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found = statistic(sums)
        if not by_size:
            return found.mean(axis=-1)
        size = sums[..., 0]
        return np.where(size > 0, found * size, 0.0).sum(axis=-1) / size.sum(axis=-1)
