"""Outlines of FANToM conversations that a model is to write: who is there when (App. A.1)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ConfigDict, TypeAdapter

from tomlab import params
from tomlab.errors import refuse
from tomlab.records import files


class Change(NamedTuple):
    """Who leaves or joins at the beginning of a segment. reason: why they leave, or were away."""

    kind: Literal["leave", "join"]
    name: str
    reason: str


@dataclass(frozen=True)
class Outline:
    """What a model is to write, one segment a subtopic, with a change before each later one."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    topic: str
    subtopics: tuple[str, ...]
    start: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def characters(self) -> tuple[str, ...]:
        """Everybody who is there at some time, in the order in which they come."""
        return tuple(dict.fromkeys([*self.start, *(change.name for change in self.changes)]))

    def change(self, segment: int) -> Change | None:
        """The change with which a segment begins; None for the first, which is number 0."""
        return self.changes[segment - 1] if segment else None

    def present(self, segment: int) -> tuple[str, ...]:
        """Who is there all through a segment, without the one who leaves as it begins."""
        there = list(self.start)
        for change in self.changes[:segment]:
            there = [name for name in there if name != change.name]
            if change.kind == "join":
                there.append(change.name)
        return tuple(there)


def read_outlines(path: Path | str, n: int) -> list[Outline]:
    """The first `n` outlines of a YAML file. Errors: `InputError` with all that is malformed, with
    who leaves while away or joins while there, and if there are fewer.
    """
    content = params.parsed(files.read_text(path), path)
    outlines = params.checked(TypeAdapter(list[Outline]).validate_python, content, str(path))
    problems = []
    if len(outlines) < n:
        problems.append(f"found {len(outlines)} outlines, expected {n} for llm_conversations")
    for number, outline in enumerate(outlines, start=1):
        where = f"outline {number}, field changes"
        found, expected = len(outline.changes), len(outline.subtopics) - 1
        if found != expected:
            problems.append(f"{where}: found {found}, expected {expected}, one a later subtopic")
        for segment, change in enumerate(outline.changes):
            if (change.kind == "leave") != (change.name in outline.present(segment)):
                problems.append(f"{where}: found {change.kind} of {change.name} at the wrong time")
    refuse(problems, str(path))
    return outlines[:n]
