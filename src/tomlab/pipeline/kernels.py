"""Kernels of a run that start by a fork: what every notebook imports is imported once a run.

A run's head starts this module as a process that imports libraries and waits. jupyter_client has
kernels started by a provisioner, which may be named by an environment variable; `ForkedKernel` asks
the waiting process to fork itself and be the kernel. No module of `tomlab` is imported
beforehand, so that a stage runs the code that is there when it starts. On Linux alone: libraries of
macOS do not survive a fork. A stage that is run outside a run starts its kernel as ever.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

ADDRESS = "TOMLAB_KERNELS"  # the variable that names the socket of the waiting process
LIBRARIES = (
    "ipykernel.kernelapp",
    "matplotlib_inline.backend_inline",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "seaborn",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
)


@contextmanager
def waiting() -> Iterator[dict[str, str]]:
    """The environment in which stages start forked kernels, while it lasts; empty if they can't."""
    if sys.platform != "linux":
        yield {}
        return
    with TemporaryDirectory() as folder:
        address = str(Path(folder) / "socket")
        # As in `run_notebook`: sets of strings print in one order.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "tomlab.pipeline.kernels", address]
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        yield {"JUPYTER_DEFAULT_PROVISIONER_NAME": "tomlab-forked", ADDRESS: address}
        process.terminate()
        process.wait()


def wait(address: str) -> None:
    """Fork a kernel for each that connects. Whoever connects early waits for the imports."""
    with Listener(address) as listener:
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
        for library in LIBRARIES:
            import_module(library)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the kernels
        while True:
            connection = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                run_kernel(connection)
            connection.close()


def run_kernel(connection: Connection) -> None:
    """Be the kernel that the other end asks for, until it ends or is gone."""
    arguments, environment, folder = connection.recv()
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    connection.send(os.getpid())

    def end_with_client() -> None:
        with suppress(EOFError, OSError):
            connection.recv()
        os._exit(1)

    threading.Thread(target=end_with_client, daemon=True).start()
    sys.argv = arguments
    import_module("ipykernel.kernelapp").launch_new_instance()
    sys.exit()


class ForkedKernel(LocalProvisioner):
    """A kernel of the waiting process; the connection to it ends when the kernel does."""

    connection: Connection | None = None
    pid: int

    @property
    def has_process(self) -> bool:
        return self.connection is not None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        module = cmd.index("-m") + 1
        self.connection = Client(os.environ[ADDRESS])
        self.connection.send((cmd[module:], kwargs["env"], Path.cwd()))
        self.pid = self.connection.recv()
        return self.connection_info

    async def poll(self) -> int | None:
        is_running = self.connection is not None and not self.connection.poll()
        return None if is_running else 0

    async def wait(self) -> int | None:
        while await self.poll() is None:
            await asyncio.sleep(0.05)
        self.connection = None
        return 0

    async def send_signal(self, signum: int) -> None:
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(self.pid, signum)

    async def kill(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGKILL)

    async def terminate(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    wait(sys.argv[1])
