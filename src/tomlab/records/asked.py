"""How the rows of items and responses were put to a model."""

import json
from collections.abc import Mapping
from typing import Any

from tomlab.records.tidy import REVERSED

YES_NO = ("yes", "no")


def options_of(item: Mapping) -> tuple[str, ...]:
    """The options of a question, shown or understood as "yes" and "no"; none if it is open."""
    if len(item["choices"]):
        return tuple(item["choices"])
    return YES_NO if item["answer"] in YES_NO else ()


def as_shown(item: dict, response: Mapping) -> dict:
    """An item with its options in the order in which they were shown for a response."""
    options_shown = response.get("options_shown")  # of `asking.taken`
    if isinstance(options_shown, str) and options_shown:
        return item | {"choices": json.loads(options_shown)}
    if response.get("asked_as") == REVERSED:
        return item | {"choices": list(item["choices"])[::-1]}
    return item


def first_methods(methods: Mapping[str, Any]) -> set[str]:
    """The methods that are the first call of others, as METHODS tell."""
    return {method.first for method in methods.values() if getattr(method, "first", None)}
