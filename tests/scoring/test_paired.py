"""Differences in pairs: what can be worked out by hand, and what must hold for any two sides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t
from statsmodels.stats.multitest import multipletests

from tomlab.scoring import paired
from tomlab.scoring.paired import difference, differences
from tomlab.scoring.series import Series, Statistic, by_unit
from tomlab.scoring.stats import COUNT, DIFFERENCE, PAIRED, ratio


def mean(values, groups=None, units=None, bounds=(0.0, 1.0)):
    """A side whose units are 0, 1, 2, ... and by default each a group of its own."""
    units = list(range(len(values))) if units is None else units
    index = [f"u{unit}" for unit in units]
    values = pd.Series(values, index, dtype=float)
    return Series("accuracy", "all", values, pd.Series(units if groups is None else groups), bounds)


def f1(rights, says, groups):
    """A side with a statistic: 2 * right / (right + said + gold), of sums by group."""
    rows = pd.DataFrame({"right": rights, "said": says, "gold": 1.0, "group": groups})
    rows.index = [f"u{unit}" for unit in range(len(rows))]

    def sums(part):
        return part.groupby("group")[["right", "said", "gold"]].sum()

    def score(counts):
        with np.errstate(invalid="ignore", divide="ignore"):
            return 2 * counts[..., 0] / (counts[..., 1] + counts[..., 2])

    return Statistic("macro_f1", "all", rows, sums, score)


def test_worked_by_hand():
    # Ten templates: a alone is right on five of them, b alone on one, both on two, neither on two.
    a = mean([1] * 5 + [0] + [1] * 2 + [0] * 2)
    b = mean([0] * 5 + [1] + [1] * 2 + [0] * 2)
    result = difference(a, b)
    assert result["difference"] == pytest.approx(0.4)
    assert (result["n"], result["n_groups"], result["n_discordant"]) == (10, 10, 6)
    assert 0.05 < result["p"] < 0.5
    assert result["ci_low"] < 0
    assert result["ci_high"] > 0.4


def test_whole_groups_count_and_not_answers():
    result = difference(mean([1] * 9, list("aaabbbccc")), mean([0] * 9, list("aaabbbccc")))
    assert result["n_discordant"] == 3
    assert result["p"] == difference(mean([1] * 3), mean([0] * 3))["p"]


SIDES = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(SIDES, st.integers(2, 40), st.booleans())
@settings(deadline=None, max_examples=30)
def test_the_other_way_round_only_the_sign_turns(draw, size, is_mean):
    groups = draw.integers(0, 20, size)
    if is_mean:
        a, b = (mean(draw.integers(0, 2, size), groups) for _ in range(2))
    else:
        a, b = (f1(draw.integers(0, 2, size), draw.integers(1, 3, size), groups) for _ in range(2))
    first, second = difference(a, b), difference(b, a)
    turned = [-second["difference"], -second["ci_high"], -second["ci_low"], second["p"]]
    assert [first[k] for k in ("difference", "ci_low", "ci_high", "p")] == pytest.approx(turned)


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_equal_sides_do_not_differ(size):
    draw = np.random.default_rng(size)
    values, groups = draw.integers(0, 2, size), draw.integers(0, 20, size)
    sides = [mean(values, groups), mean(values * 1000.0, groups, bounds=COUNT)]
    sides += [mean(values, groups, bounds=DIFFERENCE), f1(values, values + 1, groups)]
    for side in sides:
        result = difference(side, side)
        assert (result["difference"], result["p"], result["n_discordant"]) == (0, 1, 0)
        assert result["ci_low"] <= 0 <= result["ci_high"]


@given(SIDES, st.integers(2, 60), st.floats(0, 1), st.booleans())
@settings(deadline=None, max_examples=30)
def test_p_and_interval_never_contradict_each_other(draw, size, lean, is_mean):
    groups = np.arange(size)
    above = (draw.random(size) < 0.5 + lean / 3).astype(int)
    if is_mean:
        a, b = mean(above, groups), mean(1 - above, groups)
    else:
        a, b = f1(above, np.ones(size), groups), f1(1 - above, np.ones(size), groups)
    result = difference(a, b)
    leaves_out_zero = not result["ci_low"] <= 0 <= result["ci_high"]
    assert (result["p"] < 0.05) == leaves_out_zero


def test_p_off_an_interval_is_that_of_students_t():
    # On the plain scale, groups of one answer: the jackknife is the paired t test with G / (G - 1)
    # times its variance, so that p is its two-sided tail.
    draw = np.random.default_rng(5)
    moved = draw.normal(0.4, 1, 30)
    result = difference(mean(moved, bounds=COUNT), mean(np.zeros(30), bounds=COUNT))
    left_out = (moved.sum() - moved) / 29 - moved.mean()
    error = np.sqrt((left_out**2).sum())
    worth = 2 * 30 / (30 * (left_out**4).sum() / error**4 - 1)
    expected = 2 * t.sf(moved.mean() / error, min(worth, 29))
    assert result["p"] == pytest.approx(expected, abs=2e-5)


def test_units_of_one_side_alone_are_left_out_and_counted():
    a = mean([1, 1, 0], units=[1, 2, 3])
    b = mean([0, 0, 0, 1], units=[2, 3, 4, 5])
    result = difference(a, b)
    assert (result["n"], result["n_left_out"]) == (2, 3)
    assert result["difference"] == 0.5
    assert difference(mean([1], units=[1]), mean([1], units=[2])) is None


def test_units_with_several_values_are_compared_by_their_sums():
    # Predicted beliefs: a story has three of one model's, two of the other's.
    a = mean([1, 1, 0, 1], groups=[1, 1, 1, 2], units=[1, 1, 1, 2])
    b = mean([0, 1, 0], groups=[1, 1, 2], units=[1, 1, 2])
    result = difference(a, b)
    assert result["difference"] == pytest.approx(3 / 4 - 1 / 3)
    assert result["n"] == 2


def told():
    """Three models on two methods, and one method that the last was not asked by."""
    draw = np.random.default_rng(11)
    for model, share in (("a", 0.9), ("b", 0.5), ("c", 0.2)):
        for method in ("plain", "cot", "few")[: 2 if model == "c" else 3]:
            yield model, method, mean((draw.random(12) < share).astype(float))
            yield model, method, mean(draw.random(12))._replace(metric="f1")


def test_pairs_are_of_models_on_one_method_and_of_methods_less_the_reference():
    result = differences("demo", told(), ["accuracy"], ["plain"])
    pairs = result[["varies", "same", "a", "b"]].to_numpy().tolist()
    three = [["a", "b"], ["a", "c"], ["b", "c"]]
    assert pairs[:6] == [["model", m, *pair] for m in ("plain", "cot") for pair in three]
    assert pairs[6:] == [["model", "few", "a", "b"]] + [
        ["method", model, method, "plain"]
        for model in "abc"
        for method in ("cot", "few")
        if (model, method) != ("c", "few")
    ]
    assert paired.sides(*pairs[0]) == (("a", "plain"), ("b", "plain"))
    assert paired.sides(*pairs[-1]) == (("c", "cot"), ("c", "plain"))


def test_holm_is_among_pairs_that_share():
    result = differences("demo", told(), ["accuracy"], ["plain"])
    for _, family in result.groupby(["metric", "condition", "varies", "same"]):
        expected = multipletests(family["p"], method="holm")[1]
        assert family["p_holm"].tolist() == pytest.approx(expected.tolist())


def test_one_model_by_one_method_leaves_nothing_to_compare():
    result = differences("demo", [("a", "plain", mean([1, 0]))])
    assert result.empty
    assert "difference" in result


def test_a_metric_that_is_not_defined_on_the_common_units_has_no_row():
    def undefined(rows):
        return rows.groupby("group")[["x", "y"]].sum()

    rows = pd.DataFrame({"x": [1.0, 1.0], "y": [0.0, 1.0], "group": [1, 2]}, ["u1", "u2"])
    a = Statistic("f1", "all", rows, undefined, ratio)
    assert difference(a, a._replace(rows=rows.loc[["u1"]])) is None


def test_units_are_answers_or_what_the_columns_name():
    table = pd.DataFrame({"item_id": ["x", "x"], "sample": [0, 1], "story_id": [7, 8]})
    assert by_unit(table).index.tolist() == ["x/0", "x/1"]
    assert by_unit(table, "story_id").index.tolist() == ["7", "8"]


def of_kinds(right: list, kinds: list) -> Series:
    """The mean of two kinds' means, of answers that are each a group of their own."""
    values = pd.Series(right, [f"{n}" for n in range(len(right))], dtype=float)
    groups = values.index.to_series()
    return Series("mean", "all", values, groups, kinds=pd.Series(kinds, values.index))


def test_a_difference_of_two_balanced_means_is_paired_by_answer():
    kinds = ["a"] * 10 + ["b"] * 30
    a, b = of_kinds([1] * 10 + [1, 0] * 15, kinds), of_kinds([1] * 8 + [0] * 2 + [1, 0] * 15, kinds)
    result = paired.difference(a, b)
    assert result["difference"] == pytest.approx(0.1)
    assert result["n_discordant"] == 2
    # Two of ten gains of one kind, no loss, and half of the weight.
    assert -0.2 < result["ci_low"] < 0.1 < result["ci_high"] < 0.35
    same = paired.difference(a, a)
    assert (same["difference"], same["p"]) == (0, 1)


def test_shares_of_units_with_several_values_are_a_gap_of_two_shares():
    units = [f"{n // 2}" for n in range(40)]
    values = pd.Series([1.0] * 39 + [0.0], units)
    groups = values.index.to_series()
    result = paired.difference(*[Series("share", "all", values, groups)] * 2)
    assert (result["difference"], result["ci_method"]) == (0, PAIRED)
    assert 0 < result["ci_high"] < 0.2
