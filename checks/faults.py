"""What a broken file, server, disk, store or text may do: count what gets through.

    python checks/faults.py [--quick]

Prints a line for each kind of fault and one with all figures; exits with 1 if anything was lost,
let in, or ended in a traceback. `--quick` asks a tenth of the questions. Takes about five minutes.
"""

import argparse
import asyncio
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from faulty_server import (
    BROKEN,
    BUSY,
    DROPPED,
    GOOD,
    MALFORMED,
    NO_CHOICES,
    Act,
    FaultyServer,
    good_answer,
)
from full_disk import files_up_to
from odd_replies import BODIES, COUNTS, TEXTS, body
from tomlab.benchmarks.bigtom.items import filtering as bigtom_filtering
from tomlab.benchmarks.bigtom.items import templates
from tomlab.benchmarks.fantom.items import cast, sets
from tomlab.benchmarks.fantom.items import filtering as fantom_filtering
from tomlab.benchmarks.omnitom import calibration
from tomlab.benchmarks.omnitom.items import annotation, records
from tomlab.benchmarks.simpletom.items import filtering as simpletom_filtering
from tomlab.benchmarks.simpletom.items import stories, writing
from tomlab.errors import InputError
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, Request, Response, model_spec
from tomlab.models.store import Store
from tomlab.pipeline import settings
from tomlab.records import tidy

KEY = "sk-proj-Zq8vT4mW1nXc7bLs"
ASKER = """
import asyncio, json, sys
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, Request, model_spec
url, store, count = sys.argv[1:]
entry = {"provider": "openai", "model": "toy", "base_url": url + "/v1", "max_concurrency": 100}
requests = [Request(({"role": "user", "content": f"Question {n}?"},), 10) for n in range(int(count))]
limits = Limits(give_up_after=1000)
spec = model_spec("toy", {"toy": entry})
responses = asyncio.run(ask(requests, spec, store=store, limits=limits, progress=False))
print(json.dumps([response.reply and response.reply.text for response in responses]))
"""


class Found(NamedTuple):
    """Of one kind of fault: how many were tried, and what should not have happened."""

    tried: int
    amiss: list[str]
    told: str = ""


# Broken inputs


def accepted(try_it: Callable[[], Any]) -> str:
    """What is amiss with how an input is refused; "" if an `InputError` says what is wrong."""
    try:
        with redirect_stderr(io.StringIO()):
            try_it()
    except InputError as error:
        return "" if str(error).strip() else "refused without a word"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"traceback: {type(error).__name__}: {error}"[:200]
    return "accepted"


def leaves(content: Any, path: tuple = ()) -> Iterator[tuple]:
    """The places of all values in `params.yaml` that are no sections."""
    if isinstance(content, dict) and content and path[-1:] != ("extra_body",):
        for name, inner in content.items():
            yield from leaves(inner, (*path, name))
    else:
        yield path


# What may stand in place of a value all the same.
_ALLOWED = {
    ("max_cost_usd",): [None, 1.5],
    ("temperature",): [None, 0.5],
    ("input",): [1.5],
    ("output",): [1.5],
    ("reasoning_effort",): [None],
    ("base_url",): [None],
}
_WRONG = {
    bool: ["yes", 2, None],
    int: ["3", -7, 1.5, True, None, [3]],
    float: ["0.9", -1.0, True, None, [0.9]],
    str: [7, None, ["a"], True],
    list: ["a", 7, None, [7], {"a": 1}],
    dict: ["a", 7, ["a"]],
    type(None): ["warm", [1]],
}


def wrong_parameters(folder: Path) -> Iterator[tuple[str, Callable]]:
    """Every value of `params.yaml` in turn replaced by wrong ones, and every name misspelt."""
    right = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    path = folder / "params.yaml"

    def checked(content: dict) -> Callable:
        def check() -> None:
            path.write_text(yaml.safe_dump(content), encoding="utf-8")
            settings.check(path)

        return check

    for place in leaves(right):
        *sections, name = place
        for wrong in _WRONG[type(_at(right, place))]:
            if any(place[-len(key) :] == key and wrong in may for key, may in _ALLOWED.items()):
                continue
            content = deepcopy(right)
            _at(content, sections)[name] = wrong
            yield f"params.yaml: {'.'.join(map(str, place))} = {wrong!r}", checked(content)
        if name in ("prompts", "max_tokens") or "groups" in sections or "answer_tokens" in sections:
            continue  # of which a benchmark's methods are the names
        content = deepcopy(right)
        section = _at(content, sections)
        section[f"{name}x"] = section.pop(name)
        yield f"params.yaml: {'.'.join(map(str, place))} misspelt", checked(content)


def _at(content: Any, path: Any) -> Any:
    for name in path:
        content = content[name]
    return content


READERS = {
    "data/bigtom/templates.csv": templates.read_templates,
    "data/simpletom/stories.csv": stories.read_stories,
    "data/simpletom/scenarios.csv": writing.read_scenarios,
    "data/fantom/topics.yaml": cast.read_topics,
    "data/fantom/cast.yaml": cast.read_cast,
    "data/omnitom/stories.jsonl": records.read_records,
    "forms/bigtom/ratings.csv": lambda path: bigtom_filtering.read_ratings(path, set()),
    "forms/fantom/flags.csv": lambda path: fantom_filtering.read_flags(path, set()),
    "forms/omnitom/annotations.csv": annotation.read_annotations,
    "forms/omnitom/reviews.csv": annotation.read_reviews,
    "forms/omnitom/alignments.csv": calibration.read_human,
    "forms/simpletom/annotations.csv": simpletom_filtering.read_annotations,
    "sets.json": sets.read_sets,
    "sets.tar.gz": sets.read_sets,
    "items.parquet": lambda path: tidy.read("items", path),
    "items.csv": lambda path: tidy.read("items", path),
}


def damaged(content: bytes) -> Iterator[tuple[str, bytes | None]]:
    """A file's content with damage that no reader may let pass."""
    first, _, rest = content.partition(b"\n")
    yield "empty", b""
    yield "blank", b"\n \n"
    yield "Latin-1", first + b"\n" + "B\xe4r".encode("latin-1") + b"\n" + rest
    yield "zeros", bytes(400)
    yield "noise", random.Random(0).randbytes(3000)
    yield "first half of its first line", first[: len(first) // 2]
    yield "another file", b"%PDF-1.7\n1 0 obj\n<< >>\nendobj\n"
    yield "JSON null", b"null"
    yield "a row too short", content.rstrip(b"\n") + b"\nx\n"
    yield "UTF-16", content.decode("utf-8", "replace").encode("utf-16")


def broken_files(folder: Path) -> Iterator[tuple[str, Callable]]:
    """Every reader on every kind of damage, on a folder, and on nothing."""
    for name, read in READERS.items():
        source, path = ROOT / name, folder / Path(name).name
        content = source.read_bytes() if source.is_file() else b"[]"
        for damage, damaged_content in damaged(content):
            if damage == "UTF-16" and path.suffix == ".yaml":
                continue  # which YAML may be written in

            def try_it(
                path: Path = path, content: bytes = damaged_content, read: Any = read
            ) -> None:
                path.write_bytes(content)
                read(path)

            yield f"{name}: {damage}", try_it
        yield f"{name}: a folder", lambda read=read: read(folder)
        yield (
            f"{name}: missing",
            lambda read=read, path=path: read(path.with_name(f"no-{path.name}")),
        )


def broken_inputs(folder: Path) -> Found:
    cases = [*wrong_parameters(folder), *broken_files(folder)]
    said = [(name, accepted(try_it)) for name, try_it in cases]
    return Found(len(cases), [f"{name}: {what}" for name, what in said if what])


# Servers and stores


def toy(server: FaultyServer, **options: Any) -> Any:
    entry = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
    return model_spec("toy", {"toy": {**entry, "max_retries": 0, **options}})


def questions(count: int) -> list[Request]:
    return [Request(({"role": "user", "content": f"Question {n}?"},), 10) for n in range(count)]


def answers(requests: list[Request], spec: Any, store: Path, **limits: Any) -> list[Response]:
    return asyncio.run(ask(requests, spec, store=store, limits=Limits(**limits), progress=False))


def asking(server: FaultyServer, store: Path, count: int) -> subprocess.Popen:
    command = [sys.executable, "-c", ASKER, server.url, str(store), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(store: Path) -> int:
    with sqlite3.connect(store) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return db.execute("SELECT count(*) FROM responses").fetchone()[0]


def storm(folder: Path, count: int = 10_000, kills: int = 10) -> Found:
    """Many questions to a server with five kinds of faults, killed again and again."""
    draw, store, amiss = random.Random(0), folder / "storm.sqlite", []
    faults = [BUSY, BROKEN, DROPPED, MALFORMED, NO_CHOICES]
    with FaultyServer() as server:
        server.script = [
            draw.choice(faults) if draw.random() < 0.15 else GOOD for _ in range(3 * count)
        ]
        for _ in range(kills):
            process = asking(server, store, count)
            time.sleep(draw.uniform(1.5, 4))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        for _ in range(10):  # a broken reply is that request's error: the next run asks again
            said, errors = asking(server, store, count).communicate()
            if not said:
                return Found(count, [f"ended with {errors[-300:]}"])
            texts = json.loads(said)
            if None not in texts:
                break
        expected = [good_answer(f"Question {n}?") for n in range(count)]
        amiss += [f"{n}: {text!r}" for n, text in enumerate(texts) if text != expected[n]]
        asked = len(server.asked)
    if (kept := stored(store)) != count:
        amiss.append(f"{kept} stored, expected {count}")
    return Found(count, amiss, f"{asked} requests, {kills} kills, {kept} stored, store whole")


def two_processes(folder: Path, count: int = 1000) -> Found:
    store = folder / "two.sqlite"
    with FaultyServer(Act(wait=0.02)) as server:
        said = [process.communicate() for process in [asking(server, store, count) for _ in "ab"]]
        asked = [question.text for question in server.asked]
    amiss = [errors[-300:] for _, errors in said if errors.strip()]
    amiss += ["the two got other answers"] if said[0][0] != said[1][0] else []
    if len(asked) != count or len(set(asked)) != count:
        amiss.append(f"{len(asked)} asked at the server, expected {count}")
    return Found(count, amiss, f"{len(asked)} asked at the server")


def sick_disks(folder: Path) -> Found:
    """What was paid for is stored or rescued, and the next run takes it in."""
    amiss, sizes, told = [], (0, 60_000, 120_000, 200_000, 400_000), []
    for size in sizes:
        store = folder / f"full-{size}.sqlite"
        with Store(store):
            pass
        with FaultyServer(Act(text="In the attic. " * 500)) as server:
            spec = toy(server, max_concurrency=4)
            try:
                with files_up_to(size):
                    answers(questions(80), spec, store)
            except InputError as error:
                said = str(error)
            else:
                said = ""
            paid = len(server.asked)
            if str(store) not in said:
                amiss.append(f"{size}: the message does not name the store: {said!r}")
            again = answers(questions(80), spec, store)
            kept = sum(response.cached for response in again)
            if kept != paid or len(server.asked) != 80:
                amiss.append(f"{size}: {paid} paid, {kept} kept, {len(server.asked)} asked in all")
            told.append(str(paid))
    return Found(len(sizes), amiss, f"paid and kept: {', '.join(told)}")


def hostile_replies(folder: Path) -> Found:
    """Each odd reply is its own request's outcome; the questions beside it are answered."""
    acts = {}
    acts |= {f"usage {name}": body("openai", usage=usage) for name, usage in COUNTS.items()}
    acts |= {f"text {name}": body("openai", text=text) for name, text in TEXTS.items()}
    acts |= {f"reply {name}": Act(body=json.dumps(whole)) for name, whole in BODIES.items()}
    odd = {"none": None, "number": 7, "list": ["stop"], "mapping": {"why": "stop"}, "word": "whim"}
    acts |= {f"finish {name}": body("openai", finish=finish) for name, finish in odd.items()}
    acts |= {"cut": MALFORMED, "no choices": NO_CHOICES, "HTML": Act(body="<html></html>")}
    amiss = []
    for number, (name, act) in enumerate(acts.items()):
        with FaultyServer() as server:
            server.script = [GOOD, act]
            spec = toy(server, max_concurrency=4)
            try:
                got = answers(questions(4), spec, folder / f"odd-{number}.sqlite")
            except Exception as error:  # noqa: BLE001 - this is what is looked for
                amiss.append(f"{name}: {type(error).__name__}: {error}")
                continue
        outcomes = [bool(response.reply) != bool(response.error) for response in got]
        if not all(outcomes) or sum(bool(r.reply) for r in got) < 3:
            amiss.append(f"{name}: {got}")
    return Found(len(acts), amiss)


def keys(folder: Path) -> Found:
    """No more than four characters of a key in a row, in any file, message or answer."""
    os.environ["FAULTS_KEY"] = KEY
    said = []
    acts = [
        Act(text=f"Your key is {KEY}."),
        Act(status=500, body=json.dumps({"error": {"message": "x" * 290 + KEY}})),
        Act(status=400, body=json.dumps({"error": {"message": f"{KEY[:8]}****{KEY[-6:]}"}})),
        Act(body=json.dumps({"id": "x" * 185 + KEY, "choices": []})),
        Act(status=401, body=json.dumps({"error": {"message": f"Wrong: {KEY}"}})),
    ]
    for number, act in enumerate(acts):
        with FaultyServer(act) as server:
            spec = toy(server, api_key_env="FAULTS_KEY", max_concurrency=1)
            try:
                store = folder / f"key-{number}.sqlite"
                said += [str(response) for response in answers(questions(2), spec, store)]
            except InputError as error:
                said.append(str(error))
    for path in [*folder.rglob("*"), *(ROOT / "docs").rglob("*"), ROOT / "dvc.lock"]:
        if path.is_file():
            said.append(path.read_bytes().decode("latin-1"))
    shown = [
        KEY[start : start + 5]
        for start in range(len(KEY) - 4)
        if any(KEY[start : start + 5] in text for text in said)
    ]
    return Found(len(acts), [f"shown: {part!r}" for part in shown], f"{len(said)} texts searched")


def markup(_: Path) -> Found:
    """Hostile items and answers published, and opened in Chromium if there is one."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/pipeline/test_hostile.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
    return Found(1, [done.stdout[-600:]] if done.returncode else [], last)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the questions")
    share = 10 if parser.parse_args().quick else 1
    checks: dict[str, Callable[[Path], Found]] = {
        "broken inputs": broken_inputs,
        "odd replies": hostile_replies,
        "full disks": sick_disks,
        "keys": keys,
        "two processes": lambda folder: two_processes(folder, 1000 // share),
        "server storm": lambda folder: storm(folder, 10_000 // share, 10 // min(share, 5)),
        "live markup": markup,
    }
    figures, lost = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, check in checks.items():
            own = Path(folder) / name.replace(" ", "-")
            own.mkdir()
            start = time.monotonic()
            found = check(own)
            lost += len(found.amiss)
            took = time.monotonic() - start
            print(
                f"{name:15} {found.tried:6} tried {len(found.amiss):4} amiss {took:6.1f} s  {found.told}"
            )
            for what in found.amiss[:20]:
                print(f"    {what}")
            figures.append(f"{name} {found.tried - len(found.amiss)}/{found.tried}")
    print("; ".join(figures))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
