"""Comparing a run's models from the command line, and every metric that the four benchmarks have."""

from importlib import import_module
from itertools import product

import numpy as np
import pandas as pd
import pytest

from tomlab import compare, params, paths
from tomlab.records import tidy
from tomlab.scoring.paired import FEW, SWAPS, differences
from tomlab.scoring.variants import protocol

BENCHMARKS = ("bigtom", "fantom", "omnitom", "simpletom")
MODELS = ("smollm2-135m", "random", "omniscient")
RUN = {"run": {"benchmarks": {"bigtom": {}, "fantom": {}}, "models": ["mine", "yours"]}}


def scores(model, right):
    """BigToM's scores of eight templates, forward beliefs: how many have both versions right."""
    cells = product(range(8), ("true_belief", "false_belief"), ("0-shot", "1-shot"))
    frame = pd.DataFrame(cells, columns=["group_id", "condition", "method"])
    frame["score"] = (frame["group_id"] < right).astype(float)
    frame["outcome"] = frame["score"].map({1.0: "correct", 0.0: "wrong"})
    frame["group_id"] = "t" + frame["group_id"].astype(str)
    frame["item_id"] = frame["group_id"] + "/" + frame["condition"]
    return frame.assign(
        model=model, sample=0, variable="forward_belief", initial_belief=1, by_released_rule=True
    )


@pytest.fixture
def a_run(tmp_path, monkeypatch):
    """A run of two models by BigToM alone, of what params.yaml names two benchmarks for."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    monkeypatch.setattr(params, "load", lambda: RUN)
    for model, right in (("mine", 7), ("yours", 2)):
        tidy.write(scores(model, right), "scores", paths.result("scores", "bigtom", model))


def lines(printed, pair):
    return [line.split() for line in printed.splitlines() if pair in line]


def test_differences_of_a_run_are_printed(a_run, capsys):
    assert compare.main([]) == 0
    said = capsys.readouterr()
    first, _ = lines(said.out, "tb_and_fb")[:2]
    assert first[:6] == [
        "tb_and_fb",
        "forward_belief/tb_and_fb/1",
        "0-shot",
        "mine",
        "yours",
        "0.625",
    ]
    # Five of five templates: 2 / 2^5.
    assert first[-2:] == ["0.062", "8"]
    assert "fantom" not in said.out


def test_without_a_run_it_says_what_makes_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    monkeypatch.setattr(params, "load", lambda: RUN)
    assert compare.main([]) == 1
    said = capsys.readouterr().err
    assert "no scores of a benchmark in `run`; `make figures` writes them" in said
    assert str(tmp_path) in said


def of_default_run(benchmark):
    found = compare.scores_of(benchmark, MODELS)
    if found is None:
        pytest.skip("there is no run: `make figures` makes one")
    return found


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_metric_of_the_default_run_can_be_compared(benchmark):
    own = of_default_run(benchmark)
    own = own[own["model"].isin(MODELS[:2])]
    module = import_module(f"tomlab.benchmarks.{benchmark}.metrics")
    found = differences(benchmark, module.series(own))
    both = own.groupby("method")["model"].nunique()
    both = own[own["method"].isin(both[both == 2].index)]
    keys = ["method", "metric", "condition"]
    mine, yours = (
        module.metrics(both[both["model"] == model]).set_index(keys)["value"]
        for model in MODELS[:2]
    )
    there = mine.index.intersection(yours.index)
    assert set(there.get_level_values("metric")) == set(found["metric"])
    assert (found["ci_low"] <= found["difference"]).all()
    assert (found["difference"] <= found["ci_high"]).all()


def test_a_difference_of_the_default_run_by_hand():
    """SimpleToM's behavior question, asked plainly, with plain loops over the scores of as many
    sets as all swaps can be counted of.
    """
    run = protocol(of_default_run("simpletom"))
    asked = run.loc[(run["model"] == "smollm2-135m") & (run["variant"] == "main"), "group_id"]
    run = run[run["group_id"].isin(sorted(asked.unique())[:FEW])]
    own = run[(run["method"] == "none") & (run["question_type"] == "behavior")]
    sides = {
        model: {r["item_id"]: r for r in part.to_dict("records")}
        for model, part in own[own["variant"] == "main"].groupby("model")
    }
    a, b = sides["smollm2-135m"], sides["omniscient"]
    both = [item for item in a if item in b]
    by_group = {}
    for item in both:
        group = a[item]["group_id"]
        by_group[group] = by_group.get(group, 0) + a[item]["score"] - b[item]["score"]
    pulls = [pull for pull in by_group.values() if pull]
    assert 0 < len(pulls) <= FEW
    as_far = [
        abs(np.dot(signs, pulls)) >= abs(sum(pulls)) - 1e-9
        for signs in product((1, -1), repeat=len(pulls))
    ]
    series = import_module("tomlab.benchmarks.simpletom.metrics").series
    found = differences("simpletom", series(run), [("accuracy", "behavior")]).query(
        "same == 'none' and a == 'smollm2-135m' and b == 'omniscient'"
    )
    row = found.iloc[0]
    assert row["difference"] == pytest.approx(sum(by_group.values()) / len(both))
    assert (row["n"], row["n_groups"], row["n_discordant"]) == (
        len(both),
        len(by_group),
        len(pulls),
    )
    assert row["p"] == pytest.approx(np.mean(as_far))
    assert row["p_method"] == SWAPS
    assert row["n_left_out"] == len(a) + len(b) - 2 * len(both)
