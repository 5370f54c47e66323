"""OmniToM's records: gold belief tables, their stories and their counts (Sec. 3, 4, App. A, B).

A record is one story with its labelled beliefs (App. B.5), one JSON object a line. The stories are
those of seven ToMBench categories (App. B.1), whose questions are read here too.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from tomlab.errors import InputError, refuse
from tomlab.records.files import complaint, field_at, json_lines, shown

# Table 4, in its order; the codes are those of Table 3.
CATEGORIES = {
    "AST": "Ambiguous Story Task",
    "FBT": "False Belief Task",
    "FPT": "Faux-pas Recognition Test",
    "HT": "Hinting Task Test",
    "PST": "Persuasion Story Task",
    "SIT": "Scalar Implicature Test",
    "SST": "Strange Story Task",
}
CODES = {name: code for code, name in CATEGORIES.items()}
# Table 7: every dimension and its legal labels, in the paper's order.
DIMENSIONS = {
    "order": ("0", "1", "2", "3"),
    "truth_status": ("True", "False", "Unknown"),
    "knowledge_access": ("Private", "Shared", "Public"),
    "representation": ("Explicit", "Implicit"),
    "content_type": (
        "Location",
        "Contents/Physical State",
        "Identity/Relation",
        "Epistemic",
        "Desire/Intention",
        "Emotion",
        "Trait/Value",
        "Action/Event",
    ),
    "mental_source": (
        "Narration",
        "Perception",
        "Memory",
        "Testimony",
        "Inference",
        "Imagination",
        "Unknown",
    ),
    "context": ("Deceptive", "Temporal", "Counterfactual", "Neutral"),
}
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
_Labels = create_model(
    "_Labels",
    __config__=_STRICT,
    **{key: (Literal[labels], ...) for key, labels in DIMENSIONS.items()},
)


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

    Keys beyond those of App. B.5 are kept. That order 0 goes with the actor `world` is not asked
    for here: see `odd_orders`. Errors: `InputError` that names every line and field at fault.
    """
    found, problems = _json_lines(path, nan=False)
    problems += _problems(found)
    refuse(problems, str(path))
    if not found:
        raise InputError(f"{path}: no record in it")
    return [{**record, "source": record.get("source", RELEASED)} for _, record in found]


def write_records(records: Sequence[dict], path: Path | str) -> None:
    """Write records as JSONL, one line a story. Errors: `InputError` as in `read_records`."""
    refuse(_problems(list(enumerate(records, start=1))), f"{path}: not written")
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def _json_lines(path: Path | str, *, nan: bool) -> tuple[list[tuple[int, dict]], list[str]]:
    """The objects of a JSONL file with their line numbers, and the lines that hold none."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    found, problems = json_lines(text, nan=nan)
    problems += [
        f"line {number}: found {shown(value)}, expected an object"
        for number, value in found
        if not isinstance(value, dict)
    ]
    return [line for line in found if isinstance(line[1], dict)], problems


def _problems(records: Sequence[tuple[int, dict]]) -> list[str]:
    problems, first = [], {}
    for number, record in records:
        story_id = record.get("story_id")
        where = f"line {number}, story_id {shown(story_id)}"
        try:
            _Record.model_validate(record)
        except ValidationError as error:
            problems += [f"{where}, {_fault(one)}" for one in error.errors(include_url=False)]
        if isinstance(story_id, int) and first.setdefault(story_id, number) != number:
            problems.append(f"{where}: stands in line {first[story_id]} too, expected once")
    return problems


def _fault(error: Mapping) -> str:
    """One pydantic error as belief number, field, found and expected."""
    place, belief, expected = error["loc"], "", None
    if place[0] == "beliefs" and len(place) > 1:
        belief, place = f"belief {place[1] + 1}, ", place[2:] or ("belief",)
    if error["type"] == "missing" and place[-1] in DIMENSIONS:
        expected = ", ".join(DIMENSIONS[place[-1]])
    elif place == ("source",):
        expected = "authored, grammar, llm:<model> or released:<name>"
    return belief + field_at(place) + complaint(error, expected)


def odd_orders(records: Sequence[dict]) -> list[str]:
    """The beliefs that break the schema's rule that order 0 is the actor `world` and no other.

    The rule is the paper's (App. A.2), but gold that breaks it is still gold: reported, not refused.
    """
    return [
        f"story_id {record['story_id']}, belief {number}: actor {belief['actor']!r}, "
        f"order {belief['labels']['order']}"
        for record in records
        for number, belief in enumerate(record["beliefs"], start=1)
        if (belief["actor"] == WORLD) != (belief["labels"]["order"] == "0")
    ]


def rows(record: Mapping) -> list[Row]:
    """The gold belief table of a record, in its order."""
    return [
        Row(b["actor"], b["belief"], b["labels"]["order"], {d: b["labels"][d] for d in DIMENSIONS})
        for b in record["beliefs"]
    ]


# ToMBench's columns of the English text, and of the answer, which is a letter.
_TOMBENCH = ("STORY", "QUESTION", "OPTION-A", "OPTION-B", "OPTION-C", "OPTION-D")
_ANSWER, _ABILITY = "答案\nANSWER", "能力\nABILITY"


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
        if not path.is_file():
            problems.append(f"{path.name}: no such file")
            continue
        # NaN stands for the options that yes/no questions do not have.
        lines, faults = _json_lines(path, nan=True)
        faults += _missing_columns(lines) or [
            f"line {number}, {fault}" for number, line in lines for fault in _line_faults(line)
        ]
        problems += [f"{path.name}, {fault}" for fault in faults]
        if not faults:
            stories += _distinct(category, code, lines)
    refuse(problems, str(folder))
    columns = ["category", "code", "story", "source_rows", "questions"]
    return pd.DataFrame(stories, columns=columns)


def _missing_columns(lines: Sequence[tuple[int, dict]]) -> list[str]:
    expected = [*_TOMBENCH, _ANSWER, _ABILITY]
    for number, line in lines:
        if missing := [name for name in expected if name not in line]:
            return [
                f"line {number}: columns missing {missing}, found {[*line]}, expected {expected}"
            ]
    return [] if lines else ["no line in it"]


def _line_faults(line: Mapping) -> Iterator[str]:
    for name in (*_TOMBENCH[:4], _ABILITY):
        if not isinstance(line[name], str) or not line[name].strip():
            yield f"field {name!r}: found {shown(line[name])}, expected text"
    letters = [letter for letter in "ABCD" if isinstance(line[f"OPTION-{letter}"], str)]
    if line[_ANSWER] not in letters:
        yield f"field {_ANSWER!r}: found {shown(line[_ANSWER])}, expected one of {letters}"


def _distinct(category: str, code: str, lines: Sequence[tuple[int, dict]]) -> list[dict]:
    told: dict[str, list[dict]] = {}
    for number, line in lines:
        told.setdefault(line["STORY"], []).append(_question(number, line))
    return [
        {
            "category": category,
            "code": code,
            "story": story,
            "source_rows": [question["source_row"] for question in questions],
            "questions": questions,
        }
        for story, questions in told.items()
    ]


def _question(number: int, line: Mapping) -> dict:
    # Yes/no questions have no third and fourth option (NaN in the file).
    options = {
        letter: re.sub(rf"^{letter}\.\s*", "", line[f"OPTION-{letter}"].strip())
        for letter in "ABCD"
        if isinstance(line[f"OPTION-{letter}"], str)
    }
    return {
        "source_row": number,
        "ability": line[_ABILITY],
        "question": line["QUESTION"],
        "choices": list(options.values()),
        "answer": options[line[_ANSWER]],
    }


def split(stories: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The calibration stories, three of each category, and the benchmark stories: the rest.

    stories: of `read_tombench`; all 916 give 21 and 895, the counts of Table 4. Which three the
    paper held out is not published; here the seed draws them. Errors: `InputError` if a category
    has too few.
    """
    sizes = stories["code"].value_counts()
    refuse(
        [
            f"{category}: found {sizes.get(code, 0)} stories, expected at least {CALIBRATION}"
            for code, category in CATEGORIES.items()
            if sizes.get(code, 0) < CALIBRATION
        ],
        "the stories to split",
    )
    held = [
        label
        for code in CATEGORIES
        for label in random.Random(f"{seed}/{code}").sample(
            list(stories.index[stories["code"] == code]), CALIBRATION
        )
    ]
    out = stories.index.isin(held)
    return stories[out].reset_index(drop=True), stories[~out].reset_index(drop=True)


def link(records: Sequence[Mapping], tombench: pd.DataFrame) -> pd.DataFrame:
    """The ToMBench questions of each record's story, one row a question.

    Stories of one category are joined by their text, but for case, spaces and the form of quotation
    marks. Columns: `story_id, code, source_row, ability, question, choices, answer`. A record whose
    story is none of ToMBench's has no row.
    """
    asked = {
        (story["code"], _plain(story["story"])): story["questions"]
        for story in tombench.to_dict("records")
    }
    linked = [
        {"story_id": record["story_id"], "code": code, **question}
        for record in records
        for code in [CODES[record["story_category"]]]
        for question in asked.get((code, _plain(record["story"])), [])
    ]
    names = ["story_id", "code", "source_row", "ability", "question", "choices", "answer"]
    return pd.DataFrame(linked, columns=names)


_QUOTES = str.maketrans("‘’“”", "''\"\"")


def _plain(story: str) -> str:
    # Punctuation stays: three pairs of ToMBench's stories differ in nothing else.
    return " ".join(story.translate(_QUOTES).casefold().split())


def statistics(records: Sequence[Mapping]) -> pd.DataFrame:
    """Table 4: by category and in total, `stories`, `beliefs`, `beliefs_per_story` and the beliefs
    of `order_0`, `order_1` and `order_2_plus`. `code` is "total" in the last row.
    """
    counts = {
        code: _counts([r for r in records if r["story_category"] == category])
        for code, category in CATEGORIES.items()
    }
    counts["total"] = _counts(records)
    names = {**CATEGORIES, "total": "Total"}
    return pd.DataFrame(
        [{"code": code, "category": names[code], **row} for code, row in counts.items()]
    )


def _counts(records: Sequence[Mapping]) -> dict:
    orders = Counter(b["labels"]["order"] for record in records for b in record["beliefs"])
    return {
        "stories": len(records),
        "beliefs": orders.total(),
        "beliefs_per_story": orders.total() / len(records) if records else float("nan"),
        "order_0": orders["0"],
        "order_1": orders["1"],
        "order_2_plus": orders["2"] + orders["3"],
    }


def label_distribution(records: Sequence[Mapping]) -> pd.DataFrame:
    """Fig. 4: how often each legal label was given: `dimension, label, count, share` (0 to 1)."""
    beliefs = [belief for record in records for belief in record["beliefs"]]
    found = Counter((d, belief["labels"][d]) for belief in beliefs for d in DIMENSIONS)
    return pd.DataFrame(
        [
            {
                "dimension": dimension,
                "label": label,
                "count": found[dimension, label],
                "share": found[dimension, label] / len(beliefs) if beliefs else float("nan"),
            }
            for dimension, labels in DIMENSIONS.items()
            for label in labels
        ]
    )
