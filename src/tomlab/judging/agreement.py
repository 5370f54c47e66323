"""How well automatic judges agree with labelled decisions, and which judge agrees best.

For OmniToM (App. B.4) and every task with a yes/no judge. A table of decisions has one row for each
judge and unit: `judge, group` (the story), `unit, truth` (the label: bool, missing if there is
none), `decision` (the judge's: bool, missing if it gave none).
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from tomlab.paths import writable
from tomlab.scoring import stats

# Kappa gets an interval only if "true" and "false" each occur in so many groups (or in all): if one
# occurs in one or two of ten groups, the interval includes the true kappa in .81 of cases
# (`checks/interval_coverage.py`).
LEAST_WITH_TRUTH = 5


def agreement_by_judge(decisions: pd.DataFrame) -> pd.DataFrame:
    """One row for each judge, the highest agreement first.

    agreement: the share of units on which decision and truth agree, among the units that have both,
    computed in each group and averaged over groups (App. B.4). precision, recall, kappa (Cohen's):
    over these units of all groups together. agreement_all: as agreement, but missing decisions
    count as disagreements, so that no judge gains by giving none. Intervals cluster on groups:
    `ci_low, ci_high` for agreement, `<name>_low, <name>_high` for the others; nan where not
    defined. n: units with a truth; undefined: how many of these have no decision; n_groups: groups
    with a unit that has both.
    """
    rows = []
    for judge, units in _labelled(decisions).groupby("judge", sort=False):
        decided = units.dropna(subset="decision")
        cells = _confusion(decided)
        intervals = {
            "agreement": _mean_of_groups(decided),
            "precision": _share_of_true(cells, cells["tp"] + cells["fp"]),
            "recall": _share_of_true(cells, cells["tp"] + cells["fn"]),
            "kappa": kappa_interval(cells),
            "agreement_all": _mean_of_groups(units),
        }
        row = {"judge": judge}
        for name, interval in intervals.items():
            ends = "ci" if name == "agreement" else name
            row[name] = interval.value
            row[f"{ends}_low"] = interval.ci_low
            row[f"{ends}_high"] = interval.ci_high
        row["n"] = len(units)
        row["undefined"] = len(units) - len(decided)
        row["n_groups"] = len(cells)
        rows.append(row)
    return pd.DataFrame(rows).sort_values("agreement", ascending=False, ignore_index=True)


def winner(agreement: pd.DataFrame) -> str:
    """The judge with the highest `agreement_all` among the judges that were shown all units.
    agreement: what `agreement_by_judge` returns.
    """
    complete = agreement[agreement["n"] == agreement["n"].max()]
    return str(complete.loc[complete["agreement_all"].idxmax(), "judge"])


def save(folder: Path, chosen: Mapping, **tables: pd.DataFrame) -> None:
    """Write `chosen` (the judge in use, and on what grounds it was chosen) to `winner.json`, and
    each table to `<name>.csv`.
    """
    for name, table in tables.items():
        table.to_csv(writable(folder / f"{name}.csv"), index=False)
    text = json.dumps(chosen, indent=1) + "\n"
    writable(folder / "winner.json").write_text(text, encoding="utf-8")


def differences(decisions: pd.DataFrame, best: str) -> pd.DataFrame:
    """The agreement of judge `best` minus that of each other judge, over the units that both
    decided, averaged over groups. Columns: `judge, best, difference, ci_low, ci_high, n` (units),
    `n_groups`.
    """
    decided = _labelled(decisions).dropna(subset="decision")
    decided["right"] = (decided["decision"] == decided["truth"]).astype(float)
    wide = decided.pivot(index=["group", "unit"], columns="judge", values="right")
    rows = []
    others = decisions.loc[decisions["judge"] != best, "judge"].unique()
    for judge in others:
        pairs = wide.reindex(columns=[best, judge]).dropna()
        gains = (pairs[best] - pairs[judge]).groupby("group").mean()
        interval = stats.cluster_interval(gains, gains.index.to_series(), bounds=stats.DIFFERENCE)
        row = vars(interval) | {"difference": interval.value, "judge": judge, "best": best}
        rows.append(row | {"n": len(pairs), "n_groups": len(gains)})
    columns = ["judge", "best", "difference", "ci_low", "ci_high", "n", "n_groups"]
    return pd.DataFrame(rows, columns=columns)


def agreement_by_kind(decisions: pd.DataFrame, judge: str, kinds: pd.Series) -> pd.DataFrame:
    """The share of units on which a judge is right, by kind of case (`kinds`, indexed by unit) and
    by truth. Columns: `judge, kind, truth` (bool), `agreement, ci_low, ci_high, n` (units),
    `n_groups`; the lowest agreement first. For true units, agreement is the sensitivity, for others
    the specificity. Missing decisions count as wrong.
    """
    units = _labelled(decisions[decisions["judge"] == judge])
    right = units["decision"] == units["truth"]
    rows = []
    for (kind, truth), part in units.groupby([units["unit"].map(kinds), "truth"]):
        interval = stats.cluster_interval(right[part.index], part["group"])
        row = {"judge": judge, "kind": kind, "truth": truth == 1, "agreement": interval.value}
        rows.append(row | vars(interval))
    columns = ["judge", "kind", "truth", "agreement", "ci_low", "ci_high", "n", "n_groups"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("agreement", ignore_index=True)


def kappa_interval(cells: pd.DataFrame) -> stats.Interval:
    """Cohen's kappa with an interval over groups, whose ends are nan if "true" or "false" occurs in
    fewer than `LEAST_WITH_TRUTH` of them. cells: for each group, the counts of tp, fp, fn and tn.
    """
    interval = stats.cluster_statistic(cells, kappa, n=len(cells), bounds=stats.DIFFERENCE)
    tp, fp, fn, tn = cells.to_numpy(float).T
    fewest = min((tp + fn > 0).sum(), (fp + tn > 0).sum())
    if fewest < min(LEAST_WITH_TRUTH, len(cells)):
        return replace(interval, ci_low=np.nan, ci_high=np.nan)
    return interval


def kappa(cells: np.ndarray) -> np.ndarray:
    """Cohen's kappa from counts of shape (..., 4), in the order tp, fp, fn, tn; nan where chance
    alone would agree fully.
    """
    tp, fp, fn, tn = np.moveaxis(np.asarray(cells, dtype=float), -1, 0)
    total = tp + fp + fn + tn
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / total**2
        return np.where(chance < 1, ((tp + tn) / total - chance) / (1 - chance), np.nan)


def _labelled(decisions: pd.DataFrame) -> pd.DataFrame:
    """The rows of units that have a truth, with `truth` and `decision` as 1, 0 or nan."""
    numbers = decisions[["truth", "decision"]].astype("boolean").astype(float)
    units = decisions[["judge", "group", "unit"]].assign(**numbers)
    return units.dropna(subset="truth", ignore_index=True)


def _confusion(decided: pd.DataFrame) -> pd.DataFrame:
    """The counts of decisions that are tp, fp, fn and tn, one row a group."""
    yes = decided["decision"] == 1
    true = decided["truth"] == 1
    cells = pd.DataFrame(
        {"tp": yes & true, "fp": yes & ~true, "fn": ~yes & true, "tn": ~yes & ~true}
    )
    return cells.groupby(decided["group"], sort=False).sum()


def _mean_of_groups(units: pd.DataFrame) -> stats.Interval:
    """The share of units on which judge and truth agree, averaged over groups."""
    shares = (units["decision"] == units["truth"]).groupby(units["group"]).mean()
    return stats.cluster_interval(shares, shares.index.to_series())


def _share_of_true(cells: pd.DataFrame, total: pd.Series) -> stats.Interval:
    share = pd.DataFrame({"tp": cells["tp"], "total": total})
    return stats.interval_of_sums(share, n=len(cells))
