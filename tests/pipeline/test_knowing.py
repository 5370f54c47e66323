"""The plane of knowing, run as the book runs it without models of a run: its numbers counted again
from the published files with plain pandas, and the sentences that it counts.
"""

from pathlib import Path

import nbformat
import pandas as pd
import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from tomlab.paths import PUBLISHED

QUESTIONS = ["forward_belief", "forward_action", "backward_belief"]


@pytest.fixture(scope="module")
def root(front) -> Path:
    return front


@pytest.fixture(scope="module")
def dots(root) -> pd.DataFrame:
    return pd.read_csv(root / "results/figures/knowing/plane.csv")


def table(root: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(root / f"results/tables/knowing/{name}.csv")


def published(name: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / f"{name}.csv")


def shown(dots: pd.DataFrame, panel: str, keys: list[str]) -> pd.DataFrame:
    return dots[dots["panel"] == panel].set_index(keys)[["x", "y"]].sort_index().round(6)


def test_page_warns_of_nothing(root):
    cells = nbformat.read(root / "results/index/08_knowing.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []


def test_models_and_people_of_bigtom_stand_where_the_paper_has_them(dots):
    cells = published("bigtom/table7_models").query("method == '0-shot' and initial_belief == 1")
    shares = cells.pivot(index=["model", "variable"], columns="contingency", values="accuracy")
    people = published("bigtom/people_counts").query("in_figure3 == 1")
    counts = people.groupby(["variable", "contingency"])[["right", "people"]].sum()
    counts = (counts["right"] / counts["people"]).unstack().assign(model="people")
    shares = pd.concat([shares, counts.set_index("model", append=True).swaplevel()])
    expected = shares[["false_belief", "true_belief"]].set_axis(["x", "y"], axis=1)
    own = shown(dots, "paper", ["model", "variable"])
    pd.testing.assert_frame_equal(own, expected.sort_index().round(6), check_names=False)
    assert len(own) == 3 * 7


def test_models_asked_by_others_stand_where_their_answers_put_them(dots):
    """Gemini 2.5 Pro counts where both versions were answered."""
    answers = published("bigtom/verdicts_forward_belief")
    answers["right"] = answers["verdict"].eq("correct")
    wide = answers.pivot(index=["scoring", "model", "row"], columns="contingency", values="right")
    shares = wide.dropna().astype(float).groupby(level=["scoring", "model"]).mean()
    own = dots[dots["panel"] == "others"]
    assert len(own) == len(shares) == 29
    assert sorted(own["x"].round(6)) == sorted(shares["false_belief"].round(6))
    assert sorted(own["y"].round(6)) == sorted(shares["true_belief"].round(6))
    unreadable = answers["verdict"].eq("unreadable").sum() / 400
    assert own["unreadable"].sum() == pytest.approx(unreadable)


def test_fantoms_models_window_and_people(dots):
    newer = published("fantom/newer_models").query("column == 'belief_choice'")
    shares = newer.pivot(index="model", columns="scenario", values="value").dropna() / 100
    own = shown(dots, "fantom", "model")
    assert len(shares) == 13
    assert own.loc[shares.index, "x"].tolist() == pytest.approx(shares["inaccessible"].tolist())
    assert own.loc[shares.index, "y"].tolist() == pytest.approx(shares["control"].tolist())
    assert own.loc["people"].isna()["y"]
    assert own.loc["people", "x"] == 0.938

    points = {"inaccessible": [], "accessible": []}
    options = published("fantom/belief_options").fillna({"asked_about": "absent"})
    for row in options.query("context == 'short'").itertuples():
        speakers = row.speakers.split()
        near = {s for i, s in enumerate(speakers) if -1 <= i - row.fact_line <= 2}
        denies = not all(person in near for person in row.asked_about.split())
        fitting = [row.right_denies == denies, row.wrong_denies == denies]
        points[row.scenario].append({(1, 0): 1.0, (0, 1): 0.0}.get(tuple(fitting), 0.5))
    window = own.loc["window of speakers"]
    assert window["x"] == pytest.approx(sum(points["inaccessible"]) / 993)
    assert window["y"] == pytest.approx(sum(points["accessible"]) / 547)


def test_fantoms_constants_share_each_question_and_stand_off_the_line(dots):
    options = published("fantom/belief_options").query("context == 'short'")
    known = 0.5 + (options["wrong_denies"] - options["right_denies"]) / 2
    right = known.groupby(options["scenario"]).mean()
    constants = dots.query("panel == 'fantom' and kind == 'constant'").set_index("model")
    everybody = constants.loc["everybody always knows"]
    assert everybody["x"] == pytest.approx(right["inaccessible"])
    assert everybody["y"] == pytest.approx(right["accessible"])
    assert round(everybody["j"], 2) == 0.04
    assert (constants[["x", "y"]].sum().round(9) == 1).all()


def test_released_simpletom_has_only_one_share(dots):
    shares = published("simpletom/table2_main").query("question_type != 'average'")
    own = dots[dots["panel"] == "simpletom"]
    assert own["y"].isna().all()
    assert sorted(own["x"].round(3)) == sorted((shares["accuracy"] / 100).round(3))


def test_j_and_lean_follow_from_the_shares(dots):
    both = dots.dropna(subset="y")
    assert (both["j"] - (both["x"] + both["y"] - 1)).abs().max() < 1e-9
    assert (both["lean"] - (both["y"] - both["x"])).abs().max() < 1e-9
    assert both["j"].between(both["j_low"], both["j_high"]).all()
    assert both["lean"].between(both["lean_low"], both["lean_high"]).all()


def test_p_of_a_printed_cell_is_the_largest_that_rounding_allows(root):
    """claude, forward belief, 0-shot, not stated: .97, .82 and .81 of 200."""
    rows = table(root, "methods").query("method == '0-shot' and initial_belief == 0")
    row = rows.query("model == 'claude' and variable == 'forward_belief'").iloc[0]
    possible = [
        (t - b, f - b) for t in (193, 194, 195) for f in (163, 164, 165) for b in (161, 162, 163)
    ]
    worst = max(binomtest(min(p), sum(p), 0.5).pvalue for p in possible if min(p) >= 0)
    assert row["p"] == pytest.approx(worst)


def test_impossible_cells_are_not_tested_and_holm_covers_the_others(root):
    cells = table(root, "methods")
    assert len(cells) == 144
    impossible = cells[cells["p"].isna()]
    expected = {
        ("dav-003", "forward_belief", "0-shot-cot", 1),
        ("gpt-3.5", "forward_belief", "1-shot-cot", 1),
        ("claude-2", "forward_belief", "0-shot-cot", 1),
        ("claude-2", "forward_belief", "1-shot", 0),
        ("claude-2", "forward_action", "1-shot", 1),
    }
    keys = impossible[["model", "variable", "method", "initial_belief"]]
    assert set(keys.itertuples(index=False, name=None)) == expected
    tested = cells.dropna(subset="p")
    assert tested["p_holm"].tolist() == pytest.approx(multipletests(tested["p"], method="holm")[1])


def count(rows: pd.DataFrame, sign: int) -> tuple[int, int, int]:
    """How many lean this way, how many of them by more than chance, of how many."""
    side = rows[rows["lean"] * sign > 0]
    return len(side), int((side["p_holm"] < 0.05).sum()), len(rows)


def test_the_lean_turns_with_the_question_and_with_what_the_story_states(root):
    cells = table(root, "methods").query("method == '0-shot'")
    is_action = cells["variable"] == "forward_action"
    stated = cells["initial_belief"] == 1
    assert count(cells[is_action & stated], 1) == (6, 5, 6)
    assert count(cells[~is_action & stated], -1) == (12, 10, 12)
    assert count(cells[is_action & ~stated], 1) == (6, 6, 6)
    assert count(cells[~is_action & ~stated], -1) == (1, 0, 12)
    assert count(cells[~is_action & ~stated], 1) == (10, 4, 12)


def test_by_all_methods_no_clear_lean_goes_the_other_way_where_the_belief_is_stated(root):
    cells = table(root, "methods").query("initial_belief == 1 and p_holm < .05")
    sides = cells.groupby(cells["variable"] == "forward_action")["leaning"].value_counts()
    assert sides.to_dict() == {(False, "nobody knows"): 34, (True, "everybody knows"): 14}


def test_changes_of_the_lean_that_are_more_than_chance(root):
    turns = table(root, "turns")
    assert len(turns) == 42
    clear = turns[turns["p_holm"] < 0.05].groupby(["of", "at"]).size()
    of_question = clear[clear.index.get_level_values("of").str.contains("in place of action")]
    assert of_question.xs("initial belief stated", level="at").sum() == 10
    assert of_question.xs("not stated", level="at").sum() == 11
    of_stating = clear["initial belief stated"]
    assert of_stating.to_dict() == {"forward_belief": 5, "backward_belief": 6}


def test_fantoms_models_lean_and_which_cannot_be_told(root):
    models = table(root, "fantom").dropna(subset="p_holm").set_index("model")
    assert count(models, 1) == (11, 10, 13)
    unclear = {"Llama-3-70b-chat-hf", "Claude-3-Opus-20240229", "Gemma 7B Instruct"}
    assert set(models.index[models["p_holm"] >= 0.05]) == unclear
    assert models["j"].idxmin() == "Gemma 7B Instruct"
    assert models["j"].idxmax() == "Llama-3-70b-chat-hf"
    assert (models["j_low"] > 0).sum() == 10
