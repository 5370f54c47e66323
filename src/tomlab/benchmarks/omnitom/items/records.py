"""OmniToM's records: gold belief tables, their stories and their counts (Sec. 3, 4, App. A, B).

A record is one story with its labelled beliefs (App. B.5), one JSON object a line. The stories are
those of seven ToMBench categories (App. B.1), whose questions are read here too.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, Field, create_model

from tomlab.errors import InputError, refuse
from tomlab.params import matches
from tomlab.records.files import json_lines, read_text, unfit, yaml_beside

# What is legal in a table: `categories` by code, labels by dimension, names of columns, aliases.
SCHEMA = yaml_beside(__file__, "schema.yaml")
CATEGORIES: dict[str, str] = SCHEMA["categories"]
CODES = {name: code for code, name in CATEGORIES.items()}
DIMENSIONS = {name: tuple(labels) for name, labels in SCHEMA["dimensions"].items()}
WORLD = "world"  # who holds the narrated facts
RELEASED = "released:omnitom"


@dataclass(frozen=True)
class Row:
    """One line of a belief table: who holds what. "" is what is not given or not legal."""

    actor: str
    belief: str
    order: str = ""  # "0" to "3": how deeply nested
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)  # by dimension, order too


_SOURCES = "authored, grammar, llm:<model> or released:<name>"
_Text = Annotated[str, Field(pattern=r"\S")]
_labels = {key: Literal[labels] for key, labels in DIMENSIONS.items()}
_Labels = create_model("_Labels", __config__={"strict": True, "extra": "allow"}, **_labels)


class _Belief(BaseModel, strict=True, extra="allow"):
    actor: _Text
    belief: _Text
    labels: _Labels
    paraphrases: list[_Text] = []


class _Record(BaseModel, strict=True, extra="allow"):
    story_id: int
    story_category: Literal[tuple(CODES)]
    story: _Text
    beliefs: list[_Belief] = Field(min_length=1)
    source: Annotated[str, matches("authored|grammar|(llm|released):.+", _SOURCES)] = RELEASED


def read_records(path: Path | str) -> list[dict]:
    """The records of a JSONL file as they stand there, keys beyond those of App. B.5 too; `source`
    is filled in where it is absent. Errors: `InputError` that names every line and field at fault.
    """
    records, problems = json_lines(read_text(path))
    refuse([*problems, *unfit(records, _Record, "story_id", "line")], str(path))
    if not records:
        raise InputError(f"{path}: no record in it")
    return [{**record, "source": record.get("source", RELEASED)} for _, record in records]


def write_records(records: Sequence[dict], path: Path | str) -> None:
    """Write records as JSONL, one line a story."""
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def rows(record: Mapping) -> list[Row]:
    """The gold belief table of a record, in its order."""
    table = []
    for belief in record["beliefs"]:
        labels = {name: belief["labels"][name] for name in DIMENSIONS}
        table.append(Row(belief["actor"], belief["belief"], labels["order"], labels))
    return table


_ANSWER = "答案\nANSWER"  # the letter of the right option
_Question = create_model(
    "_Question",
    **dict.fromkeys(("STORY", "QUESTION", "OPTION-A", "OPTION-B"), (_Text, ...)),
    **dict.fromkeys(("OPTION-C", "OPTION-D"), (str, "")),
    **{_ANSWER: (Literal[*"ABCD"], ...)},
)


def read_tombench(folder: Path | str) -> pd.DataFrame:
    """The distinct English stories of ToMBench's seven retained files, in the order of first sight.

    Columns: `story_category, story` and `questions`, one mapping a line that tells the story:
    `source_row` (its number), `question`, `choices` (two or four texts, without the letter that a
    few repeat), `answer` (the right text). Errors: `InputError` with all that is wrong in a file.
    """
    stories = {}
    for category in CODES:
        path = Path(folder) / f"{category}.jsonl"
        # NaN stands for the options that yes/no questions do not have.
        lines, problems = json_lines(re.sub(r":\s*NaN\b", ': ""', read_text(path)))
        problems += unfit(lines, _Question, "", "line")
        if not lines:
            problems.append("no line in it")
        refuse(problems, str(path))
        for number, line in lines:
            question = _question(number, line)
            if question["answer"] is None:
                raise InputError(
                    f"{path}: line {number}: the answer {line[_ANSWER]!r} is no option"
                )
            stories.setdefault((category, line["STORY"]), []).append(question)
    table = pd.DataFrame([*stories], columns=["story_category", "story"])
    return table.assign(questions=[*stories.values()])


def _question(number: int, line: Mapping) -> dict:
    options = {}
    for letter in "ABCD":
        if text := line.get(f"OPTION-{letter}"):
            options[letter] = re.sub(rf"^{letter}\.\s*", "", text.strip())
    question = {"source_row": number, "question": line["QUESTION"]}
    return question | {"choices": [*options.values()], "answer": options.get(line[_ANSWER])}


def statistics(records: Sequence[Mapping]) -> pd.DataFrame:
    """Table 4: by category and in total, `stories`, `beliefs`, `beliefs_per_story` and the beliefs
    of `order_0`, `order_1` and `order_2_plus`. `code` is "total" in the last row.
    """
    rows = []
    for code, category in {**CATEGORIES, "total": "Total"}.items():
        chosen = [r for r in records if category in (r["story_category"], "Total")]
        orders = Counter(belief["labels"]["order"] for r in chosen for belief in r["beliefs"])
        row = {"code": code, "category": category, "stories": len(chosen)}
        row["beliefs"] = orders.total()
        row["beliefs_per_story"] = orders.total() / len(chosen) if chosen else float("nan")
        row |= {"order_0": orders["0"], "order_1": orders["1"]}
        rows.append(row | {"order_2_plus": orders["2"] + orders["3"]})
    return pd.DataFrame(rows)
