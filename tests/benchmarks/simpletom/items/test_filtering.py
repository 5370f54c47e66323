"""Faults of form in stories, and which stories they drop."""

import numpy as np

from simpletom_stories import stories
from tomlab.benchmarks.simpletom.items.filtering import screen
from tomlab.scoring.kept import survives


def faults(table, vectors=None):
    """The faults of stories whose sets are all unlike, unless told otherwise."""
    return screen(table, np.eye(len(table)) if vectors is None else np.array(vectors), 0.9)


def kept(table, found):
    return table[survives(table, found, ["story_id"])]


TALK = {"second_sentence": "Wanja takes the box. It is full."}


# Faults of form


def test_stories_without_fault_are_all_kept():
    table = stories({}, {})
    found = faults(table)
    assert list(found.columns) == ["story_id", "source", "filter", "reason", "dropped"]
    assert found.empty
    assert kept(table, found).equals(table)


def test_each_fault_has_a_row_and_the_story_is_dropped_once():
    table = stories({}, {**TALK, "aware_action": "pay for the oats"})
    found = faults(table)
    assert found["reason"].tolist() == [
        "second_sentence: 2 sentences instead of one",
        "unaware_action: equal to aware_action",
    ]
    assert found["dropped"].tolist() == [True, True]
    assert kept(table, found)["story_id"].tolist() == ["s1"]


def test_released_stories_are_reported_and_never_dropped():
    table = stories({**TALK, "source": "released:SimpleToM"}, TALK)
    found = faults(table)
    assert found["dropped"].tolist() == [False, True]
    assert kept(table, found)["story_id"].tolist() == ["s1"]


def test_set_whose_story_is_told_again_is_a_fault_of_each_of_its_stories():
    table = stories({"set_id": "a"}, {"set_id": "b"}, {"set_id": "b", "severity": 3})
    again = faults(table, [[1.0, 0.0], [1.0, 0.0]])
    assert again["story_id"].tolist() == ["s2", "s3"]
    assert set(again["filter"]) == {"near-duplicate"}
    assert set(again["reason"]) == {"cosine 1.000 to s1"}
    assert kept(table, again)["story_id"].tolist() == ["s1"]
    assert faults(table, np.eye(2)).empty
