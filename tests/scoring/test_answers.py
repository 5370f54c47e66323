"""Responses find their items, and an answer without an option says why it has none."""

import numpy as np
import pandas as pd
import pytest

from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.records.files import read_answers
from tomlab.scoring.answers import pairs, unanswered


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


@pytest.mark.parametrize(
    ("text", "finish_reason", "open_thought", "outcome"),
    [
        ("", "refusal", False, "refused"),
        ("Mei", "refusal", True, "refused"),
        ("I'm sorry, but", "length", False, "truncated"),
        ("", "stop", True, "truncated"),
        ("Mei will dive.", "other", False, "unparsed"),
    ],
)
def test_the_reason_why_an_answer_ended_comes_before_its_text(
    text, finish_reason, open_thought, outcome
):
    assert unanswered(text, finish_reason, open_thought) == outcome


# Tables of responses

ITEMS = pd.DataFrame({"item_id": ["one", "two"], "answer": ["No", "Yes"]})
DEFAULTS = {"sample": 0, "finish_reason": "stop", "error": None}
DEFAULTS |= {"completion_tokens": 0, "asked_as": ""}


def responses(*item_ids, **columns):
    """A response to each item; columns hold for all of them."""
    table = pd.DataFrame({"item_id": item_ids, "response": "(A)"})
    return table.assign(**{"model": "mine", "method": "none"} | columns)


def paired(table, items=ITEMS):
    return pairs(items, table, {"none": None, "cot": None})


@pytest.mark.parametrize("columns", [{}, {"sample": 2, "finish_reason": "length", "x": 1}])
def test_columns_that_are_left_out_are_filled_up(columns):
    [(item, response)] = paired(responses("two", **columns))
    assert item == {"item_id": "two", "answer": "Yes"}
    expected = {"item_id": "two", "model": "mine", "method": "none", "response": "(A)"}
    assert response == expected | DEFAULTS | columns


def test_order_is_that_of_the_responses_whatever_the_index():
    table = responses("two", "one").set_axis([5, 5])
    answers = [item["answer"] for item, _ in paired(table, ITEMS.set_axis([9, 9]))]
    assert answers == ["Yes", "No"]


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (responses("one")[["method", "item_id"]], "missing columns model, response"),
        (responses("two", "zero", "three"), r"no item 'three' \(2 unknown in all\)"),
        (responses("one", method="tot"), "no method 'tot'; there are: none, cot"),
        (responses("one", "two", "one"), "'one', 'mine', 'none', 0.* once"),
        (responses("one", response=7), "row 0, field response: found 7, expected text"),
        (responses("one", model=None), "row 0, field model: found None, expected text"),
        (responses("one", sample="a"), "row 0, field sample: found 'a', expected a number"),
    ],
)
def test_fault_of_a_table_is_named(table, fault):
    with pytest.raises(InputError, match=f"^responses: .*{fault}"):
        paired(table)


def test_same_item_by_another_model_method_or_sample_is_no_double():
    tables = [responses("one", **c) for c in ({"model": "a"}, {"method": "cot"}, {"sample": 1})]
    assert len(paired(pd.concat([responses("one", sample=0), *tables]).fillna({"sample": 0}))) == 4


def test_item_asked_in_the_other_order_has_its_options_exchanged():
    items = ITEMS.assign(choices=[np.array(["No", "Yes"])] * 2)
    table = responses("one", "one", sample=[0, 1], asked_as=["", "reversed"])
    shown = [list(item["choices"]) for item, _ in paired(table, items)]
    assert shown == [["No", "Yes"], ["Yes", "No"]]


STORY = {"story": "Mei dives.", "question": "What will Mei do?", "benchmark": "bigtom"}
STORY |= {"group_id": "g", "question_type": "belief", "source": "authored", "initial_belief": 0}
STORY |= {"choices": ["Mei will dive.", "Mei will wait."], "answer": "Mei will dive."}
STORY |= {"variable": "forward_belief", "condition": "true_belief", "reality": "Mei will dive."}


def outcomes(texts, **columns):
    """What BigToM makes of answers, each to an item of its own."""
    ids = [f"i{n}" for n in range(len(texts))]
    items = pd.DataFrame([STORY | {"item_id": name} for name in ids])
    answers = pd.DataFrame({"item_id": ids, "model": "m", "method": "0-shot", "response": texts})
    return bigtom.score(items, answers.assign(**columns))["outcome"].tolist()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
@pytest.mark.parametrize("columns", [{}, {"error": None}, {"error": ""}, {"error": "nan"}])
def test_a_missing_answer_without_an_error_is_refused_and_never_a_failed_request(missing, columns):
    with pytest.raises(InputError, match=r"row 1, field response.*1 such.*keep_default_na=False"):
        outcomes(["a)", missing], **columns)


def test_a_request_with_an_error_in_its_place_is_failed():
    errors = [None, "timed out", "timed out"]
    assert outcomes(["a)", None, "a)"], error=errors) == ["correct", "error", "error"]


@pytest.mark.parametrize("error", [None, "", " ", "None", "nan", float("nan"), False])
def test_an_empty_cell_is_no_error(error):
    assert outcomes(["a)", "b)"], error=error) == ["correct", "wrong"]


# Files of answers


def test_answers_that_pandas_takes_for_missing_are_read_as_texts(tmp_path):
    texts = ["NA", "None", "null", "n/a", "", "nan", "a)"]
    path = tmp_path / "answers.csv"
    table = pd.DataFrame({"item_id": [f"i{n}" for n in range(len(texts))], "response": texts})
    table.assign(model="m", method="0-shot", error="").to_csv(path, index=False)
    answers = read_answers(path)
    assert [*answers["response"]] == texts
    assert outcomes(answers["response"]) == ["unparsed"] * 6 + ["correct"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("item_id;model;method;response\ni0;m;0-shot;a)\n", "row 1: found a semicolon between"),
        ("item_id,model,method\ni0,m,0-shot\n", "row 1: missing columns response"),
        ("item_id,model,method,response,options\n", "row 1: found a column options, expected none"),
        ("item_id,model,method,response\ni0,m,0-shot,a),b\n", "row 2: found 5 fields, expected 4"),
        (
            'item_id,model,method,response,sample\ni0,m,0-shot,a),"1,0"\n',
            "row 2, field sample: found '1,0', expected a whole number",
        ),
    ],
)
def test_fault_of_a_file_of_answers_is_named(tmp_path, text, fault):
    path = tmp_path / "answers.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=rf"(?s)answers\.csv.*{fault}"):
        read_answers(path)


def test_why_answers_ended_is_read_in_every_vendors_words(tmp_path):
    path = tmp_path / "answers.csv"
    reasons = {"max_tokens": "length", "STOP": "stop", "": "stop", "content_filter": "refusal"}
    responses("i").merge(pd.Series(reasons.keys(), name="finish_reason"), how="cross").to_csv(path)
    assert [*read_answers(path)["finish_reason"]] == [*reasons.values()]
