"""Run what is out of date, the chains of several benchmarks (generation to figures) side by side.

    python -m tomlab.pipeline.chains --chains 2

The chains share no output, so each may have a `dvc repro` of its own. What is left, and everything
if there is but one chain to run, is done by a plain `dvc repro`, which does the same alone.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import product
from threading import Lock

import yaml

from tomlab import params
from tomlab.errors import InputError
from tomlab.models.specs import is_paid, limits, model_spec
from tomlab.models.store import Store
from tomlab.paths import RESPONSE_STORE, ROOT

# How long each chain took, for the order of the next run; git and DVC ignore the folder.
TIMES = ROOT / ".dvc" / "tmp" / "chains.json"
# The stage before all chains, see `stages`.
SETTINGS = "settings"
# DVC locks the repository for some seconds, at the start and after each stage.
_BUSY = re.compile(r"Unable to acquire lock|is busy, it is being blocked by")
_ATTEMPTS = 30
_STAGE = re.compile(r"Running stage '(.+)':")
_PROGRESS = re.compile(r"\d+%\|.*\|")


def chain(stages: dict[str, dict], benchmark: str, models: list[str]) -> list[str]:
    """The names of a benchmark's stages in the order of `stages`, those of dvc.yaml."""
    names, values = [], {"benchmark": [benchmark], "model": models}
    for name, stage in stages.items():
        if "foreach" in stage:
            names.append(f"{name}@{benchmark}")
        elif "matrix" in stage:
            instances = product(*(values[key] for key in stage["matrix"]))
            names += [f"{name}@{'-'.join(instance)}" for instance in instances]
    return names


class Chains:
    """Processes of `dvc repro`, told apart by name, and what each of them said."""

    def __init__(self) -> None:
        self.stopped = False
        self._processes: set[subprocess.Popen] = set()
        self._printing = Lock()

    def say(self, name: str, text: str) -> None:
        with self._printing:
            print(f"[{name}] {text}", flush=True)

    def run(self, name: str, stages: list[str]) -> float | None:
        """Run `stages`, or all without any; the seconds it took, None if it failed."""
        start = time.monotonic()
        for _ in range(_ATTEMPTS):
            code, said = self._once(name, ["-s", *stages] if stages else [])
            if code == 0 or self.stopped or not _BUSY.search(said):
                break
            time.sleep(1)
        if self.stopped:
            return None
        took = time.monotonic() - start
        self.say(name, f"{'failed' if code else 'done'} after {took:.0f} s")
        if code:
            with self._printing:
                print(f"\n{said.strip()}\n", file=sys.stderr, flush=True)
        return None if code else took

    def _once(self, name: str, options: list[str]) -> tuple[int, str]:
        """One `dvc repro`: its exit code and what it said since its last stage began."""
        # A session of its own, so that an interruption reaches it once, through `stop`.
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        text = {"text": True, "encoding": "utf-8", "errors": "replace"}
        command = ["dvc", "repro", *options]
        process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, **streams, **text)
        self._processes.add(process)
        said, stage, began = [], "", 0.0
        for line in process.stdout:
            if found := _STAGE.search(line):
                self._tell_end(name, stage, began)
                stage, began, said = found[1], time.monotonic(), []
                self.say(name, f"Running stage '{stage}'")
            elif _PROGRESS.search(line):
                self.say(name, line.strip())
                continue  # the text of an error needs no bars
            said.append(line)
        code = process.wait()
        self._processes.discard(process)
        if not code:
            self._tell_end(name, stage, began)
        return code, "".join(said)

    def _tell_end(self, name: str, stage: str, began: float) -> None:
        if stage:
            self.say(name, f"{stage} took {time.monotonic() - began:.0f} s")

    def stop(self) -> None:
        """End every process, its stage and the kernel of that."""
        self.stopped = True
        for process in list(self._processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)


def _changed() -> set[str]:
    """The stages that are out of date by themselves, not those that follow from them."""
    command = ["dvc", "status", "--json"]
    status = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if status.returncode:
        raise InputError(f"dvc status failed:\n{status.stderr.strip()}")
    return set(json.loads(status.stdout or "{}"))


def _announced(to_run: dict[str, list[str]], runner: Chains) -> list[str]:
    """Say what models that cost will be asked, once items are there to tell; what failed before."""
    content = params.load()
    registry = content.get("models") or {}
    entries = [model_spec(name, registry) for name in content["run"]["models"] if name in registry]
    if not (paid := [spec.name for spec in entries if is_paid(spec)]):
        return []
    for name, stages in to_run.items():
        before = [stage for stage in stages if stage.startswith(("generation@", "filtering@"))]
        if runner.run(name, before) is None:
            return [name]
    from tomlab.pipeline import plan  # takes seconds to import

    with Store(RESPONSE_STORE) as kept:
        table = plan.plan(content, paid, plan.Kept(kept, limits().answers))
    if len(table) and (table["kept"] < table["requests"]).any():
        print(*plan.told(table), sep="\n", flush=True)
    return []


def repro(side_by_side: int, runner: Chains) -> list[str]:
    """Run what is out of date, so many chains at a time; the names of those that failed."""
    run, began = params.load()["run"], time.time()
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    changed = _changed()
    if SETTINGS in changed:
        # First, as what it finds unchanged leaves a chain as it is.
        if runner.run(SETTINGS, [SETTINGS]) is None:
            return [SETTINGS]
        changed = _changed()
    if not changed:
        print("Everything is up to date.")
        return []
    chains = {name: chain(stages, name, run["models"]) for name in run["benchmarks"]}
    to_run = {name: names for name, names in chains.items() if changed & set(names)}
    if failed := _announced(to_run, runner):
        return failed
    took: dict[str, float | None] = {}
    if side_by_side > 1 and len(to_run) > 1:
        last = json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.is_file() else {}
        # The longest first; of those unknown nothing is known to be short.
        order = sorted(to_run, key=lambda name: -last.get(name, float("inf")))
        with ThreadPoolExecutor(side_by_side) as pool:
            try:
                jobs = {pool.submit(runner.run, name, to_run[name]): name for name in order}
                took = {jobs[job]: job.result() for job in as_completed(jobs)}
            except KeyboardInterrupt:
                runner.stop()
                pool.shutdown(cancel_futures=True)
                raise
        TIMES.parent.mkdir(exist_ok=True)
        TIMES.write_text(json.dumps({n: t for n, t in took.items() if t}), encoding="utf-8")
    failed = [name for name, seconds in took.items() if seconds is None]
    if not failed and runner.run("pipeline", []) is None:
        failed = ["pipeline"]
    with Store(RESPONSE_STORE) as kept:
        print(f"{kept.asked_since(began):,} answers asked for; what else was used had been kept.")
    return failed


def main(arguments: list[str] | None = None) -> int:
    """0 if everything is up to date now, 1 if a chain failed, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.chains", description=__doc__)
    parser.add_argument("--chains", type=int, default=2, help="how many run side by side")
    runner = Chains()
    try:
        failed = repro(parser.parse_args(arguments).chains, runner)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        runner.stop()
        print("\nStopped. Answers that arrived are kept; running again goes on.", file=sys.stderr)
        return 130
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
