"""Faults of form in stories, and which stories they drop."""

import numpy as np
import pandas as pd

from simpletom_stories import stories
from tomlab.benchmarks.simpletom.items.filtering import duplicates, screen
from tomlab.scoring.kept import survives


def kept(table, faults):
    return table[survives(table, faults, ["story_id"])]


TALK = {"second_sentence": "Wanja takes the box. It is full."}


# Faults of form


def test_stories_without_fault_are_all_kept():
    table = stories({}, {})
    found = screen(table)
    assert list(found.columns) == ["story_id", "source", "filter", "reason", "dropped"]
    assert found.empty
    assert kept(table, found).equals(table)


def test_each_fault_has_a_row_and_the_story_is_dropped_once():
    table = stories({}, {**TALK, "aware_action": "pay for the oats"})
    found = screen(table)
    assert found["reason"].tolist() == [
        "second_sentence: 2 sentences instead of one",
        "unaware_action: equal to aware_action",
    ]
    assert found["dropped"].tolist() == [True, True]
    assert kept(table, found)["story_id"].tolist() == ["s1"]


def test_released_stories_are_reported_and_never_dropped():
    table = stories({**TALK, "source": "released:SimpleToM"}, TALK)
    found = screen(table)
    assert found["dropped"].tolist() == [False, True]
    assert kept(table, found)["story_id"].tolist() == ["s1"]


def test_faults_that_others_found_drop_a_story_too():
    table = stories({}, {})
    twice = {"story_id": "s2", "source": "authored", "filter": "near-duplicate", "reason": ""}
    found = pd.concat([screen(table), pd.DataFrame([{**twice, "dropped": True}])])
    assert kept(table, found)["story_id"].tolist() == ["s1"]


# Stories told twice


def test_set_whose_story_is_told_again_is_a_fault_of_each_of_its_stories():
    table = stories({"set_id": "a"}, {"set_id": "b"}, {"set_id": "b", "severity": 3})
    again = duplicates(table, np.array([[1.0, 0.0], [1.0, 0.0]]), 0.9)
    assert again["story_id"].tolist() == ["s2", "s3"]
    assert set(again["reason"]) == {"cosine 1.000 to s1"}
    assert duplicates(table, np.eye(2), 0.9).empty
