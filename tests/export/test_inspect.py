"""A run as logs of Inspect: read by its own data frames, and recomputed from them."""

import pytest

import exported
from tomlab.benchmarks import bigtom
from tomlab.export import __main__ as command
from tomlab.records.tidy import OUTCOMES

pytest.importorskip("inspect_ai", reason=exported.ABSENT)

from inspect_ai.analysis import evals_df, samples_df
from inspect_ai.log import read_eval_log


@pytest.fixture(scope="module")
def folder(results):
    assert command.main(["inspect"]) == 0
    return results / "exports" / "inspect"


@pytest.fixture(scope="module")
def mine(folder):
    return read_eval_log(str(folder / "bigtom" / "mine_0-shot.eval"))


def by_outcome(log):
    return {sample.metadata["outcome"]: sample for sample in log.samples}


def test_there_is_a_log_for_each_benchmark_model_and_method(folder):
    found = evals_df(str(folder), quiet=True)
    told = found[["task_name", "model", "task_arg_method"]].itertuples(index=False, name=None)
    assert sorted(told) == [
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
    assert set(found["status"]) == {"success"}


@pytest.mark.parametrize("model", ["mine", "omniscient"])
def test_accuracy_from_samples_is_ours(results, folder, model):
    path = str(folder / "bigtom" / f"{model}_0-shot.eval")
    samples = samples_df(path, quiet=True)
    ours = exported.value(results, "bigtom", model, "0-shot", "outcome_rate", "correct")
    assert samples["score_tomlab"].mean() == pytest.approx(ours["value"])
    assert len(samples) == ours["n"]
    [log] = evals_df(path, quiet=True).to_dict("records")
    assert log["score_headline_metric"] == "outcome_rate/correct"
    assert log["score_headline_value"] == ours["value"]


def test_f1_from_samples_is_ours(results, folder):
    samples = samples_df(str(folder / "omnitom" / "omniscient_stage1-L3.eval"), quiet=True)
    ours = exported.value(results, "omnitom", "omniscient", "stage1-L3", "f1", "all")
    assert samples["score_tomlab"].mean() == pytest.approx(ours["value"])


def test_metrics_have_their_intervals(results, mine):
    [score] = mine.results.scores
    ours = exported.value(results, "bigtom", "mine", "0-shot", "outcome_rate", "refused")
    told = score.metrics["outcome_rate/refused"]
    assert told.value == ours["value"]
    names = ["ci_low", "ci_high", "ci_method", "n", "n_groups"]
    assert told.metadata == ours[names].to_dict() | {"groups": "templates"}


def test_six_outcomes_are_told_apart(folder, mine):
    samples = samples_df(str(folder / "bigtom" / "mine_0-shot.eval"), quiet=True)
    assert set(samples["metadata_outcome"]) == {*OUTCOMES}
    reasons = {outcome: s.scores["tomlab"].reason for outcome, s in by_outcome(mine).items()}
    assert reasons == {
        "correct": None,
        "wrong": None,
        "unparsed": "invalid_response_format",
        "truncated": "truncated",
        "refused": "refusal",
        "error": "no_response",
    }
    assert by_outcome(mine)["truncated"].output.stop_reason == "max_tokens"
    assert by_outcome(mine)["error"].output.error == "server said no"


def test_score_says_what_was_read_and_by_which_rule(mine):
    items = {item["item_id"]: item for item in exported.ITEMS[bigtom].to_dict("records")}
    told = exported.of_mine().query("asked_as == ''").to_dict("records")
    answers = {answer["item_id"]: answer for answer in told}
    assert len(mine.samples) == len(answers)
    for sample in mine.samples:
        score = sample.scores["tomlab"]
        assert score.explanation == bigtom.rule(items[sample.id], answers[sample.id])
        assert score.metadata["variable"] == items[sample.id]["variable"]
    right = by_outcome(mine)["correct"]
    assert right.scores["tomlab"].answer == right.target


def test_sample_has_the_conversation(mine):
    cut_off = by_outcome(mine)["truncated"]
    said = [(message.role, message.text) for message in cut_off.messages]
    assert said == [("system", "Be short."), ("user", "Who?"), ("assistant", "Mei")]
    assert cut_off.output.usage.total_tokens == 2
    assert cut_off.epoch == 1


def test_log_says_whose_items_and_model_these_are(mine):
    assert mine.eval.metadata["items written by"] == "released:fig5: 50"
    assert mine.eval.metadata["entry"]["model"] == "qwen3:8b"
    assert mine.eval.model_generate_config.temperature == 0
