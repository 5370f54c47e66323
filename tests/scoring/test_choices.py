"""What all multiple choice shares: letters, the verdict on an answer, the order of options."""

import pytest

from tomlab.scoring.choices import (
    Reading,
    judged,
    key_of,
    no_option,
    scored,
    shuffled,
    words_of,
)

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


# Whose words stand with the letter

PAYING = ["pay for the chips", "report the moldy chips"]
RATED = ["Reasonable", "Not reasonable"]
BELIEVED = ["Ada believes the bag is open.", "Ada believes the bag is not open."]
BEFORE = r'[{"role": "user", "content": "Is she aware? \n(A) Yes \n(B) No\nAnswer: (B)\n'
BEFORE += r'Next? \n(A) pay for the chips \n(B) report the moldy chips\n"}]'


def whose(text, options=PAYING, key="B", **response):
    chosen = None if key is None else options["AB".index(key)]
    return words_of({"choices": options}, {"response": text} | response, chosen, "AB")


SAME = [
    ("(B) report the moldy chips", PAYING),
    ("(B)report the moldy chips.", PAYING),
    ("B: Report the moldy chips", PAYING),
    ("**B** report the moldy chips", PAYING),
    ("B\nreport the moldy chips", PAYING),
    ("The answer is (B) that she will report the moldy chips", PAYING),
    ("(B) Yes, report the moldy chips.", PAYING),
    ("Mary will report the moldy chips (B).", PAYING),
    ("(B)\n\nMary will report these moldy chips.", PAYING),
    ("(A)? <think>(B) pay for the chips</think>(B) report the moldy chips", PAYING),
    ("(B) Not reasonable, as it is reasonable to look.", RATED),
    ("(B) Ada believes the bag isn't open.", BELIEVED),
]


@pytest.mark.parametrize(("text", "options"), SAME)
def test_words_of_the_named_option_are_the_same(text, options):
    assert whose(text, options) == "same"


OTHER = [
    ("(B) pay for the chips", PAYING),
    ("(B) Mary will likely pay for the chips.", PAYING),
    ("(B)\n\nThe answer is (B) pay for the chips", PAYING),
    ("Mary will pay for the chips (B).", PAYING),
    ("(B) Reasonable", RATED),
    ("(B) Ada believes the bag is open.", BELIEVED),
]


@pytest.mark.parametrize(("text", "options"), OTHER)
def test_words_of_another_option_are_the_others(text, options):
    assert whose(text, options) == "other"


def test_words_of_an_option_that_the_named_one_holds_are_the_others():
    assert whose("(A) Not reasonable", RATED, "A") == "other"
    assert whose("(A) Reasonable", RATED, "A") == "same"


@pytest.mark.parametrize(
    "text",
    ["(B) No", "(B) Yes.", "(B) No\n\nThe answer is (B)", "(B) she will pay for the chips"],
)
def test_words_of_an_option_of_an_earlier_question_are_from_elsewhere(text):
    assert whose(text, RATED, messages=BEFORE) == "elsewhere"
    assert whose(text, RATED) == ""  # where nobody knows what was asked before


NOBODYS = [
    "(B)",
    "B",
    "The answer is (B). The answer is not (A)",
    "(B) because Mary looked",
    "(B). If she had not looked, she would pay for the chips.",
    "(B) pay or report the moldy ones",
    "(B) Yes, since she looked",
    "(B) No one knows",
]


@pytest.mark.parametrize("text", NOBODYS)
def test_letter_alone_or_with_words_of_nobody_has_none(text):
    assert whose(text, messages=BEFORE) == ""


def test_answer_that_names_no_option_has_no_words_with_a_letter():
    assert whose("report the moldy chips", key=None) == ""
    assert whose("report the moldy chips") == ""  # read by its text
    assert words_of({"choices": []}, {"response": "yes"}, "yes", "AB") == ""
