"""A metric's condition, taken apart beside where it is built."""

import pandas as pd
import pytest

from tomlab.benchmarks.bigtom.metrics import split_condition as of_bigtom
from tomlab.benchmarks.omnitom.metrics import split_condition as of_omnitom
from tomlab.benchmarks.simpletom.metrics import split_condition as of_simpletom


@pytest.mark.parametrize(
    ("split", "condition", "levels"),
    [
        (of_bigtom, "forward_belief/true_belief/0", ("forward_belief", "true_belief", "0")),
        (of_simpletom, "judgment", ("judgment", "", "")),
        (of_simpletom, "judgment:three-way", ("judgment", "three-way", "")),
        (of_simpletom, "behavior/severity 2", ("behavior", "", "severity 2")),
        (of_omnitom, "all/usable", ("all", "", True)),
        (of_omnitom, "order 2+", ("order 2+", "", False)),
        (of_omnitom, "truth_status/AST", ("truth_status", "AST", False)),
        (of_omnitom, "truth_status/usable", ("truth_status", "", True)),
    ],
)
def test_a_condition_is_taken_apart(split, condition, levels):
    assert tuple(split(pd.Series([condition])).iloc[0]) == levels


def test_a_condition_of_another_metric_has_no_levels_in_bigtom():
    assert of_bigtom(pd.Series(["correct", "all"])).isna().all(axis=None)
