"""Differences in pairs: what can be worked out by hand, and what must hold for any two sides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t
from statsmodels.stats.multitest import multipletests

from tomlab.scoring.paired import difference, differences, sides
from tomlab.scoring.series import Series, Statistic, by_unit
from tomlab.scoring.stats import COUNT, DIFFERENCE, PAIRED, SHARE, group_sums, ratio


def mean(values, groups=None, units=None, bounds=SHARE, kinds=None):
    """A side whose units are 0, 1, 2, ... and by default each a group of its own."""
    units = range(len(values)) if units is None else units
    values = pd.Series(values, [f"u{unit}" for unit in units], dtype=float)
    groups = pd.Series(units if groups is None else groups)
    kinds = None if kinds is None else pd.Series(kinds)
    return Series("accuracy", "all", values, groups, bounds, kinds)


def share(right, groups):
    """A side with a statistic: right answers over all, from sums by group."""
    units = [f"u{unit}" for unit in range(len(right))]
    rows = pd.DataFrame({"right": right, "group": groups}, units)
    return Statistic(
        "share", "all", rows, lambda own: group_sums(own["right"], own["group"]), ratio
    )


def test_worked_by_hand():
    # Ten templates: a alone is right on five of them, b alone on one, both on two, neither on two.
    result = difference(mean([1] * 5 + [0] + [1] * 2 + [0] * 2), mean([0] * 5 + [1] * 3 + [0] * 2))
    assert result["difference"] == pytest.approx(0.4)
    assert (result["n"], result["n_groups"], result["n_discordant"]) == (10, 10, 6)
    assert 0.05 < result["p"] < 0.5
    assert result["ci_low"] < 0
    assert result["ci_high"] > 0.4


def test_whole_groups_count_and_not_answers():
    result = difference(mean([1] * 9, list("aaabbbccc")), mean([0] * 9, list("aaabbbccc")))
    assert result["n_discordant"] == 3
    assert result["p"] == difference(mean([1] * 3), mean([0] * 3))["p"]


@given(st.integers(0, 2**32 - 1), st.integers(2, 50), st.sampled_from([mean, share]))
@settings(deadline=None, max_examples=30)
def test_other_way_round_only_the_sign_turns_and_p_agrees_with_the_interval(seed, size, side):
    draw = np.random.default_rng(seed)
    groups = draw.integers(0, 20, size)
    a, b = (side(draw.integers(0, 2, size), groups) for _ in range(2))
    result = difference(a, b)
    turned = difference(b, a)
    expected = [-turned["difference"], -turned["ci_high"], -turned["ci_low"], turned["p"]]
    names = ["difference", "ci_low", "ci_high", "p"]
    assert [result[name] for name in names] == pytest.approx(expected)
    assert (result["p"] < 0.05) == (not result["ci_low"] <= 0 <= result["ci_high"])


@pytest.mark.parametrize("size", [1, 2, 5, 40])
@pytest.mark.parametrize("bounds", [SHARE, DIFFERENCE, COUNT, None])
def test_equal_sides_do_not_differ(size, bounds):
    draw = np.random.default_rng(size)
    values = draw.integers(0, 2, size)
    groups = draw.integers(0, 20, size)
    side = mean(values, groups, bounds=bounds) if bounds else share(values, groups)
    result = difference(side, side)
    assert (result["difference"], result["p"], result["n_discordant"]) == (0, 1, 0)
    assert result["ci_low"] <= 0 <= result["ci_high"]


def test_p_off_an_interval_is_that_of_students_t():
    # On the plain scale, groups of one answer: the jackknife is the paired t test with G / (G - 1)
    # times its variance, so that p is its two-sided tail.
    moves = np.random.default_rng(5).normal(0.4, 1, 30)
    result = difference(mean(moves, bounds=COUNT), mean(np.zeros(30), bounds=COUNT))
    without = (moves.sum() - moves) / 29 - moves.mean()
    error = np.sqrt((without**2).sum())
    degrees = 2 * 30 / (30 * (without**4).sum() / error**4 - 1)
    expected = 2 * t.sf(moves.mean() / error, min(degrees, 29))
    assert result["p"] == pytest.approx(expected, abs=2e-5)


def test_units_of_one_side_alone_are_left_out_and_counted():
    result = difference(mean([1, 1, 0], units=[1, 2, 3]), mean([0, 0, 0, 1], units=[2, 3, 4, 5]))
    assert (result["n"], result["n_left_out"], result["difference"]) == (2, 3, 0.5)
    assert difference(mean([1], units=[1]), mean([1], units=[2])) is None


def test_units_with_several_values_are_compared_as_two_shares():
    # Predicted beliefs: a story has three of one model's, two of the other's.
    a = mean([1, 1, 0, 1], groups=[1, 1, 1, 2], units=[1, 1, 1, 2])
    b = mean([0, 1, 0], groups=[1, 1, 2], units=[1, 1, 2])
    result = difference(a, b)
    assert result["difference"] == pytest.approx(3 / 4 - 1 / 3)
    assert (result["n"], result["ci_method"]) == (2, PAIRED)


def test_a_difference_of_two_balanced_means_is_paired_by_answer():
    kinds = ["a"] * 10 + ["b"] * 30
    a = mean([1] * 10 + [1, 0] * 15, kinds=kinds)
    b = mean([1] * 8 + [0] * 2 + [1, 0] * 15, kinds=kinds)
    result = difference(a, b)
    assert result["difference"] == pytest.approx(0.1)
    assert result["n_discordant"] == 2
    # Two of ten gains of one kind, no loss, and half of the weight.
    assert -0.2 < result["ci_low"] < 0.1 < result["ci_high"] < 0.35


def test_a_metric_that_is_not_defined_on_the_common_units_has_no_row():
    rows = pd.DataFrame({"sum": [1.0, 1.0], "count": [0.0, 1.0]}, ["u1", "u2"])
    a = Statistic("f1", "all", rows, lambda own: own, ratio)
    assert difference(a, a._replace(rows=rows[:1])) is None


@pytest.fixture(scope="module")
def table():
    """Three models on two methods, and one method that the last was not asked by."""
    draw = np.random.default_rng(11)
    measures = []
    for model, chance in (("a", 0.9), ("b", 0.5), ("c", 0.2)):
        for method in ("plain", "cot", "few"):
            if (model, method) != ("c", "few"):
                right = mean((draw.random(12) < chance).astype(float))
                measures += [(model, method, right), (model, method, right._replace(metric="f1"))]
    return differences("demo", measures, ["accuracy"], ["plain"])


def test_pairs_are_of_models_on_one_method_and_of_methods_less_the_reference(table):
    pairs = [" ".join(row) for row in table[["varies", "same", "a", "b"]].values.tolist()]
    assert pairs == [
        *("model plain a b", "model plain a c", "model plain b c"),
        *("model cot a b", "model cot a c", "model cot b c", "model few a b"),
        *("method a cot plain", "method a few plain", "method b cot plain"),
        *("method b few plain", "method c cot plain"),
    ]
    assert sides("model", "cot", "a", "b") == (("a", "cot"), ("b", "cot"))
    assert sides("method", "c", "cot", "plain") == (("c", "cot"), ("c", "plain"))


def test_holm_is_among_pairs_that_share(table):
    for _, family in table.groupby(["metric", "condition", "varies", "same"]):
        expected = multipletests(family["p"], method="holm")[1]
        assert family["p_holm"].tolist() == pytest.approx(expected.tolist())


def test_one_model_by_one_method_leaves_nothing_to_compare():
    result = differences("demo", [("a", "plain", mean([1, 0]))])
    assert result.empty
    assert "difference" in result


def test_units_are_answers_or_what_the_columns_name():
    table = pd.DataFrame({"item_id": ["x", "x"], "sample": [0, 1], "story_id": [7, 8]})
    assert by_unit(table).index.tolist() == ["x/0", "x/1"]
    assert by_unit(table, "story_id").index.tolist() == ["7", "8"]
