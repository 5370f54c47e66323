"""OmniToM's figures and tables: the notebook's cells, run on a small run, and the data drawn."""

import json

import numpy as np
import pandas as pd
import pytest

import figures
from omnitom_stories import EXACT, RECORDS
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import paper
from tomlab.records import tidy
from tomlab.reporting import tables

METHODS = ["stage1-L3", "stage2-L3"]
# Tables with the number of the paper's cells in them.
CELLS = {"table4": 48, "table5": 13, "table6": 24, "table9": 40, "table10": 441, "table11": 36}
CELLS |= {"table12": 17}


def answers_of(items, model, methods, lost):
    """A baseline's tables under another name; by the methods in `lost` there is no table."""
    policy = "omniscient" if model == "omniscient" else "random"
    answers = figures.by_baseline(omnitom, items, policy, methods)
    if model == "my-model":
        answers["response"] = answers["response"].mask(answers["method"].isin(lost), "No.")
    return answers


def write_calibration(folder, scores, metrics):
    """The files that the notebook of the judges leaves."""
    folder.mkdir(parents=True)
    tidy.write(scores, "scores", folder / "scores.parquet")
    tidy.write(metrics, "metrics", folder / "metrics.parquet")
    f1 = metrics.query("metric == 'f1' and condition == 'all'")
    sensitivity = pd.concat([f1.assign(judge="exact"), f1.assign(judge="token_f1")])
    sensitivity.to_csv(folder / "sensitivity.csv", index=False)
    agreement = {"judge": "exact", "n": 40, "n_groups": 12, "ci_low": 0.7, "ci_high": 0.9}
    for quality in ("agreement", "precision", "recall", "kappa"):
        agreement |= {quality: 0.8, f"{quality}_low": 0.7, f"{quality}_high": 0.9}
    pd.DataFrame([agreement]).to_csv(folder / "agreement.csv", index=False)
    corrected = {"model": "my-model", "method": "stage1-L3", "value": 0.8}
    corrected |= {"ci_low": 0.7, "ci_high": 0.9, "n": 40, "n_groups": 12}
    pd.DataFrame([corrected]).to_csv(folder / "judge_error.csv", index=False)
    printed = paper.PUBLICATION.read("table2_alignment")[["side", "matchcount"]]
    worked = printed.assign(judge="exact", row=printed.groupby("side").cumcount())
    worked.to_csv(folder / "worked.csv", index=False)
    winner = {"judge": "exact", "chosen": "best", "similarity": "exact", "threshold": 1.0}
    winner |= {"truth": tidy.KNOWN, "agreement": 0.8, "ci_low": 0.7, "ci_high": 0.9, "n": 40}
    (folder / "winner.json").write_text(json.dumps(winner))


def drawn(folder, monkeypatch, models, methods=METHODS, stories=12, lost=()):
    """The folder of what the notebook draws for a run of these models and methods."""
    items = omnitom.compose(RECORDS[:: len(RECORDS) // stories][:stories])
    answers = {model: answers_of(items, model, methods, lost) for model in models}
    scores = figures.write(folder, monkeypatch, omnitom, items, answers, judge=EXACT)
    paths = [*folder.glob("metrics/omnitom/*"), *folder.glob("baselines/omnitom/metrics/*")]
    metrics = pd.concat([tidy.read("metrics", path) for path in paths], ignore_index=True)
    write_calibration(folder / "judges/omnitom", scores, metrics)
    figures.draw("omnitom", models)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield drawn(tmp_path_factory.mktemp("run"), patch, ["my-model", "random", "omniscient"])


def read(folder, kind, name):
    """The data of a figure or a table."""
    return pd.read_csv(folder / kind / "omnitom" / f"{name}.csv")


def metric(run, name, condition, method):
    metrics = tidy.read("metrics", run / "metrics/omnitom/my-model.parquet")
    metrics = metrics.set_index(["metric", "condition", "method"])["value"]
    return pytest.approx(metrics[name, condition, method])


def test_figure4_has_a_share_for_each_label_and_the_papers_orders(run):
    shares = read(run, "figures", "figure4")
    items = tidy.read("items", run / "items/omnitom.parquet")
    beliefs = [belief for table in items["answer"][::2] for belief in json.loads(table)]
    mine = shares[shares["source"] != "paper"]
    assert len(mine) == 31
    for row in mine.itertuples():
        count = sum(belief["labels"][row.dimension] == row.label for belief in beliefs)
        assert (row.count, row.share) == (count, pytest.approx(count / len(beliefs)))
    assert shares.query("source == 'paper'")["value"].tolist() == [0.326, 0.571, 0.098, 0.005]


def test_figures_5_and_8_show_this_run_beside_the_papers_numbers(run):
    by_order = read(run, "figures", "figure5").set_index(["source", "subject", "bucket"])["value"]
    assert by_order["this run", "f1", "order 1"] == metric(run, "f1", "order 1", "stage1-L3")
    accuracy = metric(run, "accuracy", "context/order 2+", "stage2-L3")
    assert by_order["this run", "context", "order 2+"] == accuracy
    assert by_order["paper", "representation", "order 1"] == 0.573
    volume = read(run, "figures", "figure8").set_index(["model", "metric"])["value"]
    assert volume["Qwen3 8B", "beliefs_per_story"] == pytest.approx(7223 / 895)
    assert volume["my-model", "recall"] == metric(run, "recall", "all", "stage1-L3")


def test_what_baselines_copy_from_gold_stands_beside_no_model(run):
    table = read(run, "tables", "table3").query("source == 'this run'")
    assert set(table.query("model == 'random'")["stage"]) == {"stage2"}
    by_omniscient = table.query("model == 'omniscient'")
    assert set(by_omniscient["subject"]) == {"truth_status", "knowledge_access"}
    assert set(read(run, "figures", "judges")["model"]) == {"my-model"}


def test_table3_marks_what_fails_and_computes_the_mean_over_stories(run):
    table = read(run, "tables", "table3").query("stage == 'stage1' and is_usable != True")
    cells = table.set_index(["model", "subject"])[["value", "mark"]]
    assert cells.loc[("Gemini-2.5 Flash", "categories")].tolist() == [0.5497, "*"]
    assert cells.loc[("Gemini-2.5 Flash", "all"), "value"] == pytest.approx(0.5575, abs=1e-4)
    assert cells.loc[("my-model", "all labelled"), "value"] == 0.8


def test_tables_hold_the_papers_numbers_and_this_runs(run):
    for name, n_cells in CELLS.items():
        counts = read(run, "tables", name)["source"].value_counts()
        assert counts["paper"] == n_cells, name
        assert "this run" in counts or name in ("table5", "table6", "table12")
    worked = read(run, "tables", "table2").groupby("judge")["matchcount"].agg(list)
    assert worked["exact"] == worked["paper"]
    shares = (
        read(run, "tables", "table11").query("source == 'paper'").groupby("model")["value"].sum()
    )
    assert np.allclose(shares, 1)


def test_peoples_matchcounts_stand_beside_this_runs_over_both_tables(run):
    counts = read(run, "tables", "human_matchcount")
    people = counts[counts["model"] == "people"].set_index("condition")["value"] * 4715
    assert people.round().to_dict() == {"0": 2002, "1": 2651, "2": 61, "3+": 1}
    mine = counts[counts["model"] == "my-model"]
    assert mine["value"].sum() == pytest.approx(1)
    # Table 11 counts the predicted beliefs alone.
    predicted = read(run, "tables", "table11").query("model == 'my-model'")
    assert mine["n"].max() > predicted["n"].max()


def test_tables_and_figures_of_f1_say_which_judge_scored(run):
    judge = tables.name("exact", "judge", paper.WORDING)
    for page in ("tables/omnitom/table3.html", "figures/omnitom/figure8.caption.txt"):
        assert f"Judge of extraction: {judge}." in (run / page).read_text(encoding="utf-8")


def test_json_answers_are_drawn_where_tables_are_unusable(tmp_path, monkeypatch):
    methods = [*METHODS, "stage1-L3-json", "stage2-L3-json"]
    models = ["my-model", "other-model"]
    folder = drawn(tmp_path, monkeypatch, models, methods, stories=3, lost=METHODS)
    mine = read(folder, "figures", "figure8").query("source == 'this run'")
    methods = mine.groupby("model")["method"].agg(set).to_dict()
    assert methods == {"my-model": {"stage1-L3-json"}, "other-model": {"stage1-L3"}}
    labels = read(folder, "figures", "beyond_accuracy")
    assert set(labels["method"]) == {"stage2-L3", "stage2-L3-json"}


def test_tables_that_are_all_unusable_are_not_drawn(tmp_path, monkeypatch):
    folder = drawn(tmp_path, monkeypatch, ["my-model"], stories=1, lost=METHODS)
    drawn_figures = {path.stem for path in (folder / "figures/omnitom").glob("*.png")}
    assert "figure4" in drawn_figures
    assert drawn_figures.isdisjoint({"beyond_accuracy", "judges"})
    assert set(read(folder, "figures", "figure8")["source"]) == {"paper"}
    caption = folder / "figures/omnitom/figure8.caption.txt"
    assert "no usable table of 1" in caption.read_text()
