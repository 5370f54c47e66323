"""What the scorers of all benchmarks share: checks of responses, outcomes of answers in which no
option was found, baselines, failed requests.
"""

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

# How an answer that refuses begins. It is only looked for where no option could be found.
_REFUSAL = re.compile(
    r"^\W*(i['’]?m sorry|i am sorry|sorry\b|i apologi[sz]e|as an ai\b"
    r"|i( cannot| can['’]?t| won['’]?t|( am|['’]?m) (unable|not able))( to)?"
    r" (answer|help|assist|comply|provide))",
    re.IGNORECASE,
)


def unanswered(text: str, finish_reason: str, open_thought: bool) -> str:
    """The outcome of an answer in which no option was found: "truncated" if the token limit cut it
    off or its thinking never ended (`open_thought`), "refused" if the provider refused or the text
    begins with a refusal, otherwise "unparsed".
    """
    if finish_reason == "refusal":
        return "refused"
    if finish_reason == "length" or open_thought:
        return "truncated"
    return "refused" if _REFUSAL.match(text) else "unparsed"


_NEEDED = ("item_id", "model", "method", "response")
# Columns that responses from elsewhere may leave out, and the value that each then has.
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
    """Pairs (item, response), in the order of the responses. The item's options stand in the order
    in which the model saw them. Where a method makes two calls, responses to the first call are
    left out, if `methods` (by name) tell which they are. Errors: `InputError` for missing columns,
    values of the wrong type, missing answers without an error, unknown items or methods, and
    repeated rows.
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
    """The rows of a table as dicts; `to_dict` takes many times as long for columns of text."""
    columns = [table[name].tolist() for name in table.columns]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _demand_types(responses: pd.DataFrame) -> None:
    """Raise `InputError` for missing columns, and for values that are not text or not a number."""
    missing = [name for name in _NEEDED if name not in responses]
    if missing:
        raise InputError(f"responses: missing columns {', '.join(missing)}")
    for name in _NEEDED:
        wrong = _of_other_type(responses[name], str)
        if name == "response":
            _demand_errors(responses.loc[wrong.index[wrong.isna()]])
            wrong = wrong.dropna()  # a failed request has no answer
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
    """Raise `InputError` for rows that have neither an answer nor an error. Pandas reads answers
    such as "None" and "N/A" as missing values, although these requests did not fail.
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
    """The option that each baseline chooses, by the baseline's name: "gold" the right one,
    "omniscient" the one that fits the world as it is, "random" one drawn by `seed`, method and
    item.
    """
    draw = random.Random(f"random/{seed}/{method}/{item['item_id']}")
    guess = draw.choice(list(item["choices"]))
    return {"gold": item["answer"], "omniscient": item["reality"], "random": guess}


def failed(response: Mapping) -> bool:
    """Whether a response has no text or has an error, so that there is no answer to read."""
    return not isinstance(response["response"], str) or has_error(response["error"])


def lost(response: Mapping) -> tuple[str, str]:
    """The outcome of a failed response, and the reason for it in words."""
    if response["finish_reason"] == FILTERED:
        return "refused", "the vendor's content filter took the answer away"
    return "error", "the request failed"
