"""BigToM's verdict: the option that an answer names (App. E), held against the released rule."""

import re
from collections.abc import Mapping

import pandas as pd

from tomlab.benchmarks.bigtom.items import KEYS, METHODS, _key_of
from tomlab.records.tables import check
from tomlab.scoring.answers import failed, pairs, unanswered, visible

_MARKER = re.compile(r"answer\W{0,4}:", re.IGNORECASE)
# The key with its bracket or full stop, or alone on its line; markdown around it is let pass.
_LEADING_KEY = re.compile(
    r"[\s\"'*_(\[<`]*([ab])(?:[\s*_`]*[)\].>]|[\W_]*?(?:\n|\Z))", re.IGNORECASE
)
_ANY_KEY = re.compile(r"(?<![^\W_])([ab])\)", re.IGNORECASE)
_LINE_KEY = re.compile(r"^\W*([ab])\)", re.IGNORECASE | re.MULTILINE)


def read_answer(text: str, finish_reason: str, cot: bool) -> tuple[str, str | None]:
    """The outcome-or-"answered" of one answer, and the option key it names.

    text: the whole answer; cot: it was to reason first. The first "Answer:" opens the answer. A
    key that leads it settles it, even if the rest was cut off; otherwise it must name exactly one
    option. Naming both, or none, or listing the options again is `unparsed`. Chain of thought
    without "Answer:" counts only as a bare answer: it leads with a key, names no other and was not
    cut off.
    """
    said, open_thought = visible(text)
    marker = _MARKER.search(said)
    answer = said[marker.end() :] if marker else said
    lists_both = len({key.lower() for key in _LINE_KEY.findall(answer)}) > 1
    leading = None if lists_both or open_thought else _LEADING_KEY.match(answer)
    named = {key.lower() for key in _ANY_KEY.findall(answer)}
    cut_off = open_thought or finish_reason == "length"
    reasons_only = cot and not marker
    if leading and not (reasons_only and (cut_off or len(named) > 1)):
        return "answered", leading[1].lower()
    if len(named) == 1 and not cut_off and not reasons_only:
        return "answered", named.pop()
    return unanswered(said, finish_reason, open_thought), None


def released_rule(text: str, right_key: str, method: str) -> bool | None:
    """The verdict of the released code, for comparison: True as soon as the right key stands
    anywhere, False if only the other does, None where it turns to a language model as grader.
    """
    answer = text.strip()
    if method == "0-shot-cot":
        # One character more than "Answer:" has is skipped, so "Answer:a)" loses its key; without
        # "Answer:" (index -1) the first seven are.
        answer = answer[answer.find("Answer:") + 8 :]
    answer = answer.lower()
    if f"{right_key})" in answer:
        return True
    return False if any(f"{key})" in answer for key in KEYS) else None


def score(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0) and the item's conditions.

    Details: `chosen` (the option's text, None if none), `by_released_rule` (see `released_rule`).
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    rows = [_scored(*pair) for pair in pairs(items, responses, METHODS)]
    return check(pd.DataFrame(rows), "scores", "bigtom scores")


def _scored(item: Mapping, response: Mapping) -> dict:
    right_key, chosen, by_released = _key_of(item, item["answer"]), None, None
    if failed(response):
        outcome = "error"
    else:
        text, method = response["response"], response["method"]
        by_released = released_rule(text, right_key, method)
        outcome, key = read_answer(text, response["finish_reason"], METHODS[method].cot)
        if key is not None:
            chosen = item["choices"][KEYS.index(key)]
            outcome = "correct" if key == right_key else "wrong"
    kept = ("item_id", "model", "method", "sample")
    conditions = ("group_id", "source", "variable", "condition", "initial_belief")
    return {
        **{name: response[name] for name in kept},
        **{name: item[name] for name in conditions},
        "outcome": outcome,
        "score": float(outcome == "correct"),
        "chosen": chosen,
        "by_released_rule": by_released,
    }
