"""Find a model's adapter: the object that sends requests to its provider and reads the replies."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tomlab.errors import InputError
from tomlab.models.specs import BaselineModel, ModelSpec, Request
from tomlab.models.store import canonical


def provider(spec: ModelSpec) -> Any:
    """The adapter for a registry entry. Its members: `payload(request)`, all that is sent and where
    to, from which the request's key is made; `check()`, which fails before anything is spent;
    `send(request)`, which returns the reply; `secret`, the API key, which is kept out of messages.
    Errors: `InputError` for a missing file or a model that can't be asked.
    """
    if spec.provider == "baseline":
        return Baseline(spec)
    if spec.provider == "taken":
        raise InputError(f"models.{spec.name}: its answers were asked elsewhere; it can't be asked")
    if spec.provider == "sentence-transformers":
        raise InputError(f"models.{spec.name}: it embeds texts and answers no questions")
    # Imported here: each vendor's client takes a second to import, and a run needs one of them.
    if spec.provider == "anthropic":
        from tomlab.models.anthropic import Anthropic

        return Anthropic(spec)
    from tomlab.models import openai

    if spec.provider == "embedded":
        return openai.Embedded(spec)
    return openai.OpenAI(spec) if spec.endpoint == "chat" else openai.Responses(spec)


def by_prefix(missing: Mapping[str, Request]) -> list[list[tuple[str, Request]]]:
    """Group (key, request) pairs by shared prefix; a request without one is a group of its own."""
    groups = defaultdict(list)
    for key, request in missing.items():
        shared = (request.shared_prefix, canonical([*request.messages[:-1]]))
        groups[shared if request.shared_prefix else key].append((key, request))
    return [*groups.values()]


class Baseline:
    """Gives the answer that the benchmark prepared for the baseline's policy (such as "random")."""

    def __init__(self, spec: BaselineModel):
        self.spec = spec

    def payload(self, request: Request) -> dict:
        name, policy, says = self.spec.name, self.spec.model, request.reference
        if policy not in says:
            raise InputError(f"models.{name}: this benchmark prepares no {policy!r} answers")
        sent = {"provider": "baseline", "policy": policy, "messages": list(request.messages)}
        return sent | {"says": says[policy]}
