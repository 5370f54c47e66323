"""What a server says in place of an answer, and whether its content filter said it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

# Statuses of HTTP that have other causes than what was asked: keys, addresses, limits of rate.
_NEVER_FILTERED = {401, 404, 407, 408, 409, 413, 429}
_SENT = {"input", "prompt", "messages"}  # fields in which a server repeats what it was sent
# Codes and sentences of content filters. A space stands for spaces and marks, or for nothing.
_FILTERS = (
    "content (filter|polic|management|moderation|safety|violates)",  # OpenAI, Azure, Moonshot
    "responsible ai policy",  # Azure
    "(moderation|prompt) blocked",  # OpenAI
    "invalid_prompt",  # OpenAI: flagged as against its usage policy
    "data inspection failed",  # DashScope
    "(inappropriate|prohibited|sensitive|unsafe|harmful) (content|words?|information)",
    "image safety",  # Gemini
    "model armor",  # Vertex
    "safety (check|system|filter|setting|reason|polic)",  # xAI
    "guardrail.{0,60}(block|interven|violat|triggered|raised)",  # Bedrock, LiteLLM, Databricks
    "content exists risk|considered high risk",  # DeepSeek, Moonshot
    "(violat\\w+|against) .{0,40}(usage|content|safety|guardrail|moderation|acceptable use)",
    "(prompt|input|content|output|request|response) .{0,20}(flagged|moderated)",
    "blocked .{0,40}(safety|content|moderation|prohibited|blocklist|guardrail)",
    "^(safety|blocklist|spii|recitation|sensitive|moderation|1301)$",  # Gemini, Zhipu
    "敏感|不安全|违规",
)
_FILTER = re.compile("|".join(_FILTERS).replace(" ", r"[\W_]*"), re.IGNORECASE)


def is_filtered(body: Any, status: int | None = None) -> bool:
    """Whether a content filter took the question or the answer, by what stands in its place.

    body: a text, or what `replies.from_json` makes of it; status: that of HTTP, None where the
    reply is no error by it.
    """
    if status in _NEVER_FILTERED:
        return False
    try:
        body = json.loads(words(body))
    except (ValueError, RecursionError):
        body = words(body)
    for name, value in _fields(body):
        if isinstance(value, str) and _FILTER.search(value):
            return True
        if value is True and name in ("filtered", "flagged"):  # Azure's verdicts by category
            return True
    return False


def words(body: Any) -> str:
    """What a server says: a text as it stands, anything else as JSON."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=vars)


def described(error: Exception) -> str:
    """An error of a client's in words, with what the server says, or with its cause: clients say of
    any lost connection that it timed out.
    """
    status = getattr(error, "status_code", None)
    response = getattr(error, "response", None)
    if status and response is not None:
        return f"Error code: {status} - {response.text}"
    return f"{error} ({error.__cause__})" if error.__cause__ else str(error)


def passes(status: int | None) -> bool:
    """Whether a failure with this HTTP status, or without one, may be gone the next time."""
    return not status or status in (408, 409, 429) or status >= 500


def _fields(body: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each value in a body with the name of its field, but for what the server was sent."""
    if isinstance(body, Mapping):
        for field, value in body.items():
            if field not in _SENT:
                yield from _fields(value, field)
    elif isinstance(body, list):
        for part in body:
            yield from _fields(part, name)
    else:
        yield name, body
