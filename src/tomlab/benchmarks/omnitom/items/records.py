"""OmniToM's records: gold belief tables, their stories and their counts (Sec. 3, 4, App. A, B).

A record is one story with its labelled beliefs (App. B.5), one JSON object a line. The stories are
those of seven ToMBench categories (App. B.1), whose questions are read here too.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from tomlab import paths
from tomlab.errors import InputError, refuse
from tomlab.records.files import (
    complaint,
    is_text,
    json_lines,
    read_text,
    shown,
    yaml_beside,
)

# What is legal in a table: `categories` by code, labels by dimension, names of columns, aliases.
SCHEMA = yaml_beside(__file__, "schema.yaml")
CATEGORIES: dict[str, str] = SCHEMA["categories"]
CODES = {name: code for code, name in CATEGORIES.items()}
DIMENSIONS = {name: tuple(labels) for name, labels in SCHEMA["dimensions"].items()}
WORLD = "world"  # who holds the narrated facts
RELEASED = "released:omnitom"
CALIBRATION = 3  # stories held out of each category (Sec. 4)


@dataclass(frozen=True)
class Row:
    """One line of a belief table: who holds what, how deeply nested, and its labels.

    order: "0" to "3"; labels: by dimension key, `order` among them. "" is not given or not legal.
    """

    actor: str
    belief: str
    order: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)


_Text = Annotated[str, Field(pattern=r"\S")]
_STRICT = ConfigDict(strict=True, extra="allow")
_labels = {key: Literal[labels] for key, labels in DIMENSIONS.items()}
_Labels = create_model("_Labels", __config__=_STRICT, **_labels)


class _Belief(BaseModel):
    model_config = _STRICT
    actor: _Text
    belief: _Text
    labels: _Labels
    paraphrases: list[_Text] = []


class _Record(BaseModel):
    model_config = _STRICT
    story_id: int
    story_category: Literal[tuple(CODES)]
    story: _Text
    beliefs: list[_Belief] = Field(min_length=1)
    source: str = Field(RELEASED, pattern=r"^(authored|grammar|llm:.+|released:.+)$")


def read_records(path: Path | str) -> list[dict]:
    """The records of a JSONL file as they stand there, `source` filled in where it is absent.

    Keys beyond those of App. B.5 are kept. Gold in which order 0 does not go with the actor
    `world` (App. A.2) is still gold. Errors: `InputError` that names every line and field at fault.
    """
    found, problems = _json_lines(path, nan=False)
    refuse([*problems, *_problems(found)], str(path))
    if not found:
        raise InputError(f"{path}: no record in it")
    return [{**record, "source": record.get("source", RELEASED)} for _, record in found]


def write_records(records: Sequence[dict], path: Path | str) -> None:
    """Write records as JSONL, one line a story. Errors: `InputError` as in `read_records`."""
    refuse(list(_problems(enumerate(records, start=1))), f"{path}: not written")
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def _json_lines(path: Path | str, *, nan: bool) -> tuple[list[tuple[int, dict]], list[str]]:
    """The objects of a JSONL file with their line numbers, and the lines that hold none."""
    found, problems = json_lines(read_text(path), nan=nan)
    odd = [(line, value) for line, value in found if not isinstance(value, dict)]
    problems += [f"line {line}: found {shown(value)}, expected an object" for line, value in odd]
    return [line for line in found if isinstance(line[1], dict)], problems


def _problems(records: Iterable[tuple[int, dict]]) -> Iterator[str]:
    first = {}
    for number, record in records:
        story_id = record.get("story_id")
        where = f"line {number}, story_id {shown(story_id)}"
        try:
            _Record.model_validate(record)
        except ValidationError as error:
            yield from (f"{where}, {_fault(one)}" for one in error.errors(include_url=False))
        if isinstance(story_id, int) and first.setdefault(story_id, number) != number:
            yield f"{where}: stands in line {first[story_id]} too, expected once"


def _fault(error: Mapping) -> str:
    """One pydantic error as belief number, field, found and expected."""
    place, belief, expected = error["loc"], "", None
    if place[0] == "beliefs" and len(place) > 1:
        belief, place = f"belief {place[1] + 1}, ", place[2:] or ("belief",)
    if place == ("source",):
        expected = "authored, grammar, llm:<model> or released:<name>"
    return belief + complaint({**error, "loc": place}, expected)


def rows(record: Mapping) -> list[Row]:
    """The gold belief table of a record, in its order."""
    return [
        Row(b["actor"], b["belief"], b["labels"]["order"], {d: b["labels"][d] for d in DIMENSIONS})
        for b in record["beliefs"]
    ]


# ToMBench's columns of the English text, and of the answer, which is a letter.
_OPTIONS = {letter: f"OPTION-{letter}" for letter in "ABCD"}
_ANSWER, _ABILITY = "答案\nANSWER", "能力\nABILITY"
_TEXTS = ("STORY", "QUESTION", "OPTION-A", "OPTION-B", _ABILITY)
_TOMBENCH = ["STORY", "QUESTION", *_OPTIONS.values(), _ANSWER, _ABILITY]


def read_tombench(folder: Path | str) -> pd.DataFrame:
    """The distinct English stories of ToMBench's seven retained files, in the order of first sight.

    Columns: `category, code, story, source_rows` (the lines of `<category>.jsonl` that tell it) and
    `questions`, one mapping a line: `source_row, ability, question, choices` (two or four texts,
    without the letter that a few repeat), `answer` (the text of the right one).
    Errors: `InputError` that names the files and columns missing and every line at fault.
    """
    stories, problems = [], []
    for code, category in CATEGORIES.items():
        path = Path(folder) / f"{category}.jsonl"
        if paths.kind(path) != "file":
            problems.append(f"{path.name}: no such file")
            continue
        lines, odd = _json_lines(path, nan=True)
        told, faults = _questions(lines)
        problems += [f"{path.name}, {fault}" for fault in (*odd, *faults)]
        for story, questions in told.items():
            source_rows = [question["source_row"] for question in questions]
            stories.append((category, code, story, source_rows, questions))
    refuse(problems, str(folder))
    names = ["category", "code", "story", "source_rows", "questions"]
    return pd.DataFrame(stories, columns=names)


def _questions(lines: Sequence[tuple[int, dict]]) -> tuple[dict[str, list[dict]], list[str]]:
    """The questions on each story, and the first line without a column or else all faults."""
    told, first, faults = defaultdict(list), {}, [] if lines else ["no line in it"]
    for number, line in lines:
        if missing := [name for name in _TOMBENCH if name not in line]:
            found = f"columns missing {missing}, found {[*line]}, expected {_TOMBENCH}"
            return {}, [f"line {number}: {found}"]
        if (earlier := first.setdefault(str(line), number)) != number:
            faults.append(f"line {number}: stands in line {earlier} too, expected once")
        # NaN stands for the options that yes/no questions do not have.
        spare = [name for name in ("OPTION-C", "OPTION-D") if str(line[name]) != "nan"]
        expected = {name: "text" for name in (*_TEXTS, *spare) if not is_text(line[name])}
        options = {
            letter: re.sub(rf"^{letter}\.\s*", "", line[name].strip())
            for letter, name in _OPTIONS.items()
            if is_text(line[name])
        }
        if line[_ANSWER] not in [*options]:
            expected[_ANSWER] = f"one of {[*options]}"
        faults += [
            f"line {number}, field {name!r}: found {shown(line[name])}, expected {what}"
            for name, what in expected.items()
        ]
        if not expected:
            asked = {"source_row": number, "ability": line[_ABILITY], "question": line["QUESTION"]}
            asked |= {"choices": list(options.values()), "answer": options[line[_ANSWER]]}
            told[line["STORY"]].append(asked)
    return told, faults


def split(stories: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The calibration stories, three of each category, and the benchmark stories: the rest.

    stories: of `read_tombench`; all 916 give 21 and 895, the counts of Table 4. Which three the
    paper held out is not published; here the seed draws them. Errors: `InputError` if a category
    has too few.
    """
    held = []
    for code, category in CATEGORIES.items():
        own = list(stories.index[stories["code"] == code])
        if len(own) < CALIBRATION:
            found = f"found {len(own)} stories, expected at least {CALIBRATION}"
            raise InputError(f"the stories to split: {category}: {found}")
        held += random.Random(f"{seed}/{code}").sample(own, CALIBRATION)
    out = stories.index.isin(held)
    return stories[out].reset_index(drop=True), stories[~out].reset_index(drop=True)


def link(records: Sequence[Mapping], tombench: pd.DataFrame) -> pd.DataFrame:
    """The ToMBench questions of each record's story, one row a question.

    Stories of one category are joined by their text, but for case, spaces and the form of quotation
    marks. Columns: `story_id, code, source_row, ability, question, choices, answer`. A record whose
    story is none of ToMBench's has no row.
    """
    stories = zip(tombench["code"], map(_plain, tombench["story"]), strict=True)
    asked = dict(zip(stories, tombench["questions"], strict=True))
    linked = []
    for record in records:
        code = CODES[record["story_category"]]
        for question in asked.get((code, _plain(record["story"])), []):
            linked.append({"story_id": record["story_id"], "code": code, **question})
    names = ["story_id", "code", "source_row", "ability", "question", "choices", "answer"]
    return pd.DataFrame(linked, columns=names)


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
        by_story = orders.total() / len(own) if own else float("nan")
        deep = orders["2"] + orders["3"]
        counts = (len(own), orders.total(), by_story, orders["0"], orders["1"], deep)
        counted.append((code, name, *counts))
    columns = ["code", "category", "stories", "beliefs", "beliefs_per_story", "order_0", "order_1"]
    return pd.DataFrame(counted, columns=[*columns, "order_2_plus"])


def label_distribution(records: Sequence[Mapping]) -> pd.DataFrame:
    """Fig. 4: how often each legal label was given: `dimension, label, count, share` (0 to 1)."""
    beliefs = [belief for record in records for belief in record["beliefs"]]
    found = Counter((d, belief["labels"][d]) for belief in beliefs for d in DIMENSIONS)
    cells = [(d, label, found[d, label]) for d, labels in DIMENSIONS.items() for label in labels]
    table = pd.DataFrame(cells, columns=["dimension", "label", "count"])
    return table.assign(share=table["count"] / (len(beliefs) or float("nan")))
