"""How well automatic judges agree with labelled decisions, and what their errors do to a score.

Judge calibration of OmniToM (App. B.4) and of every other task with a yes/no judge. A decisions
table has one row a judge and unit: `judge, group, unit, truth` (bool, missing where nobody decided)
and `decision` (bool, missing where the judge's answer gave none). Units are grouped by story;
intervals resample groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold

from tomlab.errors import InputError
from tomlab.stats import CONFIDENCE, cluster_interval, cluster_statistic, ratio

# More than so many candidate thresholds from scores are thinned to as many quantiles.
_MOST_CANDIDATES = 500
_CELLS = ["tp", "fp", "fn", "tn"]
_NONE = (np.nan, np.nan, np.nan)


def report(decisions: pd.DataFrame, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """One row a judge, the highest agreement first.

    agreement: share of units on which judge and truth agree, per group over the units where both
    are defined, averaged over groups (App. B.4). precision, recall, kappa (Cohen's): over the units
    of all groups. agreement_all: agreement with undefined decisions as disagreements, so that no
    judge gains by silence. Each has an interval from resampling groups: `ci_low, ci_high` for
    agreement, `<name>_low, <name>_high` for the others; nan where a value is not defined.
    n: units with a truth; undefined: those of them without a decision; n_groups: groups with both.
    """
    options = {"resamples": resamples, "seed": seed}
    rows = []
    for judge, units in _known(decisions).groupby("judge", sort=False):
        said = units[units["decision"].notna()]
        agreed = (said["decision"] == said["truth"]).groupby(said["group"]).mean()
        in_all = (units["decision"] == units["truth"]).groupby(units["group"]).mean()
        cells = confusion(decisions, judge).set_index("group")
        values = {
            "agreement": _mean(agreed, options),
            "precision": _share_of(cells, ["tp"], ["tp", "fp"], options),
            "recall": _share_of(cells, ["tp"], ["tp", "fn"], options),
            "kappa": _kappa_interval(cells, options),
            "agreement_all": _mean(in_all, options),
        }
        row = {"judge": judge}
        for name, (value, low, high) in values.items():
            ends = "ci" if name == "agreement" else name
            row |= {name: value, f"{ends}_low": low, f"{ends}_high": high}
        counts = {"n": len(units), "undefined": len(units) - len(said), "n_groups": len(agreed)}
        rows.append(row | counts)
    return pd.DataFrame(rows).sort_values("agreement", ascending=False, ignore_index=True)


def winner(agreement: pd.DataFrame) -> str:
    """The judge of the highest agreement, undefined decisions against it, among those that were
    shown all units. agreement: of `report`.
    """
    complete = agreement[agreement["n"] == agreement["n"].max()]
    return str(complete.loc[complete["agreement_all"].idxmax(), "judge"])


def differences(
    decisions: pd.DataFrame, best: str, resamples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """How much the agreement of judge `best` is above each other judge's.

    Like is held against like: per group, over the units that both decided. Columns: `judge, best,
    difference, ci_low, ci_high, n` (units), `n_groups`; the interval resamples groups, in pairs.
    """
    known = _known(decisions)
    _expect(best, known)
    right = (known["decision"] == known["truth"]).where(known["decision"].notna())
    wide = known.assign(right=right.astype(float)).pivot(
        index=["group", "unit"], columns="judge", values="right"
    )
    rows = []
    for judge in known["judge"].unique():
        if judge == best:
            continue
        both = wide[[best, judge]].dropna()
        gained = (both[best] - both[judge]).groupby("group").mean()
        value, low, high = _mean(gained, {"resamples": resamples, "seed": seed}, (-1.0, 1.0))
        row = {"judge": judge, "best": best, "difference": value, "ci_low": low, "ci_high": high}
        rows.append(row | {"n": len(both), "n_groups": len(gained)})
    columns = ["judge", "best", "difference", "ci_low", "ci_high", "n", "n_groups"]
    return pd.DataFrame(rows, columns=columns)


def confusion(decisions: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Counts by group of one judge's defined decisions: `group, tp, fp, fn, tn`."""
    known = _known(decisions)
    _expect(judge, known)
    own = known[(known["judge"] == judge) & known["decision"].notna()]
    yes, true = own["decision"] == 1, own["truth"] == 1
    cells = {"tp": yes & true, "fp": yes & ~true, "fn": ~yes & true, "tn": ~yes & ~true}
    counts = pd.DataFrame(cells).groupby(own["group"], sort=False).sum().reset_index()
    return counts[["group", *_CELLS]]


def kappa(cells: np.ndarray) -> np.ndarray:
    """Cohen's kappa of counts (..., tp fp fn tn); nan where chance alone would agree fully."""
    tp, fp, fn, tn = np.moveaxis(np.asarray(cells, dtype=float), -1, 0)
    total = tp + fp + fn + tn
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / total**2
        return np.where(chance < 1, ((tp + tn) / total - chance) / (1 - chance), np.nan)


def _known(decisions: pd.DataFrame) -> pd.DataFrame:
    """The units with a truth; truth and decision as 1, 0 and nan."""
    keys = ["judge", "group", "unit"]
    needed = [*keys, "truth", "decision"]
    if missing := [name for name in needed if name not in decisions]:
        raise InputError(f"decisions: missing columns {', '.join(missing)}")
    if (twice := decisions.duplicated(keys)).any():
        found = decisions.loc[twice, keys].iloc[0].to_dict()
        raise InputError(f"decisions: found {found} more than once, expected once")
    numbers = {name: _numbers(decisions[name]) for name in ("truth", "decision")}
    known = decisions[needed].assign(**numbers)
    return known[known["truth"].notna()].reset_index(drop=True)


def _numbers(values: pd.Series) -> np.ndarray:
    return values.astype("boolean").to_numpy(dtype=float, na_value=np.nan)


def _expect(judge: str, known: pd.DataFrame) -> None:
    if judge not in set(known["judge"]):
        judges = ", ".join(map(str, known["judge"].unique()))
        raise InputError(f"decisions: found no judge {judge!r}; there are: {judges}")


def _mean(by_group: pd.Series, options: dict, bounds: tuple[float, float] = (0.0, 1.0)) -> tuple:
    if by_group.empty:
        return _NONE
    found = cluster_interval(by_group, by_group.index.to_series(), bounds=bounds, **options)
    return found.value, found.ci_low, found.ci_high


def _share_of(cells: pd.DataFrame, hits: list[str], of: list[str], options: dict) -> tuple:
    counts = pd.DataFrame({"hits": cells[hits].sum(axis=1), "of": cells[of].sum(axis=1)})
    counts = counts[counts["of"] > 0]
    if counts.empty:
        return _NONE
    found = cluster_statistic(counts, ratio, n=int(counts["of"].sum()), **options)
    return found.value, found.ci_low, found.ci_high


def _kappa_interval(cells: pd.DataFrame, options: dict) -> tuple:
    if cells.empty:
        return _NONE
    n = int(cells.to_numpy().sum())
    # From -1..1 to a share and back: where resampling moves nothing, the interval is one of shares.
    found = cluster_statistic(cells[_CELLS], lambda c: (kappa(c) + 1) / 2, n=n, **options)
    return tuple(2 * value - 1 for value in (found.value, found.ci_low, found.ci_high))


# ---- Choosing a threshold ------------------------------------------------------------------------


@dataclass(frozen=True)
class CrossValidated:
    """Decisions by thresholds that were chosen without the decided group.

    decisions: `group, unit, truth, decision, fold, threshold`, in the order given; thresholds: one
    a fold; final: the one to use from now on, chosen on all groups. agreement: of every candidate
    threshold, over all groups.
    """

    decisions: pd.DataFrame
    thresholds: tuple[float, ...]
    final: float
    agreement: pd.Series


def cross_validated(scores: pd.DataFrame, folds: int) -> CrossValidated:
    """Decisions "score at or above the threshold", each fold's threshold chosen on the others.

    scores: `group, unit, score` (nan: undefined), `truth`. Candidates are the lowest score and the
    places halfway between neighbouring ones. For a score that means the same whatever the
    threshold; otherwise see `cross_validated_thresholds`.
    """
    scores = scores.reset_index(drop=True)
    values = scores["score"].to_numpy(float)
    levels = np.unique(values[~np.isnan(values)])
    if not len(levels):
        raise InputError("scores: found no defined score to choose a threshold from")
    candidates = np.append(levels[:1], (levels[:-1] + levels[1:]) / 2)
    if len(candidates) > _MOST_CANDIDATES:
        share = np.linspace(0, 1, _MOST_CANDIDATES)
        candidates = np.quantile(candidates, share, method="nearest")
    # Scores that differ in the last digits of a float have one place between them.
    candidates = np.unique(candidates)
    above = np.where(np.isnan(values)[:, None], np.nan, values[:, None] >= candidates)
    wide = pd.DataFrame(above, columns=candidates)
    return cross_validated_thresholds(scores[["group", "unit", "truth"]].join(wide), folds)


def cross_validated_thresholds(decided: pd.DataFrame, folds: int) -> CrossValidated:
    """The same for judges whose decisions at each threshold have to be made one by one.

    decided: `group, unit, truth` and a column a candidate threshold, named by its number, with the
    decisions there. The best threshold has the highest agreement averaged over groups; among equals
    the middle one. Folds keep groups whole. Errors: `InputError` for fewer groups than folds.
    """
    candidates = np.sort([float(name) for name in decided if isinstance(name, (int, float))])
    groups = decided["group"].to_numpy()
    if not 2 <= folds <= len(pd.unique(groups)):
        found = len(pd.unique(groups))
        raise InputError(f"thresholds: found {found} groups for {folds} folds, expected 2 or more")
    truth = _numbers(decided["truth"])
    said = decided[list(candidates)].to_numpy(float)
    defined = ~np.isnan(said) & ~np.isnan(truth)[:, None]
    right = pd.DataFrame(np.where(defined, said == truth[:, None], np.nan), columns=candidates)
    by_group = right.groupby(groups, sort=False).mean()
    if by_group.isna().all(axis=None):
        raise InputError("thresholds: found no unit with both a truth and a decision")

    def best(of: pd.DataFrame) -> float:
        agreement = of.mean()
        equal = agreement.index[np.isclose(agreement, agreement.max())]
        return float(equal[len(equal) // 2])

    fold, threshold = np.zeros(len(decided), dtype=int), np.zeros(len(decided))
    chosen = []
    parts = GroupKFold(n_splits=folds).split(said, groups=groups)
    for number, (others, own) in enumerate(parts):
        chosen.append(best(by_group.loc[pd.unique(groups[others])]))
        fold[own], threshold[own] = number, chosen[-1]
    decision = said[np.arange(len(said)), np.searchsorted(candidates, threshold)]
    table = decided[["group", "unit", "truth"]].assign(
        decision=pd.array(decision, dtype="Float64").astype("boolean"),
        fold=fold,
        threshold=threshold,
    )
    return CrossValidated(table, tuple(chosen), best(by_group), by_group.mean())


# ---- A score that carries its judge's error ------------------------------------------------------


@dataclass(frozen=True)
class JudgeError:
    """Macro F1 as judged and with the judge's error.

    value: as judged; corrected: mean over the resamples; ci_low, ci_high: its 95 % interval.
    sensitivity, specificity: of the judge, over all calibration groups. n: stories.
    """

    value: float
    corrected: float
    ci_low: float
    ci_high: float
    sensitivity: float
    specificity: float
    n: int


def with_judge_error(
    rows: pd.DataFrame, confusion: pd.DataFrame, resamples: int = 1000, seed: int = 0
) -> JudgeError:
    """Macro F1 over stories with an interval for stories, calibration groups and judge's error.

    rows: one belief a row: `story, side` ("predicted" or "gold"), `matched` (bool) and optionally
    `stratum` (one a story): then stories are drawn within strata, and the mean is that of the
    stratum means. confusion: `confusion(decisions, judge)`.
    Each resample draws stories and calibration groups; from the latter come sensitivity and
    specificity, from these the true share of matches on each side (Rogan and Gladen 1978, clipped),
    from that by Bayes how likely a row is truly matched given the judge's word, by which its true
    state is drawn. Assumes that the judge errs alike in all stories, row by row. A story without
    predicted rows has F1 0, whoever judges. Where sensitivity and specificity add up to 1 or less,
    the judge says nothing: the interval is 0 to 1.
    """
    total, matched, strata = _story_counts(rows)
    value = float(_macro(_f1(matched, total), strata))
    cells = confusion[_CELLS].to_numpy(float)
    sensitivity, specificity = map(float, _rates(cells.sum(axis=0)))
    found = (sensitivity, specificity, len(total))
    if not sensitivity + specificity > 1:
        return JudgeError(value, float("nan"), 0.0, 1.0, *found)
    rng = np.random.default_rng(seed)
    stories = [rng.choice(own, size=(resamples, len(own))) for own in strata]
    drawn = np.concatenate(stories, axis=1)
    groups = rng.multinomial(len(cells), np.full(len(cells), 1 / len(cells)), size=resamples)
    rates = _rates(groups @ cells)
    informative = rates.sum(axis=0) > 1
    truly = _drawn_truth(total[drawn], matched[drawn], np.where(informative, rates, 1.0), rng)
    sampled = _macro(_f1(truly, total[drawn]), strata)
    tail = (1 - CONFIDENCE) / 2
    # What a resample without information allows is anything.
    low = np.quantile(np.where(informative, sampled, 0.0), tail)
    high = np.quantile(np.where(informative, sampled, 1.0), 1 - tail)
    corrected = sampled[informative].mean() if informative.any() else float("nan")
    return JudgeError(value, float(corrected), float(low), float(high), *found)


def _drawn_truth(
    total: np.ndarray, matched: np.ndarray, rates: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """How many rows are truly matched, drawn given the judge's counts.

    total, matched: shape (resamples, stories, predicted and gold); rates: sensitivity and
    specificity by resample. Rows of a story with one decision are alike, so their sum is binomial.
    """
    # Gold rows of stories without a prediction were never judged.
    judged = total[:, :, :1] > 0
    observed = (matched * judged).sum(axis=1) / np.maximum((total * judged).sum(axis=1), 1)
    if_yes, if_no = _true_given(observed, *rates[:, :, None])
    yes = rng.binomial(matched, if_yes[:, None, :])
    return yes + rng.binomial(total - matched, if_no[:, None, :])


def _story_counts(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Rows and matched rows by story, shape (stories, predicted and gold), and each stratum's
    stories, which stand together.
    """
    sides = ["predicted", "gold"]
    if rows.empty or not rows["side"].isin(sides).all():
        raise InputError("judged rows: expected some, each of side 'predicted' or 'gold'")
    matched = rows["matched"].astype(int)
    stratum = rows["stratum"] if "stratum" in rows else pd.Series(0, index=rows.index)
    counts = matched.groupby([stratum, rows["story"], rows["side"]]).agg(["count", "sum"])
    wide = counts.unstack("side", fill_value=0).sort_index()
    if wide.index.get_level_values(1).has_duplicates:
        raise InputError("judged rows: found a story in two strata, expected one a story")
    total, hits = (
        wide[name].reindex(columns=sides, fill_value=0).to_numpy() for name in ("count", "sum")
    )
    labels = wide.index.get_level_values(0)
    return total, hits, [np.flatnonzero(labels == label) for label in labels.unique()]


def _f1(matched: np.ndarray, total: np.ndarray) -> np.ndarray:
    """F1 of counts of shape (..., predicted and gold)."""
    shares = matched / np.maximum(total, 1)
    both = shares.sum(axis=-1)
    return 2 * shares.prod(axis=-1) / np.where(both > 0, both, 1)


def _macro(f1: np.ndarray, strata: Sequence[np.ndarray]) -> np.ndarray:
    return np.mean([f1[..., own].mean(axis=-1) for own in strata], axis=0)


def _rates(cells: np.ndarray) -> np.ndarray:
    """Sensitivity and specificity of counts (..., tp fp fn tn), 0 where nothing tells."""
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    return np.array([tp / np.maximum(tp + fn, 1), tn / np.maximum(tn + fp, 1)])


def _true_given(
    observed: np.ndarray, sensitivity: np.ndarray, specificity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How likely a row is truly matched if the judge says so, and if the judge says not."""
    share = np.clip((observed + specificity - 1) / (sensitivity + specificity - 1), 0, 1)
    hit, missed = sensitivity * share, (1 - sensitivity) * share
    alarm, rejected = (1 - specificity) * (1 - share), specificity * (1 - share)
    with np.errstate(invalid="ignore"):
        # 0 / 0: what the judge said cannot occur at this share, which is 0 or 1 for every row.
        return tuple(
            np.where(true + false > 0, true / (true + false), share)
            for true, false in ((hit, alarm), (missed, rejected))
        )
