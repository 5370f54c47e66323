"""What a message says, why it ended and which repeat it is: for clients and logs alike.

Vendors and harnesses write one and the same message in many forms: a text, a list of parts, items
of a response. These functions are the only place that knows the forms.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from tomlab.models.specs import FILTERED

# Why an answer ended, in the words of vendors and harnesses, by the project's words.
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
# What stands in the place of an error where there is none.
_NO_ERROR = {"", "none", "null", "nan", "nat", "n/a", "na", "<na>", "false"}
_TEXTS = ("text", "output_text", "input_text")
LARGEST_COUNT = 10**9  # of repeats and of tokens


def text_of(content: Any) -> str | None:
    """The text of a message's `content`, without thoughts, calls of tools and pictures.

    content: a text, or parts (objects or dictionaries), which may be items of a response that have
    parts of their own. Returns None where there is no content; the words of a refusal where there
    is no other text. Errors: `ValueError` for anything else.
    """
    if content is None or isinstance(content, str):
        return content
    parts = list(_parts(content))
    # A line ends where a thought or a call stands between two texts.
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
    """Why an answer ended, in our words: stop, length, refusal, filtered or other. None where no
    reason is given, or one that is not known.
    """
    if not isinstance(reason, str):
        return None
    word, _, _ = reason.lower().partition(":")  # behind which some say more
    return _REASON_OF.get(word.strip())


def logged_finish_of(reason: Any) -> str | None:
    """The same for an answer that stands in a file: what a filter took away was refused, and a
    reason that is not known is another one. None where the file gives none.
    """
    if reason is None or reason == "":
        return None
    finish = finish_of(reason) or "other"
    return "refusal" if finish == FILTERED else finish


def has_error(error: Any) -> bool:
    """Whether something stands in the field or cell of an error: a missing value is none."""
    return str(error).strip().lower() not in _NO_ERROR


def repeat_of(record: Mapping[str, Any]) -> int | None:
    """Which repeat of a question a record is, from 0 on; None where it does not say so.

    The number stands in the record or in its `metadata`, which may have other things by such a
    name. Errors: `ValueError` for what is no count in the record.
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
    digits = str(value).removesuffix(".0")
    is_count = digits.isascii() and digits.isdigit() and len(digits) < 10
    if not is_count or int(digits) < first:
        start = repr(str(value)[:40])
        raise ValueError(f"field {name}: found {start}, expected a number from {first} on")
    return int(digits) - first


def _parts(content: Any) -> Iterator[Mapping[str, Any]]:
    """The parts of a content; those of an item of a response that is a message, in its place."""
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
    """What kind of part it is; one without a type is told by its fields."""
    kind = part.get("type")
    if isinstance(kind, str):
        return kind
    is_thought = bool(part.get("thought"))  # so marked by one vendor, beside its text
    return "text" if isinstance(part.get("text"), str) and not is_thought else "other"


def _text(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    if not isinstance(text, str):
        raise ValueError(f"expected a text, found {str(text)[:80]!r}")  # noqa: TRY004 - a field's fault
    return text
