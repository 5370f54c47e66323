"""SimpleToM's verdict: the option that an answer names, held against the released rule."""

import re
from collections.abc import Mapping

import pandas as pd

from tomlab.benchmarks.simpletom.items import KEYS, METHODS, key_of
from tomlab.records.tables import check
from tomlab.scoring.answers import failed, pairs
from tomlab.scoring.options import read_answer


def score(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0) and the item's conditions.

    Details: `chosen` (the option's text, None if none), `completion_tokens`, `by_released_rule`.
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    rows = [_scored(*pair) for pair in pairs(items, responses, METHODS)]
    return check(pd.DataFrame(rows), "scores", "simpletom scores")


def _scored(item: Mapping, response: Mapping) -> dict:
    right_key, chosen, by_released = key_of(item, item["answer"]), None, None
    if failed(response):
        outcome = "error"
    else:
        text, cot = response["response"], METHODS[response["method"]].cot
        by_released = released_rule(text, right_key, cot)
        outcome, key = read_answer(text, response["finish_reason"], cot)
        if key is not None and KEYS.index(key) >= len(item["choices"]):
            outcome, key = "unparsed", None
        if key is not None:
            chosen = item["choices"][KEYS.index(key)]
            outcome = "correct" if key == right_key else "wrong"
    kept = ("item_id", "model", "method", "sample")
    conditions = ("group_id", "source", "question_type", "variant")
    conditions += ("scenario", "severity", "story_id")
    return {
        **{name: response[name] for name in kept},
        **{name: item[name] for name in conditions},
        "outcome": outcome,
        "score": float(outcome == "correct"),
        "chosen": chosen,
        "by_released_rule": by_released,
        "completion_tokens": response["completion_tokens"],
    }


def released_rule(text: str, right_key: str, cot: bool) -> bool:
    """The verdict of the released code, for comparison.

    It cuts off what stands before the last "the answer is" (chain of thought) or deletes every
    "answer:"; then "(A)" anywhere wins over "(B)"; else a half-open bracket, else a bare letter, if
    it is the only one. Nothing found is wrong.
    """
    opening = r"(?s)\A.*the answer is:?" if cot else r"answer:?"
    rest = re.sub(opening, "", text, flags=re.IGNORECASE)
    if closed := [key for key in "ABCD" if f"({key})" in rest]:
        return closed[0] == right_key
    for form in ("({}", "{}"):
        if found := [key for key in "ABCD" if form.format(key) in rest]:
            return found == [right_key]
    return False
