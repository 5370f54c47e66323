"""What prompts show and models answer: written out, and read back strictly."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simpletom_texts import (
    EXAM,
    GOOD,
    GOOD_ANSWERS,
    GROCERY,
    OATS_SET,
    PARSED,
    PLAIN,
    QUIZ_SET,
    TRIO,
    written_sets,
)
from tomlab.benchmarks.simpletom.items import formats
from tomlab.benchmarks.simpletom.items.filtering import QUESTIONS
from tomlab.benchmarks.simpletom.items.formats import written_out
from tomlab.benchmarks.writing import Unparsed

# Entities


def parse_entities(text):
    """The sets in a text, and why the others of ten are none."""
    examples = formats.parse_entities(text, {"scenario_id": "m-r1-01"})
    assert len(examples) == 10
    failures = [example for example in examples if isinstance(example, Unparsed)]
    return [example for example in examples if example not in failures], failures


def numbered(*sets):
    return [found | {"set_id": f"m-r1-01-{i:02d}"} for i, found in enumerate(sets, start=1)]


def test_examples_become_sets():
    text = written_sets([{**OATS_SET, "scenario": GROCERY}, {**QUIZ_SET, "scenario": EXAM}])
    sets, failures = parse_entities(text)
    assert sets == numbered(OATS_SET, QUIZ_SET)
    assert failures == [f"Example {number}: missing" for number in range(3, 11)]


@pytest.mark.parametrize(
    "text",
    [
        (
            "Here you are!\n\nExample 1:\nENTITIES: Person X = Wanja; Object Z = box of oats\n"
            "KEY INFORMATION: The box of oats has beetles in it.\n\nDo you want more?"
        ),
        (
            "**Example 1:**\n**ENTITIES:** Person X = Wanja, Object Z = box of oats\n"
            "**KEY INFORMATION:** The box of oats has beetles in it."
        ),
        (
            "Example 1:\r\nEntities: Person X = Wanja Person Y = none Object/Person/Action Z = box of "
            "oats\r\nKey information: The box of oats has beetles in it."
        ),
        (
            "Example 1:\nENTITIES: Object Z = box of oats; Person Y = N/A; Person X = Wanja\n"
            "KEY INFORMATION: The box of oats has beetles in it."
        ),
    ],
    ids=["chatter", "bold", "as printed, nobody", "order"],
)
def test_spelling_of_a_set_does_not_matter(text):
    assert parse_entities(text)[0] == numbered(OATS_SET)


OTHER_ENTITIES = "found no person X or no Z"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("", "ENTITIES: stands 0 times"),
        ("ENTITIES: Person X = W; Object Z = b", "KEY INFORMATION: stands 0 times"),
        ("ENTITIES: Person X = W; Object Z = b\nKEY INFORMATION:", "KEY INFORMATION: stands 0"),
        ("Person X = W; Object Z = b\nKEY INFORMATION: k", "ENTITIES: stands 0 times"),
        ("ENTITIES: none\nKEY INFORMATION: k", OTHER_ENTITIES),
        ("ENTITIES: Object Z = b\nKEY INFORMATION: k", OTHER_ENTITIES),
        ("ENTITIES: Person X = W\nKEY INFORMATION: k", OTHER_ENTITIES),
        ("ENTITIES: Person X = ; Object Z = b\nKEY INFORMATION: k", OTHER_ENTITIES),
        ("ENTITIES: Person X = W; Object Z = b\nKEY INFORMATION: k\nKEY INFORMATION: l", "KEY"),
    ],
)
def test_example_that_is_no_set_has_its_reason(block, reason):
    sets, [message, *_] = parse_entities(f"Example 1:\n{block}")
    assert sets == []
    assert message.startswith(f"Example 1: {reason}")


WORDS = st.text(
    st.characters(categories=["L", "N", "P", "Zs"], exclude_characters=":="), min_size=1
)
VALUE = WORDS.map(lambda text: " ".join(text.split()).strip(" ,;|*-")).filter(
    lambda text: re.search(r"[^\W_]", text)
)
SETS = st.fixed_dictionaries(
    {"person_x": VALUE, "object_z": VALUE, "key_information": VALUE, "scenario": st.just(EXAM)}
    | {"person_y": st.just("") | VALUE.filter(lambda y: y.lower().strip(".") not in NOBODY)}
)
NOBODY = ("", "none", "n/a", "nobody", "no one")


@given(st.lists(SETS, max_size=4))
@settings(max_examples=100, deadline=None)
def test_sets_written_out_and_parsed_again_are_the_same(sets):
    expected = [{k: v for k, v in found.items() if k != "scenario"} for found in sets]
    assert parse_entities(written_sets(sets))[0] == numbered(*expected)


PIECES = ["Example ", "1", "12", ":", "\n", "ENTITIES:", "Person X = ", "Object Z = ", "Y =", "a"]


@given(st.text() | st.lists(st.sampled_from([*PIECES, "KEY INFORMATION: "])).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_text_is_as_many_sets_and_failures_as_were_asked_for(text):
    sets, failures = parse_entities(text)
    assert all(s["person_x"] and s["object_z"] and s["key_information"] for s in sets)
    assert all(failures)


# Stories


def parse_generation(text):
    return formats.parse_stories(text, {"prompt": ""})


def parse_annotation(text):
    return formats.parse_annotation(text, {})


def generated(**changes):
    """The nine lines, some of them changed or (None) left out."""
    lines = dict(line.split(":", 1) for line in PLAIN.split("\n\n"))
    lines = {label.split(" (")[0]: text for label, text in lines.items()}
    changed = {label.replace("_", " "): text for label, text in changes.items()}
    return "\n".join(f"{k}: {v}" for k, v in (lines | changed).items() if v is not None)


def test_nine_lines_are_three_stories():
    assert parse_generation(PLAIN) == PARSED


@pytest.mark.parametrize(
    "text",
    [
        f"Sure, here it is:\n\n{PLAIN}\n\nShall I write another one?",
        f"SCENARIO: boxes\n\n{written_out(TRIO)}",
        PLAIN.replace("\n\n", "\r\n"),
        "**" + PLAIN.replace(": ", ":** ").replace("\n\n", "\n---\n**"),
        "- " + PLAIN.replace("\n\n", "\n- "),
        PLAIN.replace("KEY INFORMATION:", "Key Information:"),
        generated(),
    ],
    ids=["chatter", "scenario", "CRLF", "bold", "list", "case", "without remarks"],
)
def test_spelling_of_the_lines_does_not_matter(text):
    assert parse_generation(text) == PARSED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Once upon a time.", "KEY INFORMATION: stands 0 times"),
        (generated(QUESTION=None), "QUESTION: stands 0 times"),
        (generated(QUESTION=""), "QUESTION: stands 0 times"),
        (generated(QUESTION="a\nQUESTION: b"), "QUESTION: stands 2 times"),
        (generated() + "\n" + generated(), "KEY INFORMATION: stands 2 times"),
        (generated(QUESTION="a\nAnd what then?"), "text without a label between the lines"),
    ],
    ids=lambda value: value[:30] + value[-10:],
)
def test_answer_that_is_no_story_has_its_reason(text, reason):
    assert parse_generation(text).startswith(reason)


LINE = (
    st.text(st.characters(exclude_characters="\n"), min_size=1)
    .map(lambda text: text.strip().strip(" \t\r*").strip())
    .filter(lambda text: re.search(r"\w", text) and text == text.strip("* \t\r"))
)
FIELDS = st.fixed_dictionaries(dict.fromkeys(("key_information", "aware_action"), LINE))
SHARED = st.fixed_dictionaries(
    dict.fromkeys(("second_sentence", "question", "unaware_action"), LINE)
)


@given(SHARED, st.tuples(FIELDS, FIELDS, FIELDS))
@example(
    dict.fromkeys(("second_sentence", "question", "unaware_action"), "QUESTION: she said (so): x"),
    ({"key_information": "(a): b", "aware_action": "1. HIGH"},) * 3,
)
@settings(max_examples=60, deadline=None)
def test_stories_written_out_and_parsed_again_are_the_same(shared, own):
    stories = [{**shared, **fields} for fields in own]
    numbered = [{"severity": i, **story} for i, story in enumerate(stories, start=1)]
    assert parse_generation(written_out(numbered)) == stories


LABELS = ["KEY INFORMATION", "QUESTION", "MILD SEVERITY ", "CORRECT ANSWER", "(", ")", ":", "\n"]


@given(st.text() | st.lists(st.sampled_from([*LABELS, "*", "1", " ", "x"])).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_text_is_three_stories_or_a_reason(text):
    parsed = parse_generation(text)
    assert parsed
    assert isinstance(parsed, str) or len(parsed) == 3


# Annotations


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.upper(),
        f"Here are my answers:\n\n{GOOD}\n",
        GOOD.replace("Question 1", "**Question 1**").replace("yes", "Yes."),
        "\n".join(reversed(GOOD.split("\n"))),
    ],
)
def test_four_lines_are_four_answers(text):
    assert parse_annotation(text) == GOOD_ANSWERS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yes\nyes\nyes\nyes", "Question 1: stands 0 times"),
        (GOOD.replace("Question 4: no", ""), "Question 4: stands 0 times"),
        (f"{GOOD}\nQuestion 2: no", "Question 2: stands 2 times"),
        (GOOD.replace("Question 3: yes", "Question 3: possibly"), "Question 3: found 'possibly', "),
        (GOOD.replace("1: yes", "1: yes, it is odd"), "Question 1: found 'yes, it is odd', "),
        (GOOD.replace("1: yes", "1: yes or no"), "Question 1: found 'yes or no', "),
        (GOOD.replace("1: yes", "1:"), "Question 1: stands 0 times"),
    ],
)
def test_answer_that_is_no_annotation_has_its_reason(text, reason):
    assert parse_annotation(text).startswith(reason)


@given(st.fixed_dictionaries({name: st.sampled_from(a) for name, a in QUESTIONS.items()}))
def test_answers_written_out_and_parsed_again_are_the_same(answers):
    lines = [f"Question {i}: {answers[name]}" for i, name in enumerate(QUESTIONS, start=1)]
    assert parse_annotation("\n".join(lines)) == answers


WORDS_OF_ANSWERS = ["Question ", "1", "2", "3", "4", ": ", "yes", "no", "possibly", "\n", "*"]


@given(st.text() | st.lists(st.sampled_from(WORDS_OF_ANSWERS)).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_text_is_four_answers_or_a_reason(text):
    parsed = parse_annotation(text)
    assert parsed
    assert isinstance(parsed, str) or list(parsed) == list(QUESTIONS)
