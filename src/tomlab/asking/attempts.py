"""Asking a model to write something: requests, and the columns that say what became of them."""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from tomlab.asking import prompts
from tomlab.models.specs import Request

OUTCOME = ("status", "reason", "text")
# Why there is nothing to read; what was asked for has a status of its own, such as "story".
FAILURES = ("unparsed", "truncated", "refused", "error")


def stacked(good: str, written: pd.DataFrame, *attempted: pd.DataFrame) -> pd.DataFrame:
    """What a file holds, of status `good`, and the attempts of models, one below the other."""
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
    """The request that prompt `name` makes with its fields filled by `values`. shared: the fields
    that its neighbours fill alike: they share what stands before the first other. options: its own.
    """
    text = prompts.load(name, replaced)
    message = {"role": "user", "content": prompts.fill(text, values)}
    beginning = ""
    if shared is not None:
        # A text as printed may lack a field.
        begins = [text.find(f"{{{key}}}") for key in values if key not in shared]
        first = min((begin for begin in begins if begin >= 0), default=0)
        beginning = prompts.fill(text[:first], values)
    return Request((message,), shared_prefix=beginning, **options)
