"""Asking a model to write something: what was asked for, or an attempt with why it is none."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from tomlab.asking import prompts
from tomlab.models.specs import Reply, Request, Response
from tomlab.scoring.answers import unanswered
from tomlab.scoring.visible import visible

OUTCOME = ("status", "reason", "text")
# Why there is nothing to read; what was asked for has a status of its own, such as "story".
FAILURES = ("unparsed", "truncated", "refused", "error")


class Unparsed(str):
    """The reason why an answer can't be used; few different ones, so that they can be counted."""


class Answer(NamedTuple):
    """What is visible of a reply, and how it ended."""

    text: str
    finish_reason: str
    cut: bool  # whether it ended at the token limit or before the thinking did
    failure: str  # which of `FAILURES` it is if it can't be used


def answer(reply: Reply) -> Answer:
    """A reply without its thinking."""
    (text, open_thought), ended = visible(reply.text), reply.finish_reason
    cut = ended == "length" or open_thought
    return Answer(text, ended, cut, unanswered(text, ended, open_thought))


def attempt(response: Response, parse: Callable[[Answer], Any], good: str) -> tuple[Any, dict]:
    """What `parse` made of an answer (None for `Unparsed`), and its `OUTCOME`: status (`good` or
    one of `FAILURES`), reason, and the whole text with its thinking.
    """
    if response.reply is None:
        status = "refused" if response.filtered else "error"
        return None, {"status": status, "reason": response.error or "", "text": ""}
    found, outcome = answer(response.reply), {"text": response.reply.text}
    parsed = parse(found)
    if isinstance(parsed, Unparsed):
        return None, {"status": found.failure, "reason": str(parsed), **outcome}
    return parsed, {"status": good, "reason": "", **outcome}


def label_fault(found: Sequence[tuple[str, str]], labels: Sequence[str], what: str) -> str | None:
    """Why `found`, pairs of label and text, has not every label once, in order, with a text."""
    order = [label for label, _ in found]
    if doubled := [label for label in labels if order.count(label) > 1]:
        return f"{doubled[0]}: stands {order.count(doubled[0])} times"
    if missing := [label for label in labels if label not in order]:
        return f"{missing[0]}: missing ({len(missing)} of {len(labels)} {what} missing)"
    if wrong := [a for a, b in zip(order, labels, strict=True) if a != b]:
        return f"{wrong[0]}: out of order"
    return next((f"{label}: empty" for label, text in found if not text), None)


def stacked(good: str, written: pd.DataFrame, *attempted: pd.DataFrame) -> pd.DataFrame:
    """What a file holds, of status `good`, and the attempts of models, one below the other."""
    own = written.assign(status=good, reason="", text="")
    return pd.concat([own, *attempted], ignore_index=True)


def request(
    name: str,
    values: Mapping[str, str],
    replaced: Mapping[str, str] | None = None,
    *,
    shared: Collection[str] | None = None,
    **options: float,
) -> Request:
    """The request that prompt `name` makes with its fields filled by `values`. shared: the fields
    that its neighbours fill alike: they share what stands before the first other. options: its own.
    """
    text = prompts.load(name, replaced)
    message = {"role": "user", "content": prompts.fill(text, values)}
    beginning = ""
    if shared is not None:
        # A text as printed may lack a field.
        own = [text.find(f"{{{key}}}") for key in values if key not in shared]
        first = min((place for place in own if place >= 0), default=0)
        beginning = prompts.fill(text[:first], values)
    return Request((message,), shared_prefix=beginning, **options)
