"""FANToM's question sets: the format of the released file, a JSON list of records (Sec. 3).

A record is one question set: a fact that was told while somebody was away, and the questions about
it. `set_id` joins conversation, part and set ("12-0-1").
"""
# ruff: noqa: N815 (fields have the names of the release)

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

import pydantic

from tomlab.benchmarks.fantom.items.attendance import disputes
from tomlab.errors import InputError, refuse
from tomlab.params import matches
from tomlab.records import files

RELEASED_SOURCE = "released:fantom_v1"
RELEASED_COUNTS = files.yaml_beside(__file__)["released"]
SCENARIOS = ("inaccessible", "accessible")

Text = Annotated[str, pydantic.Field(pattern=r"\S")]
SetId = Annotated[str, matches(r"[^\s-]+(-[^\s-]+){2}", "conversation-part-set, such as 12-0-1")]
_SOURCES = "authored, llm:<model> or released:<name>"
Source = Annotated[str, matches("authored|(llm|released):.+", _SOURCES)]
Scenario = Literal["inaccessible", "accessible"]


class _Record(pydantic.BaseModel, extra="allow", strict=True):
    """A part of the released format; keys that it does not list are allowed and kept."""


class FactQuestion(_Record):
    question: Text
    correct_answer: Text
    wrong_answer: Text


class BeliefQuestion(FactQuestion):
    """What somebody believes; in the inaccessible scenario, the wrong answer is omniscient."""

    question_type: Literal["tom:belief:inaccessible", "tom:belief:accessible"]
    # The last is second order where nobody missed anything; the release has it, the paper does not.
    tom_type: Literal[
        "first-order", "second-order:cyclic", "second-order:acyclic", "second-order:accessible"
    ]
    missed_info_accessibility: Scenario | None = None  # optional, as question_type says it, too

    @pydantic.model_validator(mode="after")
    def _fits_type(self) -> Self:
        scenario = self.missed_info_accessibility
        if scenario and self.question_type != f"tom:belief:{scenario}":
            fault = f"missed_info_accessibility: found {scenario!r}"
            raise ValueError(f"{fault}, expected that of {self.question_type!r}")
        return self


class ListQuestion(_Record):
    """Who knows: the names of those who know (right answer) and of those who do not (wrong)."""

    question: Text
    correct_answer: list[Text]
    wrong_answer: list[Text]
    missed_info_accessibility: Scenario


class BinaryQuestion(_Record):
    """Whether one person knows. "no:long": no, and the person is not in the short context."""

    question: Text
    correct_answer: Literal["yes", "no", "no:long"]
    missed_info_accessibility: Scenario


BinaryQuestions = Annotated[list[BinaryQuestion], pydantic.Field(min_length=1)]


class Event(_Record):
    """Somebody comes or goes in a turn; a person who leaves does so after it."""

    turn: int
    event: Literal["leaves", "returns", "joins"]
    name: Text


class Story(_Record):
    """What happens in the conversation of one of our sets (see `attendance`). Turns count from 1.

    start, end: the first and the last turn of the short context; told: the turns that tell the
    fact; there: who is present at first; about: the fact's topic; claim: what the fact says;
    owner: the person whose second-order belief counts as cyclic.
    """

    author: Text
    topic: Text
    person_x: Text
    owner: Text
    about: Text
    claim: Text
    start: int
    end: int
    told: Annotated[list[int], pydantic.Field(min_length=1)]
    there: list[Text]
    events: list[Event]


class QuestionSet(_Record):
    set_id: SetId
    source: Source | None = None  # left out by the release
    short_context: Text
    full_context: Text
    factQA: FactQuestion
    beliefQAs: list[BeliefQuestion]
    answerabilityQA_list: ListQuestion
    infoAccessibilityQA_list: ListQuestion
    answerabilityQAs_binary: BinaryQuestions
    infoAccessibilityQAs_binary: BinaryQuestions
    record: Story | None = None


def read_sets(path: Path | str) -> list[dict]:
    """The unchanged records of a JSON file in the released format, whoever wrote it. Errors:
    `InputError` that names file, record, set_id and field of all faults or, if there are none, of
    all conflicts between a set and its own `record` field (see `attendance.disputes`).
    """
    text = files.read_text(path)
    try:
        records = files.parsed(text, nan=True)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    if not isinstance(records, list) or not records:
        raise InputError(f"{path}: found {files.shown(records)}, expected a list of question sets")
    problems = files.unfit(enumerate(records, start=1), QuestionSet, "set_id", "record")
    refuse(list(problems), str(path))
    differences = []
    for record in records:
        if record.get("record"):
            for difference in disputes(record):
                differences.append(f"set_id {record['set_id']!r}, field {difference}")
    refuse(differences, str(path))
    return records


def source_of(record: Mapping) -> str:
    """Who wrote a record: its `source` or, as released records have none, the release."""
    return record.get("source") or RELEASED_SOURCE


def scenario_of(belief: Mapping) -> str:
    """A belief question's scenario, from its type: "inaccessible" (PersonX missed the information)
    or "accessible".
    """
    return belief["question_type"].removeprefix("tom:belief:")
