"""What a judge's errors do to a mean score such as OmniToM's macro F1 (Sec. 5; judges: App. B.4).

Corrected are scores alone of which people labelled a part (`by_labels`). What a calibration knows
of the judge says what the score would be if it erred here as there (`as_on_edits`), and `transport`
whether it does. Intervals leave out whole groups, see `scoring.stats`; nothing is drawn by lot.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from tomlab.judging.agreement import CELLS, confusion
from tomlab.scoring.stats import JACKKNIFE, Interval, cluster_interval, cluster_statistic, ratio

LEAST_LABELLED = 2  # groups: of one, no spread is known
QUALITIES = {"sensitivity": ("tp", "fn"), "specificity": ("tn", "fp")}

# ---- Corrected by labels -------------------------------------------------------------------------


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


# ---- If the judge errs here as in its calibration ------------------------------------------------


def as_on_edits(tables: pd.DataFrame, cells: pd.DataFrame) -> tuple[Interval | None, str]:
    """What the mean F1 would be if the judge erred on these tables as in its calibration; or None,
    and why.

    tables: one row a table, `group, precision, recall, score` as judged (nan: an output without a
    table, which is 0) and optionally `stratum`, whose means are averaged. cells: of `confusion`; a
    group of it that has tables, too, is left out together with them.

    Mean precision and mean recall are corrected by sensitivity and specificity (Rogan and Gladen
    1978), and mean F1 is moved by as much as their harmonic mean. Assumes that the judge errs alike
    in all stories, row by row. Where they leave 0 to 1, the tables contradict the assumption.
    """
    parts = tables[["precision", "recall", "score"]].astype(float)
    parts = parts.assign(judged=parts["score"].notna(), tables=1.0).astype(float)
    sums, shape = _sums(tables, parts)
    counts = cells.groupby("group")[CELLS].sum().astype(float)
    width = len(CELLS)
    both = counts.join(sums.set_axis(range(sums.shape[1]), axis=1), how="outer").fillna(0.0)

    def corrected(sums: np.ndarray) -> np.ndarray:
        own = sums[..., width:].reshape(*sums.shape[:-1], *shape)
        sides, moved = _rogan_gladen(sums[..., :width], own)
        with np.errstate(invalid="ignore", divide="ignore"):
            factor = _harmonic(moved) / _harmonic(sides)
        return _averaged(own, lambda c: c[..., 2] / c[..., 4]) * factor

    if not parts["judged"].any():
        return None, "no output has a table"
    total = both.sum().to_numpy()
    _, moved = _rogan_gladen(total[:width], total[width:].reshape(shape))
    if np.isnan(moved).any():
        return None, "the judge said nothing: sensitivity and specificity add up to 1 or less"
    if (moved <= 0).any():
        return None, "fewer matches than the judge's false ones alone would be"
    found = cluster_statistic(both, corrected, n=len(tables))
    if (moved > 1).any() or found.ci_method != JACKKNIFE:
        return None, "more matches than the judge could see"
    return replace(found, n_groups=tables["group"].nunique()), ""


def _rogan_gladen(cells: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean precision and recall as judged and corrected, shape (..., 2); corrected nan where the
    judge says nothing.
    """
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    total = own.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        sides = total[..., :2] / total[..., 3:4]
        false = fp / (fp + tn)
        told = tp / (tp + fn) - false
        told = np.where(told > 0, told, np.nan)
        return sides, (sides - false[..., None]) / told[..., None]


def _harmonic(both: np.ndarray) -> np.ndarray:
    return 2 * both.prod(axis=-1) / both.sum(axis=-1)


# ---- Does it err here as there? ------------------------------------------------------------------


def qualities(cells: pd.DataFrame) -> dict[str, Interval]:
    """A judge's sensitivity and specificity over all units of `confusion`, with intervals."""
    found = {}
    for name, (right, wrong) in QUALITIES.items():
        counts = pd.DataFrame({"right": cells[right], "of": cells[right] + cells[wrong]})
        counts = counts.set_axis(cells["group"]).groupby(level=0).sum()
        n = int(counts["of"].sum())
        found[name] = cluster_statistic(counts, ratio, n=n)
    return found


def transport(known: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """The judge's qualities on rows of a run whose truth is known, beside its calibration's.

    known: decisions as in `agreement`, with the model whose tables they are as `judge`; cells: of
    the calibration. A row a model and quality: `model, quality, value, ci_low, ci_high, n,
    n_groups, calibration, calibration_low, calibration_high`, and `outside`: whether the value lies
    outside the calibration's interval. No row where there is nothing to say it by.
    """
    there, rows = qualities(cells), []
    for model in known["judge"].unique():
        for quality, here in qualities(confusion(known, model)).items():
            if np.isnan(here.value):
                continue
            told = there[quality]
            row = {"model": model, "quality": quality, **_numbers(here)}
            row |= {f"calibration{end}": value for end, value in _ends(told).items()}
            outside = not told.ci_low <= here.value <= told.ci_high
            rows.append(row | {"outside": outside})
    columns = ["model", "quality", "value", "ci_low", "ci_high", "n", "n_groups"]
    columns += ["calibration", "calibration_low", "calibration_high", "outside"]
    return pd.DataFrame(rows, columns=columns)


def _numbers(found: Interval) -> dict:
    return {name: value for name, value in vars(found).items() if name != "ci_method"}


def _ends(found: Interval) -> dict[str, float]:
    return {"": found.value, "_low": found.ci_low, "_high": found.ci_high}
