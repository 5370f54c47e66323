"""Our stories, and the format of Sec. 2.2 and App. E.4, rule by rule."""

import pandas as pd
import pytest

from simpletom_stories import OATS, OURS, our_stories, story
from tomlab.benchmarks.simpletom.items.stories import (
    COLUMNS,
    OPTIONAL,
    SCENARIOS,
    SEVERITIES,
    format_problems,
    story_table,
)
from tomlab.benchmarks.simpletom.items.writing import read_scenarios
from tomlab.errors import InputError

# Ours


@pytest.mark.skipif(not OURS.is_dir(), reason="data/simpletom is missing: `make data` pulls it")
class TestOurs:
    @pytest.fixture(scope="class")
    @staticmethod
    def ours():
        return our_stories()

    def test_ten_scenarios_have_as_many_sets_of_three_severities(self, ours):
        sets = ours.groupby(["scenario", "set_id"])["severity"].agg(sorted)
        assert all(found == list(SEVERITIES) for found in sets)
        assert set(ours["scenario"]) == set(SCENARIOS)
        assert ours.groupby("scenario")["set_id"].nunique().nunique() == 1

    def test_every_story_keeps_to_the_format(self, ours):
        found = {s["story_id"]: format_problems(s) for s in ours.to_dict("records")}
        assert {name: problems for name, problems in found.items() if problems} == {}

    def test_stories_of_a_set_share_all_but_the_key_information_and_what_follows_from_it(
        self, ours
    ):
        own = ("story_id", "severity", "key_information", "aware_action", "negative_judgment")
        own += ("story",)
        shared = [name for name in COLUMNS if name not in own]
        assert len(ours[shared].drop_duplicates()) == ours["set_id"].nunique()

    def test_nobody_and_no_object_occurs_in_two_sets(self, ours):
        sets = ours.drop_duplicates("set_id")
        assert sets["object_z"].is_unique
        people = pd.concat([sets["person_x"], sets["person_y"]])
        assert people[people != ""].is_unique


def test_story_is_its_two_sentences_the_key_information_first():
    [row] = story_table([OATS]).to_dict("records")
    assert row["story"] == (
        "The box of oats has beetles in it. "
        "Wanja takes the box off the shelf and joins the queue at the till."
    )


# Scenario texts


def scenario_file(tmp_path, *rows, header="scenario,reason,description"):
    path = tmp_path / "scenarios.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_scenario_texts_are_read(tmp_path):
    table = read_scenarios(scenario_file(tmp_path, f'{SCENARIOS[0]},"Closed, so",X buys Z.'))
    assert table.values.tolist() == [[SCENARIOS[0], "Closed, so", "X buys Z."]]


def test_all_that_is_wrong_with_scenario_texts_is_told_at_once(tmp_path):
    path = scenario_file(tmp_path, "zoo,a,b", f"{SCENARIOS[5]},,b", f"{SCENARIOS[5]},a,b", "a,b")
    with pytest.raises(InputError) as caught:
        read_scenarios(path)
    said = str(caught.value)
    assert f"row 2, field scenario: found 'zoo', expected {', '.join(SCENARIOS)}" in said
    assert "row 3, field reason: found nothing, expected some text" in said
    assert f"row 4: scenario {SCENARIOS[5]!r} stands in row 3 too, expected once" in said
    assert "row 5: found 2 fields, expected 3" in said


# The format


def test_story_in_the_format_has_no_problem():
    assert format_problems(story()) == []


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in OPTIONAL])
def test_empty_field_is_a_problem(name):
    assert f"{name}: empty" in format_problems(story(**{name: ""}))


@pytest.mark.parametrize("name", ["key_information", "second_sentence"])
@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("The box has beetles.", []),
        ('Its label says "fresh oats."', []),
        ("The box weighs 1.5 kg.", []),
        ("The box has beetles", ["0 sentences instead of one"]),
        ("It has beetles. They are alive.", ["2 sentences instead of one"]),
    ],
)
def test_each_half_of_a_story_is_one_sentence(name, text, problems):
    assert format_problems(story(**{name: text})) == [f"{name}: {p}" for p in problems]


@pytest.mark.parametrize(
    "word", ["sees", "notices", "believes", "knows", "thinks", "realizes", "looked", "Aware"]
)
def test_second_sentence_does_without_words_of_perceiving_and_of_the_mind(word):
    text = f"Wanja {word} the box and joins the queue."
    assert format_problems(story(second_sentence=text)) == [
        f"second_sentence: mentalizing word {word!r}"
    ]


def test_word_that_only_contains_such_a_word_is_none():
    text = "Wanja lays the seesaw box on the bookshelf."
    assert format_problems(story(second_sentence=text)) == []


def test_key_information_may_speak_of_the_mind():
    assert format_problems(story(key_information="The baker thinks of beetles.")) == []


@pytest.mark.parametrize("word", ["secretly", "hidden", "actually", "in fact", "unbeknownst"])
@pytest.mark.parametrize("name", ["key_information", "second_sentence"])
def test_no_word_gives_away_that_something_is_kept_from_view(name, word):
    text = f"The box {word} holds beetles."
    assert format_problems(story(**{name: text})) == [f"{name}: giveaway word {word!r}"]


def test_unaware_action_is_not_part_of_the_story():
    text = "Wanja wants to, and will Pay for the oats!"
    problems = format_problems(story(second_sentence=text))
    assert "unaware_action: stands in the story" in problems


@pytest.mark.parametrize("other", ["pay for the oats", "Pay for  the oats."])
def test_two_actions_differ_by_more_than_case_and_marks(other):
    assert format_problems(story(aware_action=other)) == ["unaware_action: equal to aware_action"]
