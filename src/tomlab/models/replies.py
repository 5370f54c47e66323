"""What becomes of a server's reply before it is kept: checked, counted, without the key.

A reply is an answer only if all speaks for it: no error stands anywhere in it, it says why it
ended, in a word that is known, and it has a text or a known cause to have none. Everything else is
a failed request (`NoAnswerError`), which is never kept and is asked again.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tomlab.models import server_errors
from tomlab.models.content import finish_of
from tomlab.models.specs import FILTERED, Reply
from tomlab.models.usage import MOST_THOUGHT, Usage

SHORTEST_KEY = 8  # a shorter one is no secret: servers without one are given any word
LONGEST_NAME = 200  # characters of what a server calls itself or its model


class MalformedReplyError(ValueError):
    """The server answered, but not in the protocol's form."""


class NoAnswerError(MalformedReplyError):
    """The server replied in the protocol's form, but with no answer. reply: with counted tokens;
    status: that of HTTP which an error in the reply names.
    """

    def __init__(self, message: str, reply: Reply | None = None, status: int | None = None):
        super().__init__(message)
        self.reply = reply
        self.status = status


class FilteredError(Exception):
    """The vendor's content filter took the question or the answer. reply: with counted tokens."""

    def __init__(self, message: str, reply: Reply | None = None):
        super().__init__(f"by the vendor's content filter, {message}")
        self.reply = reply or Reply("", "other")


class Told(SimpleNamespace):
    """A JSON object: what it has is an attribute, what it has not is None."""

    def __getattr__(self, _: str) -> None:
        return None


def from_json(text: str | bytes) -> Any:
    """What a server's JSON tells, in the form of the clients' types. Errors: `ValueError`."""
    return json.loads(text, object_hook=lambda fields: Told(**fields))


def body_of(text: str | bytes) -> Any:
    """The same of a whole reply. Errors: `MalformedReplyError` with what came in place of JSON."""
    try:
        return from_json(text)
    except (ValueError, RecursionError):
        shown = text if isinstance(text, str) else text.decode(errors="replace")
        message = f"expected JSON as the reply, found: {server_errors.said(shown)!r}"
        raise MalformedReplyError(message) from None


@contextmanager
def form_of(answer: Any) -> Iterator[None]:
    """While a reply is read. Errors: `MalformedReplyError` where it is of another form."""
    try:
        yield
    except (AttributeError, LookupError, TypeError):
        message = f"what the protocol tells is not in the reply: {str(answer)!r}"
        raise MalformedReplyError(message) from None
    except ValueError as error:
        if type(error) is not ValueError:  # it says more than that the form is another
            raise
        raise MalformedReplyError(f"the reply is of another form: {error}") from None


def refuse_error(*parts: Any, usage: Usage | None = None) -> None:
    """`NoAnswerError` or `FilteredError` where a part of a reply has an error in it. usage: what
    the reply counts all the same.
    """
    for part in parts:
        error = getattr(part, "error", None)
        if not error:
            continue
        message = f"in place of an answer: {server_errors.said(error)}"
        status = server_errors.status_in(error)
        counted = None if usage is None else _counted("", "other", usage, None, {})
        if server_errors.is_filtered(error, status):
            raise FilteredError(message, counted)
        raise NoAnswerError(message, counted, status)


def reply(text: Any, finish: Any, usage: Usage, *, thinking: Any = None, **origin: Any) -> Reply:
    """A checked reply. text: None where there is none; finish: why it ended, by the server's word;
    thinking: the text of what the model thought; origin: what the server calls itself.

    Errors: `MalformedReplyError` for no text in UTF-8; `FilteredError` where a content filter ended
    it; `NoAnswerError` where it is none.
    """
    if text is not None and not isinstance(text, str):
        raise MalformedReplyError(f"expected a text as the answer, found {text!r}")
    try:
        (text or "").encode()
    except UnicodeEncodeError as error:
        raise MalformedReplyError(f"the answer is no Unicode text ({error}): {text!r}") from None
    reason = finish_of(finish)
    answer = _counted(text or "", reason or "other", usage, thinking, origin)
    if reason == FILTERED:
        raise FilteredError(f"after {answer.completion_tokens:,} tokens", answer)
    if reason not in ("stop", "length", "refusal"):
        message = f"it ended for a reason that no answer ends for: {str(finish)[:100]!r}"
        raise NoAnswerError(message, answer)
    # A model may end at once, or after it has thought; then tokens were counted.
    is_written = answer.completion_tokens > 0 and (text is not None or bool(thinking))
    if reason == "stop" and not answer.text.strip() and not is_written:
        raise NoAnswerError("it has no text, and does not say why", answer)
    return answer


def _counted(text: str, reason: str, usage: Usage, thinking: Any, origin: dict[str, Any]) -> Reply:
    """A reply with what was counted."""
    prompt = usage.prompt or 0
    completion = usage.completion or 0
    cached = min(usage.cached, prompt)
    thought = usage.thought
    if isinstance(thinking, str):  # shown, and perhaps not counted by itself
        thought = max(thought, min(len(thinking.encode(errors="replace")), MOST_THOUGHT))
    # Whoever wrote a text or came to the limit has used tokens.
    is_complete = usage.completion is not None and (
        completion > 0 or (not text and reason != "length")
    )
    names = {
        name: value[:LONGEST_NAME].encode(errors="replace").decode()
        for name, value in origin.items()
        if isinstance(value, str)
    }
    return Reply(
        text,
        reason,
        prompt,
        completion,
        names,
        cached_tokens=cached,
        written_tokens=min(usage.written, prompt - cached),
        thought_tokens=thought,
        is_counted=bool(prompt and is_complete),
    )


def without_key(answer: Reply, key: str | None) -> Reply:
    """A reply that does not repeat the key, nor so much of it that no word is meant."""
    origin = {name: redacted(told, key) for name, told in answer.origin.items()}
    return replace(answer, text=redacted(answer.text, key, SHORTEST_KEY - 1), origin=origin)


def redacted(text: str, key: str | None, most: int = 4) -> str:
    """A text with at most so many characters of the key in a row: servers repeat a part of it."""
    if not key or len(key) < SHORTEST_KEY:
        return text
    parts = [key[start : start + most + 1] for start in range(len(key) - most)]
    if any(part in text for part in parts):
        # From where a part begins to the end of the last one that begins next to another.
        begins = f"(?={'|'.join(map(re.escape, parts))})"
        text = re.sub(f"(?:{begins}.)+.{{{most}}}", "…", text, flags=re.DOTALL)
    return text
