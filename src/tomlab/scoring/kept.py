"""The units (templates, stories, question sets) that the filters keep, and their share."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tomlab.scoring.stats import cluster_interval


def is_released(source: pd.Series) -> pd.Series:
    """Which rows are released items: bool, one per row. Their faults are reported but never drop
    them, as what is left would be another benchmark.
    """
    return source.astype(str).str.startswith("released:")


def survives(units: pd.DataFrame, faults: pd.DataFrame, key: Sequence[str]) -> np.ndarray:
    """Which units are kept because no fault drops them: bool, one per row of `units`. faults: a row
    for each fault of a unit, with the column `dropped`; key: the columns that identify a unit.
    """
    columns = list(key)
    dropped = faults.loc[faults["dropped"].astype(bool), columns].astype(str)
    names = pd.MultiIndex.from_frame(units[columns].astype(str))
    return ~names.isin(pd.MultiIndex.from_frame(dropped))


def share_kept(
    units: pd.DataFrame, passes: np.ndarray, *, by: str, group: str, names: tuple
) -> pd.DataFrame:
    """The number and share of units that pass, and the share's interval: a row for each value of
    the column `by`, in order of appearance.

    passes: of `survives`; group: the column that intervals cluster on; names: the names of the
    result's columns with the number of units and, if there is a second name, of groups.
    """
    rows = []
    for level, part in units.assign(passes=passes).groupby(by, sort=False):
        interval = cluster_interval(part["passes"], part[group])
        row = {by: level, "kept": int(part["passes"].sum()), "share": interval.value}
        numbers = dict(zip(names, (interval.n, interval.n_groups), strict=False))
        rows.append(row | vars(interval) | numbers)
    columns = [by, *names, "kept", "share", "ci_low", "ci_high", "ci_method"]
    return pd.DataFrame(rows, columns=columns)
