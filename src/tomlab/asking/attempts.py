"""Requests that ask a model to write something, and the columns that record their outcome."""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from tomlab.asking import prompts
from tomlab.models.specs import Request

OUTCOME = ("status", "reason", "text")
# Values of `status` where nothing usable was written; a success has another, such as "story".
FAILURES = ("unparsed", "truncated", "refused", "error")


def stacked(good: str, written: pd.DataFrame, *attempted: pd.DataFrame) -> pd.DataFrame:
    """Stacks the rows of a file, given the status `good`, and the attempts of models below them."""
    written = written.assign(status=good, reason="", text="")
    return pd.concat([written, *attempted], ignore_index=True)


def request(
    name: str,
    values: Mapping[str, str],
    replaced: Mapping[str, str] | None = None,
    *,
    shared: Collection[str] | None = None,
    **options: Any,
) -> Request:
    """The request with prompt `name`, its fields filled with `values`.

    shared: the fields with the same value in neighbouring requests; the text before the first
    other field becomes the request's `shared_prefix`. options: other fields of `Request`.
    """
    text = prompts.load(name, replaced)
    message = {"role": "user", "content": prompts.fill(text, values)}
    beginning = ""
    if shared is not None:
        # A printed text may lack some of our fields.
        begins = [text.find(f"{{{key}}}") for key in values if key not in shared]
        first = min((begin for begin in begins if begin >= 0), default=0)
        beginning = prompts.fill(text[:first], values)
    return Request((message,), shared_prefix=beginning, **options)
