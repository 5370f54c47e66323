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
    written_sets,
)
from tomlab.benchmarks.simpletom.items import formats
from tomlab.benchmarks.simpletom.items.filtering import QUESTIONS
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


@pytest.mark.parametrize(
    "entities",
    [
        "Person X = Wanja; Object Z = box of oats",
        "Person X = Wanja, Object Z = box of oats",
        "Person X = Wanja Object/Person/Action Z = box of oats",
        "Object Z = box of oats; Person Y = N/A; Person X = Wanja",
    ],
)
def test_spelling_of_a_set_does_not_matter(entities):
    key = "KEY INFORMATION: The box of oats has beetles in it."
    text = f"Here:\n\n**Example 1:**\r\n**ENTITIES:** {entities}\n{key}\n\nMore?"
    assert parse_entities(text)[0] == numbered(OATS_SET)


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("", "ENTITIES: stands 0 times"),
        ("ENTITIES: Person X = W; Object Z = b\nKEY INFORMATION:", "KEY INFORMATION: stands 0"),
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


@pytest.mark.parametrize(
    "text",
    [
        f"Sure, here it is:\n\n{PLAIN}\n\nShall I write another one?",
        "**" + PLAIN.replace(": ", ":** ").replace("\n\n", "\n---\n**"),
        re.sub(r" \(person X .*?\):", ":", PLAIN),
    ],
    ids=["chatter", "bold", "without remarks"],
)
def test_nine_lines_are_three_stories_however_they_are_spelled(text):
    assert parse_stories(text) == PARSED


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([*LINES[:2], "QUESTION:", *LINES[3:]], "QUESTION: stands 0 times"),
        ([*LINES[:3], "Or?", *LINES[3:]], "text without a label between the lines"),
    ],
)
def test_answer_that_is_no_story_has_its_reason(lines, reason):
    assert parse_stories("\n".join(lines)).startswith(reason)


LINE = st.text(st.characters(exclude_characters="\n"), min_size=1)
LINE = LINE.map(lambda text: text.strip().strip(" \t\r*").strip())
LINE = LINE.filter(lambda text: re.search(r"\w", text) and text == text.strip("* \t\r"))
SHARED_FIELDS = ("second_sentence", "question", "unaware_action")
SHARED = st.fixed_dictionaries(dict.fromkeys(SHARED_FIELDS, LINE))
VARIED = st.fixed_dictionaries(dict.fromkeys(("key_information", "aware_action"), LINE))


@given(SHARED, st.tuples(VARIED, VARIED, VARIED))
@example(
    dict.fromkeys(SHARED_FIELDS, "QUESTION: she said (so): x"),
    ({"key_information": "(a): b", "aware_action": "1. HIGH"},) * 3,
)
@settings(max_examples=30, deadline=None)
def test_stories_written_out_and_parsed_again_are_the_same(shared, varied):
    stories = [{**shared, **fields} for fields in varied]
    with_severity = [{"severity": i, **story} for i, story in enumerate(stories, start=1)]
    assert parse_stories(formats.written_out(with_severity)) == stories


# Annotations


def parse_annotation(text):
    return formats.parse_annotation(text, {})


@pytest.mark.parametrize("text", [GOOD.upper(), GOOD.replace("yes", "**Yes.**")])
def test_four_lines_are_four_answers(text):
    assert parse_annotation(text) == GOOD_ANSWERS


@pytest.mark.parametrize(
    ("line", "answer", "reason"),
    [
        ("Question 1: yes", "yes", "Question 1: stands 0 times"),
        ("Question 3: yes", "Question 3: possibly", "Question 3: found 'possibly', "),
        ("Question 1: yes", "Question 1: yes or no", "Question 1: found 'yes or no', "),
    ],
)
def test_answer_that_is_no_annotation_has_its_reason(line, answer, reason):
    assert parse_annotation(GOOD.replace(line, answer)).startswith(reason)


# Any text

LABELS = ["Example ", "1", "ENTITIES:", "Person X = ", "Object Z = ", "KEY INFORMATION: "]
PIECES = [*LABELS, "QUESTION", "CORRECT ANSWER", "Question ", "4", ": ", "yes", "(", ")", "\n"]


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
    word = formats.parse_judgment(text, {})
    assert isinstance(word, Unparsed) or 1 <= len(word.split()) <= 2
