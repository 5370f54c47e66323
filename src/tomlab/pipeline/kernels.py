"""Starts the Jupyter kernels of a run's stages by forking one process, so that the libraries which
every notebook imports are imported once in a run.

`pipeline.run` starts this module as a process that imports the libraries and waits. jupyter_client
starts kernels through a provisioner, whose name it reads from an environment variable. Our
provisioner, `ForkedKernel`, asks the waiting process to fork, and the fork becomes the kernel. The
waiting process imports no other module of `tomlab`, so that each stage runs the code as it is when
the stage starts. Only Linux does this, as libraries of macOS do not survive a fork. A stage that
`pipeline.run` did not start gets an ordinary kernel.
"""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import Client, Connection
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

ADDRESS = "TOMLAB_KERNELS"  # the variable that names the socket of the waiting process
LIBRARIES = (
    "ipykernel.kernelapp",
    "jinja2",
    "matplotlib.backends.backend_pdf",
    "matplotlib_inline.backend_inline",
    "openai",
    "pandas",
    "pandera.pandas",
    "pyarrow.parquet",
    "ruamel.yaml",
    "scipy.stats",
    "seaborn",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
)


@contextmanager
def waiting() -> Iterator[dict[str, str]]:
    """A context with the waiting process. It yields the environment variables with which stages
    start forked kernels; none except on Linux.
    """
    if sys.platform != "linux":
        yield {}
        return
    with TemporaryDirectory() as folder:
        address = str(Path(folder) / "socket")
        # As in `run_notebook`, so that sets of strings always print in the same order.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        # Nothing is written to this pipe. Its other end can be read when this process has ended.
        parent, end = os.pipe()
        command = [sys.executable, "-m", "tomlab.pipeline.kernels", address, str(parent)]
        process = subprocess.Popen(
            command, env=environment, start_new_session=True, pass_fds=[parent]
        )
        os.close(parent)
        try:
            yield {"JUPYTER_DEFAULT_PROVISIONER_NAME": "tomlab-forked", ADDRESS: address}
        finally:
            process.terminate()
            process.wait()
            os.close(end)


def wait(address: str, parent: int) -> None:
    """Listen at a socket, and fork a kernel for each connection to it, until the process that holds
    the other end of the pipe `parent` has ended. A connection that comes before the libraries are
    imported waits for them.
    """
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
        for library in LIBRARIES:
            import_module(library)
        # Garbage collection in the kernels then leaves the libraries alone.
        gc.freeze()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for these children
        while parent not in wait_for([listener, parent]):
            connection = Connection(listener.accept()[0].detach())
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                run_kernel(connection)
            connection.close()


def run_kernel(connection: Connection) -> None:
    """Turn this forked process into a kernel with the arguments, environment and folder that the
    other end of the connection sends. It ends when the kernel is shut down or the other end is
    gone.
    """
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
    # As children of `multiprocessing` end. Freeing all memory first would take a second.
    os._exit(0)


class ForkedKernel(LocalProvisioner):
    """The provisioner of a kernel that is forked from the waiting process. The kernel has ended
    when its connection is closed. The methods are those that jupyter_client calls.
    """

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
    wait(sys.argv[1], int(sys.argv[2]))
