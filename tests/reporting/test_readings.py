"""Real answers of a run as cards: one of each kind, as text, with the rule that decided."""

from types import SimpleNamespace

import pandas as pd

from tomlab.reporting.cards import cards
from tomlab.reporting.readings import examples, readings

TEXTS = {"correct": "(A)", "wrong": "(B)", "unparsed": "Who knows?", "error": None}


def run(*kinds: tuple[str, str]):
    """Items, responses and scores, for each outcome and method a row."""
    ids = [f"i{number}" for number in range(len(kinds))]
    items = pd.DataFrame(
        {"item_id": ids, "question": "Will she pay?", "answer": "Yes", "question_type": "behavior"}
    ).assign(story="She is at the till.", choices=[["Yes", "No"]] * len(ids))
    keys = {"item_id": ids, "model": "mine", "method": [m for _, m in kinds], "sample": 0}
    outcomes = [outcome for outcome, _ in kinds]
    texts = [TEXTS[outcome] for outcome in outcomes]
    errors = [None if text else "timed out" for text in texts]
    responses = pd.DataFrame({**keys, "response": texts, "error": errors, "finish_reason": "stop"})
    return items, responses, pd.DataFrame({**keys, "outcome": outcomes})


def rule(item, answer):
    return f"{item['question_type']}: {answer['outcome'][0]}"


TOY = SimpleNamespace(rule=rule, KEYS="AB")


def test_row_has_what_a_reader_checks():
    table = readings(TOY, *run(("wrong", "none")))
    assert table.reset_index().to_dict("records") == [
        {
            "item": "i0",
            "method": "none",
            "story": "She is at the till.",
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
    table = readings(TOY, items.assign(choices=[[]]), responses, scores)
    assert table["gold"].tolist() == ["Yes"]
    assert "Options" not in cards(table).data


def test_benchmark_may_say_in_words_what_its_columns_do_not():
    benchmark = SimpleNamespace(rule=rule, in_words=lambda item: {"question": "Who knows?"})
    assert readings(benchmark, *run(("wrong", "none")))["question"].tolist() == ["Who knows?"]


def test_items_alone_are_cards_without_an_answer():
    page = examples(TOY, run(("wrong", "none"))[0])
    assert "She is at the till." in page.data and "A) Yes" in page.data
    assert "Answer" not in page.data.replace("Right answer", "")


def test_every_kind_is_shown_before_another_answer_of_one():
    rows = [("correct", "none"), ("wrong", "none"), ("wrong", "cot")] * 5
    assert len(readings(TOY, *run(*rows))) == 6
    table = readings(TOY, *run(*rows), n=3)
    assert table.reset_index()[["verdict", "method"]].to_numpy().tolist() == [
        ["correct", "none"],
        ["wrong", "cot"],
        ["wrong", "none"],
    ]


def test_seed_draws_within_a_kind_whatever_the_order_of_the_rows():
    items, responses, scores = run(*[("correct", "none")] * 30)
    indices = {readings(TOY, items, responses, scores, seed=s).index[0] for s in range(9)}
    assert len(indices) > 1
    table = readings(TOY, items, responses, scores, seed=3)
    assert table.equals(readings(TOY, items, responses[::-1], scores[::-1], seed=3))


def test_failed_request_and_empty_answer_are_told_apart():
    items, responses, scores = run(("error", "none"), ("wrong", "none"))
    responses.loc[1, "response"] = ""
    table = readings(TOY, items, responses, scores)
    assert list(table["answer"]) == ["[no answer: timed out]", "[an empty answer]"]


def test_nothing_to_show_is_a_sentence():
    assert repr(cards(readings(TOY, *run()))) == "Nothing to show."
