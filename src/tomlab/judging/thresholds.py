"""Chooses judges' thresholds on other groups than they are applied to (OmniToM, App. B.4)."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from tomlab.errors import InputError

# If scores give more candidate thresholds than this, so many quantiles of them are used.
_MOST_CANDIDATES = 500


class CrossValidated(NamedTuple):
    """Decisions by thresholds that were chosen on other groups than the decided one."""

    decisions: pd.DataFrame  # group, unit, truth, decision, fold, threshold, in the order given
    final: float  # the threshold to use from now on, chosen on all groups


def cross_validated(scores: pd.DataFrame, folds: int) -> CrossValidated:
    """Decides "yes" for scores at or above a threshold, chosen for each fold on the others.

    scores: `group, unit, score` (nan: undefined), `truth`. The candidate thresholds are the lowest
    score and the midpoints between neighbouring scores. Errors: `InputError` if no score is
    defined, or as in `cross_validated_thresholds`.
    """
    scores = scores.reset_index(drop=True)
    values = scores["score"].to_numpy(float)
    levels = np.unique(values[~np.isnan(values)])
    if not len(levels):
        raise InputError("scores: found no defined score to choose a threshold from")
    candidates = np.append(levels[:1], (levels[:-1] + levels[1:]) / 2)
    if len(candidates) > _MOST_CANDIDATES:
        candidates = np.quantile(candidates, np.linspace(0, 1, _MOST_CANDIDATES), method="nearest")
    candidates = np.unique(candidates)  # scores that differ by rounding can give equal midpoints
    is_above = values[:, None] >= candidates
    decisions = np.where(np.isnan(values)[:, None], np.nan, is_above)
    units = scores[["group", "unit", "truth"]]
    return cross_validated_thresholds(
        units.join(pd.DataFrame(decisions, columns=candidates)), folds
    )


def cross_validated_thresholds(decided: pd.DataFrame, folds: int) -> CrossValidated:
    """As `cross_validated`, for judges whose decisions at each threshold are given.

    decided: `group, unit, truth`, and a column for each candidate threshold, whose name is the
    threshold and whose values are the decisions at it. The chosen threshold has the highest
    agreement averaged over groups; of several such, it is the middle one. Folds keep groups whole.
    Errors: `InputError` for fewer than two folds, fewer groups than folds, or if no unit has both a
    truth and a decision.
    """
    from sklearn.model_selection import GroupKFold  # slow to import

    units = decided[["group", "unit", "truth"]]
    groups = decided["group"].to_numpy()
    n_groups = decided["group"].nunique()
    if not 2 <= folds <= n_groups:
        expected = "expected 2 folds or more and a group for each"
        raise InputError(f"thresholds: found {n_groups} groups for {folds} folds, {expected}")
    decisions = decided.drop(columns=[*units]).astype(float).sort_index(axis=1)
    truth = units["truth"].astype("boolean").astype(float)
    is_right = decisions.eq(truth, axis=0).where(decisions.notna()).astype(float)
    agreement = is_right[truth.notna()].groupby(groups[truth.notna()], sort=False).mean()
    if agreement.isna().all(axis=None):
        raise InputError("thresholds: found no unit with both a truth and a decision")
    fold = np.zeros(len(decided), dtype=int)
    threshold = np.zeros(len(decided))
    for number, (known, asked) in enumerate(GroupKFold(folds).split(decisions, groups=groups)):
        fold[asked] = number
        threshold[asked] = _best(agreement.reindex(pd.unique(groups[known])))
    places = decisions.columns.get_indexer(threshold)
    decision = pd.array(decisions.to_numpy()[np.arange(len(decided)), places], "boolean")
    chosen = units.assign(decision=decision, fold=fold, threshold=threshold)
    return CrossValidated(chosen, _best(agreement))


def _best(agreement: pd.DataFrame) -> float:
    """The threshold with the highest mean agreement; of several such, the middle one."""
    means = agreement.mean()
    equal = means.index[np.isclose(means, means.max())]
    return float(equal[len(equal) // 2])
