"""What models are shown of SimpleToM's stories and write, for tests of both sides."""

from simpletom_stories import OATS, story
from tomlab.benchmarks.simpletom.items.filtering import QUESTIONS
from tomlab.benchmarks.simpletom.items.formats import written_out, written_set

GROCERY, EXAM = "food item in grocery store", "unobserved unethical actions"
TRIO = [
    story(
        story_id="oats_sev1",
        severity=1,
        key_information="The box of oats holds rye flakes.",
        aware_action="swap the box for one with oats",
    ),
    story(),
    story(
        story_id="oats_sev3",
        severity=3,
        key_information="The box of oats holds rat poison.",
        aware_action="warn the manager of the poison",
    ),
]
OTHER_TRIO = [
    {**s, "story_id": s["story_id"].replace("oats", "quiz"), "set_id": "quiz", "scenario": EXAM}
    | {"person_x": "Ligaya", "person_y": "classmate", "object_z": "copied in the quiz"}
    for s in TRIO
]
# What a model writes of the trio: no more than the nine lines.
PLAIN = written_out(TRIO)
WRITTEN = ("key_information", "second_sentence", "question", "unaware_action", "aware_action")
PARSED = [{n: s[n] for n in WRITTEN} for s in TRIO]
OATS_SET = {n: OATS[n] for n in ("person_x", "person_y", "object_z", "key_information")}
QUIZ_SET = {
    "person_x": "Ligaya",
    "person_y": "classmate",
    "object_z": "copied in the quiz",
    "key_information": "Ligaya's classmate copied in the quiz.",
}
GOOD = "Question 1: yes\nQuestion 2: possibly\nQuestion 3: yes\nQuestion 4: no"
GOOD_ANSWERS = dict(zip(QUESTIONS, ["yes", "possibly", "yes", "no"], strict=True))


def written_sets(sets):
    """Sets of entities in the form in which the prompt asks for them."""
    return "\n\n".join(f"Example {i}:\n{written_set(s)}" for i, s in enumerate(sets, start=1))
