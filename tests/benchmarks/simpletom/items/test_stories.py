"""Our stories, and the format of Sec. 2.2 and App. E.4, rule by rule."""

import pandas as pd
import pytest

from simpletom_stories import OATS, OURS, our_stories, story
from tomlab.benchmarks.simpletom.items.stories import (
    SCENARIOS,
    SEVERITIES,
    format_problems,
    story_table,
)
from tomlab.benchmarks.simpletom.items.writing import read_scenarios
from tomlab.errors import InputError


@pytest.mark.skipif(not OURS.is_dir(), reason="data/simpletom is missing: `make data` pulls it")
def test_our_stories_keep_to_the_format_and_share_what_a_set_shares():
    ours = our_stories()
    sets = ours.groupby(["scenario", "set_id"])
    assert all(severities == list(SEVERITIES) for severities in sets["severity"].agg(sorted))
    assert set(ours["scenario"]) == set(SCENARIOS)
    assert ours.groupby("scenario")["set_id"].nunique().nunique() == 1
    for row in ours.to_dict("records"):
        assert format_problems(row) == []
    shared = ["person_x", "person_y", "object_z", "second_sentence", "question", "unaware_action"]
    assert (sets[shared].nunique() == 1).all(axis=None)
    first = ours.drop_duplicates("set_id")
    assert first["object_z"].is_unique
    people = pd.concat([first["person_x"], first["person_y"]])
    assert people[people != ""].is_unique


def test_story_is_its_two_sentences_the_key_information_first():
    assert story_table([OATS])["story"].item() == (
        "The box of oats has beetles in it. "
        "Wanja takes the box off the shelf and joins the queue at the till."
    )


# Scenario texts


def scenario_file(tmp_path, *rows):
    path = tmp_path / "scenarios.csv"
    path.write_text("\n".join(["scenario,reason,description", *rows]))
    return path


def test_scenario_texts_are_read(tmp_path):
    table = read_scenarios(scenario_file(tmp_path, f'{SCENARIOS[0]},"Closed, so",X buys Z.'))
    assert table.to_numpy().tolist() == [[SCENARIOS[0], "Closed, so", "X buys Z."]]
    with pytest.raises(InputError, match="no scenario in it"):
        read_scenarios(scenario_file(tmp_path))


def test_all_that_is_wrong_with_scenario_texts_is_told_at_once(tmp_path):
    path = scenario_file(tmp_path, "zoo,a,b", f"{SCENARIOS[5]},,b", f"{SCENARIOS[5]},a,b", "a,b")
    with pytest.raises(InputError) as caught:
        read_scenarios(path)
    for fault in (
        f"row 2, field scenario: found 'zoo', expected {', '.join(SCENARIOS)}",
        "row 3, field reason: found nothing, expected some text",
        f"row 4: scenario {SCENARIOS[5]!r} stands in row 3 too, expected once",
        "row 5: found 2 fields, expected 3",
    ):
        assert fault in str(caught.value)


# The format


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, []),
        ({"person_x": ""}, ["person_x: empty"]),
        ({"key_information": ""}, ["key_information: empty"]),
        ({"key_information": 'Its label says "fresh oats."'}, []),
        ({"key_information": "The box weighs 1.5 kg."}, []),
        ({"key_information": "The box"}, ["key_information: 0 sentences instead of one"]),
        ({"second_sentence": "It is. It is."}, ["second_sentence: 2 sentences instead of one"]),
        ({"second_sentence": "She realizes it."}, ["second_sentence: mentalizing word 'realizes'"]),
        ({"second_sentence": "Aware of it, she ran."}, ["second_sentence: mentalizing word 'Aware'"]),
        ({"second_sentence": "Wanja lays the seesaw box on the bookshelf."}, []),
        ({"key_information": "The baker thinks of beetles."}, []),
        ({"key_information": "It actually holds rye."}, ["key_information: giveaway word 'actually'"]),
        ({"second_sentence": "In fact she pays."}, ["second_sentence: giveaway word 'In fact'"]),
        (
            {"second_sentence": "Wanja comes to Pay for the oats!"},
            ["unaware_action: stands in the story"],
        ),
        ({"aware_action": "Pay for  the oats."}, ["unaware_action: equal to aware_action"]),
    ],
)  # fmt: skip
def test_format_is_that_of_the_paper(changes, problems):
    assert format_problems(story(**changes)) == problems
