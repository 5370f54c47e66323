"""A server that misbehaves is asked with defaults; what a test says is what it is about."""

from collections.abc import Callable
from pathlib import Path

import pytest

from faulty_server import FaultyServer
from tomlab.models.specs import Limits, Request, Response
from tomlab.models.store import Spending, Store
from toy_models import answers, questions, toy

Ask = Callable[..., list[Response]]


@pytest.fixture(params=["openai", "anthropic"])
def client(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def ask(faulty_server: FaultyServer, store: Path) -> Ask:
    """Ask requests, or so many questions. options: of the model's entry, or limits."""

    def asked(requests: list[Request] | int, client: str = "openai", **options) -> list[Response]:
        if isinstance(requests, int):
            requests = questions(requests)
        names = Limits.model_fields.keys() & options.keys()
        limits = {name: options.pop(name) for name in names}
        return answers(requests, toy(client, faulty_server.url, **options), store, **limits)

    return asked


@pytest.fixture
def spending(store: Path) -> Callable[[], Spending]:
    def read() -> Spending:
        with Store(store) as opened:
            return opened.spending()

    return read
