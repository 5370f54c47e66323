"""SimpleToM's stories: reading them and checking their format (Sec. 2.2, App. E).

A story table has one row a story: `COLUMNS`. A story is its key information and its second
sentence; its twin has an `aware_sentence`, too. Three of different severity share a set (`set_id`).
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError
from tomlab.records import files

_LISTS = files.yaml_beside(__file__)
COLUMNS = tuple(_LISTS["columns"])
OPTIONAL = ("person_y", "unaware_option", "aware_option", "aware_sentence", "negative_judgment")
ENTITIES = ("person_x", "person_y", "object_z")
SEVERITIES, BASE = (1, 2, 3), 2  # mild, the story as first written, high (App. E.4)
SCENARIOS = tuple(_LISTS["scenarios"])
FORM = pa.DataFrameSchema(
    {name: files.text() for name in COLUMNS if name not in ("source", *OPTIONAL)}
    | {name: pa.Column(str) for name in OPTIONAL}
    | {"scenario": files.one_of(SCENARIOS), "severity": files.one_of(SEVERITIES)},
    unique=["story_id"],
    strict="filter",
)


def read_stories(path: Path | str) -> pd.DataFrame:
    """Our own story file: CSV with the columns of `COLUMNS` but `source`, which is `authored`.

    Errors: `InputError` that names every row and field at fault, all at once.
    """
    table = files.read_form(path, FORM)
    if table.empty:
        raise InputError(f"{path}: no story in it")
    return story_table(table.assign(source="authored").to_dict("records"))


def story_table(rows: list[dict]) -> pd.DataFrame:
    """Rows as a story table; what is absent is ""."""
    filled = [{**dict.fromkeys(COLUMNS, ""), **row} for row in rows]
    table = pd.DataFrame(filled, columns=list(COLUMNS))
    return table.astype({**dict.fromkeys(COLUMNS, str), "severity": int})


def story_text(story: Mapping) -> str:
    """The two sentences, the key information first."""
    return f"{story['key_information']} {story['second_sentence']}"


def format_problems(story: Mapping) -> list[str]:
    """What keeps a story from the format of Sec. 2.2 and App. E.4, one phrase a fault."""
    problems = [f"{name}: empty" for name in COLUMNS if name not in OPTIONAL and story[name] == ""]
    for name in ("key_information", "second_sentence"):
        count = len(re.findall(r"[.!?]+(?=\s|$)", story[name].strip("\"'”’ ")))
        if story[name] and count != 1:
            problems.append(f"{name}: {count} sentences instead of one")
    for name, words in _LISTS["without"]:
        if hit := re.search(rf"\b({'|'.join(_LISTS[words])})\b", story[name], re.IGNORECASE):
            problems.append(f"{name}: {words} word {hit[0]!r}")
    if story["unaware_action"] and _plain(story["unaware_action"]) in _plain(story_text(story)):
        problems.append("unaware_action: stands in the story")
    if _plain(story["unaware_action"]) == _plain(story["aware_action"]):
        problems.append("unaware_action: equal to aware_action")
    return problems


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))
