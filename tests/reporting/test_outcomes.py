"""What became of each answer: what the bars are made of."""

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from tomlab.records.published import Wording
from tomlab.reporting.outcomes import chart, counts

WORDING = Wording("Demo", {"plain": "plain", "cot": "CoT"})


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def metrics(*models):
    keys = {"benchmark": "demo", "method": "cot", "metric": "outcome_rate", "n_groups": 12}
    rows = [
        {**keys, "model": model, "condition": outcome, "value": value}
        for model in models
        for outcome, value in (("correct", 0.75), ("unparsed", 0.25))
    ]
    return pd.DataFrame(rows)


def test_outcomes_are_in_words_and_a_panel_is_a_model():
    rates = chart(metrics("m", "random"), WORDING)
    assert rates[["model", "method", "outcome", "value"]].to_numpy().tolist() == [
        ["m", "CoT", "right", 0.75],
        ["m", "CoT", "unreadable", 0.25],
    ]
    assert [axes.get_title() for axes in plt.gcf().axes] == ["m"]


def test_baselines_are_shown_where_nothing_else_was_asked():
    assert chart(metrics("random"), WORDING)["model"].unique().tolist() == ["random"]


def test_counts_are_in_words_and_leave_out_what_no_answer_has():
    table = pd.DataFrame({"truncated": [2], "correct": [1], "error": [0]}, index=["plain"])
    assert counts(table).to_dict("records") == [{"Right": 1, "Wrong": 0, "Cut off": 2}]
