"""Read the errors that servers send: their text, and whether a content filter caused them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

# HTTP statuses that never come from a content filter: wrong keys or addresses, rate limits.
_NEVER_FILTERED = {401, 404, 407, 408, 409, 413, 429}
_SENT = {"input", "prompt", "messages"}  # fields in which a server repeats what it was sent
# Codes and sentences of content filters. A space matches spaces and marks, or nothing.
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
    """Whether a content filter removed the question or answer, by what the server sent instead.

    body: a text, or the parsed JSON from `replies.from_json`; status: the HTTP status, None if it
    was not an error.
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
    """A client's error in words, with the server's text or else its cause. (Clients report any lost
    connection as a timeout; the cause says more.)
    """
    status = getattr(error, "status_code", None)
    response = getattr(error, "response", None)
    if status and response is not None:
        return f"Error code: {status} - {response.text}"
    return f"{error} ({error.__cause__})" if error.__cause__ else str(error)


def passes(status: int | None) -> bool:
    """Whether a request that failed with this HTTP status (None: no status) may work again."""
    return not status or status in (408, 409, 429) or status >= 500


def _fields(body: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each value in a body with its field's name, except fields that repeat what was sent."""
    if isinstance(body, Mapping):
        for field, value in body.items():
            if field not in _SENT:
                yield from _fields(value, field)
    elif isinstance(body, list):
        for part in body:
            yield from _fields(part, name)
    else:
        yield name, body
