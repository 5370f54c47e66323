"""SimpleToM's verdict: the option that an answer names, held against the released rule.

The rule is `scoring.choices.judged`. The key is found by `scoring.options.read_answer`: it must
lead the answer, or what stands behind an "answer is" that denies nothing, or be the only one there.
"""

import re
from collections.abc import Mapping

import pandas as pd

from tomlab.benchmarks.simpletom.items.compose import KEYS, METHODS
from tomlab.scoring.answers import failed, pairs
from tomlab.scoring.choices import Reading, judged, key_of, scored, table_of, was_read
from tomlab.scoring.options import read_answer

_CONDITIONS = ("group_id", "source", "question_type", "variant", "scenario", "severity", "story_id")


def verdict(item: Mapping, response: Mapping, by_text: bool = False) -> Reading:
    """The outcome of one response, the key it names and the rule that decided."""
    cot = METHODS[response["method"]].cot
    return judged(item, response, KEYS, read_answer, cot, by_text)


def rule(item: Mapping, response: Mapping) -> str:
    return verdict(item, response, was_read(response)).rule


def score(items: pd.DataFrame, responses: pd.DataFrame, *, by_text: bool = False) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0) and the item's conditions.

    by_text: an option's text without its letter counts, too (see `choices.named_by_text`).
    Details: `chosen` (the option's text, None if none), `words` (see `choices.words_of`),
    `completion_tokens`, `by_released_rule`. Errors: `InputError` for unknown items or methods.
    """
    asked = pairs(items, responses, METHODS)
    rows = []
    for item, response in asked:
        row = scored(item, response, verdict(item, response, by_text), KEYS, _CONDITIONS)
        row["by_released_rule"] = None
        if not failed(response):
            right_key = key_of(item, item["answer"], KEYS)
            cot = METHODS[response["method"]].cot
            row["by_released_rule"] = released_rule(response["response"], right_key, cot)
        row["completion_tokens"] = response["completion_tokens"]
        rows.append(row)
    return table_of(rows, asked, KEYS, "simpletom scores")


def released_rule(text: str, right_key: str, cot: bool) -> bool:
    """The verdict of the released code, for comparison.

    It cuts off what stands before the last "the answer is" (chain of thought) or deletes every
    "answer:"; then "(A)" anywhere wins over "(B)"; else a half-open bracket, else a bare letter, if
    it is the only one. Nothing found is wrong.
    """
    opening = r"(?s)\A.*the answer is:?" if cot else r"answer:?"
    text = re.sub(opening, "", text, flags=re.IGNORECASE)
    for form in ("({})", "({}", "{}"):
        keys = [key for key in "ABCD" if form.format(key) in text]
        if keys and form == "({})":
            return keys[0] == right_key
        if keys:
            return keys == [right_key]
    return False
