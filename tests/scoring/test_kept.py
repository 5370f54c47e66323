"""What the filters leave."""

import numpy as np
import pandas as pd

from tomlab.scoring.kept import is_released, share_kept, survives

UNITS = pd.DataFrame(
    {"id": [1, 2, 3, 3], "source": ["b", "a", "b", "a"], "group": ["x", "x", "y", "y"]}
)
FAULTS = pd.DataFrame(
    {"id": ["1", "2", "3"], "source": ["b", "a", "b"], "dropped": [False, True, True]}
)


def test_units_are_dropped_by_all_that_names_them():
    assert survives(UNITS, FAULTS, ["id", "source"]).tolist() == [True, False, False, True]
    assert survives(UNITS, FAULTS, ["id"]).tolist() == [True, False, False, False]
    assert survives(UNITS, FAULTS[:0], ["id"]).all()
    assert len(survives(UNITS[:0], FAULTS, ["id"])) == 0


def test_share_is_by_source_in_the_order_of_first_sight():
    left = np.array([True, False, False, True])
    table = share_kept(UNITS, left, by="source", group="group", names=("units", "groups"))
    assert table["source"].tolist() == ["b", "a"]
    assert table[["units", "groups", "kept", "share"]].values.tolist() == [[2, 2, 1, 0.5]] * 2
    assert table["ci_low"].lt(0.5).all() and table["ci_high"].gt(0.5).all()
    whole = share_kept(UNITS, left | True, by="source", group="group", names=("units", "groups"))
    assert whole["share"].eq(1).all() and whole["ci_method"].eq("all groups alike").all()
    assert share_kept(UNITS[:0], left[:0], by="source", group="group", names=("units",)).empty
    first = share_kept(UNITS, left, by="source", group="group", names=("units",))
    assert first.columns.tolist() == [
        *("source", "units", "kept", "share", "ci_low", "ci_high", "ci_method")
    ]


def test_released_is_what_its_source_says():
    assert is_released(pd.Series(["released:x", "llm:x"])).tolist() == [True, False]
    assert is_released(pd.Series([], dtype=str)).empty
