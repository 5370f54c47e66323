"""Start a stage from a process that has the libraries loaded, so that its notebook begins at once.

    python -m tomlab.pipeline.start --for make chains        run a command whose stages start so
    python -m tomlab.pipeline.start run_notebook ARGUMENTS   one stage; alone, it starts as ever

Python, a kernel and the libraries take a notebook three seconds, a third of a first run. Under
`--for` they are loaded once, in a server that lives as long as the command: each stage, and each
kernel in it, is a fork of that server. On Linux only: libraries of other systems don't bear a fork.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from filelock import FileLock, Timeout

from tomlab.errors import InputError
from tomlab.paths import RESPONSE_STORE, writable

PLACE = "TOMLAB_STARTER"  # the environment's name for the path of the server's socket
PIPELINE = ("run_notebook", "publish")
LOADED = (
    "asking.evaluation",
    "fresh.sets",
    "pipeline.run_notebook",
    "reporting.tables",
    "scoring.readers",
)


class Kernel(multiprocessing.get_context("fork").Process):  # type: ignore[name-defined,misc]
    """A kernel forked from this process, with what Jupyter asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], env: dict[str, str], **_: Any):
        super().__init__(daemon=True)
        own = f"--IPKernelApp.parent_handle={os.getpid()}"  # the kernel ends with this process
        self.arguments, self.env = [*command[command.index("-f") :], own], env
        self.start()
        os.setpgid(self.pid, self.pid)  # a signal to the kernel reaches nobody else

    def run(self) -> None:
        from ipykernel.kernelapp import launch_new_instance

        os.environ.update(self.env)
        asyncio.set_event_loop(asyncio.new_event_loop())
        asyncio._set_running_loop(None)  # that of the process forked from
        launch_new_instance(argv=self.arguments)

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self) -> int | None:
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def run(module: str, arguments: list[str]) -> int:
    """Run a module's `main` with `arguments`; its exit code."""
    sys.argv[1:] = arguments
    return import_module(f"tomlab.pipeline.{module}").main()


def ask(place: str, module: str, arguments: list[str]) -> int:
    """Have the server run it, on this process's input and output and in its environment."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the stage, which ends in order
    request = json.dumps([module, arguments, dict(os.environ), str(Path.cwd())])
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(place)
        socket.send_fds(server, [request.encode()], [0, 1, 2])
        return int(server.recv(8) or 1)


def serve(listener: socket.socket) -> int:
    """Load the libraries, then fork a stage for each request until the process is ended."""
    # Nothing that loads `reporting.draw`: it sets a style, which is for the notebook to do.
    for name in ("seaborn", *(f"tomlab.{module}" for module in LOADED)):
        import_module(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for stages but their client
    while True:
        client, _ = listener.accept()
        if not os.fork():
            listener.close()
            return stage(client)
        client.close()


def stage(client: socket.socket) -> int:
    """Run what `client` asks for in this forked process, and end when the client does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, descriptors, *_ = socket.recv_fds(client, 1 << 20, 3)
    for own, given in enumerate(descriptors):
        os.dup2(given, own)
        os.close(given)
    module, arguments, env, folder = json.loads(request)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)

    def end_with_client() -> None:
        if not client.recv(1):
            os.kill(os.getpid(), signal.SIGINT)

    Thread(target=end_with_client, daemon=True).start()
    from jupyter_client.provisioning import local_provisioner

    local_provisioner.launch_kernel = Kernel
    code = run(module, arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client ends before this process
    client.send(str(code).encode())
    return code


def run_alone(command: list[str]) -> int:
    """Run `command` unless another one is under way in this folder, which would undo its files."""
    lock = FileLock(writable(RESPONSE_STORE.with_name("run.lock")))
    try:
        with lock.acquire(blocking=False):
            return run_with_server(command)
    except Timeout:
        told = "Another run is under way in this folder. Wait until it has ended, or stop it first."
        print(f"\n{told}\n", file=sys.stderr)
        return 1


def run_with_server(command: list[str]) -> int:
    """Run `command` with a server beside it; its exit code. Signals end it with all its stages."""
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as at:
        env, started, began = dict(os.environ), [], time.time()
        if sys.platform == "linux":
            at.bind(place := f"{folder}/socket")
            at.listen(64)
            # What `run_notebook` and a kernel would set before the process of a kernel begins.
            own = {"PYTHONHASHSEED": "0", "TOMLAB_STAGE": "none yet"}
            own["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
            serving = [sys.executable, "-m", "tomlab.pipeline.start", "--serve", str(at.fileno())]
            server = {"env": env | own, "pass_fds": [at.fileno()], "process_group": 0}
            started.append(subprocess.Popen(serving, **server))
            env[PLACE] = place
        started.append(subprocess.Popen(command, env=env, process_group=0))

        def end(*_: object) -> None:
            for process in started:
                with suppress(ProcessLookupError):  # it has ended
                    os.killpg(process.pid, signal.SIGINT)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end)
        code = started[-1].wait()
        started[0].terminate()
        # Stages tell of a store that can't be read, and the terminal may be gone.
        with suppress(InputError, OSError):
            print(asked_since(began), flush=True)
        return code


def asked_since(began: float) -> str:
    """What a run that began then asked and spent; what others asked at its store counts, too."""
    # Imported here, as a stage's own process starts without what these load.
    import pyarrow.parquet as pq

    from tomlab import params, paths
    from tomlab.models.store import Store

    with Store(paths.RESPONSE_STORE) as store:
        query = "SELECT key, prompt_tokens + completion_tokens, cost FROM responses"
        asked = store.all(f"{query} WHERE created >= ?", began)
        in_all = sum(store.spending())
    run, there = params.load()["run"], set()
    options = {"columns": ["request_key"], "filters": [("prompt_tokens", ">", 0)]}  # no baseline's
    for path in (paths.result("responses", b, m) for b in run["benchmarks"] for m in run["models"]):
        if path.is_file():
            there |= {*pq.read_table(path, **options)["request_key"].to_pylist()}
    kept, prices = len(there - {key for key, *_ in asked}), [c for *_, c in asked if c is not None]
    cost = f", ${sum(prices):,.2f} by their prices" if prices else ""
    new = f"{len(asked):,} answers ({sum(tokens for _, tokens, _ in asked):,} tokens{cost})"
    line = f"Asked in this run: {new}. Kept before, in results/responses: {kept:,} answers."
    return line + (f" Spent in all runs so far: ${in_all:,.2f}." if in_all else "")


def main(arguments: list[str]) -> int:
    """The command line."""
    match arguments:
        case ["--for", *command]:
            return run_alone(command)
        case ["--serve", listener]:
            return serve(socket.socket(fileno=int(listener)))
        case [module, *rest] if module in PIPELINE:
            place = os.environ.get(PLACE)
            return ask(place, module, rest) if place else run(module, rest)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
