"""What becomes of a server's reply before it is kept: checked, counted, without the key."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tomlab.models.specs import FILTERED, Reply

SHORTEST_KEY = 8  # a shorter one is no secret: servers without one are given any word


class MalformedReplyError(ValueError):
    """The server answered, but not in the protocol's form."""


class FilteredError(Exception):
    """The vendor's content filter took the question or the answer. reply: with counted tokens."""

    def __init__(self, said: str, reply: Reply | None = None):
        super().__init__(f"by the vendor's content filter, {said}")
        self.reply = reply or Reply("", "other")


class Told(SimpleNamespace):
    """A JSON object: what it has is an attribute, what it has not is None."""

    def __getattr__(self, _: str) -> None:
        return None


def from_json(text: str) -> Any:
    """What a server's JSON tells, in the form of the clients' types. Errors: `ValueError`."""
    return json.loads(text, object_hook=lambda fields: Told(**fields))


@contextmanager
def form_of(answer: Any) -> Iterator[None]:
    """While a reply is read. Errors: `MalformedReplyError` where it is of another form."""
    try:
        yield
    except (AttributeError, LookupError, TypeError):
        told = f"what the protocol tells is not in the reply: {str(answer)!r}"
        raise MalformedReplyError(told) from None


def reply(
    text: Any, finish: Any, finishes: Mapping[str, str], counts: Iterable[Any], origin: Mapping
) -> Reply:
    """A checked reply. finishes: our names of a protocol's reasons; counts: tokens of the prompt,
    of the answer, and of the prompt read from the vendor's cache and written there. Errors:
    `MalformedReplyError` for no text in UTF-8; `FilteredError` where the reason is "filtered".
    """
    if not isinstance(text, str):
        raise MalformedReplyError(f"expected a text as the answer, found {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise MalformedReplyError(f"the answer is no Unicode text ({error}): {text!r}") from None
    reason = finishes.get(finish, "other") if isinstance(finish, str) else "other"
    # None of it is the answer; what can't be written as UTF-8 may go.
    told = {n: v.encode(errors="replace").decode() for n, v in origin.items() if isinstance(v, str)}
    prompt, completion, cached, written = map(count, counts)
    cached = min(cached, prompt)
    found = Reply(text, reason, prompt, completion, told, cached, min(written, prompt - cached))
    if reason == FILTERED:
        raise FilteredError(f"after {completion:,} tokens", found)
    return found


def count(tokens: Any) -> int:
    """Tokens as the server counted them, 0 where what it says is no count."""
    return tokens if type(tokens) is int and 0 <= tokens < 2**31 else 0


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
