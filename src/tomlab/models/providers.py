"""One small adapter per provider: what is sent for a request, and what came back.

`payload` is everything that goes over the wire (the cache key is made of it), `check` fails before
anything is spent, `send` asks. The vendors' own clients do the talking and the retrying.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Protocol

from tomlab.errors import InputError
from tomlab.models.remote import Payload
from tomlab.models.specs import BaselineModel, ModelSpec, Reply, Request
from tomlab.models.store import canonical


class Provider(Protocol):
    """What every adapter offers. `fatal`: errors after which no later request will fare better.

    secret: the key, if there is one, so that no message repeats it.
    """

    fatal: tuple[type[Exception], ...]
    secret: str | None

    def payload(self, request: Request) -> Payload: ...

    async def check(self) -> None: ...

    async def send(self, request: Request) -> Reply: ...

    async def close(self) -> None: ...


def provider(spec: ModelSpec) -> Provider:
    """The adapter for a registry entry. Errors: `InputError` for a missing file."""
    # Imported here: each vendor's client takes a second to import, and a run needs one of them.
    match spec.provider:
        case "baseline":
            return Baseline(spec)
        case "anthropic":
            from tomlab.models.anthropic import Anthropic

            return Anthropic(spec)
        case "openai":
            from tomlab.models.openai import OpenAI
            from tomlab.models.responses import Responses

            return OpenAI(spec) if spec.endpoint == "chat" else Responses(spec)
        case "embedded":
            from tomlab.models.openai import Embedded

            return Embedded(spec)


def whole(adapter: Provider, model: ModelSpec, request: Request) -> dict:
    """All that is sent for a request and where to: its key is made of it."""
    return {"provider": model.provider, **adapter.payload(request)}


def prefix(request: Request) -> tuple[str, str]:
    """What a request may share with others: the last message's beginning, the earlier messages."""
    return request.shared_prefix, canonical(list(request.messages[:-1]))


def by_prefix(missing: Mapping[str, Request]) -> list[list[tuple[str, Request]]]:
    """Requests by key in groups that share the earlier messages and the last one's beginning, side
    by side for whoever caches that. A request without a prefix is a group of its own.
    """

    def shares(entry: tuple[str, Request]) -> tuple[str, str]:
        return prefix(entry[1])

    groups = []
    for (shared, _), group in groupby(sorted(missing.items(), key=shares), key=shares):
        entries = [*group]
        groups += [entries] if shared else [[entry] for entry in entries]
    return groups


class Baseline:
    """Says what the benchmark prepared for its policy."""

    fatal, secret = (), None

    def __init__(self, spec: BaselineModel):
        self.spec = spec

    def payload(self, request: Request) -> Payload:
        policy, where = self.spec.model, f"models.{self.spec.name}"
        if policy not in request.reference:
            raise InputError(f"{where}: this benchmark prepares no {policy!r} answers")
        says = request.reference[policy]
        return {"policy": policy, "messages": list(request.messages), "says": says}

    async def check(self) -> None:
        """Nothing to reach."""

    async def send(self, request: Request) -> Reply:
        return Reply(self.payload(request)["says"], "stop")

    async def close(self) -> None:
        """Nothing to close."""
