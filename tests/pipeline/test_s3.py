"""Kept answers on S3: pushed and pulled by DVC to and from a server that speaks the protocol.

The commands are those of `make keep` and `make data`, as docs/sharing.md says.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tomlab.models import answers
from tomlab.models.ask import ask
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, Reply, Request, model_spec
from tomlab.models.store import request_key, row
from tomlab.pipeline import fetch

pytest.importorskip("dvc_s3", reason="the extra s3 is not installed")
moto = pytest.importorskip("moto.server", reason="moto, a server that speaks S3, is not installed")

BUCKET = "answers"
ENTRY = {"provider": "openai", "model": "toy", "base_url": "http://127.0.0.1:9/v1"}
REQUEST = Request(({"role": "user", "content": "Where is the ball?"},), 8)


@pytest.fixture
def s3(monkeypatch) -> Iterator[str]:
    """The address of an S3 server with one empty bucket."""
    import boto3

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = moto.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    boto3.client("s3", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket=BUCKET)
    yield f"http://{host}:{port}"
    server.stop()


def dvc(root: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "dvc", *arguments]
    process = subprocess.run(
        command, cwd=root, env={**os.environ}, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr


def repository(root: Path, server: str) -> Path:
    """A repository of DVC whose remote is the bucket."""
    remote = f"['remote \"cloud\"']\n    url = s3://{BUCKET}/tomlab\n    endpointurl = {server}\n"
    (root / ".dvc").mkdir(parents=True)
    (root / ".dvc" / "config").write_text(
        f"[core]\n    no_scm = true\n    remote = cloud\n{remote}"
    )
    return root


def kept(folder: Path) -> None:
    """A file of answers with the one to `REQUEST`."""
    spec = model_spec("toy", {"toy": ENTRY})
    whole = {"provider": spec.provider, **provider(spec).payload(REQUEST)}
    reply = Reply("In the attic.", "stop", 5, 4)
    answer = row(request_key(whole), "toy", whole, reply, None, 0.1)
    answers.write([{**answer, "uses": "3_evaluation/bigtom 0-shot"}], folder / "toy.parquet")


def test_answers_pushed_to_s3_are_found_by_whoever_pulls_them(s3, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    mine = repository(tmp_path / "mine", s3)
    kept(mine / "data" / "answers" / "bigtom")
    dvc(mine, "add", "data", "--quiet")
    dvc(mine, "push", "data.dvc", "--quiet")
    theirs = repository(tmp_path / "theirs", s3)
    (theirs / "data.dvc").write_bytes((mine / "data.dvc").read_bytes())
    fetch.fetch(theirs)
    limits = Limits(ask="never", answers=(theirs / "data" / "answers",))
    spec = model_spec("toy", {"toy": ENTRY})
    [found] = asyncio.run(ask([REQUEST], spec, store=tmp_path / "store.sqlite", limits=limits))
    assert found.cached
    assert found.reply.text == "In the attic."
