"""Real answers of a run as a table: one of each kind, as text, with the rule that decided."""

import pandas as pd
import pytest

from tomlab.reporting.readings import readings, shortened, show

TEXTS = {"correct": "(A)", "wrong": "(B)", "unparsed": "Who knows?", "error": None}


def run(*kinds: tuple[str, str]):
    """Items, responses and scores, for each outcome and method a row."""
    ids = [f"i{number}" for number in range(len(kinds))]
    items = pd.DataFrame(
        {"item_id": ids, "question": "Will she pay?", "answer": "Yes", "question_type": "behavior"}
    ).assign(choices=[["Yes", "No"]] * len(ids))
    keys = {"item_id": ids, "model": "mine", "method": [m for _, m in kinds], "sample": 0}
    outcomes = [outcome for outcome, _ in kinds]
    texts = [TEXTS[outcome] for outcome in outcomes]
    errors = [None if text else "timed out" for text in texts]
    responses = pd.DataFrame({**keys, "response": texts, "error": errors, "finish_reason": "stop"})
    return items, responses, pd.DataFrame({**keys, "outcome": outcomes})


def rule(item, answer):
    return f"{item['question_type']}: {answer['outcome'][0]}"


def test_row_has_what_a_reader_checks():
    table = readings(*run(("wrong", "none")), rule, keys="AB")
    assert table.reset_index().to_dict("records") == [
        {
            "item": "i0",
            "method": "none",
            "question": "Will she pay?",
            "options": "A) Yes\nB) No",
            "gold": "A) Yes",
            "answer": "(B)",
            "verdict": "wrong",
            "rule": "behavior: w",
        }
    ]


def test_question_without_options_has_its_gold_alone():
    items, responses, scores = run(("correct", "none"))
    table = readings(items.assign(choices=[[]]), responses, scores, rule, keys="AB")
    assert table["gold"].tolist() == ["Yes"]
    assert "options" not in table


def test_every_kind_is_shown_before_another_answer_of_one():
    rows = [("correct", "none"), ("wrong", "none"), ("wrong", "cot")] * 5
    assert len(readings(*run(*rows), rule)) == 8
    table = readings(*run(*rows), rule, n=3)
    assert table.reset_index()[["verdict", "method"]].to_numpy().tolist() == [
        ["correct", "none"],
        ["wrong", "cot"],
        ["wrong", "none"],
    ]


def test_outcomes_come_before_methods_where_there_is_no_room_for_all():
    rows = [("correct", method) for method in "abcdefgh"] + [(o, "a") for o in TEXTS]
    assert set(readings(*run(*rows), rule, n=4)["verdict"]) == set(TEXTS)
    assert len(readings(*run(*rows), rule)) == 8


def test_seed_draws_within_a_kind_whatever_the_order_of_the_rows():
    items, responses, scores = run(*[("correct", "none")] * 30)
    drawn = {readings(items, responses, scores, rule, seed=s).index[0] for s in range(9)}
    assert len(drawn) > 1
    table = readings(items, responses, scores, rule, seed=3)
    assert table.equals(readings(items, responses[::-1], scores[::-1], rule, seed=3))


def test_answers_that_are_never_scored_are_left_out():
    items, responses, scores = run(("correct", "none"), ("wrong", "reasoning"))
    assert list(readings(items, responses, scores[:1], rule)["verdict"]) == ["correct"]


def test_failed_request_and_empty_answer_are_told_apart():
    items, responses, scores = run(("error", "none"), ("wrong", "none"))
    responses.loc[1, "response"] = ""
    table = readings(items, responses, scores, rule)
    assert list(table["answer"]) == ["[no answer: timed out]", "[an empty answer]"]


def test_long_text_keeps_its_beginning_and_end():
    assert shortened("a" * 240) == "a" * 240
    assert shortened("x" * 500 + "end", 10) == "xxxxx … xxend"


@pytest.mark.parametrize("text", ["<b>(A)</b>", "<script>alert(1)</script>", "</td></table>"])
def test_markup_in_an_answer_is_shown_as_text(text):
    items, responses, scores = run(("correct", "none"))
    page = show(readings(items, responses.assign(response=text), scores, rule)).data
    assert text not in page
    assert "&lt;" in page


def test_dollars_in_an_answer_are_no_formula():
    assert 'class="tex2jax_ignore mathjax_ignore"' in show(readings(*run(), rule)).data
    assert "white-space: pre-wrap" in show(readings(*run(("correct", "none")), rule)).data
