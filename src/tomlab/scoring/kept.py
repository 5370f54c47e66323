"""What the filters leave: the units that no fault drops, and their share."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tomlab.scoring.stats import cluster_interval


def is_released(source: pd.Series) -> pd.Series:
    """Which rows are released: reported, never dropped; else it would be another benchmark."""
    return source.astype(str).str.startswith("released:")


def survives(units: pd.DataFrame, faults: pd.DataFrame, key: Sequence[str]) -> np.ndarray:
    """Which of the units no fault drops: bool, one a row. key: the columns that name a unit."""
    columns = list(key)
    dropped = faults.loc[faults["dropped"].astype(bool), columns].astype(str)
    names = pd.MultiIndex.from_frame(units[columns].astype(str))
    return ~names.isin(pd.MultiIndex.from_frame(dropped))


def share_kept(
    units: pd.DataFrame, passes: np.ndarray, *, by: str, group: str, names: tuple
) -> pd.DataFrame:
    """The share of units that pass (`survives`), by column `by`, in order of first sight.
    Intervals cluster on `group`. names: of the counts of units and, if it has two, of groups.
    """
    rows = []
    for level, part in units.assign(passes=passes).groupby(by, sort=False):
        interval = cluster_interval(part["passes"], part[group])
        row = {by: level, "kept": int(part["passes"].sum()), "share": interval.value}
        numbers = dict(zip(names, (interval.n, interval.n_groups), strict=False))
        rows.append(row | vars(interval) | numbers)
    columns = [by, *names, "kept", "share", "ci_low", "ci_high", "ci_method"]
    return pd.DataFrame(rows, columns=columns)
