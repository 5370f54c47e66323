"""How a question was put to a model: which options it showed, in which order, in which call."""

import json
from collections.abc import Mapping
from typing import Any

from tomlab.records.tidy import NO_STORY, REVERSED

YES_NO = ("yes", "no")
INSTEAD_OF_STORY = "(There is no story.)"  # our wording


def options_of(item: Mapping) -> tuple[str, ...]:
    """The options of a question: its `choices`, else "yes" and "no"; () for an open question."""
    if len(item["choices"]):
        return tuple(item["choices"])
    return YES_NO if item["answer"] in YES_NO else ()


def as_shown(item: dict, response: Mapping) -> dict:
    """The item as the model saw it when it gave this response: `choices` in order, the story."""
    options_shown = response.get("options_shown")  # only in answers from `asking.taken`
    if isinstance(options_shown, str) and options_shown:
        return item | {"choices": json.loads(options_shown)}
    if response.get("asked_as") == REVERSED:
        return item | {"choices": list(item["choices"])[::-1]}
    if response.get("asked_as") == NO_STORY:
        return item | dict.fromkeys(("story", "background"), INSTEAD_OF_STORY)
    return item


def first_methods(methods: Mapping[str, Any]) -> set[str]:
    """The names of the methods that serve as the first call of another method in `methods`."""
    return {method.first for method in methods.values() if getattr(method, "first", None)}
