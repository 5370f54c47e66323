"""Run what is out of date, the chains of several benchmarks (generation to figures) side by side.

    python -m tomlab.pipeline.chains --chains 2

The chains share no output, so that each may have a `dvc repro` of its own. A plain `dvc repro`
after them runs what is left, and alone would do the same.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from dvc.exceptions import DvcException
from dvc.repo import Repo

from tomlab.errors import InputError
from tomlab.models.store import Store
from tomlab.paths import RESPONSE_STORE, ROOT

_SHOWN = re.compile(r"Running stage|\d+%\|.*\|")


class Runner:
    """Runs `dvc repro`, several at a time; `stop` ends all of them."""

    def __init__(self) -> None:
        self.stopped, self._processes = False, []

    def run(self, name: str, *stages: str) -> bool:
        """Run these stages, or everything if there are none; whether it went well. What a reader
        wants to see is printed after `name`.
        """
        # DVC locks the repository for some seconds, at the start and after each stage.
        command, start, said = ["dvc", "--wait-for-lock", "repro"], time.monotonic(), []
        command += ["-s", *stages] if stages else []
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "replace"}
        # In a session of its own, an interruption reaches it once, through `stop`.
        process = subprocess.Popen(command, start_new_session=True, **streams)
        self._processes.append(process)
        for line in process.stdout:
            said = [line] if line.startswith("Running stage") else [*said, line]
            if _SHOWN.search(line) and not self.stopped:
                print(f"[{name}] {line.strip()}", flush=True)
        if process.wait() == 0 or not self.stopped:
            end = f"failed:\n\n{''.join(said).strip()}\n" if process.returncode else "done"
            print(f"[{name}] after {time.monotonic() - start:.0f} s: {end}", flush=True)
        return process.returncode == 0

    def stop(self) -> None:
        """End every process with its stage and that one's kernel."""
        self.stopped = True
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)


def repro(side_by_side: int, runner: Runner) -> list[str]:
    """Run what is out of date, so many chains at a time; the names of those that failed."""
    began = time.time()
    os.chdir(ROOT)  # names of stages are as seen from here
    try:
        with Repo() as repo:
            changed = {*repo.status()}  # by themselves, not those that follow from them
            stages = [stage.addressing for stage in repo.index.stages]
    except DvcException as error:
        raise InputError(f"dvc status: {error}") from error
    if not changed:
        print("Everything is up to date.")
        return []
    chains = defaultdict(list)
    for stage in stages:
        if benchmark := stage.partition("@")[2].partition("-")[0]:
            chains[benchmark].append(stage)
    if "settings" not in changed:
        chains = {name: own for name, own in chains.items() if changed & {*own}}
    elif not runner.run("settings", "settings"):
        return ["settings"]
    with ThreadPoolExecutor(side_by_side) as pool:
        try:
            jobs = {name: pool.submit(runner.run, name, *own) for name, own in chains.items()}
            failed = [name for name, job in jobs.items() if not job.result()]
        except KeyboardInterrupt:
            runner.stop()
            pool.shutdown(cancel_futures=True)
            raise
    if not failed and not runner.run("pipeline"):
        failed = ["pipeline"]
    with Store(RESPONSE_STORE) as kept:
        print(f"{kept.asked_since(began):,} answers were asked for; all others had been kept.")
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.chains", description=__doc__)
    parser.add_argument("--chains", type=int, default=2, help="how many run side by side")
    try:
        if failed := repro(parser.parse_args().chains, Runner()):
            sys.exit(f"Failed: {', '.join(failed)}")
    except InputError as error:
        sys.exit(f"\n{error}\n")
    except KeyboardInterrupt:
        print("\nStopped. Answers that arrived are kept; running again goes on.", file=sys.stderr)
        sys.exit(130)
