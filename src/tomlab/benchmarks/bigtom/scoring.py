"""BigToM's verdict: the option that an answer names (App. E), held against the released rule.

The rule: the first "Answer:" opens the answer. A key that leads it settles it, even if the rest was
cut off; otherwise it must name exactly one option. Naming both, or none, or listing the options
again is `unparsed`. Chain of thought without "Answer:" counts only as a bare answer: it leads with
a key, names no other and was not cut off.
"""

import re
from collections.abc import Mapping

import pandas as pd

from tomlab.benchmarks.bigtom.items.compose import KEYS, METHODS
from tomlab.scoring.answers import failed, pairs, visible
from tomlab.scoring.choices import Reading, judged, key_of, no_option, scored, table_of, was_read

OPENING = re.compile(r"answer\W{0,4}:", re.IGNORECASE)  # "Answer:", "**Answer**:"
# "a) Mei …", "(b)", "a. Mei …", or alone on its line; markdown around it is let pass.
LEADING_KEY = re.compile(r"(?i)[\s\"'*_(\[<`]*([ab])(?:[\s*_`]*[)\].>]|[\W_]*?(?:\n|\Z))")
ANY_KEY = re.compile(r"(?<![^\W_])([ab])\)", re.IGNORECASE)  # "… is b) Mei …", not "2b)"
LINE_KEY = re.compile(r"^\W*([ab])\)", re.IGNORECASE | re.MULTILINE)  # "a) …" opens a line


def read_answer(text: str, finish_reason: str, cot: bool) -> Reading:
    """How one answer is read. text: all of it; cot: it was to reason first."""
    said, open_thought = visible(text)
    opening = OPENING.search(said)
    answer, where = (said[opening.end() :], ' behind "Answer:"') if opening else (said, "")
    lists_both = len({key.lower() for key in LINE_KEY.findall(answer)}) > 1
    leading = None if lists_both or open_thought else LEADING_KEY.match(answer)
    named = {key.lower() for key in ANY_KEY.findall(answer)}
    cut_off = open_thought or finish_reason == "length"
    reasons_only = cot and not opening
    if leading and not (reasons_only and (cut_off or len(named) > 1)):
        return Reading("answered", leading[1].lower(), f"leads with the key{where}")
    if len(named) == 1 and not cut_off and not reasons_only:
        return Reading("answered", named.pop(), f"the only key named{where}")
    why = ("names both options" if named else "names no option") + where
    why = 'reasons without "Answer:"' if reasons_only else why
    return no_option(said, finish_reason, open_thought, why)


def score(items: pd.DataFrame, responses: pd.DataFrame, *, by_text: bool = False) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0) and the item's conditions.

    by_text: an option's text without its letter counts, too (see `choices.named_by_text`).
    Details: `chosen` (the option's text, None if none), `words`, `by_released_rule`.
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    conditions = ("group_id", "source", "variable", "condition", "initial_belief")
    rows = []
    for item, response in (both := pairs(items, responses, METHODS)):
        method, right = response["method"], key_of(item, item["answer"], KEYS)
        reading = judged(item, response, KEYS, read_answer, METHODS[method].cot, by_text)
        row = scored(item, response, reading, KEYS, conditions)
        released = None if failed(response) else released_rule(response["response"], right, method)
        rows.append({**row, "by_released_rule": released})
    return table_of(rows, both, KEYS, "bigtom scores")


def rule(item: Mapping, response: Mapping) -> str:
    cot = METHODS[response["method"]].cot
    return judged(item, response, KEYS, read_answer, cot, was_read(response)).rule


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
