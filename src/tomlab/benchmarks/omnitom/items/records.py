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
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, Field, create_model

from tomlab.errors import InputError, refuse
from tomlab.params import matches
from tomlab.records.files import json_lines, read_text, unfit, yaml_beside

# What a table may contain: categories by code, labels by dimension, column names, aliases.
SCHEMA = yaml_beside(__file__, "schema.yaml")
CATEGORIES = SCHEMA["categories"]
CODES = {name: code for code, name in CATEGORIES.items()}
DIMENSIONS = {name: tuple(labels) for name, labels in SCHEMA["dimensions"].items()}
WORLD = "world"  # the actor of the narrated facts
RELEASED = "released:omnitom"


@dataclass(frozen=True)
class Row:
    """One line of a belief table: who believes what. A missing or illegal value is ""."""

    actor: str
    belief: str
    order: str = ""  # "0" to "3": how deeply nested
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)  # by dimension, order too


_Text = Annotated[str, Field(pattern=r"\S")]
_legal: dict[str, Any] = {name: Literal[labels] for name, labels in DIMENSIONS.items()}
_Labels = create_model("_Labels", __config__={"strict": True, "extra": "allow"}, **_legal)


class _Belief(BaseModel, strict=True, extra="allow"):
    actor: _Text
    belief: _Text
    labels: _Labels  # type: ignore[valid-type]  # its fields stand in `schema.yaml`
    paraphrases: list[_Text] = []


class _Record(BaseModel, strict=True, extra="allow"):
    story_id: int
    story_category: Annotated[str, matches("|".join(CODES), " or ".join(CODES))]
    story: _Text
    beliefs: list[_Belief] = Field(min_length=1)
    source: Annotated[
        str,
        matches(
            "authored|grammar|(llm|released):.+",
            "authored, grammar, llm:<model> or released:<name>",
        ),
    ] = RELEASED


def read_records(path: Path | str) -> list[dict]:
    """The records of a JSONL file, unchanged, with keys beyond those of App. B.5; only a missing
    `source` is filled in. Errors: `InputError` that names every line and field at fault.
    """
    records, problems = json_lines(read_text(path))
    problems += unfit(records, _Record, "story_id", "line")
    if not records:
        problems.append("no record in it")
    refuse(problems, str(path))
    return [{**record, "source": record.get("source", RELEASED)} for _, record in records]


def write_records(records: Sequence[dict], path: Path | str) -> None:
    """Write records as JSONL, one line a story."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def rows(record: Mapping) -> list[Row]:
    """The gold belief table of a record, in its order."""
    return [
        Row(belief["actor"], belief["belief"], belief["labels"]["order"], belief["labels"])
        for belief in record["beliefs"]
    ]


class _Question(BaseModel):
    STORY: _Text
    QUESTION: _Text
    A: _Text = Field(alias="OPTION-A")
    B: _Text = Field(alias="OPTION-B")
    C: str = Field("", alias="OPTION-C")
    D: str = Field("", alias="OPTION-D")
    answer: Literal["A", "B", "C", "D"] = Field(
        alias="答案\nANSWER"
    )  # the letter of the right option


def read_tombench(folder: Path | str) -> pd.DataFrame:
    """The distinct English stories of ToMBench's seven retained files, in their first order.

    Columns: `story_category, story` and `questions`, a list with a dict for each line that has the
    story: `source_row` (the line's number), `question`, `choices` (two or four texts, without the
    letter that a few begin with), `answer` (the right text). Errors: `InputError` that lists the
    faults of the first bad file.
    """
    questions = []
    for category in CODES:
        path = Path(folder) / f"{category}.jsonl"
        # NaN stands for the options that yes/no questions do not have.
        lines, problems = json_lines(re.sub(r":\s*NaN\b", ': ""', read_text(path)))
        problems += unfit(lines, _Question, "", "line")
        if not lines:
            problems.append("no line in it")
        refuse(problems, str(path))
        for number, line in lines:
            read = _Question.model_validate(line)
            texts = [read.A, read.B, read.C, read.D]
            options = [re.sub(r"^[A-D]\.\s*", "", text.strip()) for text in texts]
            answer = options["ABCD".index(read.answer)]
            if not answer:
                raise InputError(f"{path}: line {number}: the answer {read.answer!r} is no option")
            question = {
                "source_row": number,
                "question": read.QUESTION,
                "choices": list(filter(None, options)),
                "answer": answer,
            }
            questions.append((category, read.STORY, question))
    table = pd.DataFrame(questions, columns=["story_category", "story", "questions"])
    return table.groupby(["story_category", "story"], sort=False, as_index=False).agg(list)


def statistics(records: Sequence[Mapping]) -> pd.DataFrame:
    """Table 4: one row per category, and a last row with `code` "total". Columns: `code, category`,
    the counts `stories`, `beliefs`, `beliefs_per_story`, and the beliefs by order: `order_0`,
    `order_1`, `order_2_plus`.
    """
    table = []
    for code, category in {**CATEGORIES, "total": "Total"}.items():
        stories = [record for record in records if category in (record["story_category"], "Total")]
        orders: Counter[str] = Counter()
        for record in stories:
            orders.update(row.order for row in rows(record))
        n_beliefs = orders.total()
        table.append(
            {
                "code": code,
                "category": category,
                "stories": len(stories),
                "beliefs": n_beliefs,
                "beliefs_per_story": n_beliefs / len(stories) if stories else float("nan"),
                "order_0": orders["0"],
                "order_1": orders["1"],
                "order_2_plus": orders["2"] + orders["3"],
            }
        )
    return pd.DataFrame(table)
