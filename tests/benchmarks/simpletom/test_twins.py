"""SimpleToM's behavior options without the story, and stories told twice: X unaware, X aware."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from replies import answered, of_baseline
from simpletom_stories import OURS, our_stories, stories
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items.compose import KEYS, QUESTIONS
from tomlab.benchmarks.simpletom.items.stories import BASE
from tomlab.scoring.choices import key_of

pytestmark = pytest.mark.skipif(
    not OURS.is_dir(), reason="data/simpletom is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def ours():
    return our_stories()


@pytest.fixture(scope="module")
def items():
    return simpletom.read_released(OURS)


# What can be had without the story

LITTLE = {
    *re.findall(r"\w+", "the a an of to in on for and with at by it up out off into onto over")
}


def shared(option, text):
    """The share of an option's words that stand in a text, but for little ones."""
    words = set(re.findall(r"[a-z]+", option.lower())) - LITTLE
    return len(words & set(re.findall(r"[a-z]+", text.lower()))) / len(words)


def by_words(pairs, groups):
    """How often a regression on the words of two options finds the right one, groups held out."""
    counts = CountVectorizer(token_pattern=r"\w+").fit(pairs.to_numpy().ravel())
    apart = counts.transform(pairs["answer"]) - counts.transform(pairs["reality"])
    sides = np.arange(len(pairs)) % 2 * 2 - 1  # whether the right one comes first
    apart, found = apart.toarray() * sides[:, None], np.zeros(len(pairs))
    for train, test in GroupKFold(10).split(apart, groups=groups):
        model = LogisticRegression(fit_intercept=False).fit(apart[train], sides[train])
        found[test] = np.sign(model.decision_function(apart[test]).round(9)) * sides[test]
    return (found + 1).mean() / 2


def test_no_rule_finds_the_behavior_without_the_story(ours, items):
    told = items[items["question_type"].eq("behavior") & items["variant"].eq("main")]
    pairs = told[["answer", "reality"]]
    assert by_words(pairs, told["group_id"]) <= 0.6
    assert by_words(pairs, told["scenario"]) <= 0.6
    longer = np.sign(pairs["answer"].str.len() - pairs["reality"].str.len())
    assert 0.45 <= (longer.mean() + 1) / 2 <= 0.55
    stories = ours.set_index("story_id").loc[told["story_id"]]
    for text in (stories["second_sentence"], told["story"]):
        found = [
            np.sign(shared(right, words) - shared(wrong, words))
            for (right, wrong), words in zip(pairs.to_numpy(), text, strict=True)
        ]
        assert 0.4 <= (np.mean(found) + 1) / 2 <= 0.6


# Twins


def test_every_set_has_one_twin_of_its_base_story(ours, items):
    twins = items[items["variant"].eq("aware") & items["question_type"].eq("judgment")]
    assert set(twins["severity"]) == {BASE}
    assert sorted(twins["group_id"]) == sorted(ours["set_id"].unique())


def test_twin_differs_from_its_story_by_a_sentence_and_the_answer(items):
    twins = items[items["variant"] == "aware"].set_index(["story_id", "question_type"])
    first = items[items["variant"] == "main"].set_index(["story_id", "question_type"])
    first = first.loc[twins.index]
    for name in ("question", "choices", "reality", "group_id"):
        assert twins[name].tolist() == first[name].tolist()
    assert not twins["story"].eq(first["story"]).any()
    assert twins["answer"].tolist() == twins["reality"].tolist()
    assert not twins["answer"].eq(first["answer"]).any()
    answers = twins["answer"].groupby("question_type").unique()
    assert (answers["mental_state"], answers["judgment"]) == (["Yes"], ["Not reasonable"])


def sentences(text):
    return re.split(r"(?<=[.!?])\s+", text)


@pytest.fixture(scope="module")
def pairs(items):
    """Each story that has a twin, with the twin: their texts."""
    once = items[items["question_type"].eq("judgment")]
    texts = once.pivot(index="story_id", columns="variant", values="story")
    return texts[["main", "aware"]].dropna()


def test_twin_has_another_second_sentence_in_the_place_of_its_story_s(pairs):
    for story, twin in pairs.to_numpy():
        first, second = sentences(story)
        same, other = sentences(twin)
        assert (first, second != other) == (same, True)


def test_nobody_tells_twins_by_counting(pairs):
    for count in (sentences, str.split, lambda text: re.findall(",", text)):
        numbers = pairs.map(lambda text, count=count: len(count(text)))
        for most in numbers.to_numpy().ravel():
            told = (numbers["main"] <= most).mean() + (numbers["aware"] > most).mean()
            assert 0.4 <= told / 2 <= 0.6


def test_no_way_of_being_told_is_common(pairs):
    says = pairs["aware"].str.contains(r"\b(?:tells?|told)\b")
    assert says.mean() <= 0.2


def test_twins_are_asked_by_their_own_method_alone_and_by_likelihood(items):
    assert set(simpletom.asked(items, "aware")["variant"]) == {"aware"}
    assert set(simpletom.asked(items, "likelihood")["variant"]) == {"aware", "main"}
    for method in set(simpletom.METHODS) - {"aware", "likelihood"}:
        assert "aware" not in set(simpletom.asked(items, method)["variant"])
    assert simpletom.asked(simpletom.compose(stories({})), "aware").empty


def told(items, answer):
    """Metrics of a model: `answer` gives an item's option."""
    parts = []
    for method in ("none", "aware"):
        asked = simpletom.asked(items, method)
        keys = [key_of(item, answer(item), KEYS) for item in asked.to_dict("records")]
        parts.append(answered(asked, [f"({key})" for key in keys], method))
    metrics = simpletom.metrics(simpletom.score(items, pd.concat(parts, ignore_index=True)))
    return metrics[metrics["method"] == "aware"].set_index(["metric", "condition"])


def of_policy(items, policy):
    parts = [of_baseline(simpletom, items, policy, method) for method in ("none", "aware")]
    return simpletom.metrics(simpletom.score(items, pd.concat(parts, ignore_index=True)))


def test_reader_of_stories_tells_them_apart(items):
    metrics = told(items, lambda item: item["answer"])
    for kind in QUESTIONS:
        assert metrics.loc[("both_right", kind), "value"] == 1
        highest = 2 * norm.ppf(100.5 / 101)
        assert metrics.loc[("d_prime", kind), "value"] == pytest.approx(highest)
        assert metrics.loc[("criterion", kind), "value"] == pytest.approx(0)


@pytest.mark.parametrize("place", [0, -1])
def test_same_answer_always_tells_nothing_apart(items, place):
    """ "No" or "Yes", the first or the last option: d′ is 0 exactly, with nothing right twice."""
    constant = {"mental_state": ("No", "Yes"), "judgment": ("Reasonable", "Not reasonable")}
    for choose in (
        lambda item: constant.get(item["question_type"], sorted(item["choices"]))[place],
        lambda item: item["choices"][place],
    ):
        metrics = told(items, choose)
        for kind in QUESTIONS:
            assert metrics.loc[("d_prime", kind), "value"] == 0
            assert metrics.loc[("both_right", kind), "value"] == 0
    assert metrics.loc[("both_gap", "mental_state/judgment"), "value"] == 0


def test_criterion_says_to_which_answer_a_model_leans(items):
    for answer, side in (("No", 1), ("Yes", -1)):
        metrics = told(items, lambda item, a=answer: a if a in item["choices"] else item["answer"])
        assert metrics.loc[("criterion", "mental_state"), "value"] * side > 2


def test_omniscient_is_right_of_twins_alone_and_tells_nothing_apart(items):
    metrics = of_policy(items, "omniscient").set_index(["method", "metric", "condition"])["value"]
    for kind in QUESTIONS:
        assert metrics["none", "accuracy", kind] == 0
        assert metrics["aware", "accuracy", f"{kind}:aware"] == 1
        assert metrics["aware", "d_prime", kind] == 0


def test_guessing_tells_nothing_apart(items):
    metrics = of_policy(items, "random").query("metric in ('d_prime', 'both_gap')")
    assert len(metrics) == 6
    assert (metrics["ci_low"] <= 0).all()
    assert (metrics["ci_high"] >= 0).all()


def test_rates_are_log_linear_and_unreadable_answers_are_left_out(items):
    """Of 10 pairs, 8 are read: 6 hits, 2 false alarms. The score of a pair takes all 10."""
    own = items[items["group_id"].isin(items["group_id"].unique()[:10])]
    own = own[own["question_type"].eq("mental_state") & own["severity"].eq(BASE)]
    says = {"none": ["Yes"] * 2 + ["No"] * 8, "aware": ["Yes"] * 6 + ["No"] * 2 + ["?"] * 2}
    parts = []
    for method, texts in says.items():
        asked = simpletom.asked(own, method)
        pairs = zip(asked.to_dict("records"), texts, strict=True)
        texts = [text if text == "?" else f"({key_of(item, text, KEYS)})" for item, text in pairs]
        parts.append(answered(asked, texts, method))
    metrics = simpletom.metrics(simpletom.score(own, pd.concat(parts, ignore_index=True)))
    found = metrics.set_index(["metric", "condition"])
    hits, alarms = norm.ppf([6.5 / 9, 2.5 / 9])
    assert found.loc[("d_prime", "mental_state"), "value"] == pytest.approx(hits - alarms)
    assert found.loc[("criterion", "mental_state"), "value"] == pytest.approx(-(hits + alarms) / 2)
    assert found.loc[("d_prime", "mental_state"), "n"] == 8
    assert found.loc[("both_right", "mental_state"), "value"] == 0.4
