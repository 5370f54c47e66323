"""Models asked through the `anthropic` client."""

from collections.abc import Mapping
from typing import Any

import anthropic

from tomlab.models.content import text_of
from tomlab.models.remote import Payload, Remote, demand_limit
from tomlab.models.replies import form_of, refuse_error, reply
from tomlab.models.specs import AnthropicModel, Reply, Request
from tomlab.models.usage import usage_of

CACHED_CHARACTERS = 4000  # the vendor caches prefixes of 1,024 tokens or more


class Anthropic(Remote):
    """Any server that speaks the Anthropic messages protocol."""

    spec: AnthropicModel
    sdk = anthropic
    client_class = anthropic.AsyncAnthropic
    url = "https://api.anthropic.com"
    key_env = "ANTHROPIC_API_KEY"
    path = "/v1/messages"

    def body(self, request: Request) -> Payload:
        spec = self.spec
        demand_limit(spec, request)
        system = [m["content"] for m in request.messages if m["role"] == "system"]
        output: dict[str, Any] = {}
        if spec.reasoning_effort:
            output["effort"] = spec.reasoning_effort
        if request.schema is not None:
            output["format"] = {"type": "json_schema", "schema": dict(request.schema)}
        extra_body = dict(spec.extra_body)
        temperature = self.temperature(request)
        if temperature is not None:
            extra_body["temperature"] = temperature
        return {
            "messages": _cached_prefix(request),
            "max_tokens": self.limit(request),
            "system": "\n\n".join(system) if system else None,
            "thinking": spec.thinking,
            "output_config": output or None,
            "extra_body": extra_body,
        }

    def read(self, answer: Any) -> Reply:
        with form_of(answer):
            usage = usage_of(answer.usage, cache_beside=True)
            refuse_error(answer, usage=usage)
            text = text_of(answer.content)
            return reply(text, answer.stop_reason, usage, model=answer.model)


def _cached_prefix(request: Request) -> list[Mapping[str, Any]]:
    """All messages but the system's. A long shared prefix becomes a block, which is cached."""
    *earlier, last = (m for m in request.messages if m["role"] != "system")
    prefix = request.shared_prefix
    if len(prefix) < CACHED_CHARACTERS:
        return [*earlier, last]
    blocks = [
        {"type": "text", "text": prefix, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": last["content"].removeprefix(prefix)},
    ]
    return [*earlier, {**last, "content": blocks}]
