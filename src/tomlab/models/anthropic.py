"""Models asked through the `anthropic` client."""

from typing import Any

import anthropic

from tomlab.models.content import text_of
from tomlab.models.remote import Payload, Remote, demand_limit
from tomlab.models.replies import form_of, refuse_error, reply
from tomlab.models.specs import Reply, Request
from tomlab.models.usage import usage_of

CACHED_CHARACTERS = 4000  # the vendor caches prefixes of 1,024 tokens or more


class Anthropic(Remote):
    """Any server that speaks the Anthropic messages protocol."""

    sdk, client_class, sdk_error = anthropic, anthropic.AsyncAnthropic, anthropic.AnthropicError
    url, key_env, path = "https://api.anthropic.com", "ANTHROPIC_API_KEY", "/v1/messages"

    def body(self, request: Request) -> Payload:
        spec, schema, degrees = self.spec, request.schema, self.temperature(request)
        demand_limit(spec, request)
        system = [m["content"] for m in request.messages if m["role"] == "system"]
        form = None if schema is None else {"type": "json_schema", "schema": dict(schema)}
        output = {"effort": spec.reasoning_effort, "format": form}
        return {
            "messages": _cached_prefix(request),
            "max_tokens": self.limit(request),
            "system": "\n\n".join(system) if system else None,
            "thinking": spec.thinking,
            "output_config": {name: told for name, told in output.items() if told} or None,
            "extra_body": spec.extra_body | ({} if degrees is None else {"temperature": degrees}),
        }

    def read(self, answer: Any) -> Reply:
        with form_of(answer):
            usage = usage_of(answer.usage, cache_beside=True)
            refuse_error(answer, usage=usage)
            if not all(isinstance(block.type, str) for block in answer.content):
                raise TypeError
            text = text_of(answer.content)
            thinking = "".join(str(block.thinking or "") for block in answer.content)
        return reply(text, answer.stop_reason, usage, thinking=thinking, model=answer.model)


def _cached_prefix(request: Request) -> list[dict]:
    """The messages but the system's; a long shared prefix is a block of its own, to be cached."""
    *earlier, last = (m for m in request.messages if m["role"] != "system")
    if len(request.shared_prefix) < CACHED_CHARACTERS:
        return [*earlier, last]
    rest = {"type": "text", "text": last["content"].removeprefix(request.shared_prefix)}
    kept = {"type": "text", "text": request.shared_prefix, "cache_control": {"type": "ephemeral"}}
    return [*earlier, {**last, "content": [kept, rest]}]
