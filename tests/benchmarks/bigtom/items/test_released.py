"""All 5,000 released items, composed a second time here, by other means, from the same file."""

from collections import Counter

import pytest

from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import STORY, read_templates
from tomlab.paths import DATA, ROOT

REPOSITORY = ROOT
RELEASED = REPOSITORY.parent / "shared" / "datasets" / "bigtom" / "bigtom.csv"
OURS = DATA / "bigtom" / "bigtom.csv"

pytestmark = pytest.mark.skipif(
    not RELEASED.is_file(), reason="the released bigtom.csv is not beside the repository"
)


@pytest.fixture(scope="module")
def items():
    return bigtom.read_released(RELEASED)


def composed_again():
    """(story, question, right answer, wrong answer) by (row, variable, condition, belief), with
    the released file's own names and by string surgery alone.
    """
    composed = {}
    for number, line in enumerate(RELEASED.read_text(encoding="utf-8").splitlines(), start=1):
        fields = line.split(";")
        story, aware, not_aware, action_aware, action_not_aware = fields[:5]
        belief_question, _, action_question = fields[5:8]
        belief_aware, _, action_answer_aware = fields[8:11]
        belief_not_aware, _, action_answer_not_aware = fields[11:14]
        random_event, aware_of_random, not_aware_of_random = fields[14:17]
        parts = story.split(".")
        for initial in (0, 1):
            before = ".".join(parts[:4] if initial else parts[:3]) + "."
            event = before + parts[4] + "."
            control = before + " " + random_event
            asked = {
                "forward_belief": (belief_question, belief_aware, belief_not_aware),
                "forward_action": (action_question, action_answer_aware, action_answer_not_aware),
                "backward_belief": (belief_question, belief_aware, belief_not_aware),
            }
            for variable, (question, if_aware, if_not) in asked.items():
                backward = variable == "backward_belief"
                endings = {
                    "true_belief": (event, action_aware if backward else aware),
                    "false_belief": (event, action_not_aware if backward else not_aware),
                    "true_control": (control, action_not_aware if backward else aware_of_random),
                    "false_control": (
                        control,
                        action_not_aware if backward else not_aware_of_random,
                    ),
                }
                for condition, (beginning, end) in endings.items():
                    right, wrong = if_not, if_aware
                    if condition == "true_belief":
                        right, wrong = if_aware, if_not
                    composed[number, variable, condition, initial] = (
                        f"{beginning} {end}",
                        question,
                        right,
                        wrong,
                    )
        # The release keys the aware answer here; the story stops before the event, so ours does not.
        composed[number, "percept_to_belief", "true_belief", 0] = (
            ".".join(parts[:3]) + ".",
            belief_question,
            belief_not_aware,
            belief_aware,
        )
    return composed


def test_there_are_200_templates_of_25_items(items):
    assert len(items) == 5000
    assert Counter(items["group_id"].value_counts()) == {25: 200}


def test_all_stories_questions_and_answers_are_those_composed_again(items):
    # Spaces around a field are no part of it: two actions of the file end in one.
    expected = {
        cell: tuple(text.strip() for text in texts) for cell, texts in composed_again().items()
    }
    composed = {}
    for item in items.to_dict("records"):
        [wrong] = set(item["choices"]) - {item["answer"]}
        number = int(item["group_id"].removeprefix("bigtom-"))
        cell = (number, item["variable"], item["condition"], item["initial_belief"])
        composed[cell] = (item["story"], item["question"], item["answer"], wrong)
    assert composed.keys() == expected.keys()
    assert [(cell, composed[cell], e) for cell, e in expected.items() if composed[cell] != e] == []


def test_eight_stories_differ_from_the_release_by_the_space_they_end_in():
    assert sum(story.endswith(" ") for story, *_ in composed_again().values()) == 8


def test_right_option_is_a_about_as_often_as_b(items):
    first = [item["choices"][0] == item["answer"] for item in items.to_dict("records")]
    assert 2400 < sum(first) < 2600


@pytest.mark.skipif(not OURS.is_file(), reason="data/bigtom is missing: `make data` pulls it")
def test_our_templates_share_no_name_and_no_sentence_with_the_released():
    released, ours = read_templates(RELEASED), read_templates(OURS)
    assert set(ours["agent"]) & set(released["agent"]) == set()
    sentences = [set(t[list(STORY)].to_numpy().ravel()) for t in (released, ours)]
    assert sentences[0] & sentences[1] == set()
