"""What scorers of multiple choice share: letters of options, one answer's verdict, its row."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tomlab.scoring.answers import failed, lost, unanswered


class Reading(NamedTuple):
    """How an answer was read."""

    outcome: str  # "answered", or of `tidy.OUTCOMES`
    key: str | None  # of the option it names
    rule: str  # what decided, in words


def no_option(text: str, finish_reason: str, open_thought: bool, why: str) -> Reading:
    """The reading of an answer in which no option was found; `why`: the rule if it is unparsed."""
    outcome = unanswered(text, finish_reason, open_thought)
    rules = {"truncated": "cut off before an option was settled", "refused": "declines to answer"}
    return Reading(outcome, None, rules.get(outcome, why if text else "empty"))


def judged(
    item: Mapping,
    response: Mapping,
    keys: Sequence[str],
    read: Callable[[str, str, bool], Reading],
    cot: bool,
) -> Reading:
    """The verdict on one response: `read`, of text, finish reason and `cot` (it was to reason
    first), with "answered" made correct or wrong. keys: the letters of options.
    """
    if failed(response):
        outcome, rule = lost(response)
        return Reading(outcome, None, rule)
    reading = read(response["response"], response["finish_reason"], cot)
    if reading.key is None:
        return reading
    if reading.key not in keys[: len(item["choices"])]:
        return Reading("unparsed", None, "names a key under which no option stands")
    right = reading.key == key_of(item, item["answer"], keys)
    return reading._replace(outcome="correct" if right else "wrong")


def scored(
    item: Mapping,
    response: Mapping,
    verdict: Reading,
    keys: Sequence[str],
    conditions: Sequence[str],
) -> dict:
    """A row of the scores table: whose answer, `conditions`, verdict, and the `chosen` text."""
    whose = {name: response[name] for name in ("item_id", "model", "method", "sample", "asked_as")}
    told = {"outcome": verdict.outcome, "score": float(verdict.outcome == "correct")}
    chosen = None if verdict.key is None else item["choices"][keys.index(verdict.key)]
    return whose | {name: item[name] for name in conditions} | told | {"chosen": chosen}


def key_of(item: Mapping, text: str, keys: Sequence[str]) -> str:
    """The letter under which an option is shown."""
    return keys[list(item["choices"]).index(text)]


def shuffled(options: Sequence[str], seed: int, item_id: str) -> list[str]:
    """The options in the order drawn by `seed` and the item's id."""
    return random.Random(f"{seed}/{item_id}").sample(options, len(options))
