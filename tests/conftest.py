"""What several tests need: an embedded model behind HTTP, and a server that misbehaves."""

import signal
from collections.abc import Iterator

import pytest

from faulty_server import FaultyServer
from tomlab.models.embedded import SMOLLM2, start_server

# Files and folders that take long, the longest first; begun last, one of them would run on alone.
LONG = (
    *("tests/pipeline/test_notebooks.py", "tests/pipeline/test_server_run.py"),
    # It runs pages that other files read, which would wait for them.
    "tests/pipeline/test_front_page.py",
    *("tests/pipeline/test_tombench.py", "tests/test_adding.py", "tests/pipeline/"),
    "tests/test_wheel.py",
    *("tests/models/", "tests/asking/test_cluster.py", "tests/forms/", "tests/checks/"),
)

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
