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
    above = np.where(np.isnan(values)[:, None], np.nan, values[:, None] >= candidates)
    decided = scores[["group", "unit", "truth"]].join(pd.DataFrame(above, columns=candidates))
    return cross_validated_thresholds(decided, folds)


def cross_validated_thresholds(decided: pd.DataFrame, folds: int) -> CrossValidated:
    """The same for judges whose decisions at each threshold have to be made one by one.

    decided: `group, unit, truth` and a column a candidate threshold, named by its number, with the
    decisions there. The best threshold has the highest agreement averaged over groups; among equals
    the middle one. Folds keep groups whole. Errors: `InputError` for fewer groups than folds.
    """
    from sklearn.model_selection import GroupKFold  # slow to import

    candidates = np.sort([float(name) for name in decided if isinstance(name, (int, float))])
    groups = decided["group"].to_numpy()
    if not 2 <= folds <= (found := len(pd.unique(groups))):
        expected = "expected 2 folds or more and a group for each"
        raise InputError(f"thresholds: found {found} groups for {folds} folds, {expected}")
    truth = decided[["truth"]].astype("boolean").to_numpy(float, na_value=np.nan)
    said = decided[list(candidates)].to_numpy(float)
    defined = ~np.isnan(said) & ~np.isnan(truth)
    right = pd.DataFrame(np.where(defined, said == truth, np.nan), columns=candidates)
    by_group = right.groupby(groups, sort=False).mean()
    if by_group.isna().all(axis=None):
        raise InputError("thresholds: found no unit with both a truth and a decision")

    def best(of: pd.DataFrame) -> float:
        agreement = of.mean()
        equal = agreement.index[np.isclose(agreement, agreement.max())]
        return float(equal[len(equal) // 2])

    fold, threshold = np.zeros(len(decided), dtype=int), np.zeros(len(decided))
    for number, (others, own) in enumerate(GroupKFold(folds).split(said, groups=groups)):
        fold[own], threshold[own] = number, best(by_group.loc[pd.unique(groups[others])])
    decision = said[np.arange(len(said)), np.searchsorted(candidates, threshold)]
    chosen = {"decision": pd.array(decision, "boolean"), "fold": fold, "threshold": threshold}
    return CrossValidated(decided[["group", "unit", "truth"]].assign(**chosen), best(by_group))
