"""A judge's error carried into a score, such as OmniToM's macro F1 (Sec. 5; judges: App. B.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tomlab.errors import InputError
from tomlab.judging.agreement import CELLS
from tomlab.scoring.stats import CONFIDENCE


@dataclass(frozen=True)
class JudgeError:
    """Macro F1 as judged and with the judge's error."""

    value: float  # as judged
    corrected: float  # mean over the resamples
    ci_low: float  # of its 95 % interval
    ci_high: float
    sensitivity: float  # of the judge, over all calibration groups
    specificity: float
    n: int  # stories


def with_judge_error(
    rows: pd.DataFrame, confusion: pd.DataFrame, resamples: int = 1000, seed: int = 0
) -> JudgeError:
    """Macro F1 over stories with an interval for stories, calibration groups and judge's error.

    rows: one belief a row: `story, side` ("predicted" or "gold"), `matched` (bool) and optionally
    `stratum` (one a story): stories are then drawn within strata, and stratum means averaged.
    confusion: `confusion(decisions, judge)`.
    Each resample draws stories and calibration groups; from the latter come sensitivity and
    specificity, from these the true share of matches on each side (Rogan and Gladen 1978, clipped),
    from that by Bayes how likely a row is truly matched given the judge's word, by which its true
    state is drawn. Assumes that the judge errs alike in all stories, row by row. Where sensitivity
    and specificity add up to 1 or less, the judge says nothing: the interval is 0 to 1.
    """
    total, matched, strata = _story_counts(rows)
    value = float(_macro_f1(matched, total, strata))
    cells = confusion[CELLS].to_numpy(float)
    judge = _rates(cells.sum(axis=0)).tolist()
    if not sum(judge) > 1:
        return JudgeError(value, np.nan, 0.0, 1.0, *judge, len(total))
    rng = np.random.default_rng(seed)
    drawn = np.hstack([rng.choice(own, size=(resamples, len(own))) for own in strata])
    groups = rng.multinomial(len(cells), np.full(len(cells), 1 / len(cells)), size=resamples)
    rates = _rates(groups @ cells)
    informative = rates.sum(axis=0) > 1
    truly = _drawn_truth(total[drawn], matched[drawn], np.where(informative, rates, 1.0), rng)
    sampled = _macro_f1(truly, total[drawn], strata)
    tail = (1 - CONFIDENCE) / 2
    # What a resample without information allows is anything.
    low = np.quantile(np.where(informative, sampled, 0.0), tail)
    high = np.quantile(np.where(informative, sampled, 1.0), 1 - tail)
    corrected = sampled[informative].mean() if informative.any() else np.nan
    return JudgeError(value, float(corrected), float(low), float(high), *judge, len(total))


def _drawn_truth(
    total: np.ndarray, matched: np.ndarray, rates: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """How many rows are truly matched, drawn given the judge's counts by resample, story and side.

    Rows of a story with one decision are alike, so their sum is binomial.
    """
    # Gold rows of stories without a prediction were never judged.
    judged = total[:, :, :1] > 0
    observed = (matched * judged).sum(axis=1) / np.maximum((total * judged).sum(axis=1), 1)
    sensitivity, specificity = rates[:, :, None]
    share = np.clip((observed + specificity - 1) / (sensitivity + specificity - 1), 0, 1)

    def true_given(true: np.ndarray, false: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            # 0 / 0: what the judge said cannot occur at this share, 0 or 1 for every row.
            return np.where(true + false > 0, true / (true + false), share)[:, None, :]

    if_yes = true_given(sensitivity * share, (1 - specificity) * (1 - share))
    if_no = true_given((1 - sensitivity) * share, specificity * (1 - share))
    return rng.binomial(matched, if_yes) + rng.binomial(total - matched, if_no)


def _story_counts(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Rows and matched rows, shape (stories, predicted and gold), and each stratum's stories."""
    sides = ["predicted", "gold"]
    if rows.empty or not rows["side"].isin(sides).all():
        raise InputError("judged rows: expected some, each of side 'predicted' or 'gold'")
    matched = rows["matched"].astype(int)
    stratum = rows["stratum"] if "stratum" in rows else pd.Series(0, index=rows.index)
    counts = matched.groupby([stratum, rows["story"], rows["side"]]).agg(["count", "sum"])
    wide = counts.unstack("side", fill_value=0).sort_index()
    if wide.index.get_level_values(1).has_duplicates:
        raise InputError("judged rows: found a story in two strata, expected one a story")
    both = [wide[n].reindex(columns=sides, fill_value=0).to_numpy() for n in ("count", "sum")]
    labels = wide.index.get_level_values(0)
    return *both, [np.flatnonzero(labels == label) for label in labels.unique()]


def _macro_f1(matched: np.ndarray, total: np.ndarray, strata: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over strata of the mean F1; counts: shape (..., stories, predicted and gold)."""
    shares = matched / np.maximum(total, 1)
    both = shares.sum(axis=-1)
    f1 = 2 * shares.prod(axis=-1) / np.where(both > 0, both, 1)
    return np.mean([f1[..., own].mean(axis=-1) for own in strata], axis=0)


def _rates(cells: np.ndarray) -> np.ndarray:
    """Sensitivity and specificity of counts (..., tp fp fn tn), 0 where nothing tells."""
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    return np.array([tp / np.maximum(tp + fn, 1), tn / np.maximum(tn + fp, 1)])
