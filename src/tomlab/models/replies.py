"""Check a server's reply and count its tokens before it is kept.

A reply is an answer only if it contains no error, gives a known reason why it ended, and has a text
or a known cause for having none. Everything else is a failed request (`NoAnswerError`), which is
never kept and is asked again.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tomlab.models import server_errors
from tomlab.models.content import finish_of
from tomlab.models.specs import FILTERED, Reply
from tomlab.models.usage import Usage


class NoAnswerError(Exception):
    """The server replied, but gave no answer. reply: what there is of one, for its token counts."""

    def __init__(self, message: str, reply: Reply | None = None):
        super().__init__(message)
        self.reply = reply


class FilteredError(Exception):
    """The vendor's content filter removed the question or answer. reply: holds the token counts."""

    def __init__(self, message: str, reply: Reply | None = None):
        super().__init__(f"by the vendor's content filter, {message}")
        self.reply = reply or Reply("", "other", is_counted=False)


def reply(text: str | None, finish: Any, usage: Usage, **origin: Any) -> Reply:
    """A checked reply. text: None if the server sent none; finish: why it ended, in the server's
    words; origin: the names that the server gives for itself, such as `model`.

    Errors: `FilteredError` if a content filter ended it; `NoAnswerError` if it is no answer.
    """
    has_text = text is not None
    text = text or ""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NoAnswerError(f"the answer is no Unicode text ({error}): {text!r}") from None
    reason = finish_of(finish)
    answer = _counted(text, reason or "other", usage, origin)
    if reason == FILTERED:
        raise FilteredError(f"after {answer.completion_tokens:,} tokens", answer)
    if reason not in ("stop", "length", "refusal"):
        message = f"it ended for a reason that no answer ends for: {str(finish)[:100]!r}"
        raise NoAnswerError(message, answer)
    # An empty text is an answer if tokens were counted: the model ended at once.
    is_empty = not text.strip() and not (has_text and answer.completion_tokens)
    if reason == "stop" and is_empty:
        raise NoAnswerError("it has no text, and does not say why", answer)
    return answer


def _counted(text: str, reason: str, usage: Usage, origin: dict[str, Any]) -> Reply:
    """A reply with the token counts of `usage`."""
    return Reply(
        text,
        reason,
        usage.prompt,
        usage.completion,
        {name: value for name, value in origin.items() if isinstance(value, str)},
        cached_tokens=usage.cached,
        written_tokens=usage.written,
        is_counted=bool(usage.prompt and usage.completion),
    )


class JsonObject(SimpleNamespace):
    """A JSON object whose fields are attributes; a field that it does not have is None."""

    def __getattr__(self, _: str) -> None:
        return None


def from_json(text: str | bytes) -> Any:
    """A server's JSON, with objects as `JsonObject`, which read like the clients' types. Errors:
    `NoAnswerError` that quotes the text if it is not JSON.
    """
    try:
        return json.loads(text, object_hook=lambda fields: JsonObject(**fields))
    except (ValueError, RecursionError):
        raise NoAnswerError(f"expected JSON as the reply, found: {text[:300]!r}") from None


@contextmanager
def form_of(answer: Any) -> Iterator[None]:
    """Within the block, faults in reading `answer` become `NoAnswerError`: it has another form."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise NoAnswerError(f"the reply is of another form ({error}): {str(answer)!r}") from None


def refuse_error(*parts: Any, usage: Usage | None = None) -> None:
    """Raise `NoAnswerError` or `FilteredError` if a part of a reply has an `error`. usage: the
    tokens that the reply counts all the same.
    """
    for part in parts:
        error = getattr(part, "error", None)
        if not error:
            continue
        message = f"in place of an answer: {server_errors.words(error)}"
        counted = _counted("", "other", usage, {}) if usage else None
        if server_errors.is_filtered(error):
            raise FilteredError(message, counted)
        raise NoAnswerError(message, counted)
