"""FANToM's question sets: the released record, its file, and counts (Sec. 3).

A record is one question set: a fact that was told while somebody was away, and the questions about
it. `fantom_v1.json` is a JSON list of them; `set_id` says conversation, part and set ("12-0-1").
"""
# ruff: noqa: N815 (fields are called as in the release)

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
import pydantic

from tomlab import paths
from tomlab.benchmarks.fantom.paper import PUBLICATION
from tomlab.errors import InputError, refuse
from tomlab.records import files

RELEASED_FILE = "fantom_v1.json"
RELEASED_URL = "https://storage.googleapis.com/ai2-mosaic-public/projects/fantom/fantom.tar.gz"
# Of the archive at that address, as the released loader checks it.
RELEASED_SHA256 = "1d08dfa0ea474c7f83b9bc7e3a7b466eab25194043489dd618b4c5223e1253a4"
RELEASED_SOURCE = "released:fantom_v1"
# What the release holds, and the questions on who knows.
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
# What `files.complaint` has to say of a text that does not fit the pattern of its field.
_EXPECTED = {
    ("set_id",): "conversation-part-set, such as 12-0-1",
    ("source",): "authored, grammar, llm:<model> or released:<name>",
}

Line = tuple[str, str]  # speaker, what they say
Text = Annotated[str, pydantic.Field(pattern=r"\S")]
Scenario = Literal[SCENARIOS]


class _Record(pydantic.BaseModel, extra="allow", strict=True):
    """Keys that are not named are allowed and kept."""


class FactQuestion(_Record):
    """The fact itself: the full answer, and what is left of it for who was away."""

    question: Text
    correct_answer: Text
    wrong_answer: Text


class BeliefQuestion(FactQuestion):
    """What somebody believes about the fact. In the inaccessible scenario the right answer is the
    PersonX-centric one and the wrong one omniscient.
    """

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

    @pydantic.field_validator("wrong_answer")
    @classmethod
    def _are_others(cls, names: list[str], info: pydantic.ValidationInfo) -> list[str]:
        aware = {folded(name) for name in info.data.get("correct_answer", [])}
        if both := [name for name in names if folded(name) in aware]:
            raise ValueError(f"expected nobody named as aware in correct_answer: {', '.join(both)}")
        return names


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
    """What the grammar says of a conversation that it made."""

    utterances: list[Utterance]


class QuestionSet(_Record):
    """One question set of a file."""

    set_id: str = pydantic.Field(pattern=r"^[^\s-]+-[^\s-]+-[^\s-]+$")
    source: str = pydantic.Field(
        RELEASED_SOURCE, pattern=r"^(authored|grammar|llm:.+|released:.+)$"
    )
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
    """The records of a file in the released format, as they stand there.

    path: a `.json` file, the released `.tar.gz`, read without unpacking it to disk, or a folder
    with `fantom_v1.json`. `missed_info_accessibility` of a belief is filled in from its
    `question_type` where a file leaves it out. Nothing else is changed.
    Errors: `InputError` with file, record, set_id and field of everything at fault.
    """
    path = Path(path)
    file = path / RELEASED_FILE if paths.kind(path) == "folder" else path
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None
    if file.name.endswith((".tar.gz", ".tgz")):
        content = _unpacked(content, file)
    text = files.decoded(content, file)
    try:
        records = files.parsed(text, nan=True)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not JSON ({error})") from None
    if not isinstance(records, list) or not records:
        raise InputError(f"{file}: found {files.shown(records)}, expected a list of question sets")
    first, problems = {}, []
    for number, record in enumerate(records, start=1):
        set_id = record.get("set_id") if isinstance(record, dict) else None
        where = f"record {number} ({set_id})" if isinstance(set_id, str) else f"record {number}"
        problems += [f"{where}, {what}" for what in _complaints(record)]
        if isinstance(set_id, str) and first.setdefault(set_id, number) != number:
            problems.append(f"{where}, field set_id: stands in record {first[set_id]} too")
    refuse(problems, str(file))
    return records


def _unpacked(archive: bytes, path: Path) -> bytes:
    """The JSON file in the released archive, which its digest proves to be whole."""
    digest = hashlib.sha256(archive).hexdigest()
    if digest != RELEASED_SHA256:
        expected = f"{RELEASED_SHA256} of {RELEASED_URL}; unpack any other archive first"
        raise InputError(f"{path}: found an archive of sha256 {digest}, expected {expected}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        [member] = [one for one in tar if Path(one.name).name == RELEASED_FILE]
        return tar.extractfile(member).read()


def _complaints(record: Any) -> list[str]:
    """All that is wrong with a record: the field, what was found, what was expected."""
    try:
        QuestionSet.model_validate(record)
    except pydantic.ValidationError as error:
        return [files.complaint(case, _EXPECTED.get(case["loc"])) for case in error.errors()]
    return []


def write_sets(sets: Sequence[Mapping], path: Path | str) -> Path:
    """Records as a file that `read_sets` reads, the keys in the order they have. Returns `path`."""
    try:
        text = json.dumps(list(sets), indent=1, ensure_ascii=False, allow_nan=False)
        Path(path).write_bytes(f"{text}\n".encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: a record cannot be written as JSON ({error})") from None
    return Path(path)


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
    """One record of the released format, with `source`.

    contexts: the short and the full conversation; fact: the question, its full and its limited
    answer; beliefs: of `belief_question`; aware: who knows the full answer.
    """
    short, full = contexts
    asked = dict(zip(("question", "correct_answer", "wrong_answer"), fact, strict=True))
    return {
        "set_id": set_id,
        "short_context": written(short),
        "full_context": written(full),
        "factQA": asked | {"question_type": "fact"},
        "beliefQAs": list(beliefs),
        **_access_questions(aware, short, full),
        "source": source,
    }


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


def _access_questions(aware: Collection[str], short: Sequence[Line], full: Sequence[Line]) -> dict:
    """Answerability and information access, as lists and for everyone who speaks, in their order.

    The key of those who don't speak in the short context is "no:long". The scenario is these
    questions' own: somebody else of the part may have missed what PersonX heard.
    """
    there = {speaker for speaker, _ in short}
    keys = {name: "no" if name in there else "no:long" for name, _ in full}
    keys |= {name: "yes" for name in keys if name in aware}
    scenario = "inaccessible" if "no" in keys.values() else "accessible"
    of, questions = {"missed_info_accessibility": scenario}, {}
    for kind, asked in _ACCESS.items():
        questions[f"{asked['field']}QA_list"] = {
            "question": asked["list"],
            "correct_answer": [name for name in keys if name in aware],
            "wrong_answer": [name for name in keys if name not in aware],
            "question_type": f"tom:{kind}:list",
            **of,
        }
        about = {"question_type": f"tom:{kind}:binary", **of}
        questions[f"{asked['field']}QAs_binary"] = [
            {"question": asked["yes_no"].format(name=name), "correct_answer": key, **about}
            for name, key in keys.items()
        ]
    return questions


def source_of(record: Mapping) -> str:
    """Who wrote a record: its `source`, else the release, whose records do not say."""
    return record.get("source", RELEASED_SOURCE)


def turns(context: str) -> list[tuple[tuple[str, ...], str]]:
    """Who says what, line by line; a line that is no "Name: text" is left out.

    A turn has several speakers where the release joins them: "A & B: text", "A, B, and C: text".
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


def counts(items: pd.DataFrame) -> pd.DataFrame:
    """How many there are of everything in an items table: `item, count, paper, release`.

    paper: Sec. 1 and 3.5; release: what the released file holds, which is not the same; NaN where
    neither says. identical_fact_answers: fact questions whose right and wrong answer coincide but
    for case and spacing.
    """
    facts = items[items["question_type"] == "fact"]
    same = facts["answer"].map(folded) == facts["wrong_answer"].map(folded)
    count = dict.fromkeys(("conversations", *RELEASED_COUNTS), 0)
    count |= items["question_type"].value_counts().to_dict()
    count |= {"conversations": items["conversation_id"].nunique()}
    count |= {"sets": items["group_id"].nunique(), "identical_fact_answers": int(same.sum())}
    table = pd.DataFrame({"item": list(count), "count": list(count.values())})
    printed = PUBLICATION.read("dataset_counts").set_index("item")["count"]
    known = {"paper": printed, "release": RELEASED_COUNTS}
    return table.assign(**{who: table["item"].map(of).astype(float) for who, of in known.items()})
