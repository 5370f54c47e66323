"""Differences in pairs of what the default run wrote: every metric of the four benchmarks."""

from importlib import import_module

import pandas as pd
import pytest

from tomlab import paths
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.records import tidy
from tomlab.records.tidy import FEW_RIGHT, RARE
from tomlab.scoring.paired import differences
from tomlab.scoring.variants import protocol

BENCHMARKS = ("bigtom", "fantom", "omnitom", "simpletom")
MODELS = ("smollm2-135m", "random", "omniscient")


def of_default_run(benchmark) -> pd.DataFrame:
    judged = paths.RESULTS / "judges" / benchmark / "scores.parquet"
    if judged.exists():
        return tidy.read("scores", judged)
    if not paths.result("scores", benchmark, MODELS[0]).exists():
        pytest.skip("there is no run: `make figures` makes one")
    return tidy.of_models("scores", benchmark, MODELS)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_metric_of_the_default_run_can_be_compared(benchmark):
    own = of_default_run(benchmark)
    own = own[own["model"].isin(MODELS[:2]) & own["method"].isin(own["method"].unique()[:2])]
    module = import_module(f"tomlab.benchmarks.{benchmark}.metrics")
    # One condition of each metric: an interval's p takes long, and there are hundreds of them.
    cells = module.metrics(own)[["metric", "condition"]].drop_duplicates()
    cells = [*cells.groupby("metric").head(1).itertuples(index=False, name=None)]
    found = differences(benchmark, module.series(own), cells)
    both = own.groupby("method")["model"].nunique()
    both = own[own["method"].isin(both[both == 2].index)]
    keys = ["method", "metric", "condition"]
    mine, yours = (
        module.metrics(both[both["model"] == model]).set_index(keys)["value"]
        for model in MODELS[:2]
    )
    there = mine.index.intersection(yours.index)
    # d′ and criterion compare two versions of a story within one model already.
    there = there[~there.isin(["d_prime", "criterion"], level="metric")]
    assert set(there.get_level_values("metric")) == set(found["metric"])
    without = found[found["ci_method"] == RARE]
    # Some labels are rare: "Imagination" is in seven families, and fewer of them are asked about.
    assert set(without["condition"]) <= {*DIMENSIONS}
    few_right = found[found["ci_method"] == FEW_RIGHT]
    assert set(few_right["metric"]) <= {"answerability_yn", "infoaccess_yn", "belief_order"}
    told = found.drop([*without.index, *few_right.index])
    assert (told["ci_low"] <= told["difference"]).all()
    assert (told["difference"] <= told["ci_high"]).all()


def test_a_difference_of_the_default_run_by_hand():
    """SimpleToM's behavior question, asked plainly, with plain loops over the scores."""
    run = protocol(of_default_run("simpletom"))
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
    assert (row["p"] < 0.05) == (not row["ci_low"] <= 0 <= row["ci_high"])
    assert row["n_left_out"] == len(a) + len(b) - 2 * len(both)
