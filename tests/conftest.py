"""What several tests need: an embedded model behind HTTP, a server that misbehaves, and pages that
show the same whatever was run.
"""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from faulty_server import FaultyServer
from laboratory import environment, start
from tomlab.models.embedded import SMOLLM2, start_server
from tomlab.paths import ROOT
from tomlab.pipeline import run_notebook

# Files and folders that take long, the longest first; begun last, one of them would run on alone.
LONG = (
    *("tests/pipeline/test_notebooks.py", "tests/pipeline/test_server_run.py"),
    # It runs pages that other files read, which would wait for them.
    "tests/pipeline/test_front_page.py",
    *("tests/pipeline/test_tombench.py", "tests/test_adding.py", "tests/pipeline/"),
    "tests/test_wheel.py",
    *("tests/models/", "tests/asking/test_cluster.py", "tests/forms/", "tests/checks/"),
)

# Pages whose results the front page shows.
PAGES = ["05_real_models", "08_knowing", "09_no_mind"]

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long first, the others as they were."""

    def place(item: pytest.Item) -> int:
        return next((n for n, path in enumerate(LONG) if item.nodeid.startswith(path)), len(LONG))

    items.sort(key=place)


@pytest.fixture(scope="session")
def embedded_server() -> Iterator[str]:
    """The URL of SmolLM2, loaded once for all tests."""
    server = start_server(SMOLLM2, threads=1)
    yield server.listening_address
    del server


@pytest.fixture
def faulty_server() -> Iterator[FaultyServer]:
    """A local server that does as it is told."""
    with FaultyServer() as server:
        yield server


@pytest.fixture(scope="session")
def front(tmp_path_factory) -> Path:
    """A folder with the executed pages, run as the book runs them without models of a run. All
    processes of one run of the tests read the same.
    """
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "front"
    with FileLock(f"{root}.lock"):
        if not root.exists():
            root.mkdir()
            run_pages(root)
    return root


def run_pages(root: Path) -> None:
    for name in ("data", "docs", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    commands = []
    for name in PAGES:
        source = f"notebooks/{name}.ipynb"
        values = {key: [] for key in run_notebook.declared(ROOT / source)}
        (root / f"{name}.json").write_text(json.dumps({"parameters": values}), encoding="utf-8")
        run = f"python -m tomlab.pipeline.run_notebook {source}"
        # A page that fails leaves the others as they are, and no copy for its tests.
        commands.append(f"{run} results/index/{name}.ipynb {name}.json || true")
    start(commands, environment(root))
