"""Series of scores become rows of the metrics table."""

import numpy as np
import pandas as pd
import pytest

from tomlab.records.tidy import FEW_RIGHT, OUTCOMES, RARE, check
from tomlab.scoring.paired import differences
from tomlab.scoring.series import Series, Statistic, interval_of, metric_row, over_all, table
from tomlab.scoring.stats import COUNT, DIFFERENCE, cluster_interval, ratio

WHOSE = {"benchmark": "bigtom", "model": "mine", "method": "0-shot"}
GROUPS = pd.Series(["a", "a", "b", "b"])


def test_row_says_whose_it_is_and_what_it_measures():
    values = pd.Series([1, 0, 1, 1])
    result = metric_row(Series("accuracy", "all", values, GROUPS), WHOSE)
    interval = cluster_interval(values, GROUPS)
    assert result == {**WHOSE, "metric": "accuracy", "condition": "all", **vars(interval)}


def test_bounds_are_those_of_the_series():
    alike = pd.Series([0.5] * 4)
    difference = metric_row(Series("gap", "x", alike, GROUPS, DIFFERENCE), WHOSE)
    count = metric_row(Series("tokens", "x", alike, GROUPS, COUNT), WHOSE)
    assert difference["ci_low"] < 0
    # Two groups alike at .5: .5 (1 - q) to .5 (1 + q) with q = 1 - .025 ** (1 / 2).
    assert (count["ci_low"], count["ci_high"]) == pytest.approx((0.0791, 0.9209), abs=1e-4)
    far = metric_row(Series("tokens", "x", 100 * alike, GROUPS, COUNT), WHOSE)
    assert (far["ci_low"], far["ci_high"]) == pytest.approx((7.91, 92.09), abs=1e-2)


def test_outcomes_are_shares_of_all_and_the_released_rule_counts_no_verdict_as_wrong():
    part = pd.DataFrame(
        {
            "outcome": ["correct", "wrong", "unparsed", "error"],
            "by_released_rule": [True, False, True, None],
            "group_id": GROUPS,
        }
    )
    shares = {(s.metric, s.condition): s.values.mean() for s in over_all(part)}
    assert shares.pop(("released_rule", "all")) == 0.5
    assert shares == {
        ("outcome_rate", name): (0.25 if name in set(part["outcome"]) else 0) for name in OUTCOMES
    }


def of_labels(rare):
    """The mean of how often two labels are right, one of which `rare` of 30 groups have."""
    right = np.arange(30) % 3 > 0
    counts = {"right": right, "all": 1, "right_rare": right, "all_rare": np.arange(30) < rare}
    units = pd.DataFrame(counts).astype(float)
    units["right_rare"] *= units["all_rare"]

    def mean(sums):
        return (sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]) / 2

    return Statistic("macro_f1", "all", units, lambda own: own, mean, lambda sums: sums[..., 1::2])


@pytest.mark.parametrize("rare", [9, 10])
def test_a_label_in_fewer_than_ten_groups_has_no_interval_and_no_p(rare):
    told = [("mine", "plain", of_labels(rare)), ("yours", "plain", of_labels(rare))]
    [result, _] = check(table("omnitom", told), "metrics").to_dict("records")
    assert 0.6 < result["value"] < 0.7
    assert (result["ci_method"] == RARE) == np.isnan(result["ci_low"]) == (rare < 10)
    [row] = differences("omnitom", told).to_dict("records")
    assert np.isnan([row["ci_low"], row["p"], row["p_holm"]]).all() == (rare < 10)


def of_right_answers(groups_with: int) -> Statistic:
    """A share made of counts: half of the answers are right in `groups_with` of 30 groups."""
    rows = pd.DataFrame({"right": 0.0, "all": 2.0, "group": np.arange(30)})
    rows.loc[: groups_with - 1, "right"] = 1.0

    def sums(own: pd.DataFrame) -> pd.DataFrame:
        return own.groupby("group")[["right", "all"]].sum()

    return Statistic("rare", "all", rows, sums, ratio, right=lambda counts: counts[..., 0])


@pytest.mark.parametrize("groups_with", [0, 1, 4, 5])
def test_right_answers_in_one_to_four_groups_have_no_interval_and_no_p(groups_with):
    told = [
        ("mine", "plain", of_right_answers(groups_with)),
        ("yours", "plain", of_right_answers(8)),
    ]
    is_few = groups_with in (1, 4)
    assert (interval_of(told[0][2]).ci_method == FEW_RIGHT) == is_few
    (row,) = differences("b", iter(told)).to_dict("records")
    assert np.isnan(row["p"]) == np.isnan(row["ci_low"]) == (groups_with < 5)
