"""A mean score, such as OmniToM's macro F1, corrected by people's labels of a part (Sec. 5; judges:
App. B.4). Intervals leave out whole groups, see `scoring.stats`; nothing is drawn by lot.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from tomlab.scoring.stats import (
    EXACT,
    JACKKNIFE,
    Interval,
    cluster_interval,
    cluster_statistic,
    fewest_trials,
)

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
    judged = stories["judged"]
    labelled = stories["labelled"].where(judged.notna())
    known, groups = labelled.dropna(), stories.loc[labelled.notna(), "group"]
    if groups.nunique() < LEAST_LABELLED:
        return None
    stratum = stories.get("stratum", pd.Series("", stories.index)).rename("stratum")
    if known.nunique() == 1:
        # Labels that are all alike say as much as their number, not as that of all stories.
        usable = judged.notna().groupby([0] * len(judged) if by_size else stratum).mean().mean()
        found = cluster_interval(known, groups)
        ends = {name: usable * getattr(found, name) for name in ("value", "ci_low", "ci_high")}
        return replace(found, **ends)
    also = judged.where(labelled.notna())
    of_story = {"stories": 1.0, "judged": judged.notna(), "f": judged, "ff": judged**2}
    of_story |= {"labelled": labelled.notna(), "y": labelled, "fk": also, "fy": also * labelled}
    columns = pd.DataFrame(of_story).astype(float)
    # A row a group, and a column a count and stratum.
    sums = columns.groupby([stories["group"].rename("group"), stratum]).sum()
    sums = sums.unstack("stratum", fill_value=0.0)

    def mean(counts: np.ndarray, is_tuned: bool = True) -> np.ndarray:
        return _ppi(counts.reshape(*counts.shape[:-1], len(of_story), -1), is_tuned, by_size)

    # The labels alone say as much as a share in so many trials; the judge's word only adds to it.
    own_strata = stratum[labelled.notna()]
    counts = [groups[own_strata == name].value_counts() for name in own_strata.unique()]
    sizes = np.array([(stratum == name).sum() for name in own_strata.unique()], dtype=float)
    weights = sizes / sizes.sum() if by_size else np.full(len(sizes), 1 / len(sizes))
    trials = fewest_trials(counts, weights)
    found = cluster_statistic(sums, mean, n=len(known), trials=trials)
    if found.ci_method not in (JACKKNIFE, EXACT) and not np.isnan(found.value):
        found = cluster_statistic(sums, lambda counts: mean(counts, False), n=len(known))
    return None if np.isnan(found.value) else found


def _ppi(sums: np.ndarray, is_tuned: bool, by_size: bool) -> np.ndarray:
    """The mean over strata from sums (..., counts of `by_labels`, strata); nan if one has none."""
    stories, n, f, _, k, y, fk, _ = np.moveaxis(sums, -2, 0)
    partly = ((n > k)[..., None, :] * sums).sum(axis=-1)
    _, all_n, all_f, all_ff, all_k, all_y, all_fk, all_fy = np.moveaxis(partly, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = (all_fy - all_fk * all_y / all_k) / (all_k - 1)
        variance = (all_ff - all_f**2 / all_n) / (all_n - 1)
        best = covariance / variance * (1 - all_k / all_n)
        power = np.clip(np.nan_to_num(best, posinf=0.0, neginf=0.0), 0, 1) * is_tuned
        others = np.where(n > k, (f - fk) / np.maximum(n - k, 1) - fk / k, 0.0)
        found = np.where(n > 0, y / k + power[..., None] * others, 0.0) * n / stories
        if by_size:  # without strata of which no story is left
            return np.where(stories > 0, found * stories, 0.0).sum(axis=-1) / stories.sum(axis=-1)
    return found.mean(axis=-1)
