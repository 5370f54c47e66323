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
    results = formats.parse_entities(text, {"scenario_id": "m-r1-01"})
    assert len(results) == 10
    failures = [result for result in results if isinstance(result, Unparsed)]
    return [result for result in results if not isinstance(result, Unparsed)], failures


def numbered(*sets):
    return [entities | {"set_id": f"m-r1-01-{i:02d}"} for i, entities in enumerate(sets, start=1)]


def test_examples_become_sets():
    text = written_sets([{**OATS_SET, "scenario": GROCERY}, {**QUIZ_SET, "scenario": EXAM}])
    sets, failures = parse_entities(text)
    assert sets == numbered(OATS_SET, QUIZ_SET)
    assert failures == [f"Example {number}: missing" for number in range(3, 11)]


KEY = "KEY INFORMATION: The box of oats has beetles in it."


@pytest.mark.parametrize(
    "text",
    [
        f"Here:\n\nExample 1:\nENTITIES: Person X = Wanja; Object Z = box of oats\n{KEY}\n\nMore?",
        f"**Example 1:**\n**ENTITIES:** Person X = Wanja, Object Z = box of oats\n{KEY}",
        f"Example 1:\r\nEntities: Person X = Wanja Object/Person/Action Z = box of oats\r\n{KEY}",
        f"Example 1:\nENTITIES: Object Z = box of oats; Person Y = N/A; Person X = Wanja\n{KEY}",
    ],
    ids=["chatter", "bold", "as printed", "order and nobody"],
)
def test_spelling_of_a_set_does_not_matter(text):
    assert parse_entities(text)[0] == numbered(OATS_SET)


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("", "ENTITIES: stands 0 times"),
        ("ENTITIES: Person X = W; Object Z = b\nKEY INFORMATION:", "KEY INFORMATION: stands 0"),
        ("ENTITIES: none\nKEY INFORMATION: k", "found no person X or no Z"),
        ("ENTITIES: Person X = ; Object Z = b\nKEY INFORMATION: k", "found no person X or no Z"),
        ("ENTITIES: Person X = W\nKEY INFORMATION: k", "found no person X or no Z"),
    ],
)
def test_example_that_is_no_set_has_its_reason(block, reason):
    sets, failures = parse_entities(f"Example 1:\n{block}")
    assert sets == []
    assert failures[0].startswith(f"Example 1: {reason}")


WORDS = st.text(
    st.characters(categories=["L", "N", "P", "Zs"], exclude_characters=":="), min_size=1
)
VALUE = WORDS.map(lambda text: " ".join(text.split()).strip(" ,;|*-"))
VALUE = VALUE.filter(lambda text: re.search(r"[^\W_]", text))
NOBODY = ("none", "n/a", "nobody", "no one")
SETS = st.fixed_dictionaries(
    {
        "person_x": VALUE,
        "person_y": st.just("") | VALUE.filter(lambda text: text.lower().strip(".") not in NOBODY),
        "object_z": VALUE,
        "key_information": VALUE,
    }
)


@given(st.lists(SETS, max_size=4))
@settings(max_examples=30, deadline=None)
def test_sets_written_out_and_parsed_again_are_the_same(sets):
    text = written_sets([entities | {"scenario": EXAM} for entities in sets])
    assert parse_entities(text)[0] == numbered(*sets)


# Stories


def parse_stories(text):
    return formats.parse_stories(text, {"prompt": ""})


LINES = PLAIN.split("\n\n")
WITHOUT_REMARKS = re.sub(r" \(person X .*?\):", ":", PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"Sure, here it is:\n\n{PLAIN}\n\nShall I write another one?",
        f"SCENARIO: boxes\n\n{written_out(TRIO)}",
        PLAIN.replace("\n\n", "\r\n"),
        "**" + PLAIN.replace(": ", ":** ").replace("\n\n", "\n---\n**"),
        "- " + PLAIN.replace("\n\n", "\n- "),
        PLAIN.replace("KEY INFORMATION:", "Key Information:"),
        WITHOUT_REMARKS,
    ],
    ids=["plain", "chatter", "scenario", "CRLF", "bold", "list", "case", "without remarks"],
)
def test_nine_lines_are_three_stories_however_they_are_spelled(text):
    assert parse_stories(text) == PARSED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Once upon a time.", "KEY INFORMATION: stands 0 times"),
        ("\n".join([*LINES[:2], "QUESTION:", *LINES[3:]]), "QUESTION: stands 0 times"),
        ("\n".join([*LINES, LINES[2]]), "QUESTION: stands 2 times"),
        ("\n".join([*LINES[:3], "Or?", *LINES[3:]]), "text without a label between the lines"),
    ],
)
def test_answer_that_is_no_story_has_its_reason(text, reason):
    assert parse_stories(text).startswith(reason)


LINE = st.text(st.characters(exclude_characters="\n"), min_size=1)
LINE = LINE.map(lambda text: text.strip().strip(" \t\r*").strip())
LINE = LINE.filter(lambda text: re.search(r"\w", text) and text == text.strip("* \t\r"))
VARIED = st.fixed_dictionaries(dict.fromkeys(("key_information", "aware_action"), LINE))
SHARED = st.fixed_dictionaries(
    dict.fromkeys(("second_sentence", "question", "unaware_action"), LINE)
)


@given(SHARED, st.tuples(VARIED, VARIED, VARIED))
@example(
    dict.fromkeys(("second_sentence", "question", "unaware_action"), "QUESTION: she said (so): x"),
    ({"key_information": "(a): b", "aware_action": "1. HIGH"},) * 3,
)
@settings(max_examples=30, deadline=None)
def test_stories_written_out_and_parsed_again_are_the_same(shared, varied):
    stories = [{**shared, **fields} for fields in varied]
    numbered = [{"severity": i, **story} for i, story in enumerate(stories, start=1)]
    assert parse_stories(written_out(numbered)) == stories


# Annotations


def parse_annotation(text):
    return formats.parse_annotation(text, {})


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
        (f"{GOOD}\nQuestion 2: no", "Question 2: stands 2 times"),
        (GOOD.replace("Question 3: yes", "Question 3: possibly"), "Question 3: found 'possibly', "),
        (GOOD.replace("1: yes", "1: yes or no"), "Question 1: found 'yes or no', "),
    ],
)
def test_answer_that_is_no_annotation_has_its_reason(text, reason):
    assert parse_annotation(text).startswith(reason)


# Any text

PIECES = [
    "Example ",
    "1",
    ":",
    "\n",
    "ENTITIES:",
    "Person X = ",
    "Object Z = ",
    "KEY INFORMATION: ",
]
PIECES += ["QUESTION", "CORRECT ANSWER", "(", ")", "Question ", "4", ": ", "yes", "possibly", "*"]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_or_has_a_reason(text):
    sets, failures = parse_entities(text)
    assert all(entities["person_x"] and entities["object_z"] for entities in sets)
    assert all(failures)
    stories = parse_stories(text)
    assert isinstance(stories, Unparsed) or len(stories) == 3
    answers = parse_annotation(text)
    assert isinstance(answers, Unparsed) or list(answers) == list(QUESTIONS)
    rating = formats.parse_rating(text, {})
    assert isinstance(rating, Unparsed) or str(rating) in text
