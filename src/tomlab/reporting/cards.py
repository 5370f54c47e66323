"""Show examples as cards and prompts as messages. All texts are escaped, never read as markup."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting.numbers import ABSENT
from tomlab.reporting.tables import NAMES, PLAIN, Shown, head, name, say, text

LIMIT = 6000  # characters of one text, half from its beginning and half from its end
_PAGE = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(
    Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
)


def shortened(content: str, limit: int = LIMIT) -> str:
    """A text of more than `limit` characters is cut to about that length: its start, …, its end."""
    half = limit // 2
    return content if len(content) <= limit else f"{content[:half]} … {content[-half:]}"


def cards(table: pd.DataFrame, wording: Wording = PLAIN) -> Shown:
    """A card for each row: its title from the named index, and a field for each column that is not
    empty. `verdict` and `rule` become one field: what was decided, and by which rule.
    """
    # An item's name begins with its group's name, so the group is left out of the title.
    levels = [level for level in table.index.names if level not in (None, "group")]
    index = table.index.to_frame().to_dict("records")
    contents = []
    for keys, row in zip(index, table.to_dict("records"), strict=True):
        title = " · ".join(name(str(keys[level]), level, wording) for level in levels)
        contents.append((title or NAMES["example"], _fields(row, wording)))
    return _shown(contents)


def _fields(row: Mapping, wording: Wording) -> dict[str, str]:
    """The texts of a row, by readable column name; empty ones are left out."""
    texts = {column: _in_words(value, column, wording) for column, value in row.items()}
    if "verdict" in texts:
        verdict = name(texts.pop("verdict"), "outcome", wording)
        rule = texts.pop("rule", "")
        texts["verdict"] = ": ".join(filter(None, [verdict, rule]))
    fields = {}
    for column, content in texts.items():
        if content:
            # Column names with ", " are "model, method" and stay as they are.
            label = column if ", " in column else head(column, wording)
            fields[label] = content
    return fields


def _in_words(value: Any, column: str, wording: Wording) -> str:
    """A value in words, shortened; "" for a missing value."""
    if isinstance(value, str):
        return shortened(name(value, column, wording))
    words = text(value, column, wording)
    return "" if words == ABSENT else shortened(words)


def conversation(response: Mapping, wording: Wording = PLAIN) -> Shown:
    """Show a prompt and its answer as cards. response: a row of `responses`."""
    roles = NAMES["roles"]
    contents = []
    for message in json.loads(response["messages"]):
        title = roles.get(message["role"], message["role"])
        contents.append((title, shortened(message["content"])))
    title = roles["answer"].format(model=name(response["model"], "model", wording))
    answer = _in_words(response["response"], "response", wording)
    contents.append((title, answer or NAMES["no answer"].format(error=response["error"])))
    return _shown(contents)


def _shown(contents: Sequence[tuple[str, str | dict[str, str]]]) -> Shown:
    """Show cards. contents: of each its title, and a text or several texts by label."""
    if not contents:
        return say(NAMES["nothing"])
    texts = []
    for title, content in contents:
        if isinstance(content, str):
            texts.append(f"[{title}]\n{content}")
        else:
            lines = [f"  {label}: {field}" for label, field in content.items()]
            texts.append("\n".join([title, *lines]))
    return Shown(_PAGE.render(cards=contents), "\n\n".join(texts))
