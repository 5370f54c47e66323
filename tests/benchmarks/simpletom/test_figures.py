"""SimpleToM's figures and tables: the notebook's cells, run on a small run, and the data drawn."""

import numpy as np
import pandas as pd
import pytest

import figures
from simpletom_stories import PERCEIVED, stories, with_twins
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items.stories import SCENARIOS, SEVERITIES
from tomlab.records import tidy

METHODS = ("none", "sysp", "cot", "wordings", "aware")


def drawn(folder, monkeypatch, models, methods, sets=12):
    """The folder of what the notebook draws for a run of these models and methods."""
    changes = []
    for number in range(sets):
        for severity in SEVERITIES:
            change = {"scenario": SCENARIOS[number % 2], "set_id": f"set{number}"}
            changes.append(change | {"severity": severity})
    table = stories(*changes)
    texts = dict.fromkeys(table.loc[table["severity"] == 2, "story_id"], PERCEIVED)
    items = with_twins(simpletom.compose(table), texts)
    answers = figures.by_baseline(simpletom, items, "random", methods)
    figures.write(folder, monkeypatch, simpletom, items, dict.fromkeys(models, answers))
    figures.keep_readers(simpletom, items)
    figures.draw("simpletom", models)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield drawn(tmp_path_factory.mktemp("run"), patch, ["my-model", "random"], METHODS)


@pytest.fixture(scope="module")
def metrics(run):
    table = tidy.read("metrics", run / "metrics/simpletom/my-model.parquet")
    return table.set_index(["method", "metric", "condition"])["value"]


def read(folder, name):
    kind, name = name.split("/")
    return pd.read_csv(folder / kind / "simpletom" / f"{name}.csv")


def test_the_gap_is_a_difference_of_accuracies(run, metrics):
    gap = read(run, "figures/gap").set_index(["model", "question_type"])["drop"]
    assert gap["GPT-4o", "behavior"] == pytest.approx(0.461)  # 95.6 − 49.5
    assert gap["Claude-3-Opus", "judgment"] == pytest.approx(0.887)  # 98.3 − 9.6
    # Of 1,147 stories the fewest that o1-preview can have right on both give the widest interval.
    rows = read(run, "figures/gap").set_index(["model", "question_type"])
    ends = rows.loc[("o1-preview", "behavior"), ["drop", "drop_low", "drop_high"]]
    assert ends.to_list() == pytest.approx([0.115, 0.0902, 0.1405], abs=1e-3)
    assert rows.loc[("o1-preview", "behavior"), "n"] == 1147
    accuracy = metrics["none", "accuracy"]
    difference = accuracy["mental_state"] - accuracy["judgment"]
    assert gap["my-model", "judgment"] == pytest.approx(difference)


def test_this_run_stands_beside_the_papers_best_and_worst_and_is_called_incomparable(run):
    beside = read(run, "tables/beside").set_index(["Share right", "Model"])
    row = beside.loc[("behavior", "my-model §")]
    assert row["Paper, lowest"] == ".08 (GPT-3.5)"
    assert row["Paper, highest"] == ".84 (o1-preview)"
    assert row["Comparable?"] == "no: our own stories"
    assert beside.loc[("behavior, both versions right", "my-model §"), "Paper, lowest"] == "–"


def test_an_intervention_adds_what_the_tables_print(run):
    added = read(run, "figures/interventions").set_index(["model", "method", "question_type"])
    assert added["value"]["GPT-4o", "system prompt", "behavior"] == pytest.approx(-0.022)
    assert added["value"]["GPT-4o", "chain of thought*", "judgment"] == pytest.approx(0.714)
    marked = added[added["mark"].eq("*")].index.to_frame()
    assert set(marked["model"]) == {"Llama-3.1-405B"}
    assert ("my-model", "chain of thought", "judgment") in added.index


def test_first_failures_of_this_run_sum_to_one(run):
    shares = read(run, "figures/card_figure13").groupby(["model", "part"])["value"].sum()
    assert np.allclose(shares, 1)
    rows = read(run, "figures/figure3")
    assert rows.query("source == 'this run'")["value"].sum() == 1
    # Of a paper's accuracies, .956, .495 and .153, nobody can tell how they overlap.
    bounds = rows.query("model == 'GPT-4o'").set_index("question_type")
    assert bounds.loc["mental_state", ["low", "high"]].to_list() == pytest.approx([0.044, 0.044])
    assert bounds.loc["none", ["low", "high"]].to_list() == pytest.approx([0, 0.153])


def test_tables_hold_the_papers_numbers_and_this_runs(run):
    table = read(run, "tables/table2")
    assert table["source"].value_counts().to_dict() == {"paper": 40, "this run": 12}
    assert table.query("model == 'shallow reader'")["n"].gt(0).all()
    cell = table.query("model == 'Llama-3.1-405B' and question_type == 'behavior'")
    assert cell[["value", "mark"]].to_numpy().tolist() == [[0.582, "*"]]
    assert "Claude-3.5-Sonnet" in read(run, "tables/table5")["model"].to_list()


def test_twins_are_drawn_beside_guessing(run, metrics):
    twins = read(run, "figures/card_twins").set_index(["model", "measure", "question_type"])[
        "value"
    ]
    assert twins["my-model", "d′", "behavior"] == metrics["aware", "d_prime", "behavior"]
    both_right = twins["my-model", "both versions right", "judgment"]
    assert both_right == metrics["aware", "both_right", "judgment"]
    assert set(twins.index.get_level_values("model")) == {"my-model", "random"}


def test_an_intervention_alone_on_one_set_is_drawn_too(tmp_path, monkeypatch):
    folder = drawn(tmp_path, monkeypatch, ["my-model"], ["sysp"], sets=1)
    assert (folder / "figures/simpletom/gap.png").exists()
    assert (folder / "plots/simpletom.csv").exists()
