"""Keys: servers that repeat one in every place they can, and users who paste one in a wrong place."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from faulty_server import Act, FaultyServer
from laboratory import Laboratory, laboratory
from tomlab import params
from tomlab.errors import InputError
from tomlab.models.specs import model_spec
from tomlab.pipeline import settings

KEY = "sk-proj-Zq8vT4mW1nXc7bLs"
CAPITALS = "AKIAZQ8VT4MW1NXC7BLS"
SHOWN = 4  # characters of a key that may be shown
ROOT = Path(__file__).resolve().parents[1]
Ask = Callable[[FaultyServer, Path], list[Any]]


def _error(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": KEY, "code": KEY}})


def _answer(**message: Any) -> str:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": KEY}
    return json.dumps({"id": KEY, "model": KEY, "choices": [choice], "usage": {KEY: 1}})


# What a server may answer a question with; its list of models says the key as well.
ACTS = {
    "answer": Act(text=f"Your key is {KEY}."),
    "answer, cut": Act(text=f"It begins with {KEY[:14]} and ends with {KEY[-9:]}"),
    "refusal": Act(body=_answer(content=None, refusal=f"I won't say {KEY}")),
    "finish reason": Act(body=_answer(content="a")),
    "answer that is no text": Act(body=_answer(content=[KEY])),
    "late in an error": Act(status=500, body=_error("x" * 290 + KEY)),
    "masked in an error": Act(status=400, body=_error(f"{KEY[:8]}****{KEY[-6:]}")),
    "quoted in an error": Act(status=422, body=_error(f'Bearer {KEY}\'; "{KEY}" {KEY}')),
    "no choices": Act(body=json.dumps({"id": "x" * 185 + KEY, "choices": []})),
    "not accepted": Act(status=401, body=_error(f"Wrong: {KEY}")),
    "not found": Act(status=404, body=_error(f"/v1/{KEY}")),
    "headers": Act(status=500, headers={"X-Key": KEY, "X-Request-Id": KEY, "Retry-After": KEY}),
    "redirect": Act(status=302, headers={"Location": f"http://{KEY}.invalid/?key={KEY}"}),
    "redirect to the same": Act(status=307, headers={"Location": f"/v1/{KEY}"}),
    "odd redirect": Act(status=308, headers={"Location": f"{KEY}://{KEY}@x"}),
    "cookie": Act(headers={"Set-Cookie": f"key={KEY}"}),
    "cut reply": Act(body='{"choices": [{"message": {"content": "' + KEY),
    "HTML": Act(status=502, body=f"<html><body>{KEY}</body></html>"),
}


def said_by_servers(folder: Path, ask: Ask) -> Iterator[str]:
    """All that is said of each odd server's answers; the stores are in `folder`."""
    for number, act in enumerate(ACTS.values()):
        for models in (["toy"], [KEY, "other"], [f"x-{KEY}"]):
            with FaultyServer(act) as server:
                server.models = models
                try:
                    yield from map(str, ask(server, folder / f"{number}-{models[0][:1]}.sqlite"))
                except InputError as error:
                    yield _whole(error)


def _whole(error: BaseException | None) -> str:
    """An error with those that it came of, which a traceback shows."""
    if error is None:
        return ""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{error!r} {error} {_whole(before)}"


def pasted(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Keys in wrong places of `params.yaml`, each with what reads it."""
    right = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    entry = {"provider": "openai", "model": "toy", "base_url": "http://localhost:1/v1"}
    places: dict[str, Any] = {
        "api_key_env": entry | {"api_key_env": KEY},
        "api_key_env, in capitals": entry | {"api_key_env": CAPITALS},
        "api_key": entry | {"api_key": KEY},
        "a misspelt option": entry | {"api_kye_env": KEY, "secret": KEY, "token": [KEY]},
        "user of base_url": entry | {"base_url": f"https://{KEY}@host/v1"},
        "query of base_url": entry | {"base_url": f"https://host/v1?key={KEY}"},
        "path of base_url": entry | {"base_url": f"https://host/v1/{KEY}"},
        "base_url": entry | {"base_url": KEY},
        "temperature": entry | {"temperature": KEY},
        "reasoning_effort": entry | {"reasoning_effort": [KEY]},
        "extra_body": entry | {"extra_body": {"api_key": KEY}},
        "a header in extra_body": entry | {"extra_body": {"headers": {"Authorization": KEY}}},
        "extra_body as a text": entry | {"extra_body": KEY},
        "price": entry | {"price": KEY},
        "provider": entry | {"provider": KEY},
        "the entry": KEY,
        "a list for the entry": [KEY],
    }
    path = folder / "params.yaml"
    for name, wrong in places.items():
        content = right | {"models": right["models"] | {"mine": wrong}}

        def check(content: dict = content, wrong: Any = wrong) -> None:
            path.write_text(yaml.safe_dump(content), encoding="utf-8")
            try:
                model_spec("mine", {"mine": wrong})
            finally:
                settings.check(path)

        yield name, check
    for name, text in {
        "a line that is not YAML": f"models:\n  mine: {{api_key_env: {KEY}, [\n",
        "a tab": f"models:\n\tkey: {KEY}\n",
        "no sections": KEY,
        "a number that is none": f"models: {{mine: !!int {KEY}}}\n",
    }.items():

        def load(text: str = text) -> None:
            path.write_text(text, encoding="utf-8")
            params.load(path)

        yield name, load


def said_of_pasted(folder: Path) -> tuple[list[str], list[str]]:
    """What is said of a key in a wrong place, and the places in which it is let in."""
    said, accepted = [], []
    for name, try_it in pasted(folder):
        try:
            try_it()
            accepted.append(f"{name}: accepted")
        except InputError as error:
            said.append(_whole(error))
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            accepted.append(f"{name}: traceback: {type(error).__name__}")
    (folder / "params.yaml").unlink()
    return said, accepted


def said_by_stages(folder: Path) -> Iterator[str]:
    """What stages say of a server that repeats the key, in answers and in errors, and their files."""
    for number, act in enumerate((ACTS["answer, cut"], ACTS["late in an error"], ACTS["redirect"])):
        root = folder / f"stage-{number}"
        with FaultyServer(act) as server:
            made = lab(root, server.url)
            for stage in ("generation@bigtom", "filtering@bigtom", "evaluation@bigtom-evil"):
                yield run(made, stage)
        for path in (root / "results").rglob("*.parquet"):
            yield pd.read_parquet(path).to_csv()


def lab(root: Path, url: str) -> Laboratory:
    """A folder for a short run of BigToM alone by a model behind `url`, called evil."""

    def change(content: dict) -> None:
        entry = {"provider": "openai", "model": "toy", "base_url": f"{url}/v1", "max_retries": 0}
        few = {"bigtom": {"0-shot": 1}}
        content["models"]["evil"] = entry | {"api_key_env": "FAULTS_KEY", "groups": few}
        own = content["run"]["benchmarks"]["bigtom"]
        content["run"] |= {"benchmarks": {"bigtom": own}, "models": ["evil"]}

    root.mkdir()
    return laboratory(root, change)


def start(lab: Laboratory, stage: str) -> subprocess.Popen:
    """A stage's command in a group of processes of its own, with the client's log at its loudest."""
    command = [sys.executable, *shlex.split(lab.stages[stage].cmd)[1:]]
    environment = lab.environment | {"FAULTS_KEY": KEY, "OPENAI_LOG": "debug"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        command, cwd=lab.root, env=environment, start_new_session=True, **streams
    )


def run(lab: Laboratory, stage: str) -> str:
    """All that a stage prints."""
    return "".join(start(lab, stage).communicate())


def files_in(folder: Path) -> Iterator[str]:
    """The bytes of all files of a folder, links to other folders aside."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                yield path.read_bytes().decode("latin-1")


def shown(texts: list[str], key: str = KEY) -> list[str]:
    """The parts of a key longer than may be that stand in any of the texts."""
    parts = [key[start : start + SHOWN + 1] for start in range(len(key) - SHOWN)]
    return [part for part in parts if any(part in text for text in texts)]
