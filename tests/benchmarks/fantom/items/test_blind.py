"""What a reader gets who skips our FANToM conversations, and the shares by which they were written."""

import own_shortcuts
import pandas as pd
import pytest

from tomlab.benchmarks.fantom.items.compose import compose
from tomlab.benchmarks.fantom.items.contexts import turns
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.paths import DATA

OURS = DATA / "fantom" / "fantom.json"

pytestmark = pytest.mark.skipif(not OURS.is_file(), reason="data is missing: `make data` pulls it")


@pytest.fixture(scope="module")
def sets():
    return read_sets(OURS)


def test_longer_option_and_first_option_are_right_in_half(sets):
    items = compose(sets)
    items = items[items["question_type"] == "belief_choice"]
    items = items.assign(
        order=items["tom_order"].str.partition("-")[0],
        is_first=items["choices"].str[0] == items["answer"],
        is_longer=items["answer"].str.len() > items["wrong_answer"].str.len(),
    )
    shares = items.groupby(["order", "scenario"])[["is_first", "is_longer"]].mean()
    assert shares.stack().between(0.4, 0.6).all()


def test_no_reader_who_follows_nobody_gets_more_than_aimed_at():
    shortcuts = own_shortcuts.fantom_shortcuts(OURS)
    above = shortcuts[shortcuts["value"] > shortcuts["at most"]]
    assert above["reader"].tolist() == []


def test_person_x_knows_half_of_the_facts_and_somebody_is_silent_near_most(sets):
    facts = [own_shortcuts.facts_of(record) for record in sets]
    knows = [fact["person_x"] in fact["aware"] for fact in facts]
    assert 0.45 <= sum(knows) / len(facts) <= 0.55
    silent = [bool(own_shortcuts.somebody_is_silent(fact)) for fact in facts]
    assert sum(silent) / len(facts) >= 0.6


def test_no_two_conversations_share_a_topic_or_a_line(sets):
    conversations = {record["set_id"].partition("-")[0]: record for record in sets}
    topics = [record["record"]["topic"] for record in conversations.values()]
    assert len(set(topics)) == len(topics)
    contexts = pd.Series([record["full_context"] for record in conversations.values()])
    utterances = contexts.map(turns).explode().str[1]
    long = utterances[utterances.str.split().str.len() > 5]
    assert long.is_unique
