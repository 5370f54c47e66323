"""Questions to a model behind a URL, and what `ask` makes of them."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from faulty_server import FaultyServer
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, ModelSpec, Request, Response, model_spec


def question(text: str, *, system: str = "", max_tokens: int = 10, **fields) -> Request:
    messages = [{"role": "system", "content": system}] if system else []
    return Request((*messages, {"role": "user", "content": text}), max_tokens, **fields)


def questions(count: int) -> list[Request]:
    return [question(f"Question {n}?") for n in range(count)]


def toy(client: str, url: str, **options) -> ModelSpec:
    """A registry entry for a server at `url`."""
    base_url = f"{url}/v1" if client == "openai" else url
    entry = {"provider": client, "model": "toy", "base_url": base_url, "max_retries": 1}
    return model_spec("toy", {"toy": {**entry, **options}})


def answers(
    requests: list[Request], spec: ModelSpec, store: Path | str, **limits
) -> list[Response]:
    return asyncio.run(ask(requests, spec, store=store, limits=Limits(**limits), progress=False))


def texts(responses: list[Response]) -> list[str]:
    return [response.reply.text for response in responses]


def run_in_a_process(code: str, *arguments: object) -> subprocess.Popen:
    """Run a program that may import these helpers."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    streams = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    return subprocess.Popen(command, env=env, **streams)


def until_asked(count: int, server: FaultyServer, process: subprocess.Popen) -> None:
    """Wait until a process has asked a server so many questions."""
    while server.n_asked < count:
        assert process.poll() is None
        time.sleep(0.02)
