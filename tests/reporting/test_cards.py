"""Examples as cards and prompts as messages: all text as it came, and never as markup."""

import json

import pandas as pd
import pytest

from tomlab.reporting.cards import LIMIT, cards, conversation

HOSTILE = ["<script>alert(1)</script>", "$a$ and $b$", "</div></div>", '" onload="x', "**b** `c`"]


def card(answer, **more) -> pd.DataFrame:
    row = {"item": "a/b_c", "question": "Where?", "answer": answer, "verdict": "wrong", **more}
    return pd.DataFrame([row]).set_index("item")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(text):
    result = cards(card(text))
    assert "<script>alert" not in result.data and 'onload="' not in result.data
    assert result.data.count("<div") == result.data.count("</div>")
    assert text in repr(result)
    asked = {"messages": json.dumps([{"role": "user", "content": text}]), "response": text}
    page = conversation(asked | {"model": "toy", "error": None}).data
    assert "<script>alert" not in page and page.count("<div") == page.count("</div>")


def test_verdict_and_rule_are_one_field_in_words():
    assert "Verdict: wrong: names both" in repr(cards(card("x", rule="names both")))
    assert "Verdict: wrong\n" in repr(cards(card("x"))) + "\n"


def test_group_of_an_item_is_no_title_of_its_own_and_a_model_keeps_its_name():
    table = card("x", **{"my-model, plain": "Yes"}).reset_index().assign(group="a")
    result = repr(cards(table.set_index(["group", "item"])))
    assert result.startswith("a, b c\n")
    assert "  my-model, plain: Yes" in result


def test_very_long_text_keeps_its_beginning_and_end_and_scrolls():
    result = cards(card("a" + "x" * 100_000 + "z"))
    assert len(result.data) < 4 * LIMIT
    assert 'tabindex="0">a' in result.data and "z</div>" in result.data
    assert 'tabindex="0"' not in cards(card("short")).data


@pytest.mark.parametrize("value", [float("nan"), None, pd.NA, ""])
def test_what_is_not_there_has_no_field(value):
    assert "Answer" not in repr(cards(card(value)))


def test_conversation_has_its_messages_in_their_order_and_the_answer_last():
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}]
    row = {"messages": json.dumps(asked), "response": "There.", "error": None, "model": "toy"}
    lines = repr(conversation(row)).split("\n\n")
    assert [line.split("\n")[1] for line in lines] == ["Be brief.", "Where?", "There."]
    assert lines[-1].startswith("[Answered by toy]")


def test_failed_request_says_why_there_is_no_answer():
    row = {"messages": "[]", "response": None, "error": "timed out", "model": "toy"}
    assert "No answer: timed out" in repr(conversation(row))
