"""Judges' thresholds, chosen on other groups than they decide (calibration: OmniToM, App. B.4)."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from tomlab.errors import InputError

# More than so many candidate thresholds from scores are thinned to as many quantiles.
_MOST_CANDIDATES = 500


class CrossValidated(NamedTuple):
    """Decisions by thresholds that were chosen without the decided group."""

    decisions: pd.DataFrame  # group, unit, truth, decision, fold, threshold, in the order given
    final: float  # the threshold to use from now on, chosen on all groups


def cross_validated(scores: pd.DataFrame, folds: int) -> CrossValidated:
    """Decisions "score at or above the threshold", each fold's threshold chosen on the others.

    scores: `group, unit, score` (nan: undefined), `truth`. Candidates: the lowest, and midpoints.
    """
    scores = scores.reset_index(drop=True)
    values = scores["score"].to_numpy(float)
    levels = np.unique(values[~np.isnan(values)])
    if not len(levels):
        raise InputError("scores: found no defined score to choose a threshold from")
    candidates = np.append(levels[:1], (levels[:-1] + levels[1:]) / 2)
    if len(candidates) > _MOST_CANDIDATES:
        candidates = np.quantile(candidates, np.linspace(0, 1, _MOST_CANDIDATES), method="nearest")
    candidates = np.unique(candidates)  # those of scores that differ by rounding are one
    is_above = values[:, None] >= candidates
    decisions = np.where(np.isnan(values)[:, None], np.nan, is_above)
    units = scores[["group", "unit", "truth"]]
    return cross_validated_thresholds(
        units.join(pd.DataFrame(decisions, columns=candidates)), folds
    )


def cross_validated_thresholds(decided: pd.DataFrame, folds: int) -> CrossValidated:
    """The same for judges whose decisions at each threshold have to be made one by one.

    decided: `group, unit, truth` and a column a candidate threshold, named by its number, with the
    decisions there. The best threshold has the highest agreement averaged over groups; among equals
    the middle one. Folds keep groups whole. Errors: `InputError` for fewer groups than folds.
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
    """The threshold of the highest mean agreement, of several the middle one."""
    means = agreement.mean()
    equal = means.index[np.isclose(means, means.max())]
    return float(equal[len(equal) // 2])
