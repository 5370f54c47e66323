"""What of an answer is said aloud, and why an answer without an option has none."""

import pandas as pd
import pytest

from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.records.files import read_answers
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


STORY = {"story": "Mei dives.", "question": "What will Mei do?", "benchmark": "bigtom"}
STORY |= {"group_id": "g", "question_type": "belief", "source": "authored", "initial_belief": 0}
STORY |= {"choices": ["Mei will dive.", "Mei will wait."], "answer": "Mei will dive."}
STORY |= {"variable": "forward_belief", "condition": "true_belief", "reality": "Mei will dive."}


def scored(texts, **columns):
    """BigToM's scores of answers that pandas has read from a CSV, or has in a frame."""
    ids = [f"i{n}" for n in range(len(texts))]
    items = pd.DataFrame([STORY | {"item_id": name} for name in ids])
    answers = pd.DataFrame({"item_id": ids, "model": "m", "method": "0-shot", "response": texts})
    return bigtom.score(items, answers.assign(**columns))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
@pytest.mark.parametrize("error", [None, "", "nan"])
def test_a_missing_answer_without_an_error_is_refused_and_never_a_failed_request(missing, error):
    with pytest.raises(InputError, match=r"row 1, field response.*1 such.*keep_default_na=False"):
        scored(["a)", missing])
    with pytest.raises(InputError, match=r"row 1, field response"):
        scored(["a)", missing], error=error)


def test_a_request_with_an_error_in_its_place_is_failed():
    outcomes = scored(["a)", None], error=[None, "timed out"])["outcome"]
    assert [*outcomes] == ["correct", "error"]


@pytest.mark.parametrize("error", [None, "", " ", "None", "nan", float("nan"), False])
def test_an_empty_cell_is_no_error(error):
    assert [*scored(["a)", "b)"], error=error)["outcome"]] == ["correct", "wrong"]


def test_answers_that_pandas_takes_for_missing_are_read_as_texts(tmp_path):
    texts = ["NA", "None", "null", "n/a", "", "nan", "a)"]
    path = tmp_path / "answers.csv"
    table = pd.DataFrame({"item_id": [f"i{n}" for n in range(len(texts))], "response": texts})
    table.assign(model="m", method="0-shot", error="").to_csv(path, index=False)
    answers = read_answers(path)
    assert [*answers["response"]] == texts
    items = pd.DataFrame([STORY | {"item_id": name} for name in answers["item_id"]])
    assert [*bigtom.score(items, answers)["outcome"]] == ["unparsed"] * 6 + ["correct"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item_id;model;method;response\ni0;m;0-shot;a)\n", "row 1: found a semicolon between"),
        ("item_id,model,method\ni0,m,0-shot\n", "row 1: missing columns response"),
        ("item_id,model,method,response\ni0,m,0-shot,a),b\n", "row 2: found 5 fields, expected 4"),
        (
            'item_id,model,method,response,sample\ni0,m,0-shot,a),"1,0"\n',
            "row 2, field sample: found '1,0', expected a whole number",
        ),
    ],
)
def test_what_is_wrong_with_a_file_of_answers_is_named(tmp_path, text, said):
    path = tmp_path / "answers.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"answers\.csv") as raised:
        read_answers(path)
    assert said in str(raised.value)


def test_why_answers_ended_is_read_in_every_vendors_words(tmp_path):
    path = tmp_path / "answers.csv"
    reasons = {"max_tokens": "length", "STOP": "stop", "": "stop", "content_filter": "refusal"}
    rows = [("i", "m", "0-shot", "a)", reason) for reason in reasons]
    columns = ["item_id", "model", "method", "response", "finish_reason"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    assert [*read_answers(path)["finish_reason"]] == [*reasons.values()]
