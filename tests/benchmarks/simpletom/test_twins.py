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
def items():
    return simpletom.read_released(OURS)


# What can be had without the story

FUNCTION_WORDS = re.compile(
    r"\b(the|an?|of|to|in|on|for|and|with|at|by|it|up|out|off|into|onto|over)\b"
)


def content_words(text):
    return set(re.findall(r"[a-z]+", FUNCTION_WORDS.sub("", text.lower())))


def share_found_by_words(pairs, groups):
    """How often a regression on the words of two options finds the right one, groups held out."""
    counts = CountVectorizer(token_pattern=r"\w+").fit(pairs.to_numpy().ravel())
    differences = counts.transform(pairs["answer"]) - counts.transform(pairs["reality"])
    sides = np.arange(len(pairs)) % 2 * 2 - 1  # whether the right one comes first
    differences = differences.toarray() * sides[:, None]
    outcomes = []
    for train, test in GroupKFold(10).split(differences, groups=groups):
        model = LogisticRegression(fit_intercept=False).fit(differences[train], sides[train])
        decisions = model.decision_function(differences[test]).round(9)
        outcomes += [*(np.sign(decisions) * sides[test])]
    return (1 + np.mean(outcomes)) / 2


def test_no_rule_finds_the_behavior_without_the_story(items):
    behavior = items[items["question_type"].eq("behavior") & items["variant"].eq("main")]
    pairs = behavior[["answer", "reality"]]
    for group in ("group_id", "scenario"):
        assert share_found_by_words(pairs, behavior[group]) <= 0.6
    longer = np.sign(pairs["answer"].str.len() - pairs["reality"].str.len())
    assert 0.45 <= (longer.mean() + 1) / 2 <= 0.55
    second_sentences = our_stories().set_index("story_id")["second_sentence"]
    for texts in (second_sentences[behavior["story_id"]], behavior["story"]):
        signs = []
        for (right, wrong), text in zip(pairs.to_numpy(), texts, strict=True):
            shares = []
            for option in (right, wrong):
                words = content_words(option)
                shares.append(len(words & content_words(text)) / len(words))
            signs.append(np.sign(shares[0] - shares[1]))
        assert 0.4 <= (np.mean(signs) + 1) / 2 <= 0.6


# The texts of twins


def test_every_set_has_one_twin_of_its_base_story(items):
    twins = items[items["variant"].eq("aware") & items["question_type"].eq("judgment")]
    assert set(twins["severity"]) == {BASE}
    assert sorted(twins["group_id"]) == sorted(items["group_id"].unique())


def test_twin_differs_from_its_story_by_a_sentence_and_the_answer(items):
    keys = ["story_id", "question_type"]
    twins = items[items["variant"] == "aware"].set_index(keys)
    main = items[items["variant"] == "main"].set_index(keys).loc[twins.index]
    for name in ("question", "choices", "reality", "group_id"):
        assert twins[name].tolist() == main[name].tolist()
    assert twins["answer"].tolist() == twins["reality"].tolist()
    assert not twins["answer"].eq(main["answer"]).any()
    answers = twins["answer"].groupby("question_type").unique()
    assert (answers["mental_state"], answers["judgment"]) == (["Yes"], ["Not reasonable"])


def sentences(text):
    return re.split(r"(?<=[.!?])\s+", text)


@pytest.fixture(scope="module")
def texts(items):
    """The texts of each story that has a twin, and of the twin."""
    judgments = items[items["question_type"].eq("judgment")]
    wide = judgments.pivot(index="story_id", columns="variant", values="story")
    return wide[["main", "aware"]].dropna()


def test_twin_has_another_second_sentence(texts):
    for story, twin in texts.to_numpy():
        first, second = sentences(story)
        twin_first, twin_second = sentences(twin)
        assert first == twin_first
        assert second != twin_second


@pytest.mark.parametrize("parts", [sentences, str.split, lambda text: re.findall(",", text)])
def test_nobody_tells_twins_by_counting(texts, parts):
    counts = texts.map(lambda text: len(parts(text)))
    for limit in counts.to_numpy().ravel():
        right = (counts["main"] <= limit).mean() + (counts["aware"] > limit).mean()
        assert 0.4 <= right / 2 <= 0.6


def test_being_told_is_not_common(texts):
    assert texts["aware"].str.contains(r"\b(?:tells?|told)\b").mean() <= 0.2


# Answers to twins


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
