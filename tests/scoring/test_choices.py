"""What all multiple choice shares: letters, the verdict on an answer, the order of options."""

import pytest

from tomlab.errors import InputError
from tomlab.scoring.choices import Reading, judged, no_option, scored, shuffled, table_of, words_of

ITEM = {"item_id": "i", "choices": ["pay", "leave"], "answer": "leave", "scenario": "shop"}
RESPONSE = {"item_id": "i", "model": "mine", "method": "none", "sample": 0, "asked_as": ""}
RESPONSE |= {"response": "…", "finish_reason": "stop", "error": None}


@pytest.mark.parametrize(
    ("outcome", "key", "error", "verdict"),
    [
        ("answered", "A", None, ("wrong", "A", "rule")),
        ("answered", "B", None, ("correct", "B", "rule")),
        ("answered", "C", None, ("unparsed", None, "names a key under which no option stands")),
        ("refused", None, None, ("refused", None, "rule")),
        ("answered", "B", "timed out", ("error", None, "the request failed")),
    ],
)
def test_reading_becomes_a_verdict(outcome, key, error, verdict):
    def read(text, finish_reason, cot):
        assert (text, finish_reason, cot) == ("…", "stop", True)
        return Reading(outcome, key, "rule")

    assert judged(ITEM, RESPONSE | {"error": error}, "ABCD", read, True) == verdict


@pytest.mark.parametrize(
    ("outcome", "key", "score", "chosen"),
    [("correct", "B", 1.0, "leave"), ("unparsed", None, 0.0, None)],
)
def test_row_has_the_conditions_and_the_option_chosen(outcome, key, score, chosen):
    row = scored(ITEM, RESPONSE, Reading(outcome, key, ""), "AB", ["scenario"])
    names = ["item_id", "model", "method", "sample", "asked_as"]
    expected = {name: RESPONSE[name] for name in names} | {"scenario": "shop"}
    assert row == expected | {"outcome": outcome, "score": score, "chosen": chosen}


@pytest.mark.parametrize(
    ("text", "finish_reason", "outcome", "rule"),
    [
        ("Hm.", "stop", "unparsed", "why"),
        ("", "stop", "unparsed", "empty"),
        ("Hm.", "length", "truncated", "cut off before an option was settled"),
        ("", "refusal", "refused", "declines to answer"),
    ],
)
def test_answer_without_an_option_says_why(text, finish_reason, outcome, rule):
    assert no_option(text, finish_reason, False, "why") == (outcome, None, rule)


def test_a_table_without_answers_is_an_error():
    with pytest.raises(InputError, match="no answers to score"):
        table_of([], [], "AB", "scores")


def test_order_of_options_depends_on_seed_and_item():
    options = ("one", "two", "three")
    orders = {tuple(shuffled(options, seed, item)) for seed in range(5) for item in "ijk"}
    assert len(orders) > 2
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(options))}
    assert shuffled(options, 1, "i") == shuffled(options, 1, "i")


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
OTHER = [
    ("(B) pay for the chips", PAYING),
    ("(B) Mary will likely pay for the chips.", PAYING),
    ("(B)\n\nThe answer is (B) pay for the chips", PAYING),
    ("Mary will pay for the chips (B).", PAYING),
    ("(B) Reasonable", RATED),
    ("(B) Ada believes the bag is open.", BELIEVED),
]
CASES = [(*case, "same") for case in SAME] + [(*case, "other") for case in OTHER]


@pytest.mark.parametrize(("text", "options", "words"), CASES)
def test_words_are_those_of_the_chosen_option_or_of_another(text, options, words):
    assert whose(text, options) == words


def test_words_of_an_option_that_the_chosen_one_holds_are_the_others():
    assert whose("(A) Not reasonable", RATED, "A") == "other"
    assert whose("(A) Reasonable", RATED, "A") == "same"


@pytest.mark.parametrize(
    "text",
    ["(B) No", "(B) Yes.", "(B) No\n\nThe answer is (B)", "(B) she will pay for the chips"],
)
def test_words_of_an_option_of_an_earlier_question_are_from_elsewhere(text):
    assert whose(text, RATED, messages=BEFORE) == "elsewhere"
    assert whose(text, RATED) == ""  # where nobody knows what was asked before


@pytest.mark.parametrize(
    "text",
    [
        "(B)",
        "B",
        "The answer is (B). The answer is not (A)",
        "(B) because Mary looked",
        "(B). If she had not looked, she would pay for the chips.",
        "(B) pay or report the moldy ones",
        "(B) Yes, since she looked",
        "(B) No one knows",
    ],
)
def test_letter_alone_or_with_words_of_nobody_has_none(text):
    assert whose(text, messages=BEFORE) == ""


def test_answer_that_names_no_option_has_no_words_with_a_letter():
    assert whose("report the moldy chips") == ""  # read by its text
    assert words_of({"choices": []}, {"response": "yes"}, "yes", "AB") == ""
