"""What several tests need: an embedded model behind HTTP, and a server that misbehaves."""

import signal
from collections.abc import Iterator

import pytest

from faulty_server import FaultyServer
from tomlab.models.embedded import SMOLLM2, start_server

# Few tests that take long; begun last, one of them would run on alone.
LONG = ("tests/pipeline/", "tests/forms/", "tests/test_adding.py", "tests/models/", "tests/checks/")

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long first, the others as they were."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


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
