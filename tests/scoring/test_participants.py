"""People's answers to items: the form is checked, and answers score as a model's would."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fantom_sets import question_set
from tomlab.benchmarks import bigtom, fantom
from tomlab.benchmarks.bigtom.items.compose import KEYS
from tomlab.errors import InputError
from tomlab.paths import DATA
from tomlab.scoring import participants

COLUMNS = ["participant", "item_id", "answer", "seconds", "passed"]
needs_data = pytest.mark.skipif(
    not (DATA / "bigtom").is_dir(), reason="data/bigtom is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def items():
    table = bigtom.read_released(DATA / "bigtom/bigtom.csv")
    first = table["group_id"].unique()[:4]
    return table[table["group_id"].isin(first)].set_index("item_id", drop=False)


def form(folder, *rows, columns=COLUMNS):
    """The path of a form with these rows; what a row leaves out is empty."""
    path = folder / "answers.csv"
    pd.DataFrame(rows).reindex(columns=columns).to_csv(path, index=False)
    return path


def row_of(items, participant="p1", variable="forward_belief", version="true_belief", right=True):
    """A person's right or wrong answer to a question of the first template."""
    item = items.loc[f"{items['group_id'].iloc[0]}/{variable}/{version}/1"]
    answers = [text for text in item["choices"] if (text == item["answer"]) == right]
    return {"participant": participant, "item_id": item["item_id"], "answer": answers[0]}


def scored(path, items):
    answers = participants.read(path, items)
    responses = participants.responses(answers, items, "0-shot", KEYS, "Answer: {key}){text}")
    return bigtom.score(items, responses)


@needs_data
def test_answers_score_by_the_benchmarks_rule_and_an_empty_one_is_unreadable(items, tmp_path):
    right = row_of(items)
    rows = [
        *(right, row_of(items, "p2", right=False), right | {"participant": "p3", "answer": ""}),
        right | {"participant": "p4", "answer": right["answer"].upper()},
        right | {"participant": "p5", "answer": f" {right['answer'].replace(' ', '  ')} "},
    ]
    scores = scored(form(tmp_path, *rows), items)
    assert [*scores["outcome"]] == ["correct", "wrong", "unparsed", "correct", "correct"]
    assert {*scores["model"]} == {"people"}


@needs_data
def test_both_versions_count_together_only_for_one_and_the_same_person(items, tmp_path):
    rows = []
    for participant, *is_right in [("p1", True, False), ("p2", False, True), ("p3", True, True)]:
        for version, right in zip(["true_belief", "false_belief"], is_right, strict=True):
            rows.append(row_of(items, participant, version=version, right=right))
    metrics = bigtom.metrics(scored(form(tmp_path, *rows), items))
    pairs = metrics.query("metric == 'tb_and_fb' and condition == 'forward_belief/tb_and_fb/1'")
    assert pairs["n"].tolist() == [3]
    assert pairs["value"].tolist() == pytest.approx([1 / 3])


@needs_data
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("answer", "b"),  # options may have stood in another order
        ("item_id", "nowhere/forward_belief/true_belief/1"),
        ("participant", ""),
        ("participant", "llm:gpt-4"),
        ("seconds", "soon"),
        ("passed", "perhaps"),
    ],
)
def test_a_faulty_row_is_named_with_its_field(items, tmp_path, field, value):
    path = form(tmp_path, row_of(items), row_of(items, "p2") | {field: value})
    with pytest.raises(InputError, match=f"row 3, field {field}: found .*, expected "):
        participants.read(path, items)


@needs_data
def test_a_second_answer_of_a_person_to_a_question_is_an_error(items, tmp_path):
    with pytest.raises(InputError, match=r"row 3: .*stands in row 2 too"):
        participants.read(form(tmp_path, row_of(items), row_of(items)), items)


@needs_data
def test_the_joined_form_of_questionnaires_is_read(items, tmp_path):
    """Each page gives four columns; those who join pages add two on attention checks."""
    checks = {"seconds": "1.5", "checks_passed": "2 of 2", "passed": "yes"}
    rows = [row_of(items) | checks, row_of(items, "p2") | checks | {"passed": "no"}]
    path = form(tmp_path, *rows, columns=[*COLUMNS, "checks_passed"])
    assert participants.read(path, items)["passed"].tolist() == ["yes", "no"]
    path = form(tmp_path, *rows, columns=COLUMNS[:4])
    assert participants.read(path, items)["passed"].tolist() == ["", ""]


def test_fantoms_choices_and_lists_score_by_its_rules(tmp_path):
    items = fantom.compose([question_set()])
    kinds = ["belief_choice", "answerability_list", "infoaccess_list"]
    rows = []
    for item in items.drop_duplicates("question_type").to_dict("records"):
        if item["question_type"] not in kinds:
            continue
        everyone = ", ".join([*item["aware"], *item["unaware"]]) or item["wrong_answer"]
        answers = {"knows": item["answer"] or "Nobody", "sees no difference": everyone}
        for participant, answer in answers.items():
            row = {"participant": participant, "item_id": item["item_id"], "answer": answer}
            rows.append(row)
    answers = participants.read(form(tmp_path, *rows), items)
    responses = participants.responses(answers, items, "short", fantom.KEYS, "({key})")
    scores = fantom.score(items, responses, embedder=None)
    assert scores.groupby("sample")["score"].mean().tolist() == [1.0, 0.0]


@needs_data
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text())
def test_any_text_in_the_form_is_read_or_refused_in_words(items, tmp_path, text):
    path = tmp_path / "any.csv"
    path.write_bytes((",".join(COLUMNS) + "\n" + text).encode("utf-8", "surrogatepass"))
    try:
        participants.read(path, items)
    except InputError as error:
        assert str(path) in str(error)
