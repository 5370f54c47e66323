"""Models asked through the `anthropic` client."""

from typing import Any

import anthropic

from tomlab.models.remote import MalformedReplyError, Payload, Remote, sent, temperature
from tomlab.models.specs import AnthropicModel, Reply, Request

URL = "https://api.anthropic.com"
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
    url, key_env = URL, "ANTHROPIC_API_KEY"
    spec: AnthropicModel

    def payload(self, request: Request) -> Payload:
        spec = self.spec
        system = [m["content"] for m in request.messages if m["role"] == "system"]
        extra = dict(spec.extra_body)
        if (degrees := temperature(spec, request)) is not None:
            # Not an argument of the client, yet part of the protocol for models that take it.
            extra["temperature"] = degrees
        body = {
            "base_url": spec.base_url or URL,
            "model": spec.model,
            "messages": _cached_prefix(request, spec.prompt_caching),
            "max_tokens": request.max_tokens + spec.thinking_tokens,
            "sample": request.sample,
            "extra_body": extra,
        }
        if system:
            body["system"] = "\n\n".join(system)
        if spec.thinking is not None:
            body["thinking"] = spec.thinking
        if request.schema is not None:
            form = {"type": "json_schema", "schema": dict(request.schema)}
            body["output_config"] = {"format": form}
        return body

    async def send(self, request: Request) -> Reply:
        body = sent(self.payload(request))
        return _reply(await self._client.messages.create(**body))


def _cached_prefix(request: Request, caching: bool) -> list[dict]:
    """The messages without the system's; a long shared prefix is a block of its own, to be cached."""
    *earlier, last = (m for m in request.messages if m["role"] != "system")
    if not caching or len(request.shared_prefix) < CACHED_CHARACTERS:
        return [*earlier, last]
    rest = last["content"].removeprefix(request.shared_prefix)
    prefix = {
        "type": "text",
        "text": request.shared_prefix,
        "cache_control": {"type": "ephemeral"},
    }
    return [*earlier, {**last, "content": [prefix, {"type": "text", "text": rest}]}]


def _reply(message: Any) -> Reply:
    blocks = getattr(message, "content", None)
    if not isinstance(blocks, list):
        raise MalformedReplyError(f"no content in the reply: {str(message)[:200]!r}")
    usage = message.usage
    # Thinking blocks are not part of the answer; their tokens are in the usage.
    return Reply(
        text="".join(block.text for block in blocks if block.type == "text"),
        finish_reason=_FINISH.get(message.stop_reason, "other"),
        prompt_tokens=usage.input_tokens
        + (usage.cache_read_input_tokens or 0)
        + (usage.cache_creation_input_tokens or 0),
        completion_tokens=usage.output_tokens,
    )
