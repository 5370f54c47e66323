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


@pytest.mark.parametrize(
    ("methods", "text"),
    [
        (["0-shot", "1-shot", "likelihood"], "came back"),
        # Where the model only weighed options, the page says so.
        (["likelihood"], "by likelihood"),
    ],
)
def test_the_answer_shown_was_written_by_the_model_if_it_wrote_one(methods, text):
    messages = json.dumps([{"role": "user", "content": "Is it salty or fresh?"}])
    rows = [{"method": m, "response": METHODS[m], "error": None} for m in methods]
    responses = pd.DataFrame(rows).assign(messages=messages, model="mine", item_id="x", sample=0)
    displayed = []
    names = {"responses": responses, "display": lambda *things: displayed.extend(things)}
    ran("3_evaluation", "bigtom", "cell-08", **names)
    page = "\n".join(map(repr, displayed))
    assert text in page
    assert (METHODS["1-shot"] in page) == ("1-shot" in methods)
    assert (METHODS["likelihood"] in page) == (methods == ["likelihood"])
