"""OmniToM's figures and tables: the notebook's cells, run on a small run, and the data drawn."""

import json

import numpy as np
import pandas as pd
import pytest

import figures
from omnitom_extraction import EXACT, RECORDS
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import paper
from tomlab.records import tidy
from tomlab.reporting import tables

METHODS = ("stage1-L3", "stage2-L3")
# Tables with the number of the paper's cells in them.
TABLES = {"table4": 48, "table5": 13, "table6": 24, "table9": 40, "table10": 441, "table11": 36}
TABLES |= {"table12": 17}
QUALITIES = ("agreement", "precision", "recall", "kappa")


def answers_of(items, model, methods, lost=()):
    """A baseline's tables under another name; by the methods in `lost` there is no table."""
    policy = model if model in ("random", "omniscient") else "random"
    answers = figures.by_baseline(omnitom, items, policy, methods)
    return answers.assign(response=answers["response"].mask(answers["method"].isin(lost), "No."))


def calibrated(folder, scores):
    """The files that the notebook of the judges leaves."""
    folder.mkdir(parents=True)
    tidy.write(scores, "scores", folder / "scores.parquet")
    metrics = omnitom.metrics(scores)
    tidy.write(metrics, "metrics", folder / "metrics.parquet")
    f1 = metrics.query("metric == 'f1' and condition == 'all'")
    by_judge = [f1.assign(judge=judge) for judge in ("exact", "token_f1")]
    pd.concat(by_judge).to_csv(folder / "sensitivity.csv", index=False)
    numbers = {"value": 0.8, "ci_low": 0.7, "ci_high": 0.9, "n": 40, "n_groups": 12}
    row = {"judge": "exact", "n": 40, "n_groups": 12}
    for name in QUALITIES:
        ends = "ci" if name == "agreement" else name
        row |= {name: 0.8, f"{ends}_low": 0.7, f"{ends}_high": 0.9}
    pd.DataFrame([row]).to_csv(folder / "agreement.csv", index=False)
    corrected = {"model": "my-model", "method": "stage1-L3"} | numbers
    pd.DataFrame([corrected]).to_csv(folder / "judge_error.csv", index=False)
    counts = paper.PUBLICATION.read("table2_alignment")[["side", "matchcount"]]
    worked = counts.assign(judge="exact", row=counts.groupby("side").cumcount())
    worked.to_csv(folder / "worked.csv", index=False)
    used = {
        "judge": "exact",
        "chosen": "best",
        "similarity": "exact",
        "threshold": 1.0,
        "truth": tidy.KNOWN,
        "agreement": 0.8,
    }
    used |= {"ci_low": 0.7, "ci_high": 0.9, "n": 40}
    (folder / "winner.json").write_text(json.dumps(used))


def drawn(folder, monkeypatch, models, methods=METHODS, stories=12, lost=()):
    """The folder of what the notebook draws for a run of these models and methods."""
    items = omnitom.compose(RECORDS[:: len(RECORDS) // stories][:stories])
    answers = {m: answers_of(items, m, methods, lost if m == "my-model" else ()) for m in models}
    scores = figures.write(folder, monkeypatch, omnitom, items, answers, judge=EXACT)
    calibrated(folder / "judges/omnitom", scores)
    figures.draw("omnitom", models)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield drawn(tmp_path_factory.mktemp("run"), patch, ["my-model", "random", "omniscient"])


def read(folder, name):
    return pd.read_csv(folder / f"{name.replace('/', '/omnitom/', 1)}.csv")


def metric(run, name, condition, method, model="my-model"):
    own = tidy.read("metrics", run / f"metrics/omnitom/{model}.parquet")
    own = own[own["metric"].eq(name) & own["condition"].eq(condition) & own["method"].eq(method)]
    return own["value"].item()


def test_figure4_has_a_share_for_each_label_and_the_papers_orders(run):
    shares = read(run, "figures/figure4")
    items = tidy.read("items", run / "items/omnitom.parquet")
    told = [belief for table in items["answer"][::2] for belief in json.loads(table)]
    mine = shares[shares["source"].ne("paper")]
    assert len(mine) == 31
    for row in mine.itertuples():
        count = sum(belief["labels"][row.dimension] == row.label for belief in told)
        assert (row.count, row.share) == (count, pytest.approx(count / len(told)))
    assert shares.query("source == 'paper'")["value"].tolist() == [0.326, 0.571, 0.098, 0.005]


def test_figure5_has_f1_and_accuracy_by_order_and_what_the_papers_text_says(run):
    rows = read(run, "figures/figure5").set_index(["source", "subject", "bucket"])["value"]
    f1 = metric(run, "f1", "order 1", "stage1-L3")
    assert rows["this run", "f1", "order 1"] == pytest.approx(f1)
    accuracy = metric(run, "accuracy", "context/order 2+", "stage2-L3")
    assert rows["this run", "context", "order 2+"] == pytest.approx(accuracy)
    assert rows["paper", "representation", "order 1"] == 0.573


def test_figure8_computes_the_papers_volume_and_shows_this_run(run):
    rows = read(run, "figures/figure8").set_index(["model", "metric"])["value"]
    assert rows["Qwen3 8B", "beliefs_per_story"] == pytest.approx(7223 / 895)
    assert rows["Qwen3 8B", "f1"] == 0.4341
    assert rows["my-model", "recall"] == pytest.approx(metric(run, "recall", "all", "stage1-L3"))


def test_what_baselines_copy_from_gold_stands_beside_no_model(run):
    table = read(run, "tables/table3").query("source == 'this run'")
    of_random = table[table["model"] == "random"]
    assert set(of_random["stage"]) == {"stage2"}
    of_omniscient = table[table["model"] == "omniscient"]
    assert set(of_omniscient["subject"]) == {"truth_status", "knowledge_access"}
    assert set(read(run, "figures/judges")["model"]) == {"my-model"}


def test_table3_marks_what_fails_and_computes_the_mean_over_stories(run):
    table = read(run, "tables/table3").query("stage == 'stage1'")
    cells = table.query("is_usable != True").set_index(["model", "subject"])[["value", "mark"]]
    assert [*cells.loc[("Gemini-2.5 Flash", "categories")]] == [0.5497, "*"]
    assert cells.loc[("Gemini-2.5 Flash", "all"), "value"] == pytest.approx(0.5575, abs=1e-4)
    assert cells.loc[("my-model", "all labelled"), "value"] == 0.8


def test_tables_hold_the_papers_numbers_and_this_runs(run):
    sizes = {name: read(run, f"tables/{name}")["source"].value_counts() for name in TABLES}
    assert {name: found["paper"] for name, found in sizes.items()} == TABLES
    assert all("this run" in sizes[name] for name in ("table4", "table9", "table10", "table11"))
    worked = read(run, "tables/table2").pivot(
        index=["side", "row"], columns="judge", values="matchcount"
    )
    assert worked["exact"].tolist() == worked["paper"].tolist()


def test_matches_of_the_paper_sum_to_one(run):
    shares = read(run, "tables/table11").query("source == 'paper'").groupby("model")["value"].sum()
    assert np.allclose(shares, 1) and len(shares) == 9


def test_tables_that_are_all_unusable_are_not_drawn(tmp_path, monkeypatch):
    folder = drawn(tmp_path, monkeypatch, ["my-model", "random"], lost=METHODS)
    figures = folder / "figures/omnitom"
    assert not (figures / "beyond_accuracy.png").exists()
    assert not (figures / "judges.png").exists()
    assert set(read(folder, "figures/figure8")["source"]) == {"paper"}
    assert "no usable table of 12" in (figures / "figure8.caption.txt").read_text()


def test_json_answers_are_drawn_where_tables_are_unusable(tmp_path, monkeypatch):
    methods = [*METHODS, "stage1-L3-json", "stage2-L3-json"]
    models = ["my-model", "other-model"]
    folder = drawn(tmp_path, monkeypatch, models, methods, stories=6, lost=METHODS)
    mine = read(folder, "figures/figure8").query("source == 'this run'")
    assert {*mine["model"] + " " + mine["method"]} == {
        "my-model stage1-L3-json",
        "other-model stage1-L3",
    }
    labels = read(folder, "figures/beyond_accuracy")
    assert set(labels["method"]) == {"stage2-L3", "stage2-L3-json"}


@pytest.mark.parametrize(
    ("models", "methods", "stories"),
    [(["omniscient"], ["stage2-L3"], 2), (["my-model"], ["stage1-L1"], 1)],
    ids=["labelling by a baseline alone", "extraction alone, one story"],
)
def test_a_small_run_is_drawn_too(tmp_path, monkeypatch, models, methods, stories):
    folder = drawn(tmp_path, monkeypatch, models, methods, stories)
    assert (folder / "figures/omnitom/figure4.png").exists()
    assert (folder / "plots/omnitom.csv").exists()


def test_peoples_matchcounts_stand_beside_this_runs_over_both_tables(run):
    counts = read(run, "tables/human_matchcount")
    people = counts[counts["model"] == "people"].set_index("condition")
    assert (people["value"] * 4715).round().to_dict() == {"0": 2002, "1": 2651, "2": 61, "3+": 1}
    mine = counts[counts["model"] == "my-model"]
    assert set(mine["condition"]) == {"0", "1", "2", "3+"}
    assert mine["value"].sum() == pytest.approx(1)
    # Table 11 counts the predicted beliefs alone.
    table11 = read(run, "tables/table11").query("model == 'my-model'")
    assert mine["n"].max() > table11["n"].max()


def test_tables_and_figures_of_f1_say_which_judge_scored(run):
    pages = [f"tables/omnitom/{name}.html" for name in ("table3", "table9", "table11")]
    pages += [f"figures/omnitom/{name}.caption.txt" for name in ("figure5", "figure8")]
    judge = tables.name("exact", "judge", paper.WORDING)
    for page in pages:
        assert f"Judge of extraction: {judge}." in (run / page).read_text(encoding="utf-8")
