"""People's answers to items: the form is checked, and answers score as a model's would."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fantom_sets import question_set
from tomlab.benchmarks import bigtom, fantom
from tomlab.benchmarks.bigtom.items.compose import KEYS
from tomlab.errors import InputError
from tomlab.paths import DATA, ROOT
from tomlab.scoring import participants

HEADER = "participant,item_id,answer,seconds,passed\n"
needs_data = pytest.mark.skipif(
    not (DATA / "bigtom").is_dir(), reason="data/bigtom is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    every = bigtom.read_released(DATA / "bigtom/bigtom.csv")
    first = every["group_id"].unique()[:4]
    return every[every["group_id"].isin(first)]


def written(folder, rows, name="answers.csv"):
    path = folder / name
    rows = [[*row, ""] if isinstance(row, tuple) else row for row in rows]
    table = pd.DataFrame(rows, columns=["participant", "item_id", "answer", "seconds", "passed"])
    table.to_csv(path, index=False)
    return path


def id_of(items, variable, condition, template=0):
    group = items["group_id"].unique()[template]
    return f"{group}/{variable}/{condition}/1"


def right(items, item_id):
    return items.set_index("item_id").at[item_id, "answer"]


def wrong(items, item_id):
    item = items.set_index("item_id").loc[item_id]
    return next(text for text in item["choices"] if text != item["answer"])


def scored(answers, items):
    responses = participants.responses(answers, items, "0-shot", KEYS, "Answer: {key}){text}")
    return bigtom.score(items, responses)


@needs_data
def test_an_answer_scores_by_the_benchmarks_rule(items, tmp_path):
    asked = id_of(items, "forward_belief", "false_belief")
    rows = [("p1", asked, right(items, asked), 3), ("p2", asked, wrong(items, asked), 4.5)]
    scores = scored(participants.read(written(tmp_path, rows), items), items)
    assert scores["outcome"].tolist() == ["correct", "wrong"]
    assert scores["model"].unique().tolist() == ["people"]


@needs_data
def test_both_versions_count_together_only_for_one_and_the_same_person(items, tmp_path):
    true = id_of(items, "forward_belief", "true_belief")
    false = id_of(items, "forward_belief", "false_belief")
    rows = [
        ("p1", true, right(items, true), ""),
        ("p1", false, wrong(items, false), ""),
        ("p2", true, wrong(items, true), ""),
        ("p2", false, right(items, false), ""),
        ("p3", true, right(items, true), ""),
        ("p3", false, right(items, false), ""),
    ]
    metrics = bigtom.metrics(scored(participants.read(written(tmp_path, rows), items), items))
    both = metrics.query("metric == 'tb_and_fb' and condition == 'forward_belief/tb_and_fb/1'")
    assert both["n"].tolist() == [3]
    assert both["value"].round(4).tolist() == [0.3333]


@needs_data
def test_an_empty_answer_counts_as_unreadable_and_a_missing_row_not_at_all(items, tmp_path):
    asked = id_of(items, "forward_action", "false_belief")
    rows = [("p1", asked, right(items, asked), ""), ("p2", asked, "", "")]
    scores = scored(participants.read(written(tmp_path, rows), items), items)
    assert scores["outcome"].tolist() == ["correct", "unparsed"]


@needs_data
@pytest.mark.parametrize("spoilt", [str.upper, lambda text: f"  {text.replace(' ', '  ')} "])
def test_spaces_and_case_of_an_option_do_not_matter(items, tmp_path, spoilt):
    asked = id_of(items, "forward_belief", "true_belief")
    rows = [("p1", asked, spoilt(right(items, asked)), "")]
    scores = scored(participants.read(written(tmp_path, rows), items), items)
    assert scores["outcome"].tolist() == ["correct"]


@needs_data
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"answer": "b"}, "answer"),  # options may have stood in another order
        ({"item_id": "nowhere/forward_belief/true_belief/1"}, "item_id"),
        ({"participant": ""}, "participant"),
        ({"participant": "llm:gpt-4"}, "participant"),
        ({"seconds": "soon"}, "seconds"),
        ({"passed": "perhaps"}, "passed"),
        ({"item_id": "check-1"}, "item_id"),
    ],
)
def test_a_faulty_row_is_named_with_its_field(items, tmp_path, change, field):
    asked = id_of(items, "forward_belief", "true_belief")
    row = {
        "participant": "p1",
        "item_id": asked,
        "answer": right(items, asked),
        "seconds": "2",
        "passed": "",
    }
    good = {**row, "participant": "p0"}
    path = written(tmp_path, [good, row | change])
    with pytest.raises(InputError, match=f"row 3, field {field}: found .*, expected "):
        participants.read(path, items)


@needs_data
def test_one_answer_twice_is_an_error(items, tmp_path):
    asked = id_of(items, "forward_belief", "true_belief")
    rows = [("p1", asked, right(items, asked), "")] * 2
    with pytest.raises(InputError, match=r"row 3: .*stands in row 2 too"):
        participants.read(written(tmp_path, rows), items)


@needs_data
def test_the_joined_form_of_questionnaires_is_read(items, tmp_path):
    """Each page gives four columns; those who join pages add two on attention checks."""
    asked = id_of(items, "forward_belief", "true_belief")
    table = pd.DataFrame(
        {
            "participant": ["p1", "p2"],
            "item_id": asked,
            "answer": right(items, asked),
            "seconds": "1.5",
            "checks_passed": ["2 of 2", "1 of 2"],
            "passed": ["yes", "no"],
        }
    )
    path = tmp_path / "joined.csv"
    table.to_csv(path, index=False)
    assert participants.read(path, items)["passed"].tolist() == ["yes", "no"]
    table.iloc[:, :4].to_csv(path, index=False)
    assert participants.read(path, items)["passed"].tolist() == ["", ""]


@pytest.mark.parametrize("name", ["bigtom", "fantom"])
def test_the_forms_of_the_project_have_their_headers_alone(name):
    text = (ROOT / "forms" / name / "answers.csv").read_text(encoding="utf-8")
    assert text == HEADER


def test_fantoms_choices_and_lists_score_by_its_rules(tmp_path):
    items = fantom.compose([question_set()])
    kinds = items.drop_duplicates("question_type").set_index("question_type")
    kinds = kinds.loc[["belief_choice", "answerability_list", "infoaccess_list"]]
    rows = []
    for item in kinds.to_dict("records"):
        rows.append(("knows", item["item_id"], item["answer"] or "Nobody", ""))
        everyone = ", ".join([*item["aware"], *item["unaware"]]) or item["wrong_answer"]
        rows.append(("sees no difference", item["item_id"], everyone, ""))
    answers = participants.read(written(tmp_path, rows), items)
    option = "({key})"
    responses = participants.responses(answers, items, "short", fantom.KEYS, option)
    scores = fantom.score(items, responses, embedder=None)
    assert scores.groupby("sample")["score"].mean().tolist() == [1.0, 0.0]


@needs_data
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text())
def test_any_text_in_the_form_is_read_or_refused_in_words(items, tmp_path, text):
    path = tmp_path / "any.csv"
    path.write_bytes((HEADER + text).encode("utf-8", "surrogatepass"))
    try:
        participants.read(path, items)
    except InputError as error:
        assert str(path) in str(error)
