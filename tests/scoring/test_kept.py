"""Which units the filters leave, and their share."""

import numpy as np
import pandas as pd
import pytest

from tomlab.scoring.kept import share_kept, survives

UNITS = pd.DataFrame(
    {"id": [1, 2, 3, 3], "source": ["b", "a", "b", "a"], "group": ["x", "x", "y", "y"]}
)
FAULTS = pd.DataFrame(
    {"id": ["1", "2", "3"], "source": ["b", "a", "b"], "dropped": [False, True, True]}
)


@pytest.mark.parametrize(
    ("faults", "key", "survivors"),
    [
        (FAULTS, ["id", "source"], [1, 0, 0, 1]),
        (FAULTS, ["id"], [1, 0, 0, 0]),
        (FAULTS[:0], ["id"], [1, 1, 1, 1]),
    ],
)
def test_units_are_dropped_by_all_that_names_them(faults, key, survivors):
    assert (survives(UNITS, faults, key) == survivors).all()


def test_share_is_by_source_in_the_order_of_first_sight():
    survivors = np.array([True, False, False, True])
    table = share_kept(UNITS, survivors, by="source", group="group", names=("units", "groups"))
    numbers = ["source", "units", "groups", "kept", "share"]
    assert table[numbers].values.tolist() == [["b", 2, 2, 1, 0.5], ["a", 2, 2, 1, 0.5]]
    assert table.columns.tolist() == [*numbers, "ci_low", "ci_high", "ci_method"]
    empty = share_kept(UNITS[:0], survivors[:0], by="source", group="group", names=("units",))
    assert empty.empty and "groups" not in empty
