"""SimpleToM's stories told twice, X unaware and X aware: what is asked and counted of both."""

import pandas as pd
import pytest
from scipy.stats import norm

from replies import answered, of_baseline
from simpletom_stories import OURS, stories
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items.compose import KEYS, QUESTIONS
from tomlab.benchmarks.simpletom.items.stories import BASE
from tomlab.scoring.choices import key_of

pytestmark = pytest.mark.skipif(
    not OURS.is_dir(), reason="data/simpletom is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def items():
    return simpletom.read_released(OURS)


def test_twins_are_asked_by_their_own_method_alone_and_by_likelihood(items):
    assert set(simpletom.asked(items, "aware")["variant"]) == {"aware"}
    assert set(simpletom.asked(items, "likelihood")["variant"]) == {"aware", "main"}
    for method in set(simpletom.METHODS) - {"aware", "likelihood"}:
        assert "aware" not in set(simpletom.asked(items, method)["variant"])
    assert simpletom.asked(simpletom.compose(stories({})), "aware").empty


def metrics_of(items, choose):
    """The metrics of a model that chooses an option by a function of the item."""
    responses = []
    for method in ("none", "aware"):
        asked = simpletom.asked(items, method)
        texts = []
        for item in asked.to_dict("records"):
            choice = choose(item)
            texts.append(f"({key_of(item, choice, KEYS)})" if choice else "?")
        responses.append(answered(asked, texts, method))
    scores = simpletom.score(items, pd.concat(responses, ignore_index=True))
    return simpletom.metrics(scores).set_index(["method", "metric", "condition"])


def test_reader_of_stories_tells_them_apart(items):
    values = metrics_of(items, lambda item: item["answer"])["value"]["aware"]
    assert values["both_right"].eq(1).all()
    assert values["d_prime"].tolist() == pytest.approx([2 * norm.ppf(100.5 / 101)] * 3)
    assert values["criterion"].tolist() == pytest.approx([0] * 3)


def always_yes(item):
    return "Yes" if "Yes" in item["choices"] else min(item["choices"])


@pytest.mark.parametrize("choose", [always_yes, lambda item: item["choices"][0]])
def test_same_answer_always_tells_nothing_apart(items, choose):
    values = metrics_of(items, choose)["value"]["aware"]
    for metric in ("d_prime", "both_right", "both_gap"):
        assert values[metric].eq(0).all()


def test_omniscient_is_right_of_twins_alone_and_leans_to_yes(items):
    values = metrics_of(items, lambda item: item["reality"])["value"]
    for kind in QUESTIONS:
        assert values["none", "accuracy", kind] == 0
        assert values["aware", "accuracy", f"{kind}:aware"] == 1
        assert values["aware", "d_prime", kind] == 0
        assert values["aware", "criterion", kind] < -2


def test_guessing_tells_nothing_apart(items):
    responses = [of_baseline(simpletom, items, "random", method) for method in ("none", "aware")]
    metrics = simpletom.metrics(simpletom.score(items, pd.concat(responses, ignore_index=True)))
    intervals = metrics.query("metric in ('d_prime', 'both_gap')")
    assert len(intervals) == 6
    assert (intervals["ci_low"] <= 0).all()
    assert (intervals["ci_high"] >= 0).all()


def test_rates_are_log_linear_and_unreadable_answers_are_left_out(items):
    """Of 10 pairs, 8 are read: 6 hits, 2 false alarms. The score of a pair takes all 10."""
    ten = items[items["group_id"].isin(items["group_id"].unique()[:10])]
    ten = ten[ten["question_type"].eq("mental_state") & ten["severity"].eq(BASE)]
    answers = {
        "main": iter(["Yes"] * 2 + ["No"] * 8),
        "aware": iter(["Yes"] * 6 + ["No"] * 2 + [None] * 2),
    }
    metrics = metrics_of(ten, lambda item: next(answers[item["variant"]])).loc["aware"]
    hits, alarms = norm.ppf([6.5 / 9, 2.5 / 9])
    assert metrics.loc[("d_prime", "mental_state"), "value"] == pytest.approx(hits - alarms)
    criterion = metrics.loc[("criterion", "mental_state"), "value"]
    assert criterion == pytest.approx(-(hits + alarms) / 2)
    assert metrics.loc[("d_prime", "mental_state"), "n"] == 8
    assert metrics.loc[("both_right", "mental_state"), "value"] == 0.4
