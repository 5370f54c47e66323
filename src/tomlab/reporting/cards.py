"""Examples as cards, prompts as messages. Texts of models and people are never markup."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from tomlab.errors import InputError
from tomlab.records.published import Wording
from tomlab.reporting.numbers import ABSENT
from tomlab.reporting.tables import NAMES, PLAIN, Shown, head, name, say, text

LIMIT = 6000  # characters of one text, half from its beginning and half from its end
_PAGE = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(
    Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
)


def shortened(said: str, limit: int = LIMIT) -> str:
    """A long text's beginning and end with … between, so that it has about `limit` characters."""
    half = limit // 2
    return said if len(said) <= limit else f"{said[:half]} … {said[-half:]}"


def cards(table: pd.DataFrame, wording: Wording = PLAIN) -> Shown:
    """A card a row, its title from the named index, a field a column that says anything; `verdict`
    and `rule` are one field: what was decided, and by which rule.
    """
    told = []
    # An item's name begins with its group's; an index without a name says nothing.
    levels = [level for level in table.index.names if level not in (None, "group")]
    # What names a model is no name of a column.
    heads = {column: column if ", " in column else head(column, wording) for column in table}
    places = table.index.to_frame().to_dict("records")
    for place, row in zip(places, table.to_dict("records"), strict=True):
        titled = [name(str(place[level]), level, wording) for level in levels]
        fields = {column: _said(value, column, wording) for column, value in row.items()}
        if "verdict" in fields:
            decided = name(fields.pop("verdict"), "outcome", wording)
            fields["verdict"] = ": ".join(filter(None, [decided, fields.pop("rule", "")]))
        texts = {heads[column]: value for column, value in fields.items() if value}
        told.append((" · ".join(titled) or NAMES["example"], texts))
    return _shown(told)


def _said(value: Any, column: str, wording: Wording) -> str:
    """A value in words, shortened; "" of nothing."""
    if isinstance(value, str):
        return shortened(name(value, column, wording))
    said = text(value, column, wording)
    return "" if said == ABSENT else shortened(said)


def conversation(response: Mapping, wording: Wording = PLAIN) -> Shown:
    """A prompt and its answer, a row of responses; `InputError` where its `messages` are none."""
    asked, roles = response["messages"], NAMES["roles"]
    try:
        asked = json.loads(asked) if isinstance(asked, str) else asked
        told = [(roles.get(m["role"], m["role"]), shortened(m["content"])) for m in asked]
    except (ValueError, TypeError, KeyError):
        found = shortened(repr(response["messages"]), 80)
        raise InputError(f"messages: found {found}, expected a list of role and content") from None
    who = roles["answer"].format(model=name(response["model"], "model", wording))
    answer = _said(response["response"], "response", wording)
    told.append((who, answer or NAMES["no answer"].format(error=response["error"])))
    return _shown(told)


def _shown(told: list[tuple[str, str | dict[str, str]]]) -> Shown:
    """Each as a card: a title, and a text or texts by label."""
    lines = [
        f"[{title}]\n{content}"
        if isinstance(content, str)
        else "\n".join([title, *(f"  {label}: {said}" for label, said in content.items())])
        for title, content in told
    ]
    return Shown(_PAGE.render(cards=told), "\n\n".join(lines)) if told else say(NAMES["nothing"])
