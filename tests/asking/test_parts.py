"""Items asked and scored part by part: the same tables and numbers as all at once."""

import asyncio
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pandas.testing import assert_frame_equal

from tomlab.asking import evaluation
from tomlab.asking.parts import in_parts
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.fantom.items import cast, grammar
from tomlab.benchmarks.simpletom.items.stories import read_stories
from tomlab.errors import InputError
from tomlab.models.specs import ModelSpec, model_spec
from tomlab.paths import DATA
from tomlab.records import tidy
from tomlab.records.parts import Written, by_groups
from tomlab.scoring.series import Merged, Series, table
from tomlab.scoring.stats import DIFFERENCE

CLUSTER = {bigtom: "group_id", fantom: "conversation_id", omnitom: "family", simpletom: "group_id"}


def model(policy: str = "random", **options) -> ModelSpec:
    return model_spec("mine", {"mine": {"provider": "baseline", "model": policy, **options}})


def of_bigtom() -> pd.DataFrame:
    return _first(bigtom.read_released(DATA / "bigtom" / "templates.csv"), "group_id", 7)


def of_fantom() -> pd.DataFrame:
    """Of one conversation nothing was asked about what all have heard."""
    folder = DATA / "fantom"
    written = cast.read_topics(folder / "topics.yaml"), cast.read_cast(folder / "cast.yaml")
    items = fantom.compose(grammar.generate(*written, conversations=3, sets_per_part=2, seed=0))
    lacks = (items["conversation_id"] == items["conversation_id"].iloc[-1]) & (
        items["set_scenario"] == "accessible"
    )
    return items[~lacks]


def of_omnitom() -> pd.DataFrame:
    """Stories by three are of one family."""
    items = _first(omnitom.read_released(DATA / "omnitom" / "stories.jsonl"), "group_id", 12)
    return items.assign(family="f" + (pd.factorize(items["group_id"])[0] // 3).astype(str))


def of_simpletom() -> pd.DataFrame:
    return _first(
        simpletom.compose(read_stories(DATA / "simpletom" / "stories.csv")), "group_id", 5
    )


def _first(items: pd.DataFrame, unit: str, n: int) -> pd.DataFrame:
    return items[items[unit].isin(items[unit].unique()[:n])]


RUNS = {
    bigtom: (of_bigtom, ["0-shot", "1-shot"]),
    fantom: (of_fantom, ["short", "full"]),
    omnitom: (of_omnitom, ["stage1-L3", "stage2-L3"]),
    simpletom: (of_simpletom, ["none", "ms-remind", "sysp", "wordings"]),
}


def written(benchmark, folder: Path) -> Path:
    path = folder / "items.parquet"
    tidy.write(RUNS[benchmark][0]().reset_index(drop=True), "items", path)
    return path


def at_once(benchmark, path: Path, spec: ModelSpec, **drawn) -> dict[str, pd.DataFrame]:
    items, methods = tidy.read("items", path), RUNS[benchmark][1]
    first = [method for method in methods if method != "ms-remind"]
    questions = evaluation.plan(benchmark, items, spec, first, **drawn)
    found = [asyncio.run(evaluation.evaluate(benchmark, questions, spec, seed=3))]
    if benchmark is simpletom:
        later = simpletom.remind(items, found[0])
        questions = evaluation.plan(simpletom, later, spec, ["ms-remind"], **drawn)
        found.append(asyncio.run(evaluation.evaluate(simpletom, questions, spec, seed=3)))
    responses = pd.concat(found, ignore_index=True)
    scores = benchmark.score(items, responses)
    return {"responses": responses, "scores": scores, "metrics": benchmark.metrics(scores)}


def sorted_rows(found: pd.DataFrame) -> pd.DataFrame:
    keys = ["metric", "condition"] if "metric" in found else ["item_id", "sample"]
    return found.sort_values(["model", "method", *keys], ignore_index=True)


@pytest.mark.parametrize("benchmark", RUNS, ids=lambda each: each.NAME)
@pytest.mark.parametrize("groups", [1, 3])
def test_tables_and_metrics_of_parts_are_those_of_all_at_once(tmp_path, benchmark, groups):
    path, spec, drawn = written(benchmark, tmp_path), model(), {"samples": 2, "orders": 2}
    options, methods = {"drawn": drawn, "options": {"seed": 3}}, RUNS[benchmark][1]
    work = in_parts(benchmark, path, spec, methods, tmp_path, groups=groups, **options)
    metrics = asyncio.run(work)
    whole = at_once(benchmark, path, spec, **drawn)
    for kind, expected in whole.items():
        tidy.write(expected, kind, tmp_path / "at_once.parquet")
        expected = tidy.read(kind, tmp_path / "at_once.parquet")
        found = tidy.read(kind, tmp_path / kind / benchmark.NAME / "mine.parquet")
        assert_frame_equal(sorted_rows(found), sorted_rows(expected), check_exact=True)
    assert len(metrics) == len(whole["metrics"])


def test_groups_that_a_model_declares_are_drawn_from_all(tmp_path):
    few = {"groups": {"bigtom": {"0-shot": 3}}, "variants": {"bigtom": {"1-shot": 2}}}
    path, spec = written(bigtom, tmp_path), model(**few)
    drawn = {"orders": 2, "seed": 5}
    options = {"drawn": drawn, "options": {"seed": 3}}
    asyncio.run(in_parts(bigtom, path, spec, RUNS[bigtom][1], tmp_path, groups=2, **options))
    found = tidy.read("responses", tmp_path / "responses" / "bigtom" / "mine.parquet")
    expected = at_once(bigtom, path, spec, **drawn)["responses"]
    assert_frame_equal(sorted_rows(found), sorted_rows(expected))


def test_nothing_to_ask_is_said(tmp_path):
    path, spec = written(bigtom, tmp_path), model(groups={"bigtom": {"0-shot": 0}})
    with pytest.raises(InputError, match="bigtom, mine: nothing to ask"):
        asyncio.run(in_parts(bigtom, path, spec, ["0-shot"], tmp_path))
    assert not list(tmp_path.rglob("mine*"))


# Reading


@pytest.mark.parametrize("benchmark", RUNS, ids=lambda each: each.NAME)
@pytest.mark.parametrize("groups", [1, 2, 100])
def test_a_part_splits_no_group_and_loses_no_row(tmp_path, benchmark, groups, monkeypatch):
    # Batches smaller than a group, too.
    monkeypatch.setattr("tomlab.records.parts.AT_ONCE", 7)
    path, column = written(benchmark, tmp_path), CLUSTER[benchmark]
    found = list(by_groups(path, column, groups))
    of_parts = [set(part[column]) for part in found]
    assert sum(map(len, of_parts)) == len(set.union(*of_parts))
    assert [len(each) for each in of_parts[:-1]] == [groups] * (len(of_parts) - 1)
    assert_frame_equal(pd.concat(found, ignore_index=True), tidy.read("items", path))


@pytest.mark.parametrize("groups", [1, 100])
def test_rows_of_a_group_that_do_not_stand_together_are_refused(tmp_path, groups):
    items = of_bigtom()
    tidy.write(items.sort_values("condition"), "items", tmp_path / "items.parquet")
    with pytest.raises(InputError, match=r"items.parquet: the rows of group_id .* sort it by"):
        list(by_groups(tmp_path / "items.parquet", "group_id", groups))


def test_broken_files_are_input_errors(tmp_path):
    path = tmp_path / "items.parquet"
    path.write_bytes(b"no table")
    with pytest.raises(InputError, match=r"items.parquet: found no Parquet file"):
        list(by_groups(path, "group_id", 1))
    tidy.write(of_bigtom(), "items", path)
    with pytest.raises(InputError, match="columns family are missing"):
        list(by_groups(path, "family", 1))
    whole = path.read_bytes()
    path.write_bytes(whole[:50] + bytes(5000) + whole[5050:])
    with pytest.raises(InputError, match=r"items.parquet: found a damaged Parquet file"):
        list(by_groups(path, "group_id", 1))


# Writing


def test_what_one_part_leaves_open_another_settles(tmp_path):
    path, first = tmp_path / "own" / "x.parquet", {"a": [1, 2], "b": [None, None], "c": [None] * 2}
    second = {"a": [0.5], "b": ["text"], "c": [True]}
    with Written(path) as file:
        file.add(pd.DataFrame(first))
        file.add(pd.DataFrame(second))
        assert not path.exists()
    assert pq.read_table(path).to_pylist() == [
        {"a": 1.0, "b": None, "c": None},
        {"a": 2.0, "b": None, "c": None},
        {"a": 0.5, "b": "text", "c": True},
    ]
    assert [each.name for each in path.parent.iterdir()] == ["x.parquet"]


def test_a_run_that_fails_leaves_no_half_file(tmp_path):
    with pytest.raises(ZeroDivisionError), Written(tmp_path / "x.parquet") as file:
        file.add(pd.DataFrame({"a": [1 / 0]}))
    assert not list(tmp_path.iterdir())


# Merging


def test_merged_sums_take_no_room_for_groups_that_are_alike():
    values, groups = pd.Series([0.0, 1.0] * 500), pd.Series(np.arange(1000) // 4)
    merged = Merged()
    for _ in range(20):
        merged.add([("m", "x", Series("accuracy", "all", values, groups))])
    (_, n, kept), *_ = merged._cells.values()
    assert n == 20_000
    assert sum(map(len, kept)) <= 2


@pytest.mark.parametrize("bounds", [(0.0, 1.0), DIFFERENCE, (0.0, np.inf)])
def test_fractions_merge_to_the_very_numbers_of_the_whole(bounds):
    rng = np.random.default_rng(0)
    values = pd.Series(rng.normal(0.2, 0.3, 600).clip(*bounds))
    groups = pd.Series(np.sort(rng.integers(0, 60, 600)))
    merged = Merged()
    for part in (groups < 13, (groups >= 13) & (groups < 14), groups >= 14):
        merged.add([("m", "x", Series("gap", "all", values[part], groups[part], bounds))])
    whole = table("b", [("m", "x", Series("gap", "all", values, groups, bounds))])
    assert_frame_equal(merged.table("b"), whole, check_exact=True)
