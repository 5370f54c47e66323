"""FANToM's question sets: the released record and its file, a JSON list of them (Sec. 3).

A record is one question set: a fact that was told while somebody was away, and the questions about
it. `set_id` says conversation, part and set ("12-0-1").
"""
# ruff: noqa: N815 (fields are called as in the release)

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from tomlab.errors import InputError, refuse
from tomlab.params import matches
from tomlab.records import files

RELEASED_SOURCE = "released:fantom_v1"
_READ = files.yaml_beside(__file__)
RELEASED_COUNTS, _ACCESS = _READ["released"], _READ["access"]
WORDINGS = tuple(kind[asked] for kind in _ACCESS.values() for asked in ("list", "yes_no"))
SCENARIOS = ("inaccessible", "accessible")
BELIEF_TYPES = tuple(f"tom:belief:{scenario}" for scenario in SCENARIOS)

# A name is up to three words that do not begin as a sentence in small letters would.
_NAME = re.compile(r"(?![a-z])[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}")
_TURN = re.compile(r"([^:]+?) ?: *(\S.*)")
# What stands between the names of several people who say one thing.
_JOINT = re.compile(r",? (?:and|&) | ?& ?|, ?")

Line = tuple[str, str]  # speaker, what they say
Text = Annotated[str, pydantic.Field(pattern=r"\S")]
SetId = Annotated[str, matches(r"[^\s-]+(-[^\s-]+){2}", "conversation-part-set, such as 12-0-1")]
_SOURCES = "authored, grammar, llm:<model> or released:<name>"
Source = Annotated[str, matches("authored|grammar|(llm|released):.+", _SOURCES)]
Scenario = Literal[SCENARIOS]


class _Record(pydantic.BaseModel, extra="allow", strict=True):
    """Keys that are not named are allowed and kept."""


class FactQuestion(_Record):
    question: Text
    correct_answer: Text
    wrong_answer: Text


class BeliefQuestion(FactQuestion):
    """What somebody believes; where the information is inaccessible, the wrong is omniscient."""

    question_type: Literal[BELIEF_TYPES]
    # The last, second order where nobody missed anything, is in no paper but in the release.
    tom_type: Literal[
        "first-order", "second-order:cyclic", "second-order:acyclic", "second-order:accessible"
    ]
    missed_info_accessibility: Scenario

    @pydantic.model_validator(mode="before")
    @classmethod
    def _scenario_is_that_of_the_type(cls, question: Any) -> Any:
        """Fills in the scenario, in the record itself, where the record leaves it out."""
        if isinstance(question, dict) and question.get("question_type") in BELIEF_TYPES:
            told = SCENARIOS[BELIEF_TYPES.index(question["question_type"])]
            if question.setdefault("missed_info_accessibility", told) != told:
                raise ValueError(f"expected {told!r} as missed_info_accessibility")
        return question


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


class Utterance(_Record):
    """One utterance of a conversation by grammar, see `conversation`."""

    speaker: str
    present: list[str]
    event: Literal["leave", "return", "join"] | None


class Symbolic(_Record):
    utterances: list[Utterance]


class QuestionSet(_Record):
    set_id: SetId
    source: Source = RELEASED_SOURCE
    short_context: Text
    full_context: Text
    factQA: FactQuestion
    beliefQAs: list[BeliefQuestion]
    answerabilityQA_list: ListQuestion
    infoAccessibilityQA_list: ListQuestion
    answerabilityQAs_binary: BinaryQuestions
    infoAccessibilityQAs_binary: BinaryQuestions
    record: Symbolic | None = None


def read_sets(path: Path | str) -> list[dict]:
    """The records of a JSON file in the released format, as they stand there, but for a belief's
    `missed_info_accessibility`, which is filled in where it is left out. Errors: `InputError` with
    file, record, set_id and field of everything at fault.
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
    return records


def written(lines: Sequence[Line]) -> str:
    """Utterances as a conversation shows them, "Name: text" on each line."""
    return "\n".join(f"{speaker}: {text}" for speaker, text in lines)


def question_set(
    set_id: str,
    contexts: tuple[Sequence[Line], Sequence[Line]],
    fact: tuple[str, str, str],
    beliefs: Sequence[Mapping],
    aware: Collection[str],
    source: str,
) -> dict:
    """One record of the released format. contexts: the short and the full conversation; fact: the
    question, its full and its limited answer; beliefs: of `belief_question`; aware: who knows.
    """
    short, full = contexts
    asked = dict(zip(("question", "correct_answer", "wrong_answer"), fact, strict=True))
    found = {
        "set_id": set_id,
        "short_context": written(short),
        "full_context": written(full),
        "factQA": asked | {"question_type": "fact"},
        "beliefQAs": list(beliefs),
    }
    there = {speaker for speaker, _ in short}
    keys = {name: "no" if name in there else "no:long" for name, _ in full}
    keys |= {name: "yes" for name in keys if name in aware}
    # Not that of the beliefs: somebody else of the part may have missed what PersonX heard.
    scenario = "inaccessible" if "no" in keys.values() else "accessible"
    for kind, asked in _ACCESS.items():
        found[f"{asked['field']}QA_list"] = {
            "question": asked["list"],
            "correct_answer": [name for name in keys if name in aware],
            "wrong_answer": [name for name in keys if name not in aware],
            "question_type": f"tom:{kind}:list",
            "missed_info_accessibility": scenario,
        }
        about = {"question_type": f"tom:{kind}:binary", "missed_info_accessibility": scenario}
        found[f"{asked['field']}QAs_binary"] = [
            {"question": asked["yes_no"].format(name=name), "correct_answer": key, **about}
            for name, key in keys.items()
        ]
    return found | {"source": source}


def belief_question(question: str, right: str, wrong: str, order: str, scenario: str) -> dict:
    """One entry of `beliefQAs`. order: its `tom_type`; scenario: accessible or inaccessible."""
    return {
        "question": question,
        "correct_answer": right,
        "wrong_answer": wrong,
        "question_type": f"tom:belief:{scenario}",
        "tom_type": order,
        "missed_info_accessibility": scenario,
    }


def source_of(record: Mapping) -> str:
    """Who wrote a record: its `source`, else the release, whose records do not say."""
    return record.get("source", RELEASED_SOURCE)


def turns(context: str) -> list[tuple[tuple[str, ...], str]]:
    """Who says what, line by line; a line that is no "Name: text" is left out. A turn has several
    speakers where the release joins them: "A & B: text", "A, B, and C: text".
    """
    found = (_TURN.fullmatch(line.strip()) for line in context.splitlines())
    said = ((tuple(_JOINT.split(hit[1])), hit[2]) for hit in found if hit)
    return [(names, text) for names, text in said if all(map(_NAME.fullmatch, names))]


def speakers(context: str) -> list[str]:
    """Who speaks, alone or with others, in the order in which they first do."""
    return list(dict.fromkeys(name for names, _ in turns(context) for name in names))


def folded(text: str) -> str:
    """A text for comparison: case and spacing do not tell two apart."""
    return " ".join(text.casefold().split())
