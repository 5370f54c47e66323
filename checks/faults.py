"""What a broken file, server, disk, store or text may do: count what gets through.

    python checks/faults.py [--quick] [KIND …]

Prints a line for each kind of fault, below it what is amiss, and a table of all; exits with 1 if
anything was lost, let in, or ended in a traceback. `--quick` asks a tenth of the questions. Takes
about ten minutes.
"""

import argparse
import asyncio
import io
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr
from copy import deepcopy
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

import faults_keys
from faults_attacks import KINDS
from faults_files import file_faults, right_files
from faults_samples import Case

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
from tomlab.errors import InputError
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, Request, Response, model_spec
from tomlab.models.store import Store
from tomlab.pipeline import settings

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


def accepted(try_it: Callable[[], Any], named: Iterable[str] = (" ",)) -> str:
    """What is amiss with how an input is refused; "" if an `InputError` names all that it has to,
    in no more words than can be read.
    """
    try:
        with redirect_stderr(io.StringIO()):
            try_it()
    except InputError as error:
        said = str(error)
        if len(said) > 10_000:
            return f"refused in {len(said)} characters"
        unnamed = [name for name in named if name not in said]
        return f"refused without {unnamed[0]!r}: {said[:150]!r}" if unnamed else ""
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
    ("cached_input",): [None, 1.5],
    ("cache_write",): [None, 1.5],
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


def wrong_parameters(folder: Path) -> Iterator[Case]:
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
            may_lack = wrong is None and "answer_tokens" in sections  # an answer without a limit
            allowed = [wrong in may for key, may in _ALLOWED.items() if place[-len(key) :] == key]
            if may_lack or any(allowed):
                continue
            content = deepcopy(right)
            _at(content, sections)[name] = wrong
            yield Case(f"params.yaml: {'.'.join(map(str, place))} = {wrong!r}", checked(content))
        if name in ("prompts", "max_tokens") or "groups" in sections or "answer_tokens" in sections:
            continue  # of which a benchmark's methods are the names
        content = deepcopy(right)
        section = _at(content, sections)
        section[f"{name}x"] = section.pop(name)
        yield Case(f"params.yaml: {'.'.join(map(str, place))} misspelt", checked(content))


def _at(content: Any, path: Any) -> Any:
    for name in path:
        content = content[name]
    return content


def broken_inputs(folder: Path) -> Found:
    """Parameters and files with one fault each; beside them files without, which are taken."""
    right = [case._replace(taken=True) for case in right_files(folder / "right")]
    return told_of(chain(wrong_parameters(folder), file_faults(folder / "files"), right))


def told_of(cases: Iterable[Case]) -> Found:
    """How the cases ended, one after the other: some are large."""
    amiss, tried, refused = [], 0, 0
    for case in cases:
        tried += 1
        what = accepted(case.try_it, case.named)
        refused += what == ""
        if case.taken and what != "accepted":
            amiss.append(f"{case.name}, as it should be: {what or 'refused'}")
        elif what and not (what == "accepted" and (case.taken or case.harmless)):
            amiss.append(f"{case.name}: {what}")
    tracebacks = sum(": traceback: " in what for what in amiss)
    return Found(tried, amiss, f"{refused} refused in one clear line, {tracebacks} tracebacks")


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


def keys(folder: Path, *, stages: bool) -> Found:
    """No more than four characters of a key in a row, in any file, message or answer. stages: also
    of stages that are run as the pipeline does.
    """
    os.environ["FAULTS_KEY"] = faults_keys.KEY

    def ask(server: FaultyServer, store: Path) -> list[Response]:
        spec = toy(server, api_key_env="FAULTS_KEY", max_concurrency=1)
        return answers(questions(2), spec, store)

    said, amiss = faults_keys.said_of_pasted(folder)
    amiss += [f"pasted and shown: {p!r}" for p in faults_keys.shown(said, faults_keys.CAPITALS)]
    said += faults_keys.said_by_servers(folder, ask)
    said += faults_keys.said_by_stages(folder) if stages else []
    said += [text for place in (folder, ROOT / "docs") for text in faults_keys.files_in(place)]
    said.append((ROOT / "dvc.lock").read_text(encoding="utf-8"))
    amiss += [f"shown: {part!r}" for part in faults_keys.shown(said)]
    tried = 3 * len(faults_keys.ACTS) + len([*faults_keys.pasted(folder)]) + 3 * stages
    return Found(tried, amiss, f"{len(said)} texts searched")


def stopped(folder: Path) -> Found:
    """Ctrl-C on a script that asks, and on a notebook: one line says what is kept."""
    amiss, store = [], folder / "stopped.sqlite"
    with FaultyServer(Act(wait=0.5)) as server:
        process = asking(server, store, 1000)
        while len(server.asked) < 150 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        if len(re.findall(r"(?m)^models.toy: stopped.*answers are kept.*$", said)) != 1:
            amiss.append(f"a script: {said[-300:]!r}")
        lab = faults_keys.lab(folder / "lab", server.url)
        for stage in ("generation@bigtom", "filtering@bigtom"):
            faults_keys.run(lab, stage)
        before = len(server.asked)
        notebook = faults_keys.start(lab, "evaluation@bigtom-evil")
        while len(server.asked) == before and notebook.poll() is None:
            time.sleep(0.05)
        os.killpg(notebook.pid, signal.SIGINT)
        said = notebook.communicate()[1]
    lines = [line for line in said.splitlines() if "are kept in" in line]
    if len(lines) != 1 or "Traceback" in said or notebook.returncode != 130:
        amiss.append(f"a notebook: {notebook.returncode}, {said[-300:]!r}")
    return Found(2, amiss)


def markup(_: Path) -> Found:
    """Hostile items and answers published, and opened in Chromium if there is one."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/pipeline/test_server_run.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
    return Found(1, [done.stdout[-600:]] if done.returncode else [], last)


def _attacked(kind: Callable[[Path], Iterable[Case]], folder: Path) -> Found:
    return told_of(kind(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the questions")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="only these, such as data.dvc")
    given = parser.parse_args()
    share = 10 if given.quick else 1
    # What a shell runs in the background has interruptions ignored, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    checks: dict[str, Callable[[Path], Found]] = {
        "broken inputs": broken_inputs,
        **{name: partial(_attacked, kind) for name, kind in KINDS.items()},
        "odd replies": hostile_replies,
        "full disks": sick_disks,
        "keys": lambda folder: keys(folder, stages=share == 1),
        "Ctrl-C": stopped,
        "two processes": lambda folder: two_processes(folder, 1000 // share),
        "server storm": lambda folder: storm(folder, 10_000 // share, 10 // min(share, 5)),
        "live markup": markup,
    }
    if unknown := {*given.kinds} - {*checks}:
        parser.error(f"no kind {', '.join(unknown)}; there are: {', '.join(checks)}")
    table, lost = [], 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # so that of an unreadable file it is the file that is at fault
        for name in given.kinds or checks:
            own = Path(folder) / name.replace(" ", "-")
            own.mkdir()
            start = time.monotonic()
            found = checks[name](own)
            lost += len(found.amiss)
            took = time.monotonic() - start
            ended = f"{found.tried:6} tried {len(found.amiss):4} amiss {took:6.1f} s"
            print(f"{name:16} {ended}  {found.told}", flush=True)
            for what in found.amiss[: 10_000 if given.kinds else 20]:
                print(f"    {what}")
            table.append(f"| {name} | {found.tried} | {found.tried - len(found.amiss)} |")
    print("\n| kind | cases | ended well |\n|---|---:|---:|", *table, sep="\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
