"""BigToM's verdict: the option that an answer names (App. E), with the released rule's beside it.

Our rule: `scoring.options` reads the text after the first "Answer:" or, without "Answer:", the
whole text. Chain of thought without "Answer:" must say "the answer is" and a key, or be a bare
answer, which begins with a key, names no other key and was not cut off.
"""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from tomlab.benchmarks.bigtom.items.compose import KEYS, METHODS
from tomlab.errors import InputError
from tomlab.records.tidy import KEY
from tomlab.scoring import options
from tomlab.scoring.answers import failed, pairs
from tomlab.scoring.choices import Reading, judged, key_of, scored, table_of, was_read

OPENING = re.compile(r"answer\W{0,4}:", re.IGNORECASE)  # "Answer:", "**Answer**:"
SHOWN: dict[str, Any] = {
    "keys": "AB",
    "has_colon": False,
}  # "A:" means "answer" and no option, since options look like "a) …"


def read_answer(text: str, finish_reason: str, cot: bool) -> Reading:
    """The reading of one answer, with a lower-case key. text: the whole answer; cot: whether the
    prompt asked the model to reason first.
    """
    reading = options.read_answer(text, finish_reason, cot, choose)
    if reading.key is None:
        return reading
    return reading._replace(key=reading.key.lower())


def choose(answer: str, cut_off: bool, cot: bool) -> Reading:
    """The reading of the option that an answer chooses, after its first "Answer:" if it has one."""
    opening = OPENING.search(answer)
    if opening:
        return _behind_opening(answer[opening.end() :], cut_off)
    reading = options.choose(answer, cut_off, cot, **SHOWN)
    if reading.rule == options.LEADS or (cut_off and cot):
        return reading
    leading = options.leading(answer, **SHOWN)
    if leading.rule == options.TAKEN_BACK:
        return leading
    if leading.key is None or leading.key == reading.key:
        return reading
    if not cot:
        return leading  # a later "The answer is b)" does not revoke a key that leads
    if reading.key is not None:
        return Reading("unparsed", None, "names both options")
    if len(options.keys_in(answer, **SHOWN)) == 1:
        return leading
    return Reading("unparsed", None, reading.rule)


def _behind_opening(answer: str, cut_off: bool) -> Reading:
    """The reading of the text after the first "Answer:". If there are more, the text up to the next
    one is read first, and everything only if that names no option.
    """
    before_next = OPENING.split(answer, maxsplit=1)[0]
    reading = options.choose(before_next, cut_off=False, cot=False, **SHOWN)
    if before_next == answer or reading.key is None:
        reading = options.choose(answer, cut_off, cot=False, **SHOWN)
    if " behind " not in reading.rule:
        reading = reading._replace(rule=f'{reading.rule} behind "Answer:"')
    return reading


def score(items: pd.DataFrame, responses: pd.DataFrame, *, by_text: bool = False) -> pd.DataFrame:
    """One row per response: `outcome`, `score` (1 if correct, else 0) and the item's conditions.

    by_text: an option's text without its letter counts, too (see `choices.named_by_text`).
    Details: `chosen` (the option's text, or None), `words`, `by_released_rule` (`released_rule`).
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    conditions = ("group_id", "source", "variable", "condition", "initial_belief")
    asked = pairs(items, responses, METHODS)
    rows = []
    for item, response in asked:
        method = response["method"]
        reading = judged(item, response, KEYS, read_answer, METHODS[method].cot, by_text)
        row = scored(item, response, reading, KEYS, conditions)
        row["by_released_rule"] = None
        if not failed(response):
            right_key = key_of(item, item["answer"], KEYS)
            row["by_released_rule"] = released_rule(response["response"], right_key, method)
        rows.append(row)
    return table_of(rows, asked, KEYS, "bigtom scores")


def with_grades(scores: pd.DataFrame, grades: pd.DataFrame) -> pd.DataFrame:
    """The scores, with the outcome and score of unreadable answers replaced by a grader's.

    grades: the columns `tidy.KEY` and `becomes`, which is correct, wrong or, if the grader finds no
    option, unparsed. Errors: `InputError` for unreadable answers that have no grade.
    """
    graded = scores.merge(grades[[*KEY, "becomes"]], on=KEY, how="left", validate="one_to_one")
    is_unread = graded["outcome"].eq("unparsed")
    lacking = graded.loc[is_unread & graded["becomes"].isna(), "item_id"]
    if len(lacking):
        example = f"{len(lacking)} unreadable answers, such as {lacking.iloc[0]}"
        raise InputError(f"grades: found none for {example}")
    outcome = graded["outcome"].mask(is_unread, graded["becomes"])
    is_right = outcome.eq("correct").astype(float)
    score = graded["score"].mask(is_unread, is_right)
    return graded.drop(columns="becomes").assign(outcome=outcome, score=score)


def rule(item: Mapping, response: Mapping) -> str:
    cot = METHODS[response["method"]].cot
    return judged(item, response, KEYS, read_answer, cot, was_read(response)).rule


def released_rule(text: str, right_key: str, method: str) -> bool | None:
    """The verdict of the released code, for comparison: True if the right key is anywhere in the
    answer, False if only the other one is, None if the release would ask a language model to grade.
    """
    answer = text.strip()
    if method == "0-shot-cot":
        # The release skips one character more than "Answer:" has, so "Answer:a)" loses its key.
        # Without "Answer:" (index -1), it skips the first seven characters.
        answer = answer[answer.find("Answer:") + 8 :]
    answer = answer.lower()
    if f"{right_key})" in answer:
        return True
    return False if any(f"{key})" in answer for key in KEYS) else None
