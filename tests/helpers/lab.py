"""A real JupyterLab on a folder apart, driven in headless Chromium."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]


@contextmanager
def jupyter_lab(root: Path) -> Iterator[str]:
    """JupyterLab with the notebooks of `root`; yields its address, with the token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token, home = secrets.token_hex(8), root / ".jupyter"
    settings = home / "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8")
    own = {"JUPYTER_CONFIG_DIR": home, "JUPYTER_RUNTIME_DIR": home / "runtime"}
    own |= {"JUPYTERLAB_SETTINGS_DIR": home, "JUPYTERLAB_WORKSPACES_DIR": home / "spaces"}
    own |= {"TOMLAB_ROOT": root, "IPYTHONDIR": home / "ipython"}
    environment = {**os.environ, **{name: str(path) for name, path in own.items()}}
    environment.pop("TOMLAB_STAGE", None)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
    command += ["--ServerApp.ip=127.0.0.1"]
    with (root / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=root)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, root / "lab.log")
        yield f"http://127.0.0.1:{port}/lab/tree/{{}}?token={token}&reset"
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(120):
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, log.read_text(encoding="utf-8", errors="replace")
            time.sleep(0.25)
    raise TimeoutError(log.read_text(encoding="utf-8", errors="replace"))


@contextmanager
def browser(width: int = 1280, height: int = 900) -> Iterator:
    """A page of headless Chromium; skips where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = CHROMIUM if CHROMIUM.exists() else shutil.which("chromium") or shutil.which("chrome")
    if not found:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as run:
        opened = run.chromium.launch(executable_path=str(found), args=FLAGS)
        yield opened.new_page(viewport={"width": width, "height": height})
        opened.close()
