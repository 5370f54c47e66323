"""Answers scored part by part on a Dask cluster: the same numbers as all at once."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from tomlab.asking import evaluation
from tomlab.asking.cluster import FOR_READERS, score
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.errors import InputError
from tomlab.models.specs import model_spec
from tomlab.paths import DATA
from tomlab.records import tidy

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
RANDOM = model_spec("mine", {"mine": {"provider": "baseline", "model": "random"}})


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def items_of(benchmark) -> pd.DataFrame:
    """Of one of FANToM's conversations nothing was asked about what all have heard; OmniToM's
    stories by three are of one family.
    """
    if benchmark is bigtom:
        return first_units(bigtom.read_released(DATA / "bigtom" / "bigtom.csv"), "group_id", 7)
    if benchmark is simpletom:
        items = simpletom.read_released(DATA / "simpletom" / "questions")
        return first_units(items, "group_id", 5)
    if benchmark is omnitom:
        items = omnitom.read_released(DATA / "omnitom" / "stories.jsonl")
        items = first_units(items, "group_id", 12)
        return items.assign(family="f" + (pd.factorize(items["group_id"])[0] // 3).astype(str))
    items = fantom.read_released(DATA / "fantom" / "fantom.json")
    items = first_units(items, "conversation_id", 3)
    of_last = items["conversation_id"] == items["conversation_id"].iloc[-1]
    return items[~(of_last & (items["set_scenario"] == "accessible"))]


def first_units(items: pd.DataFrame, unit: str, n: int) -> pd.DataFrame:
    return items[items[unit].isin(items[unit].unique()[:n])]


METHODS = {
    bigtom: ["0-shot", "1-shot"],
    fantom: ["short", "full"],
    omnitom: ["stage1-L3", "stage2-L3"],
    simpletom: ["none", "sysp", "wordings", "aware"],
}


def answered(benchmark, folder: Path) -> dict[str, Path]:
    """Items and the answers of `random` in files; the rows of a group stand apart in them."""
    items = items_of(benchmark).sample(frac=1, random_state=0, ignore_index=True)
    questions = evaluation.plan(benchmark, items, RANDOM, METHODS[benchmark], samples=2)
    responses = asyncio.run(evaluation.evaluate(benchmark, questions, RANDOM, seed=3))
    files = {kind: folder / f"{kind}.parquet" for kind in ("items", "responses")}
    tidy.write(items, "items", files["items"])
    tidy.write(responses, "responses", files["responses"])
    return files


@pytest.fixture(scope="module")
def of_one_benchmark(tmp_path_factory) -> dict[str, Path]:
    """Files of items and answers of BigToM."""
    return answered(bigtom, tmp_path_factory.mktemp("bigtom"))


def at_once(benchmark, files: dict[str, Path]) -> pd.DataFrame:
    scores = benchmark.score(*(tidy.read(kind, path) for kind, path in files.items()))
    return in_order(benchmark.metrics(scores))


def in_order(metrics: pd.DataFrame) -> pd.DataFrame:
    return metrics.sort_values(["method", "metric", "condition"], ignore_index=True)


@pytest.mark.parametrize("benchmark", METHODS, ids=lambda benchmark: benchmark.NAME)
def test_metrics_are_those_of_all_at_once(client, tmp_path, benchmark):
    files = answered(benchmark, tmp_path)
    metrics = score(client, benchmark.NAME, **files, folder=tmp_path, groups=2)
    assert_frame_equal(in_order(metrics), at_once(benchmark, files), check_exact=True)
    parts = [pd.read_parquet(path) for path in (tmp_path / "scores").iterdir()]
    assert len(parts) > 1
    for part in parts:
        assert not {*part} & {*FOR_READERS}


def test_work_of_a_worker_that_is_killed_is_done_by_another(client, tmp_path, of_one_benchmark):
    flag = tmp_path / "killed"

    class KillsOne(distributed.WorkerPlugin):
        """The first worker to finish a part is killed before it can tell."""

        name = "kills-one"

        def transition(self, key, start, finish, **_):
            if start == "executing" and "score_part" in str(key):
                with suppress(FileExistsError):
                    # Two workers may get here at once: the one that makes the file is killed.
                    flag.open("x").close()
                    os.kill(os.getpid(), signal.SIGKILL)

    before = set(client.run(os.getpid).values())
    client.register_plugin(KillsOne())
    metrics = score(client, "bigtom", **of_one_benchmark, folder=tmp_path, groups=1)
    client.unregister_worker_plugin("kills-one")
    assert flag.exists()
    assert_frame_equal(in_order(metrics), at_once(bigtom, of_one_benchmark), check_exact=True)
    client.wait_for_workers(2)
    after = set(client.run(os.getpid).values())
    assert len(after) == 2
    assert len(before & after) == 1  # the one killed was replaced


def test_answers_to_items_that_are_not_there_are_refused(client, tmp_path, of_one_benchmark):
    items = tidy.read("items", of_one_benchmark["items"])
    fewer = items[items["group_id"] != items["group_id"].iloc[0]]
    tidy.write(fewer, "items", tmp_path / "items.parquet")
    files = of_one_benchmark | {"items": tmp_path / "items.parquet"}
    with pytest.raises(InputError, match=r"responses.parquet: \d+ answers are to no item"):
        score(client, "bigtom", **files, folder=tmp_path)
