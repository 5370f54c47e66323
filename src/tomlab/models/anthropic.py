"""Models asked through the `anthropic` client."""

from typing import Any

import anthropic

from tomlab.models.remote import Payload, Remote, demand_limit
from tomlab.models.replies import MalformedReplyError, count, reply
from tomlab.models.specs import AnthropicModel, Reply, Request

# The vendor caches prefixes of 1,024 tokens or more; shorter ones are sent as they are.
CACHED_CHARACTERS = 4000
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class Anthropic(Remote):
    """Any server that speaks the Anthropic messages protocol, through the `anthropic` client."""

    sdk, client_class = anthropic, anthropic.AsyncAnthropic
    url, key_env = "https://api.anthropic.com", "ANTHROPIC_API_KEY"
    spec: AnthropicModel

    def body(self, request: Request) -> Payload:
        spec, schema = self.spec, request.schema
        demand_limit(spec, request)
        system = [m["content"] for m in request.messages if m["role"] == "system"]
        form = schema is not None and {"type": "json_schema", "schema": dict(schema)}
        # Not an argument of the client, yet part of the protocol for models that take it.
        degrees = self.temperature(request)
        warmth = {} if degrees is None else {"temperature": degrees}
        return {
            "messages": _cached_prefix(request, spec.prompt_caching),
            "max_tokens": request.max_tokens + spec.thinking_tokens,
            "system": "\n\n".join(system) if system else None,
            "thinking": spec.thinking,
            "output_config": {"format": form} if form else None,
            "extra_body": spec.extra_body | warmth,
        }

    async def send(self, request: Request) -> Reply:
        return self.read(await self._client.messages.create(**self.sent(request)))

    def read(self, answer: Any) -> Reply:
        return _reply(answer)


def _cached_prefix(request: Request, caching: bool) -> list[dict]:
    """The messages but the system's; a long shared prefix is a block of its own, to be cached."""
    *earlier, last = (m for m in request.messages if m["role"] != "system")
    if not caching or len(request.shared_prefix) < CACHED_CHARACTERS:
        return [*earlier, last]
    rest = {"type": "text", "text": last["content"].removeprefix(request.shared_prefix)}
    kept = {"type": "text", "text": request.shared_prefix, "cache_control": {"type": "ephemeral"}}
    return [*earlier, {**last, "content": [kept, rest]}]


def _reply(message: Any) -> Reply:
    try:
        kinds = {block.type for block in message.content}
        # Thinking blocks are not part of the answer; their tokens are in the usage.
        texts = [block.text for block in message.content if block.type == "text"]
        finish, usage = message.stop_reason, message.usage
    except (AttributeError, TypeError):
        raise MalformedReplyError(f"no content in the reply: {str(message)!r}") from None
    if not all(isinstance(part, str) for part in [*kinds, *texts]):
        raise MalformedReplyError(f"expected texts in the reply, found {str(message)!r}")
    read = [getattr(usage, f"{part}_input_tokens", 0) for part in ("cache_read", "cache_creation")]
    counts = [count(tokens) for tokens in (getattr(usage, "input_tokens", 0), *read)]
    said = getattr(usage, "output_tokens", 0)
    origin = {"model": getattr(message, "model", None)}
    return reply("".join(texts), finish, _FINISH, sum(counts), said, origin)
