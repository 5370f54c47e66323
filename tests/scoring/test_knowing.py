"""Youden's J and the lean: what each reader gets who only leans, and intervals in both designs."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from tomlab.scoring import knowing, stats

ITEMS = 40


def pairs(knows, does_not):
    return pd.Series(np.resize(knows, ITEMS)), pd.Series(np.resize(does_not, ITEMS))


@pytest.mark.parametrize(
    ("reader", "knows", "does_not", "j", "lean"),
    [
        ("everybody always knows", [1], [0], 0, 1),
        ("nobody ever knows", [0], [1], 0, -1),
        ("always right", [1], [1], 1, 0),
        ("always wrong", [0], [0], -1, 0),
        ("a coin", [1, 1, 0, 0], [1, 0, 1, 0], 0, 0),
        ("no answer can be read for a fourth", [1, 1, 1, 0], [0, 0, 0, 0], -0.25, 0.75),
    ],
)
def test_place_of_a_reader_on_the_plane(reader, knows, does_not, j, lean):
    row = knowing.of_pairs(*pairs(knows, does_not))
    assert (row["j"], row["lean"]) == (pytest.approx(j), pytest.approx(lean))
    assert row["j"] == pytest.approx(row["x"] + row["y"] - 1)
    assert row["lean"] == pytest.approx(row["y"] - row["x"])
    assert row["j_low"] <= row["j"] <= row["j_high"]


def test_lean_of_pairs_has_the_p_value_of_mcnemars_exact_test():
    row = knowing.of_pairs(*pairs([1, 1, 1, 0, 1], [1, 0, 0, 1, 1]))
    assert row["p"] == pytest.approx(binomtest(8, 24, 0.5).pvalue)


def test_item_without_one_version_is_left_out():
    knows, does_not = pairs([1], [1])
    assert knowing.of_pairs(knows, does_not[:10])["n_groups"] == 10


def sums(share, sizes):
    return pd.DataFrame({"sum": share * sizes, "count": sizes})


def test_shares_alone_get_the_interval_of_as_many_trials_as_there_are_effective_groups():
    """Ten answers in each of 30 conversations, of which only the share right is known."""
    sizes = pd.Series(10, range(30))
    row = knowing.of_groups(sums(0.9, sizes), sums(0.2, sizes), exact=True)
    assert (row["y_low"], row["y_high"]) == pytest.approx(stats.clopper_pearson(27, 30))
    assert (row["x_low"], row["x_high"]) == pytest.approx(stats.clopper_pearson(6, 30))
    assert (row["j"], row["lean"]) == (pytest.approx(0.1), pytest.approx(0.7))
    assert row["j_low"] < 0 < row["lean_low"]
    assert (row["n_y"], row["n_x"], row["n_groups"]) == (300, 300, 30)


def test_p_and_interval_of_the_lean_agree():
    sizes = pd.Series(4, range(50))
    for gap in (0.02, 0.1, 0.16, 0.3):
        row = knowing.of_groups(sums(0.5 + gap, sizes), sums(0.5, sizes), exact=True)
        assert (row["p"] < 0.05) == (row["lean_low"] > 0)


def test_intervals_hold_the_truth_where_answers_of_a_group_are_alike(monkeypatch):
    """Groups of four answers: each group is right or wrong as a whole; 300 draws."""
    # The p-values take most of the time, and are not looked at.
    monkeypatch.setattr(knowing, "p_of_interval", lambda *_: np.nan)
    random = np.random.default_rng(0)
    sizes = pd.Series(4, range(60))
    held = []
    for _ in range(300):
        knows, does_not = (random.random((2, 60)) < np.array([[0.8], [0.4]])).mean(axis=1)
        row = knowing.of_groups(sums(knows, sizes), sums(does_not, sizes), exact=True)
        held.append(
            [row["j_low"] <= 0.2 <= row["j_high"], row["lean_low"] <= 0.4 <= row["lean_high"]]
        )
    assert (np.mean(held, axis=0) >= 0.93).all()


@pytest.mark.parametrize(
    ("asked_about", "answer"), [("0", True), ("1", True), ("2", False), ("0 2", False), ("", False)]
)
def test_who_speaks_from_one_line_before_the_fact_to_two_after_it_knows(asked_about, answer):
    question = {"speakers": "2 1 0 1 0 2", "fact_line": 2, "asked_about": asked_about}
    assert knowing.speak_near_fact(pd.DataFrame([question])).tolist() == [answer]


def test_window_of_a_fact_in_the_first_line_has_no_line_before_it():
    question = {"speakers": "0 1 2 3", "fact_line": 0, "asked_about": "3"}
    assert knowing.speak_near_fact(pd.DataFrame([question])).tolist() == [False]


@pytest.mark.parametrize(
    ("right_denies", "wrong_denies", "if_known", "if_not"),
    [(0, 1, 1, 0), (1, 0, 0, 1), (1, 1, 0.5, 0.5), (0, 0, 0.5, 0.5)],
)
def test_points_where_one_both_or_no_option_denies(right_denies, wrong_denies, if_known, if_not):
    questions = pd.DataFrame([{"right_denies": right_denies, "wrong_denies": wrong_denies}])
    assert knowing.points_of_two_options(questions, True).tolist() == [if_known]
    assert knowing.points_of_two_options(questions, pd.Series([False])).tolist() == [if_not]
