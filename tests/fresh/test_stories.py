"""Pairs of twins: what differs, keys by two programs, what readers get, how they are scored."""

import re
from itertools import product

import fresh_shortcuts
import pandas as pd
import pytest
import worlds
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.errors import InputError
from tomlab.fresh import asking as fresh
from tomlab.fresh import items as fresh_items
from tomlab.fresh import sets, stories
from tomlab.fresh.stories import Cell

SEED = "the seed of these tests"
CELLS = [Cell(*features) for features in product((0, 1, 2, 3, 4), (1, 2, 3), (False, True))]


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    return fresh_items.table(sets.drawn(SEED, 150))


pairs = st.builds(
    stories.draw, st.text(min_size=1, max_size=5), st.sampled_from(CELLS), st.integers(0, 500)
)


def exchanged(text: str, one: str, other: str) -> str:
    names = {one: other, other: one}
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)


drawn = settings(max_examples=50, deadline=None, derandomize=True)


@drawn
@given(pairs)
def test_twins_differ_in_nothing_but_the_exchanged_names_and_the_key(pair):
    item, twin = stories.items_of(pair)
    assert item.story != twin.story
    assert exchanged(item.story, pair.people["A"], pair.people["B"]) == twin.story
    for name in ("question", "choices", "chain", "thing", "group_id", "family", "reality"):
        assert getattr(item, name) == getattr(twin, name)
    last_sentences = [fresh_shortcuts.sentences_of(text)[-1] for text in (item.story, twin.story)]
    assert last_sentences[0] == last_sentences[1]
    if pair.cell.order == 0:
        assert item.answer == twin.answer == item.reality
        assert item.condition == twin.condition == "control"
    else:
        assert {item.answer, twin.answer} == set(item.choices)
        assert {item.condition, twin.condition} == {"true_belief", "false_belief"}


@drawn
@given(pairs)
def test_a_story_says_what_its_events_say_and_possible_worlds_give_its_key(pair):
    for item in stories.items_of(pair):
        for name in (*item.containers, *item.record.present):
            assert name in item.story
        assert "{" not in item.story + item.question
        assert len(item.chain) == item.order
        held = worlds.values(item.record, item.order)
        container_of = dict(zip(item.choices, item.containers, strict=True))
        assert held[tuple(item.chain)][item.thing] == container_of[item.answer]
        assert held[()][item.thing] == container_of[item.reality]


def test_every_way_leads_to_a_changed_belief_of_order_1():
    ways = set()
    for is_hidden, number in product((False, True), range(60)):
        ways.add(stories.draw(SEED, Cell(1, 1, is_hidden), number).ways[0])
    assert ways == set(stories.WORDS["ways"])


def test_a_cell_without_a_pair_is_named(monkeypatch):
    monkeypatch.setattr(stories, "TRIES", 3)
    monkeypatch.setattr(stories, "changing_chains", lambda pair: [])
    with pytest.raises(InputError, match="1-1-seen-7: found no pair in 3 draws"):
        stories.draw(SEED, Cell(1, 1, False), 7)


def test_the_places_of_a_thing_share_no_word_and_no_neutral_sentence_names_a_thing_or_a_place():
    for name, scene in stories.WORDS["scenes"].items():
        neutral = [*scene["asides"], *scene["acts"], *scene["errands"], *scene["ends"]]
        sentences = " ".join([*neutral, scene["spot"]])
        for thing, about in scene["things"].items():
            one, other = (set(place.split()) for place in about["places"])
            assert not one & other, name
            nouns = [thing, *about["places"]]
            assert not [noun for noun in nouns if re.search(rf"\b{noun}\b", sentences)], name


def test_only_a_reader_of_order_does_better_than_guessing():
    table = fresh_shortcuts.table_of_readers(150)
    is_order = table.pop("is_order")
    numbers = table.set_index("reader")
    assert numbers[~is_order.to_numpy()].eq(0.5).all(axis=None)
    assert numbers.loc[is_order.to_numpy(), "all"].gt(0.6).all()


def scores_of(items: pd.DataFrame) -> pd.DataFrame:
    answers = [
        {"item_id": item["item_id"], "model": name, "method": "0-shot", "response": text}
        for item in fresh.asked(items, "0-shot").to_dict("records")
        for name, text in fresh.reference(item, "0-shot", 0).items()
    ]
    return fresh.score(items, pd.DataFrame(answers))


def test_gold_is_right_and_who_takes_all_to_know_all_fails_every_false_belief(items):
    scores = scores_of(items)
    means = scores.groupby(["model", "condition"])["score"].mean()
    assert means["gold"].eq(1).all()
    assert means["omniscient", "false_belief"] == 0
    assert means["omniscient", "true_belief"] == 1
    assert 0.3 < means["random", "false_belief"] < 0.7
    shuffled = scores_of(items.sample(frac=1, random_state=1))
    keys = ["item_id", "model"]
    assert shuffled.set_index(keys)["score"].to_dict() == scores.set_index(keys)["score"].to_dict()


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Answer: {right}", "correct"),
        ("**{wrong}**", "wrong"),
        ("The answer is ({wrong}).", "wrong"),
        ("A or B, who knows?", "unparsed"),
    ],
)
def test_an_answer_is_read_by_the_letter_that_it_names(text, outcome, items):
    item = items.iloc[0]
    right, wrong = "AB" if item["choices"][0] == item["answer"] else "BA"
    row = {"item_id": item["item_id"], "model": "m", "method": "0-shot"}
    responses = pd.DataFrame([row | {"response": text.format(right=right, wrong=wrong)}])
    assert fresh.score(items, responses)["outcome"].item() == outcome


def test_a_question_is_shown_with_both_options_and_by_likelihood_with_none(items):
    item = items.iloc[0]
    instruction, shown = fresh.messages(item, "0-shot")
    assert "Answer:" in instruction["content"]
    first, second = item["choices"]
    assert shown["content"].endswith(f"{item['question']}\nA) {first}\nB) {second}")
