"""People on FANToM's figures page: what counts as All, and both intervals."""

import pandas as pd
import pytest

from fantom_sets import question_set
from one_cell import ran
from tomlab.benchmarks import fantom

ITEMS = fantom.compose([question_set(f"{conversation}-0-0") for conversation in range(4)])


def right_answers(person: str, passed: str = "") -> pd.DataFrame:
    kinds = ["belief_choice", "answerability_list", "infoaccess_list"]
    answers = ITEMS.loc[ITEMS["question_type"].isin(kinds), ["item_id", "answer"]]
    answers = answers.assign(participant=person, passed=passed)
    return answers.set_index("item_id", drop=False)


@pytest.fixture
def page(tmp_path):
    """The names that the page's cells make of people's answers."""

    def run(*answers: pd.DataFrame) -> dict:
        path = tmp_path / "answers.csv"
        columns = ["participant", "item_id", "answer", "passed"]
        pd.concat(answers).to_csv(path, index=False, columns=columns)
        empty = pd.DataFrame(columns=["model"])
        given = {"items": ITEMS, "answers_by_people": str(path), "run": empty}
        return ran("5_figures", "fantom", "cell-people", **given)

    return run


def number_of(people: pd.DataFrame, column: str, over: str) -> pd.Series:
    is_row = (people["column"] == column) & people["model"].str.endswith(f"over {over}")
    assert is_row.sum() == 1
    return people[is_row].iloc[0]


def test_all_counts_the_choices_and_lists_of_one_person(page):
    first = right_answers("p1")
    first.loc["0-0-0/infoaccess_list", "answer"] = "Kailey, Sally"
    people = page(first, right_answers("p2"))["own_people"]
    over_conversations = number_of(people, "all", "conversations")
    assert over_conversations[["value", "n", "n_groups"]].tolist() == [7 / 8, 8, 4]
    assert number_of(people, "all", "people")["n_groups"] == 2
    assert number_of(people, "answerability_all", "people")["value"] == 1


def test_a_set_of_which_somebody_left_out_a_question_is_no_whole_set(page):
    answers = right_answers("p1").drop("0-0-0/infoaccess_list")
    number = number_of(page(answers)["own_people"], "all", "conversations")
    assert number[["value", "n"]].tolist() == [1, 3]


def test_whoever_failed_an_attention_check_is_left_out_and_counted(page):
    names = page(right_answers("p1", passed="yes"), right_answers("p2", passed="no"))
    assert number_of(names["own_people"], "belief_choice", "people")["n_groups"] == 1
    assert names["n_failed"] == 1
