"""Run a command whose stages ask models, such as `make chains`. Only one such command can run in
this folder at a time. At the end, a line says what it asked and spent.

python -m tomlab.pipeline.run make chains
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.models.store import Store
from tomlab.pipeline import kernels

BUSY = "Another run is under way in this folder. Wait until it has ended, or stop it first."


def main(command: Sequence[str]) -> int:
    """Run `command`, then print what was spent. Returns the command's exit code; 1, with a message,
    if another run is under way in this folder.
    """
    lock = FileLock(paths.writable(paths.RESPONSE_STORE.with_name("run.lock")))
    try:
        lock.acquire(blocking=False)
    except Timeout:
        print(f"\n{BUSY}\n", file=sys.stderr)
        return 1
    start = time.time()
    code = run(command)
    # If the store cannot be read, the stages have said so; the terminal may be closed by now.
    with suppress(InputError, OSError):
        print(spending_since(start), flush=True)
    lock.release()
    return code


def run(command: Sequence[str]) -> int:
    """Run `command` and return its exit code. A signal to end this process is passed on to all
    processes of the command as an interrupt, so that they can finish properly.
    """
    with kernels.waiting() as variables:
        process = subprocess.Popen(command, process_group=0, env={**os.environ, **variables})

        def interrupt(*_: object) -> None:
            with suppress(ProcessLookupError):  # it has ended
                os.killpg(process.pid, signal.SIGINT)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, interrupt)
        return process.wait()


def spending_since(start: float) -> str:
    """A line for the terminal: the answers, tokens and US dollars booked in the response store
    since `start` (Unix time), how many answers in the results were there before, and the total
    spent.
    """
    query = "SELECT key, prompt_tokens + completion_tokens, cost FROM responses WHERE created >= ?"
    with Store(paths.RESPONSE_STORE) as store:
        answers = store.all(query, start)
        total = sum(store.spending())
    tokens = sum(n for _, n, _ in answers)
    costs = [cost for _, _, cost in answers if cost is not None]
    cost = f", ${sum(costs):,.2f} by their prices" if costs else ""
    kept = request_keys() - {key for key, _, _ in answers}
    line = f"Asked in this run: {len(answers):,} answers ({tokens:,} tokens{cost}). "
    line += f"Kept before, in results/responses: {len(kept):,} answers."
    if total:
        line += f" Spent in all runs so far: ${total:,.2f}."
    return line


def request_keys() -> set[str]:
    """The request keys of all models' answers in `results/responses`, without baselines'."""
    settings = params.load()["run"]
    keys = set()
    for benchmark in settings["benchmarks"]:
        for model in settings["models"]:
            path = paths.result("responses", benchmark, model)
            if path.is_file():
                by_models = [("prompt_tokens", ">", 0)]  # a baseline reads no tokens
                table = pq.read_table(path, columns=["request_key"], filters=by_models)
                keys.update(table["request_key"].to_pylist())
    return keys


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
