"""Corrects a mean score, such as OmniToM's macro F1, by people's labels of some stories (Sec. 5;
judges: App. B.4). Intervals leave out whole groups, see `scoring.stats`, without random numbers.
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

LEAST_LABELLED = 2  # groups, since a single group shows no spread


def by_labels(stories: pd.DataFrame) -> Interval | None:
    """The mean score of all stories, from people's labels of some and a judge's scores of all; the
    interval's n counts the labelled stories. None if fewer than `LEAST_LABELLED` groups have
    labels, or a stratum has none.

    stories: one row a story: `group` (left out as a whole), `judged` (the score by the judge; nan:
    an output without a table, whose score is 0 whoever judges it), `labelled` (the score by people,
    nan if nobody labelled it) and optionally `stratum`; a stratum weighs as its number of stories.

    The method is prediction-powered inference with power tuning (PPI++: Angelopoulos, Duchi and
    Zrnic 2023, arXiv 2311.01453): the mean of the labels, plus lambda times the judge's mean score
    of the other stories minus that of the labelled ones. It is right on average however the judge
    errs, if the labelled stories were drawn by lot from each stratum and were not used to choose
    the judge or its threshold. Strata whose stories are all labelled do not enter lambda. If the
    corrected mean is not between 0 and 1, lambda is set to 0.
    """
    judged = stories["judged"]
    labelled = stories["labelled"].where(judged.notna())
    is_labelled = labelled.notna()
    labels = labelled.dropna()
    groups = stories.loc[is_labelled, "group"]
    if groups.nunique() < LEAST_LABELLED:
        return None
    if labels.nunique() == 1:
        # If all labels are equal, their number decides the interval, not that of all stories.
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
    # One row for each group, and one column for each count and stratum.
    counts = pd.DataFrame(columns).astype(float).groupby([stories["group"], stratum]).sum()
    counts = counts.unstack("stratum", fill_value=0.0)
    # The labels alone are worth a share in so many trials; the judge's scores only add to that.
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
    is_tuned: whether the judge's scores count; if not, lambda is 0.
    """
    sums = counts.reshape(*counts.shape[:-1], -1, n_strata)
    stories, judged, score, _, labelled, label, score_too, _ = np.moveaxis(sums, -2, 0)
    is_partly_labelled = judged > labelled
    with np.errstate(invalid="ignore", divide="ignore"):
        power = is_tuned * _power((is_partly_labelled[..., None, :] * sums).sum(axis=-1))
        others = (score - score_too) / np.maximum(judged - labelled, 1)
        gap = np.where(is_partly_labelled, others - score_too / labelled, 0.0)
        means = np.where(judged > 0, label / labelled + power[..., None] * gap, 0.0)
        # Strata of which the jackknife leaves no story do not count.
        totals = np.where(stories > 0, means * judged / stories * stories, 0.0)
        return totals.sum(axis=-1) / stories.sum(axis=-1)


def _power(sums: np.ndarray) -> np.ndarray:
    """Lambda, from 0 to 1: how well the judge's scores predict people's."""
    _, judged, score, squares, labelled, label, score_too, products = np.moveaxis(sums, -1, 0)
    covariance = (products - score_too * label / labelled) / (labelled - 1)
    variance = (squares - score**2 / judged) / (judged - 1)
    power = covariance / variance * (1 - labelled / judged)
    return np.clip(np.nan_to_num(power, posinf=0.0, neginf=0.0), 0, 1)
