"""What all multiple choice shares: letters, the verdict on an answer, the order of options."""

import pytest

from tomlab.scoring.choices import Reading, judged, key_of, no_option, scored, shuffled

ITEM = {"item_id": "i", "choices": ["pay", "leave"], "answer": "leave", "scenario": "shop"}
SAID = {"item_id": "i", "model": "mine", "method": "none", "sample": 0, "asked_as": ""}


def verdict(key, outcome="answered", **response):
    response = {**SAID, "response": "…", "finish_reason": "stop", "error": None, **response}
    return judged(ITEM, response, "ABCD", lambda *_: Reading(outcome, key, "as told"), False)


@pytest.mark.parametrize(("key", "outcome"), [("A", "wrong"), ("B", "correct")])
def test_answered_becomes_correct_or_wrong(key, outcome):
    assert verdict(key) == (outcome, key, "as told")


def test_key_without_an_option_is_unparsed():
    assert verdict("C") == ("unparsed", None, "names a key under which no option stands")


def test_answer_without_a_key_keeps_its_outcome():
    assert verdict(None, "refused") == ("refused", None, "as told")


def test_failed_request_is_never_read():
    assert verdict("B", error="timed out") == ("error", None, "the request failed")


def test_reader_is_given_text_finish_reason_and_whether_it_reasons():
    given = []
    response = {**SAID, "response": "(A)", "finish_reason": "length", "error": None}
    judged(ITEM, response, "AB", lambda *a: given.append(a) or Reading("answered", "A", ""), True)
    assert given == [("(A)", "length", True)]


def test_row_has_the_conditions_and_the_option_chosen():
    row = {**SAID, "scenario": "shop"}
    right = scored(ITEM, SAID, Reading("correct", "B", ""), "AB", ["scenario"])
    assert right == {**row, "outcome": "correct", "score": 1.0, "chosen": "leave"}
    none = scored(ITEM, SAID, Reading("unparsed", None, ""), "AB", ["scenario"])
    assert none == {**row, "outcome": "unparsed", "score": 0.0, "chosen": None}


@pytest.mark.parametrize(
    ("text", "finish", "open_thought", "outcome", "rule"),
    [
        ("Hm.", "stop", False, "unparsed", "why"),
        ("", "stop", False, "unparsed", "empty"),
        ("Hm.", "length", False, "truncated", "cut off before an option was settled"),
        ("", "stop", True, "truncated", "cut off before an option was settled"),
        ("", "refusal", False, "refused", "declines to answer"),
    ],
)
def test_answer_without_an_option_says_why(text, finish, open_thought, outcome, rule):
    assert no_option(text, finish, open_thought, "why") == (outcome, None, rule)


def test_letters_are_those_of_the_order_shown():
    assert [key_of(ITEM, text, "ab") for text in ITEM["choices"]] == ["a", "b"]


def test_order_of_options_depends_on_seed_and_item():
    options = ("one", "two", "three")
    assert shuffled(options, 1, "i") == shuffled(options, 1, "i")
    assert sorted(shuffled(options, 1, "i")) == sorted(options)
    assert len({tuple(shuffled(options, s, i)) for s in range(5) for i in "ijk"}) > 2
