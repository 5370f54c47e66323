"""Differences in pairs of what the default run wrote: every metric of the four benchmarks."""

from importlib import import_module

import pytest

from tomlab import paths
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.records import tidy
from tomlab.records.tidy import FEW_RIGHT, RARE
from tomlab.scoring.paired import differences

MODELS = ("smollm2-135m", "random")


@pytest.mark.parametrize("benchmark", ["bigtom", "fantom", "omnitom", "simpletom"])
def test_every_metric_of_the_default_run_can_be_compared(benchmark):
    judged = paths.RESULTS / "judges" / benchmark / "scores.parquet"
    if judged.exists():
        scores = tidy.read("scores", judged)
    elif paths.result("scores", benchmark, MODELS[0]).exists():
        scores = tidy.of_models("scores", benchmark, MODELS)
    else:
        pytest.skip("there is no run: `make figures` makes one")
    scores = scores[scores["model"].isin(MODELS)]
    methods = scores.groupby("method", sort=False)["model"].nunique().eq(2)
    scores = scores[scores["method"].isin(methods.index[methods][:2])]
    module = import_module(f"tomlab.benchmarks.{benchmark}.metrics")
    metrics = module.metrics(scores)
    # d′ and criterion compare two versions of a story within one model already.
    metrics = metrics[~metrics["metric"].isin(["d_prime", "criterion"])]
    keys = ["method", "metric", "condition"]
    metrics = metrics[metrics.groupby(keys)["model"].transform("nunique") == 2]
    # One condition of each metric: an interval's p takes long, and there are hundreds of them.
    cells = metrics.drop_duplicates("metric")[["metric", "condition"]]
    pairs = differences(
        benchmark, module.series(scores), [*cells.itertuples(index=False, name=None)]
    )
    assert set(pairs["metric"]) == set(cells["metric"])
    # Some labels are rare: "Imagination" is in seven families, and fewer of them are asked about.
    assert set(pairs.loc[pairs["ci_method"] == RARE, "condition"]) <= {*DIMENSIONS}
    few_right = pairs[pairs["ci_method"] == FEW_RIGHT]
    assert set(few_right["metric"]) <= {"answerability_yn", "infoaccess_yn", "belief_order"}
    ordinary = pairs[~pairs["ci_method"].isin([RARE, FEW_RIGHT])]
    assert ordinary["difference"].between(ordinary["ci_low"], ordinary["ci_high"]).all()
