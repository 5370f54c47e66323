"""Run what is out of date, the chains of several benchmarks (generation to figures) side by side.

    python -m tomlab.pipeline.chains --chains 2

The chains share no output, so that each may have a `dvc repro` of its own. A plain `dvc repro`
after them runs what is left, and alone would do the same.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product

import yaml

from tomlab import params
from tomlab.errors import InputError
from tomlab.models.store import Store
from tomlab.paths import RESPONSE_STORE, ROOT

# DVC locks the repository for some seconds, at the start and after each stage.
_BUSY = re.compile(r"Unable to acquire lock|is busy, it is being blocked by")
_ATTEMPTS = 30
_SHOWN = re.compile(r"Running stage|\d+%\|.*\|")


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


class Runner:
    """Runs `dvc repro`, several at a time; `stop` ends all of them."""

    def __init__(self) -> None:
        self.stopped, self._processes = False, []

    def run(self, name: str, stages: list[str]) -> bool:
        """Run `stages`, or everything if there are none, once DVC's lock is free; whether it went
        well. What a reader wants to see is printed after `name`.
        """
        command, start, code, said = ["dvc", "repro"], time.monotonic(), 1, [""]
        command += ["-s", *stages] if stages else []
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "replace"}
        for _ in range(_ATTEMPTS):
            # In a session of its own, an interruption reaches it once, through `stop`.
            process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, **streams)
            self._processes.append(process)
            for line in process.stdout:
                said = [line] if line.startswith("Running stage") else [*said, line]
                if _SHOWN.search(line) and not self.stopped:
                    print(f"[{name}] {line.strip()}", flush=True)
            if (code := process.wait()) == 0 or self.stopped or not _BUSY.search("".join(said)):
                break
            time.sleep(1)
        if not self.stopped:
            end = f"failed:\n\n{''.join(said).strip()}\n" if code else "done"
            print(f"[{name}] after {time.monotonic() - start:.0f} s: {end}", flush=True)
        return code == 0

    def stop(self) -> None:
        """End every process with its stage and that one's kernel."""
        self.stopped = True
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)


def _changed() -> set[str]:
    """The stages that are out of date by themselves, not those that follow from them."""
    command = ["dvc", "status", "--json"]
    status = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if status.returncode:
        raise InputError(f"dvc status failed:\n{status.stderr.strip()}")
    return set(json.loads(status.stdout or "{}"))


def repro(side_by_side: int, runner: Runner) -> list[str]:
    """Run what is out of date, so many chains at a time; the names of those that failed."""
    run, began = params.load()["run"], time.time()
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    if "settings" in (changed := _changed()):
        # They come before all others: a chain is up to date if its own are as they were.
        if not runner.run("settings", ["settings"]):
            return ["settings"]
        changed = _changed()
    if not changed:
        print("Everything is up to date.")
        return []
    chains = {name: chain(stages, name, run["models"]) for name in run["benchmarks"]}
    with ThreadPoolExecutor(side_by_side) as pool:
        try:
            own = {name: stages for name, stages in chains.items() if changed & set(stages)}
            jobs = {name: pool.submit(runner.run, name, stages) for name, stages in own.items()}
            failed = [name for name, job in jobs.items() if not job.result()]
        except KeyboardInterrupt:
            runner.stop()
            pool.shutdown(cancel_futures=True)
            raise
    if not failed and not runner.run("pipeline", []):
        failed = ["pipeline"]
    with Store(RESPONSE_STORE) as kept:
        print(f"{kept.asked_since(began):,} answers were asked for; all others had been kept.")
    return failed


def main(arguments: list[str] | None = None) -> int:
    """0 if everything is up to date now, 1 if a chain failed, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.chains", description=__doc__)
    parser.add_argument("--chains", type=int, default=2, help="how many run side by side")
    runner = Runner()
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
