"""What several tests need: an embedded model behind HTTP, and a server that misbehaves."""

from collections.abc import Iterator

import pytest

from faulty_server import FaultyServer
from tomlab.models.embedded import SMOLLM2, start_server


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
