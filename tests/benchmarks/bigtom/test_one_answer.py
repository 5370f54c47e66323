"""The evaluation's notebook shows one question and its answer as what they are."""

import json

import pandas as pd
import pytest

from one_cell import ran

METHODS = {
    "0-shot": "b) fresh",
    "1-shot": "Answer: a) salty",
    "likelihood": "Answer: a)Sefina believes it is fresh.",
}


def shown(*methods: str) -> str:
    """What the cell displays for a model that was asked by these methods."""
    messages = json.dumps([{"role": "user", "content": "Is it salty or fresh?"}])
    rows = [{"method": m, "response": METHODS[m], "error": None} for m in methods]
    responses = pd.DataFrame(rows).assign(messages=messages, model="mine", item_id="x", sample=0)
    displayed = []
    ran(
        "3_evaluation",
        "bigtom",
        "cell-08",
        responses=responses,
        display=lambda *things: displayed.extend(map(repr, things)),
    )
    return "\n".join(displayed)


@pytest.mark.parametrize("methods", [["0-shot", "1-shot"], ["0-shot", "1-shot", "likelihood"]])
def test_the_answer_shown_was_written_by_the_model(methods):
    text = shown(*methods)
    assert METHODS["1-shot"] in text
    assert "came back" in text
    assert METHODS["likelihood"] not in text


def test_where_the_model_only_weighed_options_the_page_says_so():
    text = shown("likelihood")
    assert METHODS["likelihood"] in text
    assert "by likelihood" in text
    assert "came back" not in text
