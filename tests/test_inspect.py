"""Inspect's tasks. The first test reads a log that a task wrote. The others need the extra `inspect`,
which is outside the lock: docs/inspect.md says how to run them.
"""

import json
import math
from pathlib import Path

import pytest

from fantom_sets import question_set
from tomlab import paths
from tomlab.asking import evaluation, taken
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.records import tidy

# A task asked a model of Inspect's that is scripted: the set of `fantom_sets`, chain of thought.
LOG = Path(__file__).parent / "asking" / "logs" / "inspect_task_fantom.json"
REASON = "it needs the extra `inspect`, see docs/inspect.md"
SOURCES = {
    "bigtom": paths.DOCS / "logs" / "bigtom.csv",
    "omnitom": paths.DATA / "omnitom" / "stories.jsonl",
    "simpletom": paths.DATA / "simpletom" / "questions",
}
VERDICTS = ["item_id", "outcome", "score", "chosen", "doubtful", "by_released_rule"]


def items_of_one_set(folder):
    path = folder / "fantom.json"
    path.write_text(json.dumps([question_set()]))
    return fantom.read_released(path)


def test_a_task_s_log_is_taken_in_with_the_task_s_verdicts(tmp_path):
    items = items_of_one_set(tmp_path)
    responses, left_out = taken.matched(fantom, items, LOG, "", "")
    assert left_out == []
    assert set(responses["method"]) == {"short-cot"}
    scores = fantom.score(items, responses)
    samples = json.loads(LOG.read_text())["samples"]
    rows = [sample["scores"]["verdict"]["metadata"] for sample in samples]
    verdicts = [[row[name] for name in VERDICTS] for row in rows]
    assert scores[VERDICTS].astype(object).where(scores.notna(), None).values.tolist() == verdicts
    assert scores["outcome"].nunique() > 3


@pytest.fixture
def tasks():
    return pytest.importorskip("tomlab.inspect", reason=REASON, exc_type=ImportError)


@pytest.fixture
def check(tmp_path, monkeypatch):
    """The script `checks/inspect_tasks.py`, with small files in the place of a run's items."""
    script = pytest.importorskip("inspect_tasks", reason=REASON, exc_type=ImportError)
    tables = {"fantom": items_of_one_set(tmp_path)}
    for benchmark in (bigtom, omnitom, simpletom):
        tables[benchmark.NAME] = benchmark.read_released(SOURCES[benchmark.NAME])
    for name, table in tables.items():
        tidy.write(table, "items", tmp_path / "items" / f"{name}.parquet")
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    return script


@pytest.mark.parametrize(
    ("benchmark", "method"),
    [
        ("bigtom", "0-shot"),
        ("bigtom", "1-shot-cot"),  # with an example as turns of its own
        ("fantom", "short"),
        ("fantom", "full-cot"),  # two calls
        ("omnitom", "stage1-L3"),
        ("omnitom", "stage2-L3-json"),
        ("simpletom", "none"),
        ("simpletom", "perception"),  # two calls, the second of which lacks the story
    ],
)
def test_verdicts_and_numbers_are_the_pipeline_s_in_the_log_and_when_it_is_taken_in(
    check, tmp_path, benchmark, method
):
    args = check.parsed(["--items", "16", "--logs", str(tmp_path / "logs")])
    row = check.compared(benchmark, method, args)
    assert row["outcomes"] > 2
    assert row["numbers"] > 0
    assert {name: n for name, n in row.items() if name.startswith("other") and n} == {}


def test_a_server_gets_the_requests_of_the_pipeline(check, tmp_path, request):
    url = f"{request.getfixturevalue('embedded_server')}/v1"
    model = "SmolLM2-135M-Instruct.Q4_1"
    args = check.parsed(["--items", "3", "--base-url", url, "--model", model])
    args.logs = str(tmp_path / "logs")
    row = check.compared("simpletom", "none", args)
    assert row["items"] == 3
    assert {name: n for name, n in row.items() if name.startswith("other") and n} == {}


@pytest.mark.parametrize("name", ["bigtom", "fantom", "omnitom", "simpletom"])
def test_numbers_are_there_while_answers_come_in(check, tasks, tmp_path, name):
    args = check.parsed(["--items", "8", "--logs", str(tmp_path / "logs")])
    check.compared(name, check.FIRST[name], args)
    [path] = (tmp_path / "logs").glob("*.eval")
    log = pytest.importorskip("inspect_ai.log").read_eval_log(str(path))
    [metric] = log.eval.metrics
    scorer = pytest.importorskip("inspect_ai.scorer")
    values = tasks.set_metrics(name, metric.options["pattern"])
    for n in range(9):
        scores = [sample.scores["verdict"] for sample in log.samples[:n]]
        numbers = values([scorer.SampleScore(score=score) for score in scores])
        assert not any(math.isnan(value) for value in numbers.values())
    assert numbers.keys() == log.results.scores[0].metrics.keys()


def test_repeats_are_answers_of_their_own(check, tasks, tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai")
    items = tidy.read("items", paths.result("items", "simpletom"))
    script = check.scripted(simpletom, simpletom.asked(items, "none"), "none")
    model = check.mock(script)
    task = tasks.simpletom(groups=2)
    [log] = inspect_ai.eval(task, model, epochs=2, log_dir=str(tmp_path), display="none")
    scores = check.in_log(log)
    assert sorted(scores["sample"]) == [0] * 6 + [1] * 6
    metrics = simpletom.metrics(scores).set_index(["metric", "condition"])["value"]
    shown = log.results.scores[0].metrics
    assert shown["first_failure none"].value == metrics["first_failure", "none"]
    assert shown["average all"].value == metrics["average", "all"]


def test_groups_are_drawn_whole_as_in_a_run(check, tasks):
    items = tidy.read("items", paths.result("items", "simpletom"))
    entry = {"provider": "baseline", "model": "random", "groups": {"simpletom": {"none": 5}}}
    spec = specs.model_spec("random", {"random": entry})
    questions = evaluation.plan(simpletom, items, spec, ["none"])
    samples = tasks.simpletom(groups=5).dataset
    assert [sample.id for sample in samples] == [q.item["item_id"] for q in questions]


def test_a_source_takes_the_place_of_the_run_s_items(tasks):
    task = tasks.bigtom(source=str(SOURCES["bigtom"]), groups=1)
    assert len(task.dataset) == 25
    with pytest.raises(InputError, match="no such file"):
        tasks.bigtom(source="nowhere.csv")


def test_a_task_asks_with_the_protocol_s_settings_and_schema(tasks):
    source = str(SOURCES["omnitom"])
    config = tasks.omnitom(method="stage2-L3-json", source=source, groups=1).config
    schema = config.response_schema.json_schema.model_dump(exclude_none=True)
    assert schema == omnitom.schema("stage2-L3-json")
    assert (config.temperature, config.max_tokens) == (0, 6000)


@pytest.mark.parametrize(
    ("benchmark", "method"),
    [
        ("bigtom", "likelihood"),
        ("simpletom", "ms-remind"),  # reminds of an answer to another item
        ("fantom", "short-reasoning"),  # the first call alone
        ("bigtom", "0-shots"),
    ],
)
def test_other_methods_are_refused_with_those_that_work(tasks, benchmark, method):
    with pytest.raises(InputError, match=f"{benchmark}: .*'{method}'.* by .*perspective"):
        getattr(tasks, benchmark)(method=method)


def test_a_method_without_items_is_refused(check, tasks):
    with pytest.raises(InputError, match="'linked'"):
        tasks.omnitom(method="linked")
