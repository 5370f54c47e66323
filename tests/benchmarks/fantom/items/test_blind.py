"""What a reader gets who skips our FANToM conversations: next to nothing. And how they vary."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold
from tomlab.benchmarks.fantom.items.cast import read_cast, read_topics
from tomlab.benchmarks.fantom.items.grammar import generate

from tomlab.benchmarks.fantom.items.compose import compose
from tomlab.paths import DATA

FILES = DATA / "fantom" / "topics.yaml", DATA / "fantom" / "cast.yaml"
ORDERS = ("first", "second")


@pytest.fixture(scope="module")
def sets():
    """The sets of a run, of 60 conversations."""
    return generate(read_topics(FILES[0]), read_cast(FILES[1]), conversations=60, seed=0)


@pytest.fixture(scope="module")
def beliefs(sets):
    """Belief questions with two options; knows: whether PersonX does; order: first or second; first,
    longer: whether the right option is; opening: who speaks first; words: of question and options.
    In place of either text stands after which share of its turns the fact is first told.
    """
    items = compose(sets)
    items = items[items["question_type"] == "belief_choice"].reset_index(drop=True)
    of = {one["set_id"]: one["record"] for one in sets}
    records = [of[set_id] for set_id in items["group_id"]]
    told = [[said["fact"] for said in one["utterances"]].index(one["fact"]) for one in records]
    turns = pd.DataFrame(records)[["start", "end"]].assign(told=told)
    return items.assign(
        knows=items["scenario"] == "accessible",
        order=items["tom_order"].str.partition("-")[0],
        first=items["choices"].str[0] == items["answer"],
        opening=items["story"].str.partition(":")[0],
        longer=items["answer"].str.len() > items["wrong_answer"].str.len(),
        story=(turns["told"] - turns["start"]) / (turns["end"] - turns["start"]),
        full_story=turns["told"] / [len(one["utterances"]) for one in records],
        words=[with_options(item) for item in items.to_dict("records")],
    )


def with_options(item):
    """The question and both options, that of who knows first, without names."""
    options = [item["answer"], item["wrong_answer"]]
    options = options if item["scenario"] == "accessible" else options[::-1]
    return masked(" ".join([item["question"], *options]), item["full_story"])


def masked(text, conversation):
    return re.sub("|".join({line.split(":")[0] for line in conversation.split("\n")}), "X", text)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("context", ["story", "full_story"])
def test_place_of_the_fact_does_not_tell_who_knows(beliefs, order, context):
    asked = beliefs[beliefs["order"] == order]
    for threshold in np.arange(0.1, 0.95, 0.05):
        late = asked[context] > threshold
        assert 0.4 <= balanced_accuracy_score(asked["knows"], late) <= 0.6
    # That it stands at either end or in the middle tells nothing, either.
    for width in (0.15, 0.25, 0.35):
        outer = (asked[context] - 0.5).abs() > width
        assert 0.4 <= balanced_accuracy_score(asked["knows"], outer) <= 0.6


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rule", ["longer", "first"])
def test_longer_option_and_first_option_are_right_in_half(beliefs, order, rule):
    shares = beliefs[beliefs["order"] == order].groupby("knows")[rule].mean()
    assert shares.between(0.45, 0.55).all()


def test_words_of_question_and_options_do_not_tell_who_knows(beliefs):
    guessed = pd.Series(index=beliefs.index, dtype=object)
    for train, test in GroupKFold(10).split(beliefs, groups=beliefs["conversation_id"]):
        words = CountVectorizer(ngram_range=(1, 2), min_df=2).fit(beliefs["words"][train])
        model = LogisticRegression(max_iter=2000, class_weight="balanced")
        model.fit(words.transform(beliefs["words"][train]), beliefs["knows"][train])
        guessed[test] = model.predict(words.transform(beliefs["words"][test]))
    for _, of_order in beliefs.groupby("order"):
        given = guessed[of_order.index].astype(bool)
        assert balanced_accuracy_score(of_order["knows"], given) <= 0.6


def test_person_x_is_the_first_to_speak_in_half_of_the_parts(beliefs):
    own = beliefs[beliefs["order"] == "first"]
    first = own["opening"].str.lower() == own["character"]
    assert first.groupby(own["knows"]).mean().between(0.4, 0.6).all()


def test_few_turns_recur_in_another_conversation(sets):
    turns, sentences = Counter(), Counter()
    for one in {one["set_id"].split("-")[0]: one for one in sets}.values():
        said = [masked(u["text"], one["full_context"]) for u in one["record"]["utterances"]]
        turns.update(set(said))
        sentences.update({part for text in said for part in re.split(r"(?<=[.?!]) ", text)})
    assert recurring(turns) <= 0.2
    assert recurring(sentences) <= 0.3
    asked = {masked(one["factQA"]["question"], one["full_context"]) for one in sets}
    assert len(asked) >= 0.75 * len(sets)


def recurring(counts):
    """The share of what is said in more than one conversation."""
    return sum(n for n in counts.values() if n > 1) / counts.total()
