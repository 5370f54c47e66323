"""Items whose right and wrong answer say the same, of all four benchmarks."""

import pandas as pd
import pytest
import same_keys as check_of_files
from hypothesis import given
from hypothesis import strategies as st

from bigtom_templates import MEI
from fantom_sets import question_set
from tomlab.benchmarks import bigtom, fantom
from tomlab.benchmarks.bigtom.items.templates import template_table
from tomlab.errors import InputError
from tomlab.paths import ROOT
from tomlab.scoring import same_keys

SHARED = ROOT.parent / "shared" / "datasets"


@pytest.mark.parametrize(
    ("text", "second", "likeness"),
    [
        ("Italian cuisine.", "Italian cuisine.", "identical"),
        ("Italian cuisine.", "italian  cuisine", "nearly identical"),
        ("It\u2019s his.", "It's his", "nearly identical"),
        ("She knows.", "She knows not.", ""),
        ("C++", "C#", ""),
        ("", "", ""),
        ("?", "!", ""),
    ],
)
def test_two_answers_say_the_same_if_only_case_spaces_and_marks_differ(text, second, likeness):
    assert same_keys.likeness_of(text, second) == likeness
    assert same_keys.likeness_of(second, text) == likeness


@given(st.text(), st.text())
def test_any_texts_are_compared_and_a_text_says_the_same_as_itself(text, second):
    if text.strip():
        assert same_keys.likeness_of(text, text) == "identical"
    assert same_keys.likeness_of(text, second) in ("", "identical", "nearly identical")


def test_fact_and_belief_of_fantom_whose_answers_are_equal_texts():
    record = question_set()
    record["factQA"]["wrong_answer"] = record["factQA"]["correct_answer"]
    belief = record["beliefQAs"][0]
    belief["wrong_answer"] = belief["correct_answer"].upper()
    result = same_keys.same_keys(fantom.compose([record]))
    assert result.set_index("item_id")["likeness"].to_dict() == {
        "0-0-0/fact": "identical",
        "0-0-0/belief_dist:0": "nearly identical",
        "0-0-0/belief_choice:0": "nearly identical",
    }


def test_options_of_bigtom_that_differ_by_a_full_stop_in_every_condition():
    row = MEI | {"belief_answer_aware": MEI["belief_answer_not_aware"].rstrip(".")}
    result = same_keys.same_keys(bigtom.compose(template_table([row])))
    assert result["likeness"].tolist() == ["nearly identical"] * 17  # all that ask for a belief


def test_belief_that_repeats_in_a_gold_table_counts_for_one_stage():
    rows = []
    for belief, order in [("It is empty.", "1"), ("it is empty", "1"), ("It is empty.", "2")]:
        rows.append({"actor": "Mei", "belief": belief, "labels": {"order": order}})
    answer = pd.Series(rows).to_json(orient="records")
    items = pd.DataFrame({"question_type": ["extraction", "labelling"], "answer": answer})
    items = items.assign(item_id="1", group_id="1", source="authored", choices="")
    assert same_keys.same_keys(items)["question_type"].tolist() == ["labelling"]


def test_reported_rows_are_counted_in_the_file_at_hand():
    sets = [question_set(f"{number}-0-0") for number in range(130)]
    for number in (5, 117, 124):
        sets[number]["factQA"]["wrong_answer"] = sets[number]["factQA"]["correct_answer"]
    items = fantom.compose(sets)
    sentence = same_keys.beside_reported(same_keys.same_keys(items), items, "fantom")
    assert "13 that were reported" in sentence
    assert "2 are found in this file, and 1 more" in sentence
    ours = items.assign(source="grammar")
    assert same_keys.beside_reported(same_keys.same_keys(ours), ours, "fantom") == ""


def test_faulty_file_of_reports_is_an_error_with_row_and_field(tmp_path):
    (tmp_path / "fantom").mkdir()
    header = "row,kind,likeness,reported_at,read_by,confirmed_by"
    text = f"{header}\n-1,fact,alike,somewhere,nobody,nobody\n"
    (tmp_path / "fantom" / "same_keys.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"(?s)same_keys\.csv.*row.*likeness"):
        same_keys.reported("fantom", tmp_path)
    assert same_keys.reported("bigtom", tmp_path).empty


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/datasets")
def test_released_files_at_hand_have_no_such_item(capsys):
    for name in ("bigtom/bigtom.csv", "omnitom/gold_sample.jsonl", "tombench"):
        items, _ = check_of_files.read(SHARED / name)
        assert same_keys.same_keys(items).empty, name
    check_of_files.desires(SHARED / "bigtom" / "bigtom.csv")
    assert "93 of 200 templates" in capsys.readouterr().out
