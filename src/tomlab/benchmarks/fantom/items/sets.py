"""FANToM's question sets: the released record and its file, a JSON list of them (Sec. 3).

A record is one question set: a fact that was told while somebody was away, and the questions about
it. `set_id` says conversation, part and set ("12-0-1").
"""
# ruff: noqa: N815 (fields are called as in the release)

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
    """Keys that are not named are allowed and kept."""


class FactQuestion(_Record):
    question: Text
    correct_answer: Text
    wrong_answer: Text


class BeliefQuestion(FactQuestion):
    """What somebody believes; where the information is inaccessible, the wrong is omniscient."""

    question_type: Literal["tom:belief:inaccessible", "tom:belief:accessible"]
    # The last, second order where nobody missed anything, is in no paper but in the release.
    tom_type: Literal[
        "first-order", "second-order:cyclic", "second-order:acyclic", "second-order:accessible"
    ]
    missed_info_accessibility: Scenario | None = None  # may be left out: the type says it, too

    @pydantic.model_validator(mode="after")
    def _fits_type(self) -> Self:
        scenario = self.missed_info_accessibility
        if scenario and self.question_type != f"tom:belief:{scenario}":
            fault = f"missed_info_accessibility: found {scenario!r}"
            raise ValueError(f"{fault}, expected that of {self.question_type!r}")
        return self


class ListQuestion(_Record):
    """Who knows: the names that are aware (right) and those that are not (wrong)."""

    question: Text
    correct_answer: list[Text]
    wrong_answer: list[Text]
    missed_info_accessibility: Scenario


class BinaryQuestion(_Record):
    """Whether one person knows. "no:long": no, and the short context is without them."""

    question: Text
    correct_answer: Literal["yes", "no", "no:long"]
    missed_info_accessibility: Scenario


BinaryQuestions = Annotated[list[BinaryQuestion], pydantic.Field(min_length=1)]


class Event(_Record):
    """Somebody comes or goes in a turn; whoever leaves does so after it."""

    turn: int
    event: Literal["leaves", "returns", "joins"]
    name: Text


class Story(_Record):
    """How the conversation of a set of ours goes: see `attendance`. Turns are numbers from 1.

    start, end: the first and the last turn of the short context; told: the turns that tell the
    fact; there: who is there at first; about: what the fact is about; claim: what it says.
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
    """The records of a JSON file in the released format, ours, the release or a user's, as they
    stand there. Errors: `InputError` with file, record, set_id and field of everything at fault,
    and of everything that differs from what a record beside the set says.
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
    """Who wrote a record: its `source`, else the release, whose records do not say."""
    return record.get("source") or RELEASED_SOURCE


def scenario_of(belief: Mapping) -> str:
    """Whether PersonX missed what a belief question is about, as its type says."""
    return belief["question_type"].removeprefix("tom:belief:")
