"""Faults of form in stories, the shares that are kept, and the counts of Table 8."""

import numpy as np
import pandas as pd
import pytest

from simpletom_stories import stories
from tomlab.benchmarks.simpletom.items.filtering import duplicates, kept, kept_share, screen, table8
from tomlab.benchmarks.simpletom.paper import PUBLICATION

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


# Shares kept


def sets_of_three(*broken):
    """Three sets of three severities; `broken` are the story numbers with a fault."""
    return stories(
        *(
            {"set_id": f"set{i // 3}", "severity": i % 3 + 1, **(TALK if i + 1 in broken else {})}
            for i in range(9)
        )
    )


@pytest.mark.parametrize("by", ["scenario", "severity", "source"])
def test_share_kept_by_group_with_an_interval_over_sets(by):
    table = sets_of_three(1, 2)
    shares = kept_share(table, screen(table), by)
    assert shares[by].tolist() == {"severity": [1, 2, 3]}.get(by, [table[by].iloc[0]])
    assert shares["stories"].sum() == 9
    assert shares["kept"].sum() == 7
    assert (shares["sets"] == 3).all()
    assert shares["share"].between(shares["ci_low"], shares["ci_high"]).all()


def test_where_all_sets_are_alike_the_interval_is_of_as_many_trials_as_sets():
    table = sets_of_three()
    [row] = kept_share(table, screen(table), "source").to_dict("records")
    assert (row["share"], row["ci_high"], row["ci_method"]) == (1.0, 1.0, "all groups alike")
    # Three sets, not nine stories: 0.025 ** (1 / 3).
    assert row["ci_low"] == pytest.approx(0.2924, abs=1e-4)


# Stories told twice


def test_set_whose_story_is_told_again_is_a_fault_of_each_of_its_stories():
    table = stories({"set_id": "a"}, {"set_id": "b"}, {"set_id": "b", "severity": 3})
    again = duplicates(table, np.array([[1.0, 0.0], [1.0, 0.0]]), 0.9)
    assert again["story_id"].tolist() == ["s2", "s3"]
    assert set(again["reason"]) == {"cosine 1.000 to s1"}
    assert duplicates(table, np.eye(2), 0.9).empty


# Table 8


def test_counts_of_stories_and_distinct_entities_by_scenario():
    exam = {"scenario": "unobserved unethical actions"}
    table = table8(
        stories(
            {**exam, "person_y": "classmate"},
            {"person_x": "Wanja"},
            {"person_x": "wanja ", "object_z": "jar"},
            {"person_x": "Ligaya"},
        )
    )
    assert list(table.columns) == list(PUBLICATION.read("table8_statistics").columns)
    assert table.fillna(-1).values.tolist() == [
        ["food item in grocery store", 3, 2, 2, -1],
        ["unobserved unethical actions", 1, 1, 1, 1],
        ["All stories", 4, 2, 2, 1],
    ]


def test_entity_of_two_scenarios_is_one_in_the_total():
    table = table8(stories({}, {"scenario": "locked devices accounts"}))
    assert table["unique_x"].tolist() == [1, 1, 1]
