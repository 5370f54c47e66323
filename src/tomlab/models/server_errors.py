"""What a server says in place of an answer: in words, and whether its content filter said it."""

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from types import SimpleNamespace
from typing import Any

LONGEST = 1000  # characters of what a server says that are read on
# Statuses that have other causes than what was asked: keys, addresses, limits of rate.
_NEVER_FILTERED = {401, 404, 407, 408, 409, 413, 429}
# Fields in which servers say what is wrong, the most telling first, and those that name a kind.
_MESSAGES = ("message", "msg", "detail", "error", "errors", "error_message", "error_msg")
_MESSAGES += ("description", "error_description", "reason", "title", "raw")
_CODES = ("code", "type", "status", "name", "reason", "error_code", "error_type", "errorType")
_CODES += ("blockReason", "block_reason", "finish_reason", "finishReason", "native_finish_reason")
_SENT = {"input", "prompt", "messages"}  # fields in which a server repeats what it was sent
# Kinds of a content filter's refusals, without case, spaces and marks. One may stand within a
# longer name, such as "InternalError.Algo.DataInspectionFailed".
_FILTER_CODES = (
    "contentfilter",  # OpenAI, Azure, Moonshot
    "contentpolicyviolation",  # OpenAI, and LiteLLM's ContentPolicyViolationError
    "responsibleaipolicyviolation",  # Azure
    "moderationblocked",  # OpenAI
    "invalidprompt",  # OpenAI: flagged as against its usage policy
    "datainspectionfailed",  # DashScope
    "inappropriatecontent",
    "prohibitedcontent",  # Gemini
    "imagesafety",
    "modelarmor",  # Vertex
    "safetychecktype",  # xAI
    "guardrailintervened",  # Bedrock
    "guardrailviolation",
    "guardrailraised",  # LiteLLM
    "inputguardrailtriggered",  # Databricks
    "outputguardrailtriggered",
    "sensitivecontentdetected",  # Volcengine
    "sensitivewordsdetected",  # New API
    "contentmoderation",
    "promptblocked",
)
# The same, where they are the whole name.
_FILTER_NAMES = {"safety", "blocklist", "spii", "recitation", "sensitive", "1301", "moderation"}
# Sentences of content filters, without case.
_FILTER_PHRASES = re.compile(
    r"content[ _-]?(management|moderation|safety|filter\w*|polic\w+)"
    r"|contentpolicyviolation|responsibleaipolicyviolation|data_?inspection_?failed"
    r"|(inappropriate|prohibited|sensitive|unsafe|harmful) (content|words?|information)"
    r"|content exists risk|considered high risk|prohibited_content"
    r"|safety (system|filter|setting|reason|polic|check)"
    r"|(violat\w+|against) .{0,40}(usage|content|safety|guardrail|moderation|acceptable use)"
    r"|content violates"
    r"|guardrail.{0,60}(block|interven|violat|triggered)|blocked by .{0,40}guardrail"
    r"|(prompt|input|content|output|request|response) .{0,20}\b(flagged|moderated)\b"
    r"|blocked .{0,40}(safety|content|moderation|prohibited|blocklist)"
    r"|敏感|不安全|违规",
    re.IGNORECASE,
)
_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


def said(body: Any) -> str:
    """What a server says in a body, in one line: JSON of any form, a page of HTML or a text.

    body: a text, or what JSON makes of it.
    """
    if isinstance(body, str):
        body = _json_or_text(body)
    words = _words(body, depth=0)
    return " ".join(words.split())[:LONGEST]


def described(error: Exception) -> str:
    """An error in words; where it is a status of HTTP, with what the server says."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None)
    if response is None or status is None:
        return str(error)
    message = said(response.text)
    return f"Error code: {status} - {message}" if message else f"Error code: {status}"


def is_filtered(body: Any, status: int | None = None) -> bool:
    """Whether a content filter took the question or the answer, by what stands in its place.

    body: as in `said`; status: that of HTTP, None where the reply is no error by it.
    """
    if status in _NEVER_FILTERED:
        return False
    if isinstance(body, str):
        body = _json_or_text(body)
    if isinstance(body, str):
        return bool(_FILTER_PHRASES.search(body[:LONGEST]))
    return any(_is_filters(name, value) for name, value in _fields(body, depth=0))


def passes(status: int | None) -> bool:
    """Whether a failure with this HTTP status, or without one, may be gone the next time."""
    return not status or status in (408, 409, 429) or status >= 500


def status_in(error: Any) -> int | None:
    """The status of HTTP that an error within a reply names; None if it names none."""
    for name in ("status", "status_code", "code"):
        value = _get(error, name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
            value = int(value)
        if type(value) is int and 100 <= value < 600:
            return value
    return None


def _is_filters(name: str, value: Any) -> bool:
    """Whether a field of an error tells of a content filter."""
    if not isinstance(value, str):
        # Azure's verdicts by category.
        return name in ("filtered", "flagged") and value is True
    is_code = name in _CODES or not re.search(r"\s", value.strip())
    plain = re.sub(r"[\W_]", "", value.lower()) if is_code else ""
    if plain in _FILTER_NAMES and name in _CODES:
        return True
    if any(code in plain for code in _FILTER_CODES):
        return True
    return bool(_FILTER_PHRASES.search(value[:LONGEST]))


def _json_or_text(text: str) -> Any:
    """What stands in a body: JSON, else its text, that of a page without its markup."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    beginning = text.lstrip()[:200].lower()
    if beginning.startswith(("<!doctype", "<html", "<head", "<body")):
        heading = _TITLE.search(text[:100_000])
        text = heading[2] if heading else _TAG.sub(" ", text[:100_000])
        text = unescape(_TAG.sub(" ", text))
    return text


def _words(body: Any, depth: int) -> str:
    """What a part of a body says."""
    if depth > 6 or body is None or isinstance(body, bool):
        return ""
    if isinstance(body, str):
        return body
    if isinstance(body, int | float):
        return str(body)
    if isinstance(body, list):
        parts = [_words(part, depth + 1) for part in body[:3]]
        return "; ".join(part for part in parts if part)
    messages = [_words(_get(body, name), depth + 1) for name in _MESSAGES]
    message = next((words for words in messages if words), "")
    place = _get(body, "loc")  # of a field that is at fault, in lists of such errors
    if isinstance(place, list) and message:
        return f"{'.'.join(map(str, place))}: {message}"
    for name in ("code", "type"):
        kind = _get(body, name)
        is_telling = isinstance(kind, str) and not kind.isdigit() and kind not in ("error", "None")
        if is_telling and kind not in message:
            return f"{kind}: {message}" if message else kind
    if message:
        return message
    return json.dumps(_plain(body), ensure_ascii=False)


def _fields(body: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """All fields of a body with what is in them, also within others."""
    if depth > 8:
        return
    if isinstance(body, list):
        for part in body[:50]:
            yield from _fields(part, depth + 1)
        return
    fields = body.__dict__ if isinstance(body, SimpleNamespace) else body
    if not isinstance(fields, Mapping):
        yield "", body
        return
    for name, value in fields.items():
        if name in _SENT:
            continue
        if isinstance(value, Mapping | SimpleNamespace | list):
            yield from _fields(value, depth + 1)
        else:
            yield name, value


def _get(body: Any, name: str) -> Any:
    if isinstance(body, Mapping):
        return body.get(name)
    return getattr(body, name, None) if isinstance(body, SimpleNamespace) else None


def _plain(body: Any, depth: int = 0) -> Any:
    """A body as JSON can write it, no deeper than anybody reads."""
    if depth > 6:
        return "…"
    if isinstance(body, SimpleNamespace):
        body = body.__dict__
    if isinstance(body, Mapping):
        return {name: _plain(value, depth + 1) for name, value in body.items()}
    if isinstance(body, list):
        return [_plain(value, depth + 1) for value in body[:20]]
    return body
