"""A run as logs of Inspect: read by its own data frames, and recomputed from them."""

import json
from zipfile import ZipFile

import pytest

import exported
from tomlab.benchmarks import bigtom
from tomlab.records.tidy import OUTCOMES


@pytest.fixture(scope="module")
def folder(results):
    return results / "exports" / "inspect"


@pytest.fixture(scope="module")
def logs(folder, read_by_library):
    """Each log as the library reads it, by benchmark, model and method."""
    found = read_by_library("inspect", folder)
    return {(log["task_name"], log["model"], log["task_arg_method"]): log for log in found}


@pytest.fixture(scope="module")
def mine(folder):
    """A log and its samples, as they are written."""
    with ZipFile(folder / "bigtom" / "mine_0-shot.eval") as archive:
        content = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    samples = [content[name] for name in content if name.startswith("samples/")]
    return content["header.json"] | {"samples": samples}


def by_outcome(log):
    return {sample["metadata"]["outcome"]: sample for sample in log["samples"]}


def test_there_is_a_log_for_each_benchmark_model_and_method(logs):
    assert sorted(logs) == [
        ("bigtom", "localhost/qwen3-8b", "0-shot"),
        ("bigtom", "tomlab/omniscient", "0-shot"),
        ("bigtom", "tomlab/omniscient", "1-shot-cot"),
        ("fantom", "tomlab/omniscient", "full"),
        ("fantom", "tomlab/omniscient", "short"),
        ("omnitom", "tomlab/omniscient", "stage1-L3"),
        ("omnitom", "tomlab/omniscient", "stage2-L3"),
        ("simpletom", "tomlab/omniscient", "ms-remind"),
        ("simpletom", "tomlab/omniscient", "none"),
        ("simpletom", "tomlab/omniscient", "sysp"),
    ]
    assert {log["status"] for log in logs.values()} == {"success"}


@pytest.mark.parametrize(
    ("log", "ours"),
    [
        (
            ("bigtom", "localhost/qwen3-8b", "0-shot"),
            ("bigtom", "mine", "0-shot", "outcome_rate", "correct"),
        ),
        (
            ("bigtom", "tomlab/omniscient", "0-shot"),
            ("bigtom", "omniscient", "0-shot", "outcome_rate", "correct"),
        ),
        (
            ("omnitom", "tomlab/omniscient", "stage1-L3"),
            ("omnitom", "omniscient", "stage1-L3", "f1", "all"),
        ),
    ],
)
def test_mean_of_the_samples_as_the_library_reads_them_is_ours(results, logs, log, ours):
    told, expected = logs[log], exported.value(results, *ours)
    assert sum(told["scores"]) / len(told["scores"]) == pytest.approx(expected["value"])
    assert told["metric"] == "outcome_rate/correct"
    if "correct" in ours:
        assert len(told["scores"]) == expected["n"]
        assert told["value"] == expected["value"]


def test_the_library_reads_what_is_written(mine, logs):
    log = logs["bigtom", "localhost/qwen3-8b", "0-shot"]["log"]
    assert log["eval"]["model_generate_config"]["temperature"] == 0
    by_id = {sample["id"]: sample for sample in mine["samples"]}
    assert len(by_id) == len(log["samples"])
    for read in log["samples"]:
        written = by_id[read["id"]]
        said = [(message["role"], message["content"]) for message in read["messages"]]
        assert said == [(message["role"], message["content"]) for message in written["messages"]]
        assert read["scores"]["tomlab"].items() >= written["scores"]["tomlab"].items()


def test_metrics_have_their_intervals(results, mine):
    [score] = mine["results"]["scores"]
    ours = exported.value(results, "bigtom", "mine", "0-shot", "outcome_rate", "refused")
    told = score["metrics"]["outcome_rate/refused"]
    assert told["value"] == ours["value"]
    names = ["ci_low", "ci_high", "ci_method", "n", "n_groups"]
    assert told["metadata"] == ours[names].to_dict() | {"groups": "templates"}


def test_six_outcomes_are_told_apart(mine):
    found = by_outcome(mine)
    assert found.keys() == {*OUTCOMES}
    assert {outcome: s["scores"]["tomlab"]["reason"] for outcome, s in found.items()} == {
        "correct": None,
        "wrong": None,
        "unparsed": "invalid_response_format",
        "truncated": "truncated",
        "refused": "refusal",
        "error": "no_response",
    }
    assert found["truncated"]["output"]["choices"][0]["stop_reason"] == "max_tokens"
    assert found["error"]["output"]["error"] == "server said no"
    assert found["correct"]["scores"]["tomlab"]["answer"] == found["correct"]["target"]


def test_score_says_what_was_read_and_by_which_rule(mine):
    items = {item["item_id"]: item for item in exported.ITEMS[bigtom].to_dict("records")}
    told = exported.of_mine().query("asked_as == ''").to_dict("records")
    answers = {answer["item_id"]: answer for answer in told}
    assert len(mine["samples"]) == len(answers)
    for sample in mine["samples"]:
        score, item = sample["scores"]["tomlab"], items[sample["id"]]
        assert score["explanation"] == bigtom.rule(item, answers[sample["id"]])
        assert score["metadata"]["variable"] == item["variable"]


def test_log_says_whose_items_and_model_these_are(mine):
    assert mine["eval"]["metadata"]["items written by"] == "released:fig5: 50"
    assert mine["eval"]["metadata"]["entry"]["model"] == "qwen3:8b"
