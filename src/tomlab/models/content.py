"""Read a message's text, why it ended and which repeat it is, both from clients and from logs.

Vendors and harnesses write the same message in many forms: a text, a list of parts, or items of a
response. Only the functions in this module know these forms.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from tomlab.models.specs import FILTERED

# The project's words for why an answer ended, each with the words of vendors and harnesses for it.
_REASONS = {
    "stop": """stop end_turn stop_sequence stop_string stop_str completed complete eos eos_token
        eos_found end end_of_text endoftext finished done""",
    "length": """length max_tokens max_output_tokens max_new_tokens model_length max_length
        model_context_window_exceeded context_length context_length_exceeded token_limit""",
    "refusal": "refusal refused",
    FILTERED: """filtered content_filter content_filtered safety blocklist prohibited_content spii
        recitation guardrail_intervened error_toxic sensitive moderation model_armor
        image_safety language_safety""",
    "other": "tool_calls tool_use tool_call function_call pause_turn",
}
_REASON_OF: dict[str, str] = {}
for _reason, _words in _REASONS.items():
    _REASON_OF |= dict.fromkeys(_words.split(), _reason)
# The fields of a record that number its repeats, and the number of the first repeat.
_REPEATS = {"sample": 0, "repeat": 0, "trial": 0, "epoch": 1}
# Values of an error field that mean that there was no error.
_NO_ERROR = {"", "none", "null", "nan", "nat", "n/a", "na", "<na>", "false"}
_TEXTS = ("text", "output_text", "input_text")
LARGEST_COUNT = 10**9  # the largest number of repeats or tokens that is accepted


def text_of(content: Any) -> str | None:
    """The text of a message's `content`, without thoughts, tool calls and pictures.

    content: a text, or a list of parts (objects or dictionaries); a part may be an item of a
    response that has parts of its own. Returns None if `content` is None, and the words of a
    refusal if there is no other text. Errors: `ValueError` for any other content.
    """
    if content is None or isinstance(content, str):
        return content
    parts = list(_parts(content))
    # Texts with a thought or a tool call between them are put on separate lines.
    lines = [
        "".join(map(_text, run))
        for is_text, run in groupby(parts, key=lambda part: _kind(part) in _TEXTS)
        if is_text
    ]
    if lines:
        return "\n".join(lines)
    refusals = [part.get("refusal") for part in parts]
    return "".join(refusal for refusal in refusals if isinstance(refusal, str))


def has_refusal(content: Any) -> bool:
    """Whether a part of a message's `content` is a refusal."""
    if content is None or isinstance(content, str):
        return False
    return any(_kind(part) == "refusal" for part in _parts(content))


def finish_of(reason: Any) -> str | None:
    """Why an answer ended, in the project's words: stop, length, refusal, filtered or other. None
    if the given reason is missing or unknown.
    """
    if not isinstance(reason, str):
        return None
    word, _, _ = reason.lower().partition(":")  # some vendors add details after a colon
    return _REASON_OF.get(word.strip())


def logged_finish_of(reason: Any) -> str | None:
    """Why an answer in a log file ended, as in `finish_of`, except that a filtered answer counts as
    a refusal and an unknown reason as "other". None if the file gives no reason.
    """
    if reason is None or reason == "":
        return None
    finish = finish_of(reason) or "other"
    return "refusal" if finish == FILTERED else finish


def has_error(error: Any) -> bool:
    """Whether the value of an error field reports an error; "none" or a missing value does not."""
    return str(error).strip().lower() not in _NO_ERROR


def repeat_of(record: Mapping[str, Any]) -> int | None:
    """Which repeat of a question a record is, counted from 0; None if the record does not say.

    The number is looked up in the record, then in its `metadata`, where a value that is no number
    is ignored. Errors: `ValueError` if the record's own value is no valid number.
    """
    for name, first in _REPEATS.items():
        value = record.get(name)
        if value is not None and value != "":
            return _repeat(name, value, first)
    metadata = record.get("metadata")
    if isinstance(metadata, Mapping):
        for name in ("repeat", "trial", "epoch"):
            with suppress(ValueError):
                return _repeat(name, metadata.get(name), _REPEATS[name])
    return None


def _repeat(name: str, value: Any, first: int) -> int:
    """The repeat in field `name`, counted from 0. first: the number that the first repeat has."""
    digits = str(value).removesuffix(".0")
    is_count = digits.isascii() and digits.isdigit() and len(digits) < 10
    if not is_count or int(digits) < first:
        start = repr(str(value)[:40])
        raise ValueError(f"field {name}: found {start}, expected a number from {first} on")
    return int(digits) - first


def _parts(content: Any) -> Iterator[Mapping[str, Any]]:
    """The parts of a content as mappings; a message among them is replaced by its own parts."""
    parts = [content] if isinstance(content, str | Mapping) else content
    if not isinstance(parts, list | tuple):
        raise ValueError(f"expected a text or a list of parts, found {str(content)[:80]!r}")  # noqa: TRY004
    for part in parts:
        if isinstance(part, str):
            fields: Mapping[str, Any] = {"type": "text", "text": part}
        elif isinstance(part, Mapping):
            fields = part
        elif hasattr(part, "__dict__"):
            fields = vars(part)
        else:
            raise ValueError(f"expected a part of a message, found {str(part)[:80]!r}")
        if _kind(fields) == "message":
            yield from _parts(fields.get("content") or "")
        else:
            yield fields


def _kind(part: Mapping[str, Any]) -> str:
    """The part's `type`; if it has none, "text" or "other", as its fields suggest."""
    kind = part.get("type")
    if isinstance(kind, str):
        return kind
    is_thought = bool(part.get("thought"))  # one vendor marks thoughts with this field
    return "text" if isinstance(part.get("text"), str) and not is_thought else "other"


def _text(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    if not isinstance(text, str):
        raise ValueError(f"expected a text, found {str(text)[:80]!r}")  # noqa: TRY004 - a field's fault
    return text
