"""What a reader gets who skips our FANToM conversations, and the shares by which they were written."""

import re

import own_shortcuts
import pytest

from tomlab.benchmarks.fantom.items.compose import compose
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.paths import DATA

OURS = DATA / "fantom" / "fantom.json"
ORDERS = ("first", "second")

pytestmark = pytest.mark.skipif(not OURS.is_file(), reason="data is missing: `make data` pulls it")


@pytest.fixture(scope="module")
def sets():
    return read_sets(OURS)


@pytest.fixture(scope="module")
def facts(sets):
    return [own_shortcuts.facts_of(record) for record in sets]


@pytest.fixture(scope="module")
def beliefs(sets):
    """Belief questions with two options; first, longer: whether the right one is."""
    items = compose(sets)
    items = items[items["question_type"] == "belief_choice"]
    return items.assign(
        order=items["tom_order"].str.partition("-")[0],
        first=items["choices"].str[0] == items["answer"],
        longer=items["answer"].str.len() > items["wrong_answer"].str.len(),
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rule", ["longer", "first"])
def test_longer_option_and_first_option_are_right_in_half(beliefs, order, rule):
    shares = beliefs[beliefs["order"] == order].groupby("scenario")[rule].mean()
    assert shares.between(0.4, 0.6).all()


def test_no_reader_who_follows_nobody_gets_more_than_aimed_at():
    shortcuts = own_shortcuts.fantom_shortcuts(OURS)
    above = shortcuts[shortcuts["value"] > shortcuts["at most"]]
    assert above["reader"].tolist() == []


def test_person_x_knows_half_of_the_facts(facts):
    knows = [fact["person_x"] in fact["aware"] for fact in facts]
    assert 0.45 <= sum(knows) / len(knows) <= 0.55


def test_people_who_are_there_stay_silent_near_most_facts(facts):
    silent = [own_shortcuts.somebody_is_silent(fact) for fact in facts]
    assert sum(map(bool, silent)) / len(facts) >= 0.6


def test_no_line_stands_in_two_conversations(sets):
    conversations = {record["set_id"].split("-")[0]: record["full_context"] for record in sets}
    lines = [
        (number, re.sub(r"^\w+: ", "", line))
        for number, context in conversations.items()
        for line in context.splitlines()
    ]
    long = [(number, text) for number, text in lines if len(text.split()) > 5]
    assert len({text for _, text in long}) == len(long)


def test_every_conversation_is_about_something_else(sets):
    topics = {record["set_id"].split("-")[0]: record["record"]["topic"] for record in sets}
    assert len(set(topics.values())) == len(topics)
