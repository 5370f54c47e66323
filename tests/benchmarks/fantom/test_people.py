"""People on FANToM's figures page: what counts as All, and both intervals."""

import pandas as pd
import pytest

from fantom_sets import question_set
from one_cell import ran
from tomlab.benchmarks import fantom

ASKED = ["belief_choice", "answerability_list", "infoaccess_list"]


def numbers_of(tmp_path, answers, items):
    """The rows that the page's cells make of people's answers."""
    path = tmp_path / "answers.csv"
    columns = ["participant", "item_id", "answer", "passed"]
    pd.DataFrame(answers, columns=columns).to_csv(path, index=False)
    empty = pd.DataFrame(columns=["model"])
    given = {"items": items, "answers_by_people": str(path), "run": empty}
    return ran("5_figures", "fantom", "cell-people", **given)


@pytest.fixture
def items() -> pd.DataFrame:
    sets = [question_set(f"{conversation}-0-0") for conversation in range(4)]
    return fantom.compose(sets)


def answered(items, person, passed="", kinds=ASKED):
    """All right answers of one person."""
    rows = items[items["question_type"].isin(kinds)].to_dict("records")
    return [(person, row["item_id"], row["answer"] or "nobody", passed) for row in rows]


def value(numbers, column, over):
    rows = numbers[(numbers["column"] == column) & numbers["model"].str.endswith(f"over {over}")]
    assert len(rows) == 1
    return rows.iloc[0]


def test_all_counts_the_choices_and_lists_of_one_person(items, tmp_path):
    rows = answered(items, "p1") + answered(items, "p2")
    lists = [n for n, row in enumerate(rows) if row[1] == "0-0-0/infoaccess_list"]
    wrong = ", ".join([*items.set_index("item_id").at["0-0-0/infoaccess_list", "unaware"]])
    rows[lists[0]] = ("p1", "0-0-0/infoaccess_list", wrong, "")
    numbers = numbers_of(tmp_path, rows, items)["own_people"]
    row = value(numbers, "all", "conversations")
    assert (row["value"], row["n"], row["n_groups"]) == (7 / 8, 8, 4)
    assert value(numbers, "all", "people")["n_groups"] == 2
    assert value(numbers, "answerability_all", "people")["value"] == 1


def test_a_set_of_which_somebody_left_out_a_question_is_no_whole_set(items, tmp_path):
    rows = [row for row in answered(items, "p1") if row[1] != "0-0-0/infoaccess_list"]
    row = value(numbers_of(tmp_path, rows, items)["own_people"], "all", "conversations")
    assert (row["value"], row["n"]) == (1, 3)


def test_whoever_failed_an_attention_check_is_left_out_and_counted(items, tmp_path):
    rows = answered(items, "p1", "yes") + answered(items, "p2", "no")
    names = numbers_of(tmp_path, rows, items)
    assert value(names["own_people"], "belief_choice", "people")["n_groups"] == 1
    assert names["n_failed"] == 1


def test_yes_no_questions_make_all_the_runs_own(items, tmp_path):
    kinds = [*ASKED, "answerability_yn", "infoaccess_yn"]
    rows = answered(items, "p1", kinds=kinds)
    row = value(numbers_of(tmp_path, rows, items)["own_people"], "all", "conversations")
    assert (row["value"], row["n"]) == (1, 4)


def test_without_answers_there_are_no_people_of_this_run(items, tmp_path):
    assert numbers_of(tmp_path, [], items)["own_people"].empty
