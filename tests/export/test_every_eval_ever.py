"""A run as Every Eval Ever: valid by its own validator, and recomputed from its records."""

import json
from importlib.metadata import version

import pytest

import exported
from tomlab.records.tidy import OUTCOMES


@pytest.fixture(scope="module")
def folder(results):
    return results / "exports" / "every-eval-ever"


def read(folder, dataset, model):
    """A file of metrics with the records beside it."""
    [path] = (folder / "data" / dataset / model).glob("*.json")
    [samples] = path.parent.glob("*.jsonl")
    lines = samples.read_text(encoding="utf-8").splitlines()
    return json.loads(path.read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def results_of(log):
    return {result["evaluation_result_id"]: result for result in log["evaluation_results"]}


def test_its_own_validator_finds_no_fault(folder, read_by_library):
    assert len([*folder.rglob("*.json*")]) == 10
    assert read_by_library("every-eval-ever", folder) == []


@pytest.mark.parametrize(
    ("dataset", "name", "model", "method", "at"),
    [
        ("bigtom", "bigtom", "omniscient", "0-shot", "tomlab/omniscient"),
        ("bigtom", "bigtom", "mine", "0-shot", "localhost/qwen3-8b"),
        ("fantom", "fantom", "omniscient", "short", "tomlab/omniscient"),
        ("tomlab-omnitom", "omnitom", "omniscient", "stage1-L3", "tomlab/omniscient"),
        ("tomlab-simpletom", "simpletom", "omniscient", "none", "tomlab/omniscient"),
        ("tomlab-simpletom", "simpletom", "omniscient", "ms-remind", "tomlab/omniscient"),
    ],
)
def test_accuracy_from_records_is_ours(results, folder, dataset, name, model, method, at):
    log, records = read(folder, dataset, at)
    result = f"{method}/outcome_rate/correct"
    own = [record for record in records if record["evaluation_result_id"] == result]
    ours = exported.value(results, name, model, method, "outcome_rate", "correct")
    told = results_of(log)[result]["score_details"]
    accuracy = sum(record["evaluation"]["is_correct"] for record in own) / len(own)
    assert accuracy == pytest.approx(ours["value"]) == told["score"]
    assert len(own) == ours["n"] == told["uncertainty"]["num_samples"]
    interval = told["uncertainty"]["confidence_interval"]
    assert interval == {"lower": ours["ci_low"], "upper": ours["ci_high"]} | {
        "method": ours["ci_method"],
        "confidence_level": 0.95,
    }


def test_score_by_condition_from_records_is_ours(results, folder):
    log, records = read(folder, "bigtom", "localhost/qwen3-8b")
    cell = {"variable": "forward_belief", "condition": "false_belief", "initial_belief": 1}
    own = [r["evaluation"]["score"] for r in records if cell.items() <= r["metadata"].items()]
    name = "forward_belief/false_belief/1"
    ours = exported.value(results, "bigtom", "mine", "0-shot", "accuracy", name)
    told = results_of(log)[f"0-shot/accuracy/{name}"]["score_details"]["score"]
    assert sum(own) / len(own) == ours["value"] == told


def test_six_outcomes_are_told_apart(folder):
    _, records = read(folder, "bigtom", "localhost/qwen3-8b")
    by_outcome = {record["metadata"]["outcome"]: record for record in records}
    assert by_outcome.keys() == {*OUTCOMES}
    assert by_outcome["error"]["error"] == "server said no"
    assert by_outcome["error"]["output"]["raw"] == []
    assert by_outcome["refused"]["error"] == "refused"
    assert by_outcome["truncated"]["metadata"]["finish_reason"] == "length"
    [read_as] = by_outcome["correct"]["answer_attribution"]
    assert [read_as["extracted_value"]] == by_outcome["correct"]["input"]["reference"]
    assert by_outcome["unparsed"]["answer_attribution"] == []


def test_record_has_what_was_asked_and_answered(folder):
    _, records = read(folder, "bigtom", "localhost/qwen3-8b")
    first = records[0]
    assert first["input"]["raw"] == "Who?"
    assert json.loads(first["input"]["formatted"]) == json.loads(exported.ASKED)
    assert first["input"]["choices"] == exported.ITEMS[exported.bigtom]["choices"].iloc[0]
    assert first["output"]["raw"] == ["a)"]
    assert first["token_usage"]["total_tokens"] == 2
    assert {record["metadata"]["sample"] for record in records} == {0}  # no answer to another order


def test_fact_questions_count_in_no_accuracy(folder):
    _, records = read(folder, "fantom", "tomlab/omniscient")
    facts = [record for record in records if record["metadata"]["question_type"] == "fact"]
    assert facts
    assert not any(record["evaluation_result_id"] for record in facts)


@pytest.mark.parametrize(
    ("dataset", "result", "lower_is_better", "bounds"),
    [
        ("tomlab-simpletom", "none/accuracy/behavior", False, (0, 1)),
        ("tomlab-simpletom", "none/outcome_rate/correct", False, (0, 1)),
        ("tomlab-simpletom", "none/outcome_rate/unparsed", True, (0, 1)),
        ("tomlab-simpletom", "none/first_failure/none", False, (0, 1)),
        ("tomlab-simpletom", "none/first_failure/behavior", True, (0, 1)),
        ("tomlab-simpletom", "none/gap/behavior", True, (-1, 1)),
        ("tomlab-simpletom", "none/completion_tokens/behavior", True, (0, "Infinity")),
        ("tomlab-omnitom", "stage1-L3/unusable/all", True, (0, 1)),
        ("fantom", "short/yn_error/inaccessible/answerability/any", True, (0, 1)),
    ],
)
def test_metric_has_a_direction_and_bounds(folder, dataset, result, lower_is_better, bounds):
    log, _ = read(folder, dataset, "tomlab/omniscient")
    metric = results_of(log)[result]["metric_config"]
    assert metric["lower_is_better"] == lower_is_better
    assert (metric["min_score"], metric["max_score"]) == bounds


def test_what_is_neither_better_high_nor_low_is_left_out(folder):
    log, _ = read(folder, "tomlab-omnitom", "tomlab/omniscient")
    assert not [name for name in results_of(log) if "matchcount" in name]


def test_it_says_whose_items_and_model_these_are(folder):
    """Items of ours do not go by the benchmark's name: theirs are others."""
    log, _ = read(folder, "tomlab-simpletom", "tomlab/omniscient")
    assert log["evaluation_results"][0]["source_data"]["additional_details"] == {
        "items written by": "authored: 18, llm:mine: 9",
        "protocol of": "SimpleToM (Gu et al., 2024)",
    }
    assert log["eval_library"] == {"name": "tomlab", "version": version("tomlab")}
    mine, _ = read(folder, "bigtom", "localhost/qwen3-8b")
    assert mine["model_info"]["id"] == "localhost/qwen3-8b"
    assert json.loads(mine["model_info"]["additional_details"]["entry"])["model"] == "qwen3:8b"
