"""Stories with chosen features: keys by two programs, pairs, features, what rules get on them."""

import re
from collections import Counter
from itertools import product

import pandas as pd
import pytest
import worlds

from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.fresh import stories
from tomlab.fresh.stories import Cell
from tomlab.scoring import cues, readers

SEED = "the seed of these tests"
CELLS = [Cell(*features) for features in product((1, 2, 3, 4), (1, 2, 3), (False, True))]


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    return pd.concat([stories.items(SEED, cell, range(5)) for cell in CELLS], ignore_index=True)


def test_possible_worlds_give_the_same_keys(monkeypatch):
    """Every belief that a story is drawn by, to order 3."""
    checked, beliefs = [], stories.beliefs

    def both(story, order):
        found = beliefs(story, order)
        if order < 4:
            other = worlds.values(story, order)
            assert found == {chain: other[chain] for chain in found}
            checked.append(story)
        return found

    monkeypatch.setattr(stories, "beliefs", both)
    for cell in CELLS[:18]:
        stories.items("another seed", cell, range(3))
    assert len(checked) >= 300


def test_a_pair_differs_in_who_changed_places_alone(items: pd.DataFrame):
    for _, (one, other) in items.groupby("group_id", sort=False)["story"]:
        words = [Counter(re.findall(r"\w+", story)) for story in (one, other)]
        # A sentence may name one of the two once more.
        assert sum(((words[0] - words[1]) + (words[1] - words[0])).values()) <= 2
        pieces = [re.split(r"(?<=[.;]) |\n\n", story) for story in (one, other)]
        apart = [pair for pair in zip(*pieces, strict=True) if pair[0] != pair[1]]
        assert 1 <= len(apart) <= 2  # one sentence, or its two halves
    keys = items.groupby("group_id", sort=False)["answer"].nunique()
    assert keys.eq(2).all()


def test_features_are_those_of_the_cell(items: pd.DataFrame):
    assert Counter(map(tuple, items[[*Cell._fields]].to_numpy())) == dict.fromkeys(CELLS, 20)
    assert items["question"].str.count("think").eq(items["order"]).all()
    assert items["channel"].isin(stories._HIDDEN).eq(items["hidden"]).all()
    assert items["story"].str.count("\n\n").eq(items["changes"]).all()
    nobody_lies = items[items["lies"] == 0]["story"]
    assert not nobody_lies.str.contains(r"\blie\b|lies that|false news|not true|invented").any()
    assert {3, 4} == {*items["people"]}


def test_questions_depend_on_seed_cell_and_number_alone(items: pd.DataFrame):
    again = stories.items(SEED, CELLS[9], [3])
    own = items[items["family"] == again["family"].iloc[0]].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, own)
    other = stories.items("a seed of another laboratory", CELLS[9], range(5))
    assert not {*other["story"]} & {*items["story"]}


def test_no_reader_that_stories_are_balanced_against_does_better_than_guessing(items: pd.DataFrame):
    assert len(items) == 480
    table = readers.table(readers.choices(bigtom, items, "0-shot"))
    balanced = table[~table["reader"].isin(cues.BY_VERSION)]
    assert balanced["value"].max() <= 0.55
    # Nor does the truth, nor the container that is named first or last.
    assert items["reality"].eq(items["answer"]).mean() == 0.5
    named = items.apply(
        lambda row: sorted(
            row["choices"], key=lambda o: row["story"].rfind(o.split("in the ")[-1][:-1])
        ),
        axis=1,
    )
    assert named.str[0].eq(items["answer"]).mean() == 0.5


def test_the_benchmark_asks_and_scores_them(items: pd.DataFrame):
    answers = [
        {"item_id": item["item_id"], "model": who, "method": "0-shot", "response": text}
        for item in bigtom.asked(items, "0-shot").to_dict("records")
        for who, text in bigtom.reference(item, "0-shot", 0).items()
    ]
    scores = bigtom.score(items, pd.DataFrame(answers)).merge(items[["item_id", "condition"]])
    by = scores.groupby(["model", "condition"])["score"].mean()
    assert by["gold"].eq(1).all()
    assert by["omniscient"].to_dict() == {"true_belief": 1, "false_belief": 0}


def test_a_cell_without_a_pair_is_told(monkeypatch):
    monkeypatch.setattr(stories, "_beliefs", lambda *_: {("Ann",): "tin", (): "tin"})
    monkeypatch.setattr(stories, "_TRIES", 3)
    with pytest.raises(InputError, match="1/1/False/7: found no pair in 3 draws"):
        stories.items(SEED, Cell(1, 1, False), [7])
