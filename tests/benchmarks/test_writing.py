"""The writer of all benchmarks, and the lines with labels that it asks for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_writers import ERROR, asked, said, wrote
from tomlab.asking.attempts import OUTCOME
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
        (Reply("<think>4", "stop"), "truncated", "no answer"),
        (Reply("I can't help with that.", "stop"), "refused", "no number"),
        # "Sorry" opens many a line of a conversation.
        (Reply("Anna: I'm sorry, I can't help with that.", "stop"), "unparsed", "no number"),
        (Reply("4", "refusal"), "refused", "no answer"),
    ],
)
def test_answer_is_read_or_kept_with_the_reason(reply, status, reason):
    [row] = wrote(RATING, [DRAFT], [Response("key", reply)]).rows
    assert [row[name] for name in OUTCOME] == [status, reason, reply.text]
    assert row.get("rating") == (4 if status == "rating" else None)
    assert (row["name"], row["source"], row["step"]) == ("a", "llm:smol", "rate")
    assert row["prompt"].startswith("A story.")


def test_answer_with_several_drafts_gives_a_row_for_each_and_so_does_a_failure():
    step = Step("numbers", numbers, "fantom/facts", options=LIMIT, goes_to="number", count=3)
    rows = wrote(step, [DRAFT, DRAFT], [said("1 two 3"), ERROR]).rows
    assert [row["status"] for row in rows] == ["parsed", "unparsed", "parsed", *["error"] * 3]
    assert [row["numbers"] for row in rows] == [0, 1, 2] * 2
    assert rows[-1]["reason"] == "429: slow down"


@pytest.mark.parametrize("text", ["One.\nTwo and", "One.", "One.\n"])
def test_last_line_that_was_cut_off_is_left_out(text):
    step = Step("text", whole, "fantom/facts", options=LIMIT, goes_to="text_read")
    [row] = wrote(step, [DRAFT], [said(text, "length")]).rows
    assert row["text_read"].strip() == "One."


def test_placeholders_take_the_fields_of_a_draft():
    step = Step("facts", whole, "fantom/{kind}", {"summary": "told"}, options=LIMIT)
    draft = {"kind": "facts", "told": "It says {question}.", "question": "Who?"}
    [request] = asked(step, [draft], seed=3)
    assert request.messages[0]["content"].startswith("It says {question}.\n")
    assert (request.max_tokens, request.seed) == (5, 3)
    assert asked(step, [draft], max_tokens=7)[0].max_tokens == 7


# Lines with labels

FIELDS = {"Event": "event", "Aware of event": "aware", "Place": "place"}


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
    expected = {"event": "rain", "aware": "yes: she is", "place": "(a) bay"}
    assert labelled_values(text, FIELDS) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Event: rain\nEvent: sun\nPlace: bay", "Event: stands 2 times, expected once"),
        ("Event: ...\nPlace: bay", "Event: stands 0 times, expected once"),
        ("Event: rain\nand wind\nPlace: bay", "text without a label between the lines"),
    ],
)
def test_lines_that_cannot_be_used_have_their_reason(text, reason):
    assert labelled_values(text, {"Event": "event", "Place": "place"}) == Unparsed(reason)


@pytest.mark.parametrize(
    ("prompt", "text", "label"),
    [
        ("Go on.\n\nEvent:", "rain", "Event"),
        ("Go on.\nEvent.", "rain", "Event"),
        ("Go on.", "rain", ""),
        ("Event:", "Time: noon", ""),
    ],
)
def test_first_line_goes_on_after_the_label_with_which_a_prompt_ended(prompt, text, label):
    [first, second] = labelled_lines(f"{text}\nPlace: bay", FIELDS, prompt)
    assert first == (label, text.removeprefix("Event: "))
    assert second == ("Place", "bay")


PIECES = st.sampled_from([*FIELDS, ":", ": ", "\n", "(", ")", "*", "1.", "x", "ſ", "ı"])
HOSTILE = st.sampled_from(["*", "_ ", "\n", "1", "- ", "(", "Event", "Event:", "Event (x"])


@given(st.text() | st.lists(PIECES).map("".join) | HOSTILE.map(lambda piece: piece * 20_000))
@settings(max_examples=60, deadline=5000)
def test_any_text_is_values_or_a_reason(text):
    values = labelled_values(text, {label: label for label in FIELDS}, "Event:")
    assert isinstance(values, Unparsed) or (list(values) == [*FIELDS] and all(values.values()))
