"""Faults of form in stories, and which stories they drop."""

import numpy as np

from simpletom_stories import stories
from tomlab.benchmarks.simpletom.items.filtering import screen

TWO_SENTENCES = {"second_sentence": "Wanja takes the box. It is full."}


def faults(table):
    """The faults of stories whose sets are all unlike."""
    return screen(table, np.eye(len(table)), 0.9)


def test_stories_without_fault_have_no_row():
    table = faults(stories({}, {}))
    assert list(table.columns) == ["story_id", "source", "filter", "reason", "dropped"]
    assert table.empty


def test_each_fault_has_a_row_and_released_stories_are_not_dropped():
    released = TWO_SENTENCES | {"source": "released:SimpleToM"}
    table = faults(stories({}, {**TWO_SENTENCES, "aware_action": "pay for the oats"}, released))
    assert table[["story_id", "reason", "dropped"]].to_numpy().tolist() == [
        ["s2", "second_sentence: 2 sentences instead of one", True],
        ["s2", "unaware_action: equal to aware_action", True],
        ["s3", "second_sentence: 2 sentences instead of one", False],
    ]


def test_set_whose_story_is_told_again_is_a_fault_of_each_of_its_stories():
    table = stories({"set_id": "a"}, {"set_id": "b"}, {"set_id": "b", "severity": 3})
    same = screen(table, np.array([[1.0, 0.0], [1.0, 0.0]]), 0.9)
    assert same["story_id"].tolist() == ["s2", "s3"]
    assert set(same["filter"]) == {"near-duplicate"}
    assert set(same["reason"]) == {"cosine 1.000 to s1"}
    assert screen(table, np.eye(2), 0.9).empty
