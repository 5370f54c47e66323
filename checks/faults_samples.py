"""One right file of every kind that a user may hand in, with its reader: what `faults.py` breaks."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tomlab.asking import prompts
from tomlab.benchmarks import bigtom, omnitom, simpletom
from tomlab.benchmarks.bigtom.items import filtering as bigtom_filtering
from tomlab.benchmarks.fantom.items import filtering as fantom_filtering
from tomlab.benchmarks.fantom.items import sets
from tomlab.benchmarks.omnitom import calibration
from tomlab.benchmarks.omnitom.items import filtering as omnitom_filtering
from tomlab.benchmarks.omnitom.items import records
from tomlab.benchmarks.simpletom.items import filtering as simpletom_filtering
from tomlab.benchmarks.simpletom.items import writing
from tomlab.paths import DATA
from tomlab.records.files import read_form

Read = Callable[[Path], Any]


class Case(NamedTuple):
    """One input; named: what the refusal has to hold beside a word. taken: it is right, and must
    not be refused; harmless: it may be taken or refused.
    """

    name: str
    try_it: Callable[[], Any]
    named: tuple[str, ...] = (" ",)
    taken: bool = False
    harmless: bool = False


class Sample(NamedTuple):
    """One kind of file.

    path: of the file that is broken, within the folder that holds the sample; given: what the
    reader is handed, the file itself or a folder; files: all that is in the folder.
    wrong: for a column of a CSV, what must not stand in it; needs_rows: its header alone is refused; once: as is a row that stands twice.
    spare: columns that may be missing, and fields of JSON that may be NaN; unread: fields of JSON
    in which anything may stand.
    """

    path: str
    read: Read
    files: dict[str, bytes]
    given: str
    wrong: Mapping[str, list[str]] = MappingProxyType({})
    needs_rows: bool = True
    once: bool = True
    spare: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def table(*rows: dict[str, str]) -> bytes:
    """Rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _head(name: str, rows: int) -> bytes:
    """The first rows of one of our own CSV files."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return table(*[row for row, _ in zip(csv.DictReader(file), range(rows), strict=False)])


def _lines(*values: Any) -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def _released_templates() -> bytes:
    """Our first templates, with the bookkeeping of the released bigtom.csv."""
    lines = (DATA / "bigtom/bigtom.csv").read_text(encoding="utf-8").splitlines()[:3]
    rows = [line.split(";") for line in lines]
    return "".join(";".join([*row[:-2], "auto", "0"]) + "\n" for row in rows).encode()


def _question_sets() -> list[dict]:
    """Two question sets of ours, as the release has them: without a record of events."""
    ours = sets.read_sets(DATA / "fantom" / "fantom.json")[:2]
    return [{name: part for name, part in one.items() if name != "record"} for one in ours]


def _questions() -> dict[str, bytes]:
    """SimpleToM's questions on two stories, in the hub's layout."""
    found = {}
    for config, end in (("mental-state", "aware"), ("behavior", "action"), ("judgment", "judge")):
        rows = [
            {
                "id": f"food item in grocery store_{number}_sev2_{end}",
                "story": "The crisps hold a crayon. Ann walks to the till.",
                "question": "What will Ann do next?",
                "scenario_name": "food item in grocery store",
                "choices": {"text": ["pay", "complain"], "label": ["A", "B"]},
                "answerKey": "A",
            }
            for number in (1, 2)
        ]
        found[f"{config}-qa/test.jsonl"] = _lines(*rows)
    return found


def _tombench() -> dict[str, bytes]:
    """One question in each of ToMBench's seven files."""
    asked = {"能力\nABILITY": "Belief", "STORY": "A tale.", "QUESTION": "Why?"}
    options = {f"OPTION-{letter}": f"for {letter}" for letter in "ABCD"}
    line = _lines(asked | options | {"答案\nANSWER": "B"})
    return {f"{category}.jsonl": line for category in records.CATEGORIES.values()}


_WHO = ["", "person", "llm:", "Human", "llm:a b"]
_NUMBER = ["", "-1", "1.5", "1.0", "NaN", "Infinity", "true", "one", "1e0", "¹", "99999999999999999999"]  # fmt: skip


def samples() -> dict[str, Sample]:
    """All kinds by name."""
    rating = {"template_id": "t1", "rater": "ann", "rater_kind": "human"}
    rating |= {"follows_structure": "1", "tests_behavior": "4"}
    flag = {"set_id": "1-0-0", "annotator": "ann", "kind": "coherence", "verdict": "yes"}
    flag |= {"kind": next(iter(fantom_filtering.KINDS)), "annotator_type": "human"}
    label = {"story_id": "1", "belief": "1", "annotator": "ann", "annotator_type": "human"}
    label |= {"dimension": "order", "label": "1"}
    aligned = {"story_id": "1", "table": "gold", "actor": "Ann", "belief": "It is red."}
    aligned |= {"match_count": "1", "annotator": "ann"}
    answer = {"story_id": "s1", "annotator": "ann", "annotator_kind": "human"}
    answer |= {"question": "unlikely_noticed", "answer": "yes"}
    known = [{"story_id": 1, "beliefs": [{}, {}]}, {"story_id": 2, "beliefs": [{}, {}]}]
    lines = (DATA / "omnitom/stories.jsonl").read_text(encoding="utf-8").splitlines()[:3]
    question_sets = _question_sets()

    def one(path: str, read: Read, content: bytes, **more: Any) -> Sample:
        return Sample(path, read, {path: content}, path, **more)

    return {
        "bigtom.csv": one("bigtom.csv", bigtom.read_released, _released_templates()),
        "scenarios.csv": one(
            "scenarios.csv",
            writing.read_scenarios,
            _head("simpletom/scenarios.csv", 3),
            wrong={"scenario": ["", "elsewhere"], "reason": [""], "description": [""]},
        ),
        "ratings.csv": one(
            "ratings.csv",
            lambda path: read_form(path, bigtom_filtering.ratings_form({"t1", "t2"})),
            table(rating, rating | {"template_id": "t2"}),
            wrong={
                "template_id": ["", "t9", "T1"],
                "rater": [""],
                "rater_kind": [*_WHO, "llm:x"],
                "follows_structure": [*_NUMBER[1:], "2"],
                "tests_behavior": [*_NUMBER[1:], "0", "6"],
            },
            needs_rows=False,
        ),
        "flags.csv": one(
            "flags.csv",
            lambda path: read_form(path, fantom_filtering.flags_form({"1-0-0", "1-0-1"})),
            table(flag, flag | {"set_id": "1-0-1"}),
            wrong={
                "set_id": ["", "9-9-9", "NaN"],
                "annotator": [""],
                "kind": ["", "odd"],
                "verdict": ["", "true", "1", "Yes"],
                "annotator_type": [*_WHO, "llm:x"],
            },
            needs_rows=False,
        ),
        "annotations.csv (OmniToM)": one(
            "annotations.csv",
            lambda path: omnitom_filtering.read_annotations(path, known),
            table(label, label | {"belief": "2"}),
            wrong={
                "story_id": [*_NUMBER, "7", "01"],
                "belief": [*_NUMBER, "0", "3", "01"],
                "annotator": [""],
                "annotator_type": [*_WHO, "llm:x"],
                "dimension": ["", "depth", "Order"],
                "label": [*_NUMBER, "4", "private"],
            },
            needs_rows=False,
        ),
        "alignments.csv": one(
            "alignments.csv",
            calibration.read_human,
            table(
                aligned,
                aligned | {"belief": "It is blue."},
                aligned | {"table": "prediction"},
                aligned | {"table": "prediction", "belief": "It is big."},
            ),
            wrong={
                "story_id": [""],
                "table": ["", "Gold", "predicted"],
                "actor": [""],
                "belief": [""],
                "match_count": [*_NUMBER[1:], "3"],
                "annotator": [""],
            },
            needs_rows=False,
            once=False,  # predictions may say a thing twice
        ),
        "annotations.csv (SimpleToM)": one(
            "annotations.csv",
            lambda path: read_form(path, simpletom_filtering.annotations_form({"s1", "s2"})),
            table(answer, answer | {"story_id": "s2"}),
            wrong={
                "story_id": ["", "s9"],
                "annotator": [""],
                "annotator_kind": [*_WHO, "llm:x"],
                "question": ["", "odd"],
                "answer": ["", "true", "1", "Yes", "perhaps"],
            },
            needs_rows=False,
        ),
        "fantom_v1.json": one(
            "fantom_v1.json",
            sets.read_sets,
            json.dumps(question_sets, ensure_ascii=False).encode(),
            unread=("question_type",),
        ),
        "stories.jsonl": one(
            "stories.jsonl", omnitom.read_released, "".join(f"{one}\n" for one in lines).encode()
        ),
        "questions (SimpleToM)": Sample(
            "behavior-qa/test.jsonl", simpletom.read_released, _questions(), ""
        ),
        "ToMBench": Sample(
            "Hinting Task Test.jsonl",
            records.read_tombench,
            _tombench(),
            "",
            spare=("OPTION-C", "OPTION-D"),
            unread=("ABILITY",),
        ),
        "prompt": one(
            "labels.txt",
            lambda path: prompts.load("bigtom/labels", {"bigtom/labels": str(path)}),
            prompts.load("bigtom/labels").encode(),
        ),
    }
