"""What of an answer is said aloud, and why an answer without an option has none."""

import pytest

from tomlab.scoring.answers import unanswered
from tomlab.scoring.visible import visible


@pytest.mark.parametrize(
    ("text", "said", "left_open"),
    [
        ("b) Mei will dive.", "b) Mei will dive.", False),
        ("  b) Mei will dive.\n", "b) Mei will dive.", False),
        ("<think>She saw it: a).</think>\nb)", "b)", False),
        ("<think>one</think>b) <think>two</think>for sure", "b) for sure", False),
        ("<THINK>a)\na)</Think>b)", "b)", False),
        ("<think></think>", "", False),
        ("<think>She saw it, so a)", "", True),
        ("b) Mei will dive.<think>or will she", "b) Mei will dive.", True),
        ("<think>one</think>b)<think>two", "b)", True),
        ("", "", False),
    ],
)
def test_thinking_is_no_part_of_what_is_said(text, said, left_open):
    assert visible(text) == (said, left_open)


def test_thinking_that_the_prompt_opened_is_no_part_of_what_is_said():
    assert visible("She saw it, so a)? No.</think>\n\nb)") == ("b)", False)


def test_two_thoughts_of_which_the_prompt_opened_the_first_are_both_left_out():
    assert visible("a)?</think><think>a)!</think>b)") == ("b)", False)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, I won't pick.",
        "I am sorry, but no.",
        "Sorry, I don't answer such questions.",
        "I apologize, but this is unclear to me.",
        "I apologise.",
        "As an AI, I have no beliefs.",
        "I cannot answer this.",
        "I can't assist with this request.",
        "I can’t help with this.",
        "I won't answer that.",
        "I am unable to answer this question.",
        "I'm unable to answer this question.",
        "I’m not able to help.",
        "I am not able to comply.",
        '"I cannot provide an answer."',
    ],
)
def test_text_that_opens_as_a_refusal_is_refused(text):
    assert unanswered(text, "stop", open_thought=False) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Mei will dive down to collect the oyster.",
        "I cannot decide.",
        "I can't tell.",
        "Mei says: I'm sorry, but I can't help.",
        "Sorrylike seas lie around the village.",
        "As an aid, Mei has a knife.",
        "None of the above.",
    ],
)
def test_text_that_names_nothing_and_declines_nothing_is_unparsed(text):
    assert unanswered(text, "stop", open_thought=False) == "unparsed"


def test_refusal_by_the_provider_is_refused_whatever_the_text():
    assert unanswered("", "refusal", open_thought=False) == "refused"
    assert unanswered("Mei", "refusal", open_thought=True) == "refused"


def test_token_limit_makes_it_truncated():
    assert unanswered("Mei will dive down to", "length", open_thought=False) == "truncated"


def test_token_limit_comes_before_the_wording_of_a_refusal():
    assert unanswered("I'm sorry, but", "length", open_thought=False) == "truncated"


def test_thinking_that_never_ended_is_truncated():
    assert unanswered("", "stop", open_thought=True) == "truncated"


def test_another_finish_reason_says_nothing():
    assert unanswered("Mei will dive.", "other", open_thought=False) == "unparsed"
