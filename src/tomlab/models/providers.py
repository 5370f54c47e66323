"""One small adapter per provider: what is sent for a request, and what came back."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tomlab.errors import InputError
from tomlab.models.specs import BaselineModel, ModelSpec, Request
from tomlab.models.store import canonical


def provider(spec: ModelSpec) -> Any:
    """The adapter for a registry entry. payload: all that is sent for a request and where to, of
    which its key is made; check: fails before anything is spent; send: asks; secret: the key, which
    no message repeats. Errors: `InputError` for a missing file.
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
    """Requests by key in groups that share a prefix; one without a prefix is a group of its own."""
    groups = defaultdict(list)
    for key, request in missing.items():
        shared = (request.shared_prefix, canonical([*request.messages[:-1]]))
        groups[shared if request.shared_prefix else key].append((key, request))
    return [*groups.values()]


class Baseline:
    """Says what the benchmark prepared for its policy."""

    def __init__(self, spec: BaselineModel):
        self.spec = spec

    def payload(self, request: Request) -> dict:
        name, policy, says = self.spec.name, self.spec.model, request.reference
        if policy not in says:
            raise InputError(f"models.{name}: this benchmark prepares no {policy!r} answers")
        sent = {"provider": "baseline", "policy": policy, "messages": list(request.messages)}
        return sent | {"says": says[policy]}
