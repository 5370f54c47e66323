"""The published tables, and what the audit finds in them, number by number of docs/data.md."""

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

PAPERS = {paper.folder: paper for paper in (BIGTOM, FANTOM, OMNITOM, SIMPLETOM)}
pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="data/published is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def derived() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Marks and checks as the published tables alone give them."""
    return results()


@pytest.fixture(scope="module")
def audit(derived) -> pd.DataFrame:
    return derived[1]


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(PUBLISHED, tmp_path / "published")


def finding(audit, paper, note, table, says="") -> pd.Series:
    """The one check of a note and table whose sentence contains `says`."""
    rows = audit[(audit["paper"] == paper) & (audit["note"] == note) & (audit["table"] == table)]
    rows = rows[rows["check"].str.contains(says, regex=False)]
    assert len(rows) == 1
    return rows.iloc[0]


def suspicious(paper: str, table: str) -> pd.DataFrame:
    """The rows of a published table that fail a check, with the `reason`."""
    rows = PAPERS[paper].read(table).assign(reason=PAPERS[paper].reasons(table))
    return rows[rows["reason"] != ""]


def cells(paper, table, *columns) -> set[tuple]:
    return set(suspicious(paper, table)[list(columns)].itertuples(index=False, name=None))


# Reading


def test_42_files_hold_2594_rows():
    tables = [paper.read(table) for paper in PAPERS.values() for table in paper.tables]
    assert len(tables) == 42
    assert sum(map(len, tables)) == 2594


def test_registry_and_folder_agree():
    files = {(paper, path.stem) for paper in PAPERS for path in (PUBLISHED / paper).glob("*.csv")}
    audited = {(paper, name) for paper in PAPERS for name in ("marks", "checks")}
    # Verdicts of others and the ledger of keys are read by code of their own, see
    # `tests/scoring/test_verdicts.py`, `test_ledger.py` and `test_same_keys.py`.
    others = {(paper, name) for paper, name in files if name.startswith("verdicts_")}
    others |= {(paper, name) for paper in PAPERS for name in ("ledger", "same_keys")}
    assert files - audited - others == {
        (paper, name) for paper in PAPERS for name in PAPERS[paper].tables
    }


def test_missing_data_say_how_to_get_them(tmp_path):
    with pytest.raises(InputError, match="make data"):
        BIGTOM.read("table7_models", tmp_path / "nowhere")


def test_printed_na_stays_and_an_empty_field_is_missing():
    assert "N/A" in set(OMNITOM.read("table3_stage1")["params"])
    assert SIMPLETOM.read("table8_statistics")["unique_y"].isna().sum() == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("model,", "model,model,"), "row 1: found model twice"),
        (("0.92", "0.92,1"), "row 2: found 4 fields, expected 3"),
    ],
)
def test_table_that_is_not_as_printed_is_named_with_row_and_field(copy, change, said):
    path = copy / "bigtom" / "table9_percept_to_belief.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"table9_percept_to_belief\.csv") as caught:
        BIGTOM.read("table9_percept_to_belief", copy)
    assert said in str(caught.value)


# Marks and checks are data


@pytest.mark.parametrize(("place", "file"), [(0, "marks"), (1, "checks")])
def test_what_the_data_say_of_the_tables_is_what_the_tables_give(derived, place, file):
    """Where they differ, `python tests/helpers/write_audit.py` writes both files anew."""
    for paper, rows in derived[place].groupby("paper"):
        written = pd.read_csv(PUBLISHED / paper / f"{file}.csv", keep_default_na=False)
        expected = rows.drop(columns="paper").reset_index(drop=True)
        pd.testing.assert_frame_equal(written, expected, check_dtype=False)


def test_reasons_of_a_row_that_fails_twice_are_joined(derived):
    marks = derived[0].query("paper == 'fantom' and table == 'table9_all'")
    twice = marks[marks.duplicated("row", keep=False)].groupby("row")["reason"].agg("; ".join)
    assert len(twice)
    assert FANTOM.reasons("table9_all")[twice.index].tolist() == twice.tolist()


def test_a_table_without_a_mark_has_an_empty_reason_for_each_row():
    assert OMNITOM.reasons("table11_matchcount").tolist() == [""] * 54


def test_a_note_quotes_what_a_check_demands_and_finds(audit):
    note = SIMPLETOM.checked("table3_ms_remind", "beyond_random")
    assert note.startswith("With the reminder only Claude-3.5-Sonnet is above 50 on judgment")
    assert note.endswith(finding(audit, "simpletom", 23, "table3_ms_remind")["finding"] + ".")


def test_a_check_has_one_name_in_its_table(audit):
    assert not audit.duplicated(["paper", "table", "name"]).any()


def test_missing_marks_say_how_to_get_them(copy):
    (copy / "bigtom" / "marks.csv").unlink()
    with pytest.raises(InputError, match=r"marks\.csv is missing: `make data`"):
        BIGTOM.reasons("table7_models", copy)


# What the checks find


def test_1_llama_65_has_doubled_marks(audit):
    row = finding(audit, "bigtom", 1, "table7_models")
    assert (row["n_tested"], row["n_failed"]) == (216, 12)
    for part in ("0-shot-cot 2", "llama-65 1-shot 1", "1-shot-cot 9"):
        assert part in row["finding"]
    marked = suspicious("bigtom", "table7_models").query("reason.str.startswith('marked †')")
    assert (len(marked), set(marked["model"])) == (12, {"llama-65"})
    assert finding(audit, "bigtom", 1, "table11_bigtom_claude")["n_failed"] == 0


IMPOSSIBLE = {
    ("dav-003", "forward_belief", "0-shot-cot", 1): (0.34, "0.40 to 0.42"),
    ("gpt-3.5", "forward_belief", "1-shot-cot", 1): (0.85, "0.94 to 0.97"),
    ("claude-2", "forward_belief", "0-shot-cot", 1): (0.61, "0.86 to 0.87"),
    ("claude-2", "forward_belief", "1-shot", 0): (0.84, "0.94 to 0.95"),
    ("claude-2", "forward_action", "1-shot", 1): (1.00, "0.91 to 0.91"),
}


def test_3_exactly_five_joint_accuracies_are_impossible(audit):
    assert finding(audit, "bigtom", 3, "table7_models")["n_failed"] == 5
    marked = suspicious("bigtom", "table7_models").query("reason.str.contains('possible')")
    assert set(marked["contingency"]) == {"tb_and_fb"}
    found = marked.set_index(["model", "variable", "method", "initial_belief"])
    assert set(found.index) == set(IMPOSSIBLE)
    for key, (printed, possible) in IMPOSSIBLE.items():
        assert found["accuracy"][key] == printed
        assert found["reason"][key].endswith(f"possible {possible}")


@pytest.mark.parametrize(
    ("table", "tested"), [("table8_controls", 30), ("table11_bigtom_claude", 48)]
)
def test_3_other_tables_are_possible(audit, table, tested):
    row = finding(audit, "bigtom", 3, table)
    assert (row["n_tested"], row["n_failed"]) == (tested, 0)


def test_6_one_cell_of_table_11_is_no_count_of_thirty():
    found = suspicious("bigtom", "table11_bigtom_claude")
    assert found.drop(columns=["footnote_as_printed", "reason"]).values.tolist() == [
        ["claude-2", "forward_action", "false_belief", 1, "0-shot-cot", 0.78]
    ]


def test_7_table_10_follows_from_table_11_but_not_from_table_7(audit):
    assert finding(audit, "bigtom", 7, "table10_claude_vs_gpt4", "Claude")["n_failed"] == 0
    assert "0.6875" in finding(audit, "bigtom", 7, "table10_claude_vs_gpt4", "gpt4")["finding"]
    assert cells("bigtom", "table10_claude_vs_gpt4", "model", "data_source", "accuracy") == {
        ("claude-2", "BigToM-gpt4", 0.708)
    }


def test_8_one_bound_has_four_decimals_and_contrasts_add_up(audit):
    assert cells("bigtom", "table3_rating_contrasts", "measure", "ci_high") == {
        ("understandability", -0.1561)
    }
    difference = finding(audit, "bigtom", 8, "table3_rating_contrasts", "difference")
    assert (difference["n_tested"], difference["n_failed"]) == (5, 0)
    assert "gap 0.0020" in difference["finding"]
    assert "gap 0.0037" in finding(audit, "bigtom", 8, "table3_rating_contrasts", "mean")["finding"]


def fantom_rows(found: pd.DataFrame) -> set[tuple]:
    return set(found[["context", "model", "prompting"]].itertuples(index=False, name=None))


def test_13_gpt4_october_is_printed_twice_in_full_context(audit):
    assert finding(audit, "fantom", 13, "table9_all")["n_failed"] == 1
    found = suspicious("fantom", "table9_all").query("reason.str.contains('in 12 of 12')")
    model = "GPT-4 0613 (October)"
    assert fantom_rows(found) == {("full", model, "none"), ("full", model, "cot")}
    assert len(found) == 24


def test_14_three_cot_rows_are_nearly_equal(audit):
    row = finding(audit, "fantom", 14, "table9_all")
    assert row["n_failed"] == 3
    assert row["finding"].count("in 9 of 12") == 2
    assert row["finding"].count("in 10 of 12") == 1
    assert "gap 0.4" in row["finding"]
    found = suspicious("fantom", "table9_all").query("reason.str.contains('of 12')")
    assert fantom_rows(found[~found["model"].str.startswith("GPT-4")]) == {
        ("short", "Mistral Instruct 7B", "cot"),
        ("full", "Mistral Instruct 7B", "cot"),
        ("short", "Llama-2 Chat 70B", "cot"),
    }


def test_15_curie_infoaccess_all_exceeds_its_list(audit):
    assert finding(audit, "fantom", 15, "table9_all")["n_failed"] == 1
    found = suspicious("fantom", "table9_all").query("reason.str.contains('at most')")
    assert found.drop(columns="reason").values.tolist() == [
        ["full", "InstructGPT curie-001", "ft", "infoaccess_all", 0.1]
    ]


def test_16_davinci_set_scores_do_not_move_with_cot(audit):
    found = suspicious("fantom", "table9_all").query("reason.str.contains('and without CoT')")
    davinci = found[found["model"] == "InstructGPT davinci-003"]
    for context, values in {"short": {9.3, 16.8}, "full": {6.5, 11.6}}.items():
        assert set(davinci[davinci["context"] == context]["value"]) == values
    rest = found[found["model"] != "InstructGPT davinci-003"]
    assert set(rest["model"] + " " + rest["context"]) == {"Falcon Instruct 7B short"}
    assert set(rest["value"]) == {0.9, 2.1}
    stays = finding(audit, "fantom", 16, "table9_all", "CoT")["finding"].split("stays for")[1]
    assert "short GPT-4 0314" in stays


def test_16_human_scores_are_counts_of_32(audit):
    row = finding(audit, "fantom", 16, "table9_all", "human")
    assert row["n_failed"] == 0
    assert row["finding"].endswith("28, 29, 30 of 32")


def test_17_two_rows_of_table_1_are_not_in_table_9(audit):
    assert finding(audit, "fantom", 17, "table1_headline")["n_failed"] == 2
    found = suspicious("fantom", "table1_headline").groupby("model")["reason"].first()
    assert set(found.index) == {"Mistral Instruct 7B", "Falcon Instruct"}
    assert found["Mistral Instruct 7B"].endswith("Mistral Instruct 7B none")
    assert finding(audit, "fantom", 17, "table2_yn")[["n_tested", "n_failed"]].tolist() == [8, 0]


def test_18_orders_against_belief_dist(audit):
    mean = finding(audit, "fantom", 18, "table4_order", "Cyclic")
    assert (mean["n_tested"], mean["n_failed"]) == (14, 0)
    assert mean["finding"].endswith("ChatGPT 0613 cot, InstructGPT davinci-003 cot")
    row = finding(audit, "fantom", 18, "table9_all")
    assert (row["n_tested"], row["n_failed"]) == (14, 3)
    for orders, dist in (("40.2", "24.6"), ("33.25", "31.5"), ("17.4", "16.5")):
        assert f"printed {dist}, mean of Table 4's orders {orders}" in row["finding"]
    assert cells("fantom", "table4_order", "model", "prompting") == {
        ("Falcon Instruct 40B", "none"),
        ("Mistral Instruct 7B", "cot"),
        ("InstructGPT davinci-003", "none"),
    }


def test_20_yes_no_questions_of_each_kind_reach_the_total(audit):
    found = finding(audit, "fantom", 20, "dataset_counts")["finding"]
    for number in ("10317 questions", "7628 with", "800 contexts", "256 conversations"):
        assert number in found


def test_21_all_41_averages_are_possible(audit):
    rows = audit[(audit["paper"] == "simpletom") & (audit["note"] == 21)]
    assert (rows["n_tested"].sum(), rows["n_failed"].sum()) == (41, 0)
    missed = " ".join(rows["finding"])
    for cell in ("405B none 55.4", "405B ms 71.1", "405B cot_star_ms 94.4", "GPT-4o ms 73.6"):
        assert cell in missed


SHARED = {
    "table2_main": (58.2, 32),
    "table3_ms_remind": (58.3, 32),
    "table4_system_prompt": (58.2, 12),
    "table5_cot": (58.2, 9),
}


@pytest.mark.parametrize("table", SHARED)
def test_22_llama_405b_behavior_differs_between_tables(audit, table):
    accuracy, tested = SHARED[table]
    assert finding(audit, "simpletom", 22, table)["n_tested"] == tested
    assert cells("simpletom", table, "model", "question_type", "accuracy") == {
        ("Llama-3.1-405B", "behavior", accuracy)
    }


def test_23_three_models_are_beyond_random_with_the_reminder(audit):
    found = finding(audit, "simpletom", 23, "table3_ms_remind")["finding"]
    assert "GPT-3.5 53.0; GPT-4 54.0" in found


def test_24_scenario_sums(audit):
    row = finding(audit, "simpletom", 24, "table8_statistics")
    assert row["n_failed"] == 0
    for text in ("1147 for 1147", "288 for 255", "325 for 319", "140 for 83", "4 without"):
        assert text in row["finding"]


def test_26_stage_1_overall_is_the_plain_mean_not_the_macro_average(audit):
    assert finding(audit, "omnitom", 26, "table3_stage1", "plain")["n_failed"] == 0
    macro = finding(audit, "omnitom", 26, "table3_stage1", "macro")
    assert (macro["n_tested"], macro["n_failed"]) == (8, 7)
    assert "printed 54.97, macro-average over stories 55.75" in macro["finding"]
    assert "printed 57.69, macro-average over stories 58.03" in macro["finding"]
    assert macro["finding"].endswith("the order of the models stays")
    found = suspicious("omnitom", "table3_stage1")
    assert set(found["category"]) == {"overall"}
    assert "Qwen3 32B" not in set(found["model"])


def test_27_stage_2_is_weighted_by_stories(audit):
    row = finding(audit, "omnitom", 27, "table3_stage2", "weighted")
    assert (row["n_tested"], row["n_failed"]) == (63, 0)
    assert "gap 0.0065" in row["finding"]
    assert row["finding"].endswith("plain means miss 60 by more than .02, at most by 1.35")
    assert finding(audit, "omnitom", 27, "table3_stage2", "plain")["n_failed"] == 0


def test_28_categories_add_up(audit):
    row = finding(audit, "omnitom", 28, "table4_categories")
    assert row["n_failed"] == 0
    assert "156401 labels" in row["finding"]
    assert finding(audit, "omnitom", 28, "order_distribution")["finding"].endswith("10.31")


def test_29_ranks_of_mistral_small():
    stage1 = OMNITOM.read("table3_stage1")
    f1 = stage1.pivot(index="model", columns="category", values="f1").rank(ascending=False)
    assert f1.loc["Mistral-Small 24B", ["PST", "SIT"]].tolist() == [4, 2]


def test_30_l4_is_the_best_level_and_equal_elsewhere(audit):
    assert finding(audit, "omnitom", 30, "table9_teler", "Table 5")["n_failed"] == 0
    best = finding(audit, "omnitom", 30, "table9_teler", "best")
    assert (best["n_tested"], best["n_failed"]) == (10, 0)
    assert "5 of 10" in best["finding"]


def test_31_matchcount_totals(audit):
    row = finding(audit, "omnitom", 31, "table11_matchcount")
    assert row["n_failed"] == 0
    assert row["finding"].endswith("34 beliefs have MatchCount 4")


def test_32_reliability_adds_up(audit):
    table6 = finding(audit, "omnitom", 32, "table6_reliability")
    assert (table6["n_failed"], "2518 of 2730" in table6["finding"]) == (0, True)
    human = finding(audit, "omnitom", 32, "human_matchcount")
    assert (human["n_failed"], "4715 beliefs" in human["finding"]) == (0, True)


def test_33_unusable_rates_are_counts_of_895(audit):
    row = finding(audit, "omnitom", 33, "table12_unusable")
    assert row["n_failed"] == 0
    assert "at most 129 of 895, second in Stage 1 is Gemini-2.5 Flash" in row["finding"]


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
def test_a_changed_cell_changes_its_check(audit, copy, paper, note, table, row, column, value):
    path = copy / paper / f"{table}.csv"
    changed = pd.read_csv(path, keep_default_na=False)
    assert changed.loc[row, column] != value
    changed.loc[row, column] = value
    changed.to_csv(path, index=False)

    def failures(found):
        same = (found["paper"] == paper) & (found["note"] == note) & (found["table"] == table)
        return found[same]["n_failed"].sum()

    assert failures(results(copy, (paper, note))[1]) != failures(audit)


def test_copying_a_row_is_found(copy):
    path = copy / "fantom" / "table9_all.csv"
    table = pd.read_csv(path).set_index(["context", "model", "prompting"]).sort_index()
    row = ("short", "GPT-4 0314")
    table.loc[(*row, "cot"), "value"] = table.loc[(*row, "none"), "value"].to_numpy()
    table.reset_index().to_csv(path, index=False)
    marks = results(copy)[0].query("paper == 'fantom' and reason.str.contains('12 of 12')")
    models = FANTOM.read("table9_all", copy)["model"][marks["row"]]
    assert models.eq(row[1]).sum() == 24
