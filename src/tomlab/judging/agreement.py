"""How well automatic judges agree with labelled decisions, and which is best.

For OmniToM (App. B.4) and every task with a yes/no judge. A decisions table has a row a judge and
unit: `judge, group` (the story), `unit, truth`, `decision` (bool, missing where none was given).
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from tomlab.errors import InputError
from tomlab.paths import writable
from tomlab.scoring import stats

# Groups in which each truth has to occur for an interval of kappa: with one or two of ten it holds
# the truth in .81 of cases (`checks/interval_coverage.py`).
LEAST_WITH_TRUTH = 5


def agreement_by_judge(decisions: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, the highest agreement first.

    agreement: share of units on which judge and truth agree, per group over the units where both
    are defined, averaged over groups (App. B.4). precision, recall, kappa (Cohen's): over the units
    of all groups. agreement_all: undefined decisions count as disagreements, so that no judge gains
    by silence. Intervals cluster on groups: `ci_low, ci_high` for agreement, `<name>_low,
    <name>_high` for the others; nan where not defined. n: units with a truth; undefined: those of
    them without a decision; n_groups: groups with both.
    """
    rows = []
    for judge, units in _known(decisions).groupby("judge", sort=False):
        said = units.dropna(subset="decision")
        agreed = (said["decision"] == said["truth"]).groupby(said["group"]).mean()
        in_all = (units["decision"] == units["truth"]).groupby(units["group"]).mean()
        yes, true = said["decision"] == 1, said["truth"] == 1
        cells = {"tp": yes & true, "fp": yes & ~true, "fn": ~yes & true, "tn": ~yes & ~true}
        cells = pd.DataFrame(cells).groupby(said["group"], sort=False).sum()
        row = {"judge": judge} | _columns("agreement", _mean(agreed))
        for name, missed in (("precision", "fp"), ("recall", "fn")):
            share = cells[["tp"]].assign(of=cells["tp"] + cells[missed])
            row |= _columns(name, stats.interval_of_sums(share, n=len(cells)), name)
        row |= _columns("kappa", kappa_interval(cells), "kappa")
        row |= _columns("agreement_all", _mean(in_all), "agreement_all")
        row |= {"n": len(units), "undefined": len(units) - len(said), "n_groups": len(agreed)}
        rows.append(row)
    return pd.DataFrame(rows).sort_values("agreement", ascending=False, ignore_index=True)


def save(folder: Path, chosen: Mapping, **tables: pd.DataFrame) -> None:
    """Write `winner.json` (the judge in use and what it was chosen by) and `<name>.csv` a table."""
    for name, table in tables.items():
        table.to_csv(writable(folder / f"{name}.csv"), index=False)
    text = json.dumps(chosen, indent=1) + "\n"
    writable(folder / "winner.json").write_text(text, encoding="utf-8")


def winner(agreement: pd.DataFrame) -> str:
    """The judge of the highest `agreement_all` among those that were shown all units."""
    complete = agreement[agreement["n"] == agreement["n"].max()]
    return str(complete.loc[complete["agreement_all"].idxmax(), "judge"])


def differences(decisions: pd.DataFrame, best: str) -> pd.DataFrame:
    """How much judge `best` agrees more than each other judge, over the units that both decided:
    `judge, best, difference, ci_low, ci_high, n` (units), `n_groups`, in pairs.
    """
    known = _known(decisions)
    right = (known["decision"] == known["truth"]).where(known["decision"].notna()).astype(float)
    wide = known.assign(right=right).pivot(index=["group", "unit"], columns="judge", values="right")
    rows = []
    for judge in known.loc[known["judge"] != best, "judge"].unique():
        both = wide[[best, judge]].dropna()
        gained = (both[best] - both[judge]).groupby("group").mean()
        row = {"judge": judge, "best": best, "n": len(both), "n_groups": len(gained)}
        rows.append(row | _columns("difference", _mean(gained, stats.DIFFERENCE)))
    columns = ["judge", "best", "difference", "ci_low", "ci_high", "n", "n_groups"]
    return pd.DataFrame(rows, columns=columns)


def agreement_by_kind(decisions: pd.DataFrame, judge: str, kinds: pd.Series) -> pd.DataFrame:
    """On how many units a judge is right, by kind of case (`kinds`, indexed by unit) and by truth:
    `judge, kind, truth` (bool), `agreement, ci_low, ci_high, n` (units), `n_groups`, lowest first.
    Of true units that is sensitivity, of others specificity; undefined decisions are wrong.
    """
    own = _known(decisions).query("judge == @judge")
    own = own.assign(kind=own["unit"].map(kinds), right=own["decision"] == own["truth"])
    rows = []
    for (kind, truth), units in own.groupby(["kind", "truth"]):
        found = vars(stats.cluster_interval(units["right"], units["group"]))
        rows.append(found | {"judge": judge, "kind": kind, "truth": truth == 1})
    columns = ["judge", "kind", "truth", "value", "ci_low", "ci_high", "n", "n_groups"]
    table = pd.DataFrame(rows, columns=columns).rename(columns={"value": "agreement"})
    return table.sort_values("agreement", ignore_index=True)


def _known(decisions: pd.DataFrame) -> pd.DataFrame:
    """The units with a truth, each once by judge, with truth and decision as 1, 0 and nan."""
    keys = ["judge", "group", "unit"]
    if (twice := decisions.duplicated(keys)).any():
        found = decisions.loc[twice, keys].iloc[0].to_dict()
        raise InputError(f"decisions: found {found} more than once, expected once")
    said = decisions[["truth", "decision"]].astype("boolean").astype(float)
    return decisions[keys].assign(**said).dropna(subset="truth", ignore_index=True)


def kappa_interval(cells: pd.DataFrame) -> stats.Interval:
    """Cohen's kappa with an interval over groups, without ends where a truth is in few of them.
    cells: by group how many are tp, fp, fn and tn.
    """
    interval = stats.cluster_statistic(cells, kappa, n=len(cells), bounds=stats.DIFFERENCE)
    tp, fp, fn, tn = cells.to_numpy(float).T
    fewest = min((tp + fn > 0).sum(), (fp + tn > 0).sum())
    if fewest < min(LEAST_WITH_TRUTH, len(cells)):
        return replace(interval, ci_low=np.nan, ci_high=np.nan)
    return interval


def kappa(cells: np.ndarray) -> np.ndarray:
    """Cohen's kappa of counts (..., tp fp fn tn); nan where chance alone would agree fully."""
    tp, fp, fn, tn = np.moveaxis(np.asarray(cells, dtype=float), -1, 0)
    total = tp + fp + fn + tn
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / total**2
        return np.where(chance < 1, ((tp + tn) / total - chance) / (1 - chance), np.nan)


def _mean(by_group: pd.Series, bounds: stats.Bounds = stats.SHARE) -> stats.Interval | None:
    """The mean of one value a group; None without a group."""
    if by_group.empty:
        return None
    return stats.cluster_interval(by_group, by_group.index.to_series(), bounds=bounds)


def _columns(name: str, found: stats.Interval | None, ends: str = "ci") -> dict:
    """A value under its name with the ends of its interval; nan where there is none."""
    values = (found.value, found.ci_low, found.ci_high) if found else (np.nan,) * 3
    return dict(zip((name, f"{ends}_low", f"{ends}_high"), values, strict=True))
