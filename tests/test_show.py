"""`tomlab.show`: what a reader's own tables hold, told apart by their columns."""

import json

import numpy as np
import pandas as pd
import pytest

from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.show import show

ITEM = {
    "benchmark": "bigtom",
    "item_id": "t1/forward_belief/true_belief/1",
    "group_id": "t1",
    "question_type": "belief",
    "story": "Ana sees the cup. <b>It breaks.</b>",
    "question": "Is it whole for $5?",
    "choices": ["Ana believes it is whole.", "Ana believes it is broken."],
    "answer": "Ana believes it is broken.",
    "source": "authored",
    "variable": "forward_belief",
    "condition": "true_belief",
    "initial_belief": 1,
    "reality": "Ana believes it is broken.",
}
ITEMS = pd.DataFrame([ITEM])
RESPONSES = pd.DataFrame(
    {"item_id": [ITEM["item_id"]], "model": "mine", "method": "0-shot", "response": "b) <i>"}
)


def test_answers_of_ones_own_are_shown_with_story_gold_verdict_and_rule():
    scores = bigtom.score(ITEMS, RESPONSES)
    shown = show(ITEMS, RESPONSES, scores)
    for told in ("Story: Ana sees", "b) Ana believes it is broken.", "Verdict: right: leads with"):
        assert told in repr(shown)
    assert "<b>It breaks" not in shown.data and "<i>" not in shown.data
    assert show(scores, ITEMS, RESPONSES).data == shown.data


def test_items_alone_have_no_answer():
    assert "Options: a) Ana" in repr(show(ITEMS))
    assert "Verdict" not in repr(show(ITEMS))
    assert repr(show(ITEMS, n=0)) == "Nothing to show."


def test_scores_alone_and_with_responses():
    scores = bigtom.score(ITEMS, RESPONSES)
    assert "Verdict: right" in repr(show(scores))
    assert "Answer: b) <i>" in repr(show(scores, RESPONSES))


def test_response_is_shown_as_it_was_asked_or_as_it_is():
    asked = RESPONSES.assign(messages=json.dumps([{"role": "user", "content": "Whole?"}]))
    assert repr(show(asked)) == "[To the model (user)]\nWhole?\n\n[Answered by mine]\nb) <i>"
    assert "Answer: b) <i>" in repr(show(RESPONSES))


def test_results_are_a_table_in_words():
    metrics = bigtom.metrics(bigtom.score(ITEMS, RESPONSES))
    shown = repr(show(metrics))
    assert "forward belief, true belief, initial belief told" in shown
    assert "_" not in shown
    assert "1 template" in shown


def test_any_table_is_shown():
    assert repr(show(pd.DataFrame())) == "Nothing to show."
    assert "–" in repr(show(pd.DataFrame({"a_b": [np.nan]})))


def test_tables_that_do_not_go_together_are_refused():
    with pytest.raises(InputError, match="two tables of items"):
        show(ITEMS, ITEMS)
    other = ITEMS.assign(benchmark="fantom", item_id="x")
    with pytest.raises(InputError, match="items of bigtom, fantom, expected one benchmark"):
        show(pd.concat([ITEMS, other]))
    with pytest.raises(InputError, match="found no table"):
        show()
