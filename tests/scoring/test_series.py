"""Series of scores become rows of the metrics table."""

import numpy as np
import pandas as pd
import pytest

from tomlab.records.tidy import FEW_RIGHT, RARE, check
from tomlab.scoring.paired import differences
from tomlab.scoring.series import Series, Statistic, metric_row, over_all, table
from tomlab.scoring.stats import COUNT, DIFFERENCE, cluster_interval, ratio

KEYS = {"benchmark": "bigtom", "model": "mine", "method": "0-shot"}
GROUPS = pd.Series(["a", "a", "b", "b"])


def test_row_has_the_interval_of_the_series_within_its_bounds():
    values = pd.Series([1, 0, 1, 1])
    for bounds in (DIFFERENCE, COUNT):
        row = metric_row(Series("gap", "x", values, GROUPS, bounds), KEYS)
        interval = cluster_interval(values, GROUPS, bounds=bounds)
        assert row == KEYS | {"metric": "gap", "condition": "x"} | vars(interval)


def test_outcomes_are_shares_of_all_and_the_released_rule_counts_no_verdict_as_wrong():
    columns = {"outcome": ["correct", "wrong", "unparsed", "error"], "group_id": GROUPS}
    part = pd.DataFrame(columns | {"by_released_rule": [True, False, True, None]})
    shares = {series.condition: series.values.mean() for series in over_all(part)}
    assert shares.pop("all") == 0.5
    non_zero = {condition: share for condition, share in shares.items() if share}
    assert non_zero == dict.fromkeys(columns["outcome"], 0.25)


def of_labels(n_rare):
    """The mean of how often two labels are right, one of which so many of 30 groups have."""
    right = np.arange(30) % 3 > 0
    is_rare = np.arange(30) < n_rare
    rows = pd.DataFrame({"right": right, "n": 1.0, "rare_right": right & is_rare, "rare": is_rare})

    def mean(sums):
        return (ratio(sums[..., :2]) + ratio(sums[..., 2:])) / 2

    rows = rows.astype(float)
    return Statistic("f1", "all", rows, lambda own: own, mean, lambda sums: sums[..., 1::2])


def of_right_answers(n_groups):
    """A share made of counts: half of the answers are right in so many of 30 groups."""
    rows = pd.DataFrame({"right": (np.arange(30) < n_groups).astype(float), "n": 2.0})
    return Statistic("f1", "all", rows, lambda own: own, ratio, right=lambda sums: sums[..., 0])


@pytest.mark.parametrize(
    ("measure", "second", "method"),
    [
        (of_labels(10), of_labels(10), None),
        (of_labels(9), of_labels(9), RARE),
        (of_right_answers(5), of_right_answers(8), None),
        (of_right_answers(4), of_right_answers(8), FEW_RIGHT),
        (of_right_answers(1), of_right_answers(8), FEW_RIGHT),
    ],
)
def test_labels_or_right_answers_in_few_groups_have_no_interval_and_no_p(measure, second, method):
    measures = [("mine", "plain", measure), ("yours", "plain", second)]
    metric = check(table("omnitom", measures), "metrics").loc[0]
    difference = differences("omnitom", measures).loc[0]
    assert metric["value"] >= 0
    for row in (metric, difference):
        assert (row["ci_method"] == method) == (method is not None)
    numbers = [metric["ci_low"], *difference[["ci_low", "p", "p_holm"]]]
    assert np.isnan(np.array(numbers, float)).tolist() == [method is not None] * 4


def test_a_statistic_without_a_right_answer_has_an_interval_and_no_p():
    none = of_right_answers(0)
    assert metric_row(none, KEYS)["ci_method"] != FEW_RIGHT
    measures = [("mine", "plain", none), ("yours", "plain", of_right_answers(8))]
    assert differences("omnitom", measures)["p"].isna().all()
