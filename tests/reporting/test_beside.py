"""The paper's numbers beside a run's: what is stacked, how it is laid out, what is said of it."""

import pandas as pd
import pytest

from tomlab.benchmarks.fantom.paper import PUBLICATION
from tomlab.errors import InputError
from tomlab.reporting import beside

COLUMNS = ["source", "model", "column", "value", "ci_low", "ci_high", "n", "n_groups", "mark"]


def cells():
    paper = pd.DataFrame(
        {"model": ["GPT-4", "GPT-4"], "column": ["all", "list"], "mark": ["", "*"]}
    )
    run = pd.DataFrame(
        {"model": ["m"], "column": ["all"], "mark": [""], "n": [40], "n_groups": [8]}
    )
    paper = paper.assign(source="paper", value=[8.25, 30.0])
    run = run.assign(source="this run", value=0.5, ci_low=0.25, ci_high=0.75)
    return beside.stack(COLUMNS, paper, beside.percent(run))


def test_published_rows_say_where_they_are_printed_and_which_fail_a_check():
    rows = beside.of_paper(PUBLICATION, "table4_order")
    assert set(rows["source"]) == {"paper"}
    assert set(rows["printed_in"]) == {"FANToM (Kim et al., 2023), Table 4"}
    assert rows["mark"].eq("*").equals(rows["reason"].ne(""))


def test_numbers_of_paper_and_run_stand_in_one_layout():
    heads = {"all": "All", "list": "List"}
    shown = beside.layout(cells(), {"model": "Model"}, heads)
    assert [tuple(row) for row in shown.to_numpy()] == [
        ("GPT-4", "8.2", "30.0*", "paper"),
        ("m", "50.0 [25.0, 75.0]\nn = 40/8", "–", "this run"),
    ]
    shown = beside.layout(cells(), {"model": "Model"}, heads, n="Sets")
    assert list(shown["Sets"]) == ["–", "40/8"]
    assert shown["All"].iloc[1] == "50.0 [25.0, 75.0]"
    wide = beside.layout(
        cells(), {"model": "Model"}, {"all": "All"}, paper="{:.2f}".format, is_wide=True
    )
    assert list(wide["All"]) == ["8.25", "50.0\n[25.0, 75.0]\nn = 40/8"]
    assert list(wide) == ["Model", "All", "Source"]


def test_the_papers_rows_stand_above_the_runs():
    points, positions = beside.in_rows(cells())
    assert list(positions.index) == [
        ("paper", ""),
        ("paper", "GPT-4"),
        ("this run", ""),
        ("this run", "m"),
    ]
    assert list(points["y"]) == [1, 1, 3]


def test_levels_have_the_known_order_and_others_follow():
    assert beside.known_first(["a", "b", "c"], ["x", "c", "a", "x"]) == ["a", "c", "x"]
    rows = pd.DataFrame({"level": ["x", "c", "a", "x"], "at": range(4)})
    assert list(beside.in_order(rows, "level", ["a", "b", "c"])["at"]) == [2, 1, 0, 3]


def test_a_run_is_told_in_one_sentence_and_its_lack_in_another():
    run = pd.DataFrame(
        {"model": ["m"], "n": [40], "n_groups": [8], "ci_method": ["cluster jackknife"]}
    )
    told = beside.counted(run, "answers", "sets")
    none = pd.DataFrame({"model": [], "method": [], "condition": [], "value": []})
    [said] = beside.run_sentences(run, none, told, by="set")
    count = "n = 40 answers from 8 sets (beside each number: n/sets)"
    assert said == f"This run: m; {count}; 95 % intervals (cluster jackknife, by set)."
    assert beside.run_sentences(run.head(0), none, told) == ["This run has no such answers."]


def test_marked_numbers_are_named_once_a_reason():
    marked = cells().assign(reason=["", "sum", ""])
    assert beside.failing(marked, lambda rows: rows["model"]) == [
        "* fails a check of the published table (sum): GPT-4."
    ]


def test_what_is_wrong_with_a_table_is_said_with_what_is_expected():
    rows = pd.DataFrame({"judge": ["a", "a"], "level": ["L1", "L1"]})
    with pytest.raises(InputError, match="judge, level a, L1 is there twice"):
        beside.demand_known(rows, {"judge": None, "level": ["L1"]}, "judges")
    with pytest.raises(InputError, match="level: found 'L1', expected one of: L2"):
        beside.demand_known(rows, {"level": ["L2"]}, "judges")
    with pytest.raises(InputError, match="column 'kappa' is missing"):
        beside.demand_columns(rows, ["kappa"], "judges")
    with pytest.raises(InputError, match="method: found 'tot', expected one of: none, cot"):
        beside.demand_level("method", "tot", ["none", "cot", "none"])
    with pytest.raises(InputError, match="no rows of benchmark 'fantom' with metric 'all'"):
        beside.demand_metric(rows.head(0), "fantom", "all")
