"""SimpleToM's stories: a table of them, and their format (Sec. 2.2, App. E).

A story table has one row a story, with the columns `COLUMNS`. A story consists of its key
information and its second sentence. Three stories of different severity form a set (`set_id`).
"""

import re
from collections.abc import Mapping

import pandas as pd

from tomlab.records import files
from tomlab.scoring.similarity import plain

_LISTS = files.yaml_beside(__file__)
COLUMNS = tuple(_LISTS["columns"])
OPTIONAL = ("story", "person_y", "negative_judgment")
ENTITIES = ("person_x", "person_y", "object_z")
SEVERITIES, BASE = (1, 2, 3), 2  # mild, the story as first written, high (App. E.4)
SCENARIOS = tuple(_LISTS["scenarios"])


def story_table(rows: list[dict]) -> pd.DataFrame:
    """Rows as a story table. Absent values become "", an absent `story` the two sentences."""
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object).fillna("")
    sentences = table["key_information"] + " " + table["second_sentence"]
    table["story"] = table["story"].where(table["story"] != "", sentences.str.strip())
    return table.astype(str).astype({"severity": int})


def format_problems(story: Mapping) -> list[str]:
    """The ways in which a story breaks the format of Sec. 2.2 and App. E.4, a phrase for each."""
    problems = [f"{name}: empty" for name in COLUMNS if name not in OPTIONAL and story[name] == ""]
    for name in ("key_information", "second_sentence"):
        count = len(re.findall(r"[.!?]+(?=\s|$)", story[name].strip("\"'”’ ")))
        if story[name] and count != 1:
            problems.append(f"{name}: {count} sentences instead of one")
    for name, kind in _LISTS["without"]:
        words = "|".join(_LISTS[kind])
        match = re.search(rf"\b({words})\b", story[name], re.IGNORECASE)
        if match:
            problems.append(f"{name}: {kind} word {match[0]!r}")
    if story["unaware_action"] and plain(story["unaware_action"]) in plain(story["story"]):
        problems.append("unaware_action: stands in the story")
    if plain(story["unaware_action"]) == plain(story["aware_action"]):
        problems.append("unaware_action: equal to aware_action")
    return problems
