"""SimpleToM's scoring: which option an answer names, beside the verdict of the released code.

`scoring.choices.judged` gives the outcome. `scoring.options.read_answer` finds the option's letter:
it must come first in the answer, or first after an "answer is" that is not negated, or be the only
letter in the answer.
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
    """How one response is read: its outcome, the key (letter) it names and the rule that decided.

    by_text: see `score`.
    """
    cot = METHODS[response["method"]].cot
    return judged(item, response, KEYS, read_answer, cot, by_text)


def rule(item: Mapping, response: Mapping) -> str:
    return verdict(item, response, was_read(response)).rule


def score(items: pd.DataFrame, responses: pd.DataFrame, *, by_text: bool = False) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0) and the item's conditions.

    by_text: an option's text without its letter counts, too (see `choices.named_by_text`).
    Further columns: `chosen` (the option's text, None if none), `words` (see `choices.words_of`),
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
    """Whether the released code would count an answer as right, for comparison with our scoring.

    With chain of thought, that code cuts off everything up to the last "the answer is"; otherwise
    it deletes every "answer" and "answer:". If the rest has letters in brackets, such as "(A)", the
    first in the alphabet counts. Otherwise letters after an opening bracket alone, such as "(A",
    and otherwise bare letters count, but only if a single one is found. An answer in which nothing
    is found is wrong.
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
