"""The published tables, and what the audit finds in them, by number of docs/data_oddities.md."""

import shutil

import pandas as pd
import pytest

from audit import results
from tomlab.benchmarks.bigtom.paper import PUBLICATION as BIGTOM
from tomlab.benchmarks.fantom.paper import PUBLICATION as FANTOM
from tomlab.benchmarks.omnitom.paper import PUBLICATION as OMNITOM
from tomlab.benchmarks.simpletom.paper import PUBLICATION as SIMPLETOM
from tomlab.errors import InputError
from tomlab.paths import PUBLISHED

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="data/published is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def derived() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Marks and checks as the published tables alone give them."""
    return results()


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(PUBLISHED, tmp_path / "published")


# Reading


def test_printed_na_stays_and_an_empty_field_is_missing():
    assert "N/A" in set(OMNITOM.read("table3_stage1")["params"])
    assert SIMPLETOM.read("table8_statistics")["unique_y"].isna().sum() == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("model,", "model,model,"), "row 1: found model twice"),
        (("0.92", "0.92,1"), "row 2: found 4 fields, expected 3"),
    ],
)
def test_table_that_is_not_as_printed_is_named_with_row_and_field(copy, change, message):
    path = copy / "bigtom" / "table9_percept_to_belief.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"(?s)table9_percept_to_belief\.csv.*{message}"):
        BIGTOM.read("table9_percept_to_belief", copy)


def test_missing_marks_say_how_to_get_them(copy):
    (copy / "bigtom" / "marks.csv").unlink()
    with pytest.raises(InputError, match=r"marks\.csv is missing: `make data`"):
        BIGTOM.reasons("table7_models", copy)


# Marks and checks are data


@pytest.mark.parametrize(("place", "file"), [(0, "marks"), (1, "checks")])
def test_what_the_data_say_of_the_tables_is_what_the_tables_give(derived, place, file):
    """Where they differ, `python tests/helpers/write_audit.py` writes both files anew."""
    for paper, rows in derived[place].groupby("paper"):
        written = pd.read_csv(PUBLISHED / paper / f"{file}.csv", keep_default_na=False)
        expected = rows.drop(columns="paper").reset_index(drop=True)
        pd.testing.assert_frame_equal(written, expected, check_dtype=False)


def test_reasons_of_a_row_that_fails_twice_are_joined_and_others_are_empty(derived):
    marks = derived[0].query("paper == 'fantom' and table == 'table9_all'")
    twice = marks[marks.duplicated("row", keep=False)].groupby("row")["reason"].agg("; ".join)
    assert len(twice)
    assert FANTOM.reasons("table9_all")[twice.index].tolist() == twice.tolist()
    assert OMNITOM.reasons("table11_matchcount").tolist() == [""] * 54


def test_a_note_quotes_what_a_check_demands_and_finds():
    note = SIMPLETOM.checked("table3_ms_remind", "beyond_random")
    assert note.startswith("With the reminder only Claude-3.5-Sonnet is above 50 on judgment")
    assert "GPT-3.5 53.0; GPT-4 54.0" in note


def test_a_check_has_one_name_in_its_table(derived):
    assert not derived[1].duplicated(["paper", "table", "name"]).any()


# What the checks find, by the number of the note

IMPOSSIBLE = {
    ("dav-003", "forward_belief", "0-shot-cot", 1): (0.34, "0.40 to 0.42"),
    ("gpt-3.5", "forward_belief", "1-shot-cot", 1): (0.85, "0.94 to 0.97"),
    ("claude-2", "forward_belief", "0-shot-cot", 1): (0.61, "0.86 to 0.87"),
    ("claude-2", "forward_belief", "1-shot", 0): (0.84, "0.94 to 0.95"),
    ("claude-2", "forward_action", "1-shot", 1): (1.00, "0.91 to 0.91"),
}


def test_3_exactly_five_joint_accuracies_are_impossible():
    table = BIGTOM.read("table7_models").assign(reason=BIGTOM.reasons("table7_models"))
    marked = table[table["reason"].str.contains("possible")]
    assert set(marked["contingency"]) == {"tb_and_fb"}
    marked = marked.set_index(["model", "variable", "method", "initial_belief"])
    assert set(marked.index) == set(IMPOSSIBLE)
    for key, (printed, possible) in IMPOSSIBLE.items():
        assert marked["accuracy"][key] == printed
        assert marked["reason"][key].endswith(f"possible {possible}")


FINDINGS = [
    ("bigtom", 1, "table7_models", 216, 12, "llama-65 1-shot 1"),
    ("fantom", 13, "table9_all", 1540, 1, "GPT-4 0613 (October)"),
    ("fantom", 17, "table1_headline", 8, 2, "Mistral Instruct 7B"),
    ("fantom", 18, "table9_all", 14, 3, "printed 24.6, mean of Table 4's orders 40.2"),
    ("omnitom", 26, "table3_stage1", 8, 7, "printed 54.97, macro-average over stories 55.75"),
    ("omnitom", 33, "table12_unusable", 17, 0, "at most 129 of 895"),
]


@pytest.mark.parametrize(("paper", "note", "table", "tested", "failed", "finding"), FINDINGS)
def test_a_check_finds(derived, paper, note, table, tested, failed, finding):
    of_table = derived[1].query("paper == @paper and note == @note and table == @table")
    [row] = of_table[of_table["finding"].str.contains(finding, regex=False)].to_dict("records")
    assert (row["n_tested"], row["n_failed"]) == (tested, failed)


# A changed cell is found by the check that it belongs to: paper, note, table, row, column, value.

CHANGES = [
    ("bigtom", 1, "table11_bigtom_claude", 1, "footnote_as_printed", "†"),
    ("bigtom", 3, "table8_controls", 4, "accuracy", 0.60),
    ("bigtom", 3, "table7_models", 10, "accuracy", 0.99),
    ("bigtom", 6, "table11_bigtom_claude", 0, "accuracy", 0.99),
    ("bigtom", 7, "table10_claude_vs_gpt4", 0, "accuracy", 0.678),
    ("bigtom", 8, "table3_rating_contrasts", 2, "estimate", -0.264),
    ("fantom", 15, "table9_all", 0, "value", 91.0),
    ("fantom", 16, "table9_all", 0, "value", 87.0),
    ("fantom", 17, "table2_yn", 0, "value", 61.6),
    ("fantom", 18, "table4_order", 1, "value", 31.0),
    ("fantom", 20, "dataset_counts", 8, "count", 7628),
    ("simpletom", 21, "table2_main", 3, "accuracy", 24.6),
    ("simpletom", 22, "table5_cot", 0, "accuracy", 97.7),
    ("simpletom", 23, "table3_ms_remind", 4, "accuracy", 49.0),
    ("simpletom", 24, "table8_statistics", 0, "stories", 167),
    ("omnitom", 26, "table3_stage1", 63, "f1", 51.73),
    ("omnitom", 27, "table3_stage2", 0, "accuracy", 95.65),
    ("omnitom", 28, "table4_categories", 1, "value", 4615),
    ("omnitom", 28, "order_distribution", 0, "percent", 33.6),
    ("omnitom", 30, "table9_teler", 3, "value", 67.49),
    ("omnitom", 31, "table11_matchcount", 0, "count", 12531),
    ("omnitom", 32, "table6_reliability", 1, "value", 383),
    ("omnitom", 32, "human_matchcount", 0, "value", 2102),
    ("omnitom", 33, "table12_unusable", 0, "unusable_percent", 4.40),
]


@pytest.mark.parametrize(("paper", "note", "table", "row", "column", "value"), CHANGES)
def test_a_changed_cell_changes_its_check(derived, copy, paper, note, table, row, column, value):
    path = copy / paper / f"{table}.csv"
    changed = pd.read_csv(path, keep_default_na=False)
    assert changed.loc[row, column] != value
    changed.loc[row, column] = value
    changed.to_csv(path, index=False)
    of_table = "paper == @paper and note == @note and table == @table"
    before = derived[1].query(of_table)["n_failed"].sum()
    after = results(copy, (paper, note))[1].query(of_table)["n_failed"].sum()
    assert after != before


def test_copying_a_row_is_detected(copy):
    path = copy / "fantom" / "table9_all.csv"
    table = pd.read_csv(path).set_index(["context", "model", "prompting"]).sort_index()
    row = ("short", "GPT-4 0314")
    table.loc[(*row, "cot"), "value"] = table.loc[(*row, "none"), "value"].to_numpy()
    table.reset_index().to_csv(path, index=False)
    marks = results(copy)[0].query("paper == 'fantom' and reason.str.contains('12 of 12')")
    models = FANTOM.read("table9_all", copy)["model"][marks["row"]]
    assert models.eq(row[1]).sum() == 24
