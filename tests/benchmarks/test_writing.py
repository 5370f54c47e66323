"""The writer of all benchmarks, and the lines with labels that it asks for."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_writers import ERROR, asked, said, wrote
from tomlab.asking.attempts import FAILURES, OUTCOME
from tomlab.benchmarks.writing import Step, Unparsed, labelled_lines, labelled_values
from tomlab.models.specs import Reply, Response


def number(text, _):
    return int(text) if text.isdigit() else Unparsed("no number")


def numbers(text, _):
    return [number(word, _) for word in text.split()]


def whole(text, _):
    return text


LIMIT = {"max_tokens": 5}
RATING = Step("rate", number, "fantom/facts", options=LIMIT, goes_to="rating", good="rating")
DRAFT = {"name": "a", "summary": "A story."}


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (Reply("4", "stop"), "rating", ""),
        (Reply("four", "stop"), "unparsed", "no number"),
        (Reply("", "stop"), "unparsed", "no answer"),
        (Reply("four. and", "length"), "truncated", "no answer"),
        (Reply("<think>4", "stop"), "truncated", "no answer"),
        (Reply("I can't help with that.", "stop"), "refused", "no number"),
        (Reply("4", "refusal"), "refused", "no answer"),
    ],
)
def test_answer_is_read_or_kept_with_the_reason(reply, status, reason):
    [row] = wrote(RATING, [DRAFT], [Response("key", reply)]).rows
    assert [row[name] for name in OUTCOME] == [status, reason, reply.text]
    assert row.get("rating") == (4 if status == "rating" else None)
    assert status in ("rating", *FAILURES)


def test_failed_request_has_its_error_as_reason():
    [row] = wrote(RATING, [DRAFT], [ERROR]).rows
    assert [row[name] for name in OUTCOME] == ["error", "429: slow down", ""]


def test_draft_keeps_its_fields_and_who_wrote_it_and_in_which_step_is_noted():
    [row] = wrote(RATING, [DRAFT], [said("4")]).rows
    assert row["name"] == "a"
    assert row["source"] == "llm:smol"
    assert row["step"] == "rate"
    assert row["prompt"].startswith("A story.")


def test_answer_with_several_drafts_gives_a_row_for_each_and_so_does_a_failure():
    step = Step("numbers", numbers, "fantom/facts", options=LIMIT, goes_to="number", count=3)
    rows = wrote(step, [DRAFT, DRAFT], [said("1 two 3"), ERROR]).rows
    assert [row["status"] for row in rows] == ["parsed", "unparsed", "parsed", *["error"] * 3]
    assert [row["numbers"] for row in rows] == [0, 1, 2] * 2


def test_last_line_that_was_cut_off_is_left_out():
    step = Step("text", whole, "fantom/facts", options=LIMIT, goes_to="said")
    texts = ["One.\nTwo and", "One.\nTwo.", "One.\nTwo.\n"]
    rows = wrote(step, [DRAFT] * 3, [said(text, "length") for text in texts]).rows
    assert [row["said"].split() for row in rows] == [["One."], ["One.", "Two."], ["One.", "Two."]]


def test_placeholders_take_the_fields_of_a_draft():
    step = Step("facts", whole, "fantom/{kind}", {"summary": "told"}, options=LIMIT)
    draft = {"kind": "facts", "told": "It says {question}.", "question": "Who?"}
    [request] = asked(step, [draft], seed=3)
    assert request.messages[0]["content"].startswith("It says {question}.\n")
    assert (request.max_tokens, request.seed) == (5, 3)
    assert asked(step, [draft], max_tokens=7)[0].max_tokens == 7


# Lines with labels

LABELS = ["Event", "Aware of event", "Place"]


@pytest.mark.parametrize(
    "text",
    [
        "Event: rain\nAware of event: yes: she is\nPlace: (a) bay",
        "Here it is:\n\nEvent: rain\n\nAware of event: yes: she is\n---\nPlace: (a) bay\n\nMore?",
        "**Event:** rain\r\n**Aware of event**: yes: she is\r\n- PLACE (where): (a) bay",
        "1. Event: rain\n2) Aware of event: yes: she is\n* Place: (a) bay",
        "Place: (a) bay\nEvent: rain\nAware of event: yes: she is",
    ],
    ids=["plain", "around", "bold", "numbers", "order"],
)
def test_spelling_of_lines_does_not_matter(text):
    fields = {"Event": "event", "Aware of event": "aware", "Place": "place"}
    expected = {"event": "rain", "aware": "yes: she is", "place": "(a) bay"}
    assert labelled_values(text, fields) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Event: stands 0 times, expected once"),
        ("Event: rain", "Place: stands 0 times, expected once"),
        ("Event: rain\nEvent: sun\nPlace: bay", "Event: stands 2 times, expected once"),
        ("Event:\nPlace: bay", "Event: stands 0 times, expected once"),
        ("Event: ...\nPlace: bay", "Event: stands 0 times, expected once"),
        ("Event: rain\nand wind\nPlace: bay", "text without a label between the lines"),
    ],
)
def test_lines_that_cannot_be_used_have_their_reason(text, reason):
    assert labelled_values(text, {"Event": "event", "Place": "place"}) == Unparsed(reason)


def test_first_line_goes_on_after_the_label_with_which_a_prompt_ended():
    expected = [("Event", "rain"), ("Place", "bay")]
    for prompt in ("Go on.\n\nEvent:", "Go on.\nEvent."):
        for text in ("rain\nPlace: bay", "Event: rain\nPlace: bay"):
            assert labelled_lines(text, LABELS, prompt) == expected
    assert labelled_lines("rain\nPlace: bay", LABELS, "Go on.")[0] == ("", "rain")
    assert labelled_lines("Time: noon\nPlace: bay", LABELS, "Event:")[0] == ("", "Time: noon")


PIECES = st.sampled_from([*LABELS, ":", ": ", "\n", "(", ")", "*", "1.", "x", "ſ", "ı"])


@given(st.text() | st.lists(PIECES).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_text_is_values_or_a_reason(text):
    values = labelled_values(text, {label: label for label in LABELS}, "Event:")
    assert isinstance(values, Unparsed) or (list(values) == LABELS and all(values.values()))


@pytest.mark.parametrize("piece", ["*", "_ ", "\n", "1", "- ", "(", "Event", "Event:", "Event (x"])
def test_long_answers_are_read_in_good_time(piece):
    started = time.perf_counter()
    labelled_lines(f"{piece * 20_000}x", LABELS, "Event:")
    assert time.perf_counter() - started < 1
