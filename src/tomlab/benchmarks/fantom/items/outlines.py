"""Outlines of FANToM conversations that a model is to write: who is present when (App. A.1)."""

from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from tomlab import params
from tomlab.errors import InputError
from tomlab.records import files


class _Change(NamedTuple):
    """A person leaves or joins as a segment begins. reason: why they leave, or were away."""

    kind: Literal["leave", "join"]
    name: str
    reason: str


class Outline(params.Section):
    """A conversation to write: a segment for each subtopic, and a change before all but the first.
    start: the people present in the first segment.
    """

    topic: str
    subtopics: list[str]
    start: list[str]
    changes: list[_Change]


def read_outlines(path: Path | str, n: int) -> list[list[dict]]:
    """The first `n` outlines of a YAML file, each as its `segments`. Errors: `InputError` if the
    file is malformed or has fewer outlines, or if a person leaves while away or joins while there.
    """
    content = params.parsed(files.read_text(path), path)
    outlines = params.checked(TypeAdapter(list[Outline]).validate_python, content, str(path))
    if len(outlines) < n:
        raise InputError(
            f"{path}: found {len(outlines)} outlines, expected {n} for llm_conversations"
        )
    plans = []
    for number, outline in enumerate(outlines[:n], start=1):
        plans.append(segments(outline, f"{path}: outline {number}, field changes"))
    return plans


def segments(outline: Outline, where: str = "outline") -> list[dict]:
    """The fields that fill the prompt for each segment: `kind` (conversation, leave or join),
    `topic`, `subtopic`, `first` (the first of those present before), `names`, for a change also
    `person` and `reason`, and `present`: who is there throughout, so not who leaves as it begins.
    Errors: `InputError` for a change too many or too few, or one at the wrong time.
    """
    n = len(outline.subtopics) - 1
    if len(outline.changes) != n:
        raise InputError(
            f"{where}: found {len(outline.changes)}, expected {n}, one a later subtopic"
        )
    present = outline.start
    plan = []
    for subtopic, change in zip(outline.subtopics, [None, *outline.changes], strict=True):
        segment = {"kind": "conversation", "topic": outline.topic, "first": present[0]}
        if change:
            if (change.kind == "leave") != (change.name in present):
                raise InputError(f"{where}: found {change.kind} of {change.name} at the wrong time")
            segment |= {"kind": change.kind, "person": change.name, "reason": change.reason}
            present = [name for name in present if name != change.name]
            if change.kind == "join":
                present.append(change.name)
        names = f"{', '.join(present[:-1])} and {present[-1]}"
        plan.append(segment | {"subtopic": subtopic, "names": names, "present": present})
    return plan
