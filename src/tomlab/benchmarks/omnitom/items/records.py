"""OmniToM's records: gold belief tables, their stories and their counts (Sec. 3, 4, App. A, B).

A record is one story with its labelled beliefs (App. B.5), one JSON object a line. The stories are
those of seven ToMBench categories (App. B.1), whose questions are read here too.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, Field, create_model

from tomlab.errors import InputError, refuse
from tomlab.params import matches
from tomlab.paths import there
from tomlab.records.files import json_lines, read_text, shown, unfit, yaml_beside

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
    found, problems = json_lines(read_text(path))
    refuse([*problems, *unfit(found, _Record, "story_id", "line")], str(path))
    if not found:
        raise InputError(f"{path}: no record in it")
    return [{**record, "source": record.get("source", RELEASED)} for _, record in found]


def write_records(records: Sequence[dict], path: Path | str) -> None:
    """Write records as JSONL, one line a story. Errors: `InputError` as in `read_records`."""
    problems = unfit(enumerate(records, start=1), _Record, "story_id", "line")
    refuse(list(problems), f"{path}: not written")
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def rows(record: Mapping) -> list[Row]:
    """The gold belief table of a record, in its order."""
    return [
        Row(b["actor"], b["belief"], b["labels"]["order"], {d: b["labels"][d] for d in DIMENSIONS})
        for b in record["beliefs"]
    ]


# ToMBench's columns of the English text, and of the answer, which is a letter.
_OPTIONS = {letter: f"OPTION-{letter}" for letter in "ABCD"}
_SPARE = ("OPTION-C", "OPTION-D")  # which yes/no questions do not have, with NaN in their place
_ANSWER = "答案\nANSWER"


def read_tombench(folder: Path | str) -> pd.DataFrame:
    """The distinct English stories of ToMBench's seven retained files, in the order of first sight.

    Columns: `story_category, story` and `questions`, one mapping a line that tells the story:
    `source_row` (its number), `question`, `choices` (two or four texts, without the letter that a
    few repeat), `answer` (the right text). Errors: `InputError` with all that is at fault.
    """
    stories, problems = [], []
    for category in CODES:
        path = Path(folder) / f"{category}.jsonl"
        if there(path) is None:
            problems.append(f"{path.name}: no such file")
            continue
        lines, odd = json_lines(read_text(path), nan=True)
        told, faults = _questions(lines)
        problems += [f"{path.name}, {fault}" for fault in (*odd, *faults)]
        stories += [(category, story, questions) for story, questions in told.items()]
    refuse(problems, str(folder))
    return pd.DataFrame(stories, columns=["story_category", "story", "questions"])


def _questions(lines: Sequence[tuple[int, Any]]) -> tuple[dict[str, list[dict]], list[str]]:
    """The questions on each story, and what is wrong with other lines."""
    told, first, faults = defaultdict(list), {}, [] if lines else ["no line in it"]
    for number, line in lines:
        if not isinstance(line, dict):
            faults.append(f"line {number}: found {shown(line)}, expected an object")
            continue
        if (earlier := first.setdefault(str(line), number)) != number:
            faults.append(f"line {number}: stands in line {earlier} too, expected once")
        texts = {name: line.get(name, "") for name in ("STORY", "QUESTION", *_OPTIONS.values())}
        without = {name for name in _SPARE if str(texts[name]) == "nan"}
        filled = {n for n, said in texts.items() if isinstance(said, str) and said.strip()}
        expected = {name: "text" for name in texts if name not in filled | without}
        given = ((letter, texts[name]) for letter, name in _OPTIONS.items() if name in filled)
        options = {letter: re.sub(rf"^{letter}\.\s*", "", o.strip()) for letter, o in given}
        if (right := line.get(_ANSWER, "")) not in [*options]:
            expected[_ANSWER] = f"one of {[*options]}"
        faults += [
            f"line {number}, field {name!r}: found {shown(line.get(name, ''))}, expected {what}"
            for name, what in expected.items()
        ]
        if not expected:
            asked = {"source_row": number, "question": texts["QUESTION"]}
            asked |= {"choices": list(options.values()), "answer": options[right]}
            told[texts["STORY"]].append(asked)
    return told, faults


def link(records: Iterable[Mapping], tombench: pd.DataFrame) -> Iterator[tuple[Mapping, Mapping]]:
    """Each record with each question on its story, which is known by its category and its text but
    for case, spaces and the form of quotation marks. tombench: of `read_tombench`.
    """
    stories = zip(tombench["story_category"], map(_plain, tombench["story"]), strict=True)
    asked = dict(zip(stories, tombench["questions"], strict=True))
    for record in records:
        story = record["story_category"], _plain(record["story"])
        yield from ((record, question) for question in asked.get(story, []))


def _plain(story: str) -> str:
    # Punctuation stays: three pairs of ToMBench's stories differ in nothing else.
    straight = story.translate(str.maketrans("‘’“”", "''\"\""))
    return " ".join(straight.casefold().split())


def statistics(records: Sequence[Mapping]) -> pd.DataFrame:
    """Table 4: by category and in total, `stories`, `beliefs`, `beliefs_per_story` and the beliefs
    of `order_0`, `order_1` and `order_2_plus`. `code` is "total" in the last row.
    """
    counted = []
    for code, name in {**CATEGORIES, "total": "Total"}.items():
        own = [r for r in records if code in ("total", CODES[r["story_category"]])]
        orders = Counter(belief["labels"]["order"] for r in own for belief in r["beliefs"])
        row = {"code": code, "category": name, "stories": len(own), "beliefs": orders.total()}
        row["beliefs_per_story"] = orders.total() / len(own) if own else float("nan")
        row |= {"order_0": orders["0"], "order_1": orders["1"]}
        counted.append(row | {"order_2_plus": orders["2"] + orders["3"]})
    return pd.DataFrame(counted)
