"""From an answer's text to an option or one of `tidy.OUTCOMES`, alike for every benchmark."""

import random
import re
from collections import Counter
from collections.abc import Mapping
from numbers import Real
from typing import Any

import pandas as pd

from tomlab.errors import InputError
from tomlab.models.content import has_error
from tomlab.models.specs import FILTERED
from tomlab.records.asked import as_shown, first_methods
from tomlab.records.files import shown
from tomlab.records.tidy import AS_ASKED, KEY

# Openings of an answer that declines. Only read when no option could be found.
_REFUSAL = re.compile(
    r"^\W*(i['’]?m sorry|i am sorry|sorry\b|i apologi[sz]e|as an ai\b"
    r"|i( cannot| can['’]?t| won['’]?t|( am|['’]?m) (unable|not able))( to)?"
    r" (answer|help|assist|comply|provide))",
    re.IGNORECASE,
)


def unanswered(text: str, finish_reason: str, open_thought: bool) -> str:
    """The outcome of an answer in which no option was found: refused by the provider, truncated
    (the token limit, or thinking that never ended), refused in the text's opening, or unparsed.
    """
    if finish_reason == "refusal":
        return "refused"
    if finish_reason == "length" or open_thought:
        return "truncated"
    return "refused" if _REFUSAL.match(text) else "unparsed"


_NEEDED = ("item_id", "model", "method", "response")
# What responses from elsewhere may leave out.
_DEFAULTS = {
    "sample": 0,
    "finish_reason": "stop",
    "error": None,
    "completion_tokens": 0,
    "asked_as": AS_ASKED,
}


def pairs(
    items: pd.DataFrame, responses: pd.DataFrame, methods: Mapping[str, Any]
) -> list[tuple[dict, dict]]:
    """Each response with its item as it was asked, in the order of the responses; those to the
    first of two calls are left out where `methods` tell which they are. Errors: `InputError` for
    missing columns, what is no text, an answer that is missing without an error, unknown items or
    methods and doubled rows.
    """
    _demand_types(responses)
    items_by_id = {item["item_id"]: item for item in _records(items)}
    unknown_items = sorted(set(responses["item_id"]) - set(items_by_id))
    if unknown_items:
        message = f"no item {unknown_items[0]!r} ({len(unknown_items)} unknown in all)"
        raise InputError(f"responses: {message}")
    unknown_methods = sorted(set(responses["method"]) - set(methods))
    if unknown_methods:
        message = f"no method {unknown_methods[0]!r}; there are: {', '.join(methods)}"
        raise InputError(f"responses: {message}")
    responses = responses[~responses["method"].isin(first_methods(methods))]
    asked = []
    keys: Counter[tuple] = Counter()
    for record in _records(responses):
        response = _DEFAULTS | record
        keys[tuple(response[name] for name in KEY)] += 1
        asked.append((as_shown(items_by_id[response["item_id"]], response), response))
    repeated = [key for key, times in keys.items() if times > 1]
    if repeated:
        raise InputError(f"responses: {repeated[0]} stands more than once ({len(repeated)} do)")
    return asked


def _records(table: pd.DataFrame) -> list[dict]:
    """The rows of a table; many times as fast as pandas makes them of columns of text."""
    columns = [table[name].tolist() for name in table.columns]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _demand_types(responses: pd.DataFrame) -> None:
    """`InputError` for missing columns, what is no text and what is no number."""
    missing = [name for name in _NEEDED if name not in responses]
    if missing:
        raise InputError(f"responses: missing columns {', '.join(missing)}")
    for name in _NEEDED:
        wrong = _of_other_type(responses[name], str)
        if name == "response":
            _demand_errors(responses.loc[wrong.index[wrong.isna()]])
            wrong = wrong.dropna()  # a failed request has none
        _refuse(wrong, name, "text")
    if "sample" in responses:
        _refuse(_of_other_type(responses["sample"], Real), "sample", "a number")


def _of_other_type(values: pd.Series, expected: type) -> pd.Series:
    values = values.astype(object)
    return values[[not isinstance(value, expected) for value in values]]


def _refuse(wrong: pd.Series, name: str, expected: str) -> None:
    if len(wrong):
        raise InputError(
            f"responses: row {wrong.index[0]}, field {name}: found {shown(wrong.iloc[0])},"
            f" expected {expected} ({len(wrong)} such rows)"
        )


def _demand_errors(without_text: pd.DataFrame) -> None:
    """`InputError` for rows without an answer that have no error in its place. Pandas makes missing
    values of answers such as "None" and "N/A", and they are no failed requests.
    """
    if "error" in without_text:
        without_text = without_text[~without_text["error"].map(has_error)]
    if len(without_text):
        raise InputError(
            f"responses: row {without_text.index[0]}, field response: found no text, and no error"
            f" ({len(without_text)} such rows); `tomlab.records.files.read_answers` reads a CSV's"
            " answers as they stand there, `pd.read_csv` does so with keep_default_na=False. A"
            " request that failed needs its message in the column `error`."
        )


def baselines(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """Each baseline's option: the right one, what fits the world as it is, and one at random."""
    draw = random.Random(f"random/{seed}/{method}/{item['item_id']}")
    guess = draw.choice(list(item["choices"]))
    return {"gold": item["answer"], "omniscient": item["reality"], "random": guess}


def failed(response: Mapping) -> bool:
    """Whether there is an error in the place of an answer."""
    return not isinstance(response["response"], str) or has_error(response["error"])


def lost(response: Mapping) -> tuple[str, str]:
    """The outcome of a failed response, and the rule in words."""
    if response["finish_reason"] == FILTERED:
        return "refused", "the vendor's content filter took the answer away"
    return "error", "the request failed"
