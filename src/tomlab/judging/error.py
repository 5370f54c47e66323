"""A mean score, such as OmniToM's macro F1, corrected by people's labels of a part (Sec. 5; judges:
App. B.4). Intervals leave out whole groups, see `scoring.stats`; nothing is drawn by lot.
"""

from dataclasses import replace
from functools import partial

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


def by_labels(stories: pd.DataFrame) -> Interval | None:
    """The mean score by people's labels of some stories and a judge's word on all; n counts the
    labelled ones. None where too few are labelled, or none of a stratum.

    stories: one row a story: `group` (left out as a whole), `judged` (the score by the judge; nan:
    an output without a table, which is 0 whoever judges), `labelled` (the score by people, nan
    where nobody said) and optionally `stratum`, each of which weighs as its stories do.

    Prediction-powered inference with its power tuning (PPI++: Angelopoulos, Duchi and Zrnic 2023,
    arXiv 2311.01453): the labelled mean, moved by lambda times what the judge says of the other
    stories less what it says of these. It is right on average however the judge errs, if the
    labelled stories were drawn by lot from each stratum and did not choose the judge or its
    threshold. Strata that are labelled as a whole have no say in lambda. Where the sum leaves 0 to
    1, lambda is 0.
    """
    judged = stories["judged"]
    labelled = stories["labelled"].where(judged.notna())
    is_labelled = labelled.notna()
    labels = labelled.dropna()
    groups = stories.loc[is_labelled, "group"]
    if groups.nunique() < LEAST_LABELLED:
        return None
    if labels.nunique() == 1:
        # Labels that are all alike say as much as their number, not as that of all stories.
        usable = judged.notna().mean()
        interval = cluster_interval(labels, groups)
        return replace(
            interval,
            value=usable * interval.value,
            ci_low=usable * interval.ci_low,
            ci_high=usable * interval.ci_high,
        )
    stratum = stories.get("stratum", pd.Series("", stories.index)).rename("stratum")
    judged_too = judged.where(is_labelled)
    columns = {
        "stories": 1.0,
        "judged": judged.notna(),
        "sum of judged": judged,
        "squares": judged**2,
        "labelled": is_labelled,
        "sum of labels": labelled,
        "sum of judged too": judged_too,
        "products": judged_too * labelled,
    }
    # A row a group, and a column a count and stratum.
    counts = pd.DataFrame(columns).astype(float).groupby([stories["group"], stratum]).sum()
    counts = counts.unstack("stratum", fill_value=0.0)
    # The labels alone say as much as a share in so many trials; the judge's word only adds to it.
    labels_by_group = []
    sizes = []
    for name in stratum[is_labelled].unique():
        labels_by_group.append(groups[stratum[is_labelled] == name].value_counts())
        sizes.append((stratum == name).sum())
    trials = fewest_trials(labels_by_group, np.array(sizes) / sum(sizes))
    n_strata = stratum.nunique()
    mean = partial(_corrected_mean, n_strata=n_strata)
    interval = cluster_statistic(counts, mean, n=len(labels), trials=trials)
    if interval.ci_method not in (JACKKNIFE, EXACT) and not np.isnan(interval.value):
        mean = partial(_corrected_mean, n_strata=n_strata, is_tuned=False)
        interval = cluster_statistic(counts, mean, n=len(labels))
    return None if np.isnan(interval.value) else interval


def _corrected_mean(counts: np.ndarray, n_strata: int, is_tuned: bool = True) -> np.ndarray:
    """The mean over all stories from the counts of `by_labels`; nan if a stratum has no label.
    is_tuned: whether the judge has a say.
    """
    sums = counts.reshape(*counts.shape[:-1], -1, n_strata)
    stories, judged, score, _, labelled, label, score_too, _ = np.moveaxis(sums, -2, 0)
    is_partly_labelled = judged > labelled
    with np.errstate(invalid="ignore", divide="ignore"):
        power = is_tuned * _power((is_partly_labelled[..., None, :] * sums).sum(axis=-1))
        others = (score - score_too) / np.maximum(judged - labelled, 1)
        gap = np.where(is_partly_labelled, others - score_too / labelled, 0.0)
        means = np.where(judged > 0, label / labelled + power[..., None] * gap, 0.0)
        # Without strata of which no story is left.
        totals = np.where(stories > 0, means * judged / stories * stories, 0.0)
        return totals.sum(axis=-1) / stories.sum(axis=-1)


def _power(sums: np.ndarray) -> np.ndarray:
    """Lambda: how much the judge's scores tell of people's, from 0 to 1."""
    _, judged, score, squares, labelled, label, score_too, products = np.moveaxis(sums, -1, 0)
    covariance = (products - score_too * label / labelled) / (labelled - 1)
    variance = (squares - score**2 / judged) / (judged - 1)
    power = covariance / variance * (1 - labelled / judged)
    return np.clip(np.nan_to_num(power, posinf=0.0, neginf=0.0), 0, 1)
