"""All 5,000 released items, composed a second time here, by other means, from the same file."""

import pytest

from tomlab.benchmarks import bigtom
from tomlab.paths import DATA, ROOT

RELEASED = ROOT.parent / "shared" / "datasets" / "bigtom" / "bigtom.csv"
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
        sentences, aware, not_aware, action_aware, action_not_aware = fields[:5]
        belief_question, _, action_question = fields[5:8]
        belief_aware, _, action_answer_aware = fields[8:11]
        belief_not_aware, _, action_answer_not_aware = fields[11:14]
        random_event, seen_random, unseen_random = fields[14:17]
        parts = sentences.split(".")
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
                    "true_control": (control, action_not_aware if backward else seen_random),
                    "false_control": (control, action_not_aware if backward else unseen_random),
                }
                for condition, (beginning, end) in endings.items():
                    right, wrong = if_not, if_aware
                    if condition == "true_belief":
                        right, wrong = if_aware, if_not
                    story = f"{beginning} {end}"
                    cell = (number, variable, condition, initial)
                    composed[cell] = (story, question, right, wrong)
        # The release keys the aware answer here; the story stops before the event, so ours does not.
        story = ".".join(parts[:3]) + "."
        cell = (number, "percept_to_belief", "true_belief", 0)
        composed[cell] = (story, belief_question, belief_not_aware, belief_aware)
    return composed


def test_all_stories_questions_and_answers_are_those_composed_again(items):
    # Spaces around a field are no part of it: two actions of the file end in one.
    expected = {}
    for cell, texts in composed_again().items():
        expected[cell] = tuple(text.strip() for text in texts)
    composed = {}
    for item in items.to_dict("records"):
        [wrong] = set(item["choices"]) - {item["answer"]}
        number = int(item["group_id"].removeprefix("bigtom-"))
        cell = (number, item["variable"], item["condition"], item["initial_belief"])
        composed[cell] = (item["story"], item["question"], item["answer"], wrong)
    assert len(composed) == 200 * 25
    assert composed == expected


def test_right_option_is_a_about_as_often_as_b(items):
    first = [item["choices"][0] == item["answer"] for item in items.to_dict("records")]
    assert 2400 < sum(first) < 2600
