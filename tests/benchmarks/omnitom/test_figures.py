"""OmniToM's figures and tables: the notebook's cells, run on a small run, and the data drawn."""

import json

import pandas as pd
import pytest

import figures
from omnitom_stories import EXACT, RECORDS
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import paper
from tomlab.records import tidy

METHODS = ["stage1-L3", "stage2-L3"]
JSON_METHODS = ["stage1-L3-json", "stage2-L3-json"]
INTERVAL = {"value": 0.8, "ci_low": 0.7, "ci_high": 0.9, "n": 40, "n_groups": 12}


def answers_of(items, model, lost):
    """A baseline's tables under another name; of a lost model only those in JSON."""
    policy = "omniscient" if model == "omniscient" else "random"
    methods = [*METHODS, *JSON_METHODS] if model == "other-model" else METHODS
    answers = figures.by_baseline(omnitom, items, policy, methods)
    is_lost = answers["method"].isin(METHODS) & (model == lost)
    return answers.assign(response=answers["response"].mask(is_lost, "No."))


def write_calibration(folder, scores, metrics):
    """The files that the notebook of the judges leaves."""
    folder.mkdir(parents=True)
    tidy.write(scores, "scores", folder / "scores.parquet")
    tidy.write(metrics, "metrics", folder / "metrics.parquet")
    f1 = metrics.query("metric == 'f1' and condition == 'all'")
    agreement = {"judge": "exact", **INTERVAL}
    for quality in ("agreement", "precision", "recall", "kappa"):
        agreement |= {quality: 0.8, f"{quality}_low": 0.7, f"{quality}_high": 0.9}
    corrected = {"model": "my-model", "method": "stage1-L3", **INTERVAL}
    printed = paper.PUBLICATION.read("table2_alignment")[["side", "matchcount"]]
    tables_by_name = {
        "sensitivity": pd.concat([f1.assign(judge="exact"), f1.assign(judge="token_f1")]),
        "agreement": pd.DataFrame([agreement]),
        "judge_error": pd.DataFrame([corrected]),
        "worked": printed.assign(judge="exact", row=printed.groupby("side").cumcount()),
    }
    for name, table in tables_by_name.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    winner = {"chosen": "best", "similarity": "exact", "threshold": 1.0, "truth": tidy.KNOWN}
    (folder / "winner.json").write_text(json.dumps(agreement | winner))


def drawn(folder, monkeypatch, models, stories, lost):
    """The folder of what the notebook draws for a run of these models."""
    items = omnitom.compose(RECORDS[:: len(RECORDS) // stories][:stories])
    answers = {model: answers_of(items, model, lost) for model in models}
    scores = figures.write(folder, monkeypatch, omnitom, items, answers, judge=EXACT)
    paths = [*folder.glob("metrics/omnitom/*"), *folder.glob("baselines/omnitom/metrics/*")]
    metrics = pd.concat([tidy.read("metrics", path) for path in paths], ignore_index=True)
    write_calibration(folder / "judges/omnitom", scores, metrics)
    figures.draw("omnitom", models)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    models = ["my-model", "other-model", "random", "omniscient"]
    with pytest.MonkeyPatch.context() as patch:
        yield drawn(tmp_path_factory.mktemp("run"), patch, models, 12, "other-model")


def read(folder, kind, name):
    """The data of a figure or a table."""
    return pd.read_csv(folder / kind / "omnitom" / f"{name}.csv")


def test_figure4_has_a_share_for_each_label_and_the_papers_orders(run):
    shares = read(run, "figures", "figure4")
    items = tidy.read("items", run / "items/omnitom.parquet")
    beliefs = [belief for table in items["answer"][::2] for belief in json.loads(table)]
    own_shares = shares[shares["source"] != "paper"]
    assert len(own_shares) == 31
    for row in own_shares.itertuples():
        count = sum(belief["labels"][row.dimension] == row.label for belief in beliefs)
        assert (row.count, row.share) == (count, pytest.approx(count / len(beliefs)))
    assert shares.query("source == 'paper'")["value"].tolist() == [0.326, 0.571, 0.098, 0.005]


def test_figure8_shows_this_run_beside_the_papers_numbers(run):
    volume = read(run, "figures", "figure8").set_index(["model", "metric"])["value"]
    assert volume["Qwen3 8B", "beliefs_per_story"] == pytest.approx(7223 / 895)
    metrics = tidy.read("metrics", run / "metrics/omnitom/my-model.parquet")
    recall = metrics.query("metric == 'recall' and condition == 'all'")["value"].item()
    assert volume["my-model", "recall"] == pytest.approx(recall)


def test_the_two_versions_of_the_paper_are_told_apart(run):
    rows = read(run, "figures", "figure8")
    assert set(rows.query("metric == 'f1' and source == 'paper'")["version"]) == {"preprint"}
    release = rows.query("metric == 'f1_camera_ready'").set_index("model")
    assert set(release["version"]) == {"camera-ready"}
    ends = release.loc["Gemma-3 27B", ["value", "ci_low", "ci_high"]]
    assert ends.to_list() == pytest.approx([0.5803, 0.5705, 0.5901])
    beside = read(run, "tables", "beside").set_index(["Measure", "Version"])
    assert ("F1 of extraction, over stories", "camera-ready") in beside.index
    assert ("F1 of extraction, mean of categories", "preprint") in beside.index


def test_json_answers_are_drawn_where_tables_are_unusable(run):
    volume = read(run, "figures", "figure8").query("source == 'this run'")
    methods = volume.groupby("model")["method"].agg(set).to_dict()
    assert methods == {"my-model": {"stage1-L3"}, "other-model": {"stage1-L3-json"}}


def test_what_baselines_copy_from_gold_stands_beside_no_model(run):
    table = read(run, "tables", "table3").query("source == 'this run'")
    assert set(table.query("model == 'random'")["stage"]) == {"stage2"}
    by_omniscient = table.query("model == 'omniscient'")
    assert set(by_omniscient["subject"]) == {"truth_status", "knowledge_access"}


def test_table3_marks_what_fails_and_computes_the_mean_over_stories(run):
    table = read(run, "tables", "table3").query("stage == 'stage1' and is_usable != True")
    cells = table.set_index(["model", "subject"])[["value", "mark"]]
    assert cells.loc[("Gemini-2.5 Flash", "categories")].tolist() == [0.5497, "*"]
    assert cells.loc[("Gemini-2.5 Flash", "all"), "value"] == pytest.approx(0.5575, abs=1e-4)
    assert cells.loc[("my-model", "all labelled"), "value"] == 0.8


def test_tables_that_are_all_unusable_are_not_drawn(tmp_path, monkeypatch):
    folder = drawn(tmp_path, monkeypatch, ["my-model"], 1, "my-model")
    names = {path.stem for path in (folder / "figures/omnitom").glob("*.png")}
    assert "figure4" in names
    assert names.isdisjoint({"card_beyond_accuracy", "card_judges"})
    assert set(read(folder, "figures", "figure8")["source"]) == {"paper"}
