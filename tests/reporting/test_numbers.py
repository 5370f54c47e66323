"""Numbers as they are written, where an interval stands, and the paper's rows beside a run's."""

import numpy as np
import pandas as pd
import pytest

from tomlab.benchmarks.bigtom.paper import PUBLICATION
from tomlab.reporting import numbers
from tomlab.reporting.numbers import RUN, cell, few, number, span, standing, written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.6789, ".68"),
        (0.0, ".00"),
        (0.0042, ".004"),
        (0.0001, "< .001"),
        (-0.128, "−.13"),
        (-0.0001, "> −.001"),
        (np.int64(1234), "1,234"),
        (None, "–"),
        (pd.NA, "–"),
        (np.bool_(False), "no"),
    ],
)
def test_numbers_have_two_digits_and_three_below_a_hundredth(value, text):
    assert number(value) == text


def test_a_cell_has_its_interval_and_its_mark():
    assert cell(0.525, 0.31, 0.72) == ".53 [.31, .72]"
    assert cell(0.61, mark="*") == ".61*"
    assert cell(np.nan, 0.1, 0.2) == "–"
    assert written(pd.DataFrame({"value": [0.5, np.nan]})) == [".50", "–"]


@pytest.mark.parametrize(
    ("low", "high", "where"),
    [
        (0.51, 0.9, "above"),
        (0.1, 0.49, "below"),
        (0.42, 0.58, "at"),
        (0.5, 0.6, "at"),
        (0.3, 0.6, "inconclusive"),
        (0.45, 0.61, "inconclusive"),
    ],
)
def test_an_interval_stands_above_below_or_at_a_level_or_says_nothing(low, high, where):
    assert standing(low, high, 0.5) == where


def test_few_groups_are_those_of_this_run_alone():
    rows = pd.DataFrame({"source": [RUN, RUN, "paper"], "n_groups": [9, 10, 3]})
    assert few(rows).tolist() == [True, False, False]
    assert few(rows[["n_groups"]]).tolist() == [True, False, True]
    assert few(pd.DataFrame({"n_groups": pd.array([pd.NA, 3], "Int64")})).tolist() == [False, True]


def test_counts_are_told_as_a_range():
    assert span(pd.Series([18, 25, np.nan])) == "18–25"
    assert span(pd.Series([1200, 1200])) == "1,200"
    assert span(pd.Series([np.nan])) == "–"


def test_published_percentages_become_shares():
    people = numbers.published(PUBLICATION, "human_baseline", "accuracy_percent")
    assert people["value"].between(0, 1).all()
    assert people["source"].eq("paper").all()


def test_the_paper_stands_above_the_run_in_the_same_columns():
    paper = numbers.published(PUBLICATION, "table9_percept_to_belief", "accuracy")
    run = pd.DataFrame({"model": ["m"], "value": [0.5], "ci_low": [0.4], "ci_high": [0.6]})
    table = numbers.beside(paper, run.assign(n=10, n_groups=10), ["model"])
    assert table["source"].tolist() == ["paper"] * len(paper) + [RUN]
    assert table["value"].dtype == float
    assert numbers.beside(paper, run.iloc[:0], ["model"])["source"].eq("paper").all()
    assert numbers.beside(paper.iloc[:0], run.iloc[:0], ["model"]).empty
    assert numbers.n_of(table, "answers", "templates") == "n = 10 answers from 10 templates"


def test_numbers_that_fail_a_check_are_noted_with_the_reason():
    rows = pd.DataFrame({"mark": ["*", "", "*"], "reason": ["no such share", "", "no such share"]})
    assert numbers.failing(rows) == ["* 2 published numbers fail a check: no such share."]
