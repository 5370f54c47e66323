"""Outlines of FANToM conversations that a model is to write: who is there when (App. A.1)."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tomlab.records.files import yaml_beside

MATERIAL = yaml_beside(__file__)
# App. A.1: how many people there are at the start, at least at once, and in all.
FIRST, FEWEST, PEOPLE = (2, 3), 2, 5


class Change(NamedTuple):
    """Who leaves or joins at the beginning of a segment. reason: why they leave, or were away."""

    kind: Literal["leave", "join"]
    name: str
    reason: str


@dataclass(frozen=True)
class Outline:
    """What a model is to write, one segment a subtopic, with a change before each later one."""

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
            if change.kind == "join":
                there.append(change.name)
            else:
                there.remove(change.name)
        return tuple(there)


def outlines(
    n: int, seed: int = 0, subtopics: int = 3, material: Mapping = MATERIAL
) -> list[Outline]:
    """`n` outlines. A larger `n` begins with the same ones; topics recur.

    Two or three people are there at first. With each later subtopic somebody leaves or joins, and
    somebody joins at least once, because nothing is missed otherwise. Who joins without having been
    there before stepped away earlier, as the paper's one prompt for joining has it. material:
    `topics` with their subtopics, `names` and `reasons` to leave.
    """
    topics = random.Random(seed).sample([*material["topics"]], len(material["topics"]))
    drawn = []
    for number in range(n):
        topic = topics[number % len(topics)]
        drawn.append(_outline(topic, subtopics, random.Random(f"{seed}/{number}"), material))
    return drawn


def _outline(topic: str, count: int, rng: random.Random, material: Mapping) -> Outline:
    subtopics = rng.sample(material["topics"][topic], count)
    names = rng.sample(material["names"], PEOPLE)
    first = rng.choice(FIRST)
    present = names[:first]
    strangers = names[first:]
    away = {}
    changes = []
    for left in range(count - 1, 0, -1):
        # Of those who were never there the next one, so that those who left can return as often.
        candidates = [*away, *strangers[:1]] if len(present) < PEOPLE else []
        last_chance = left == 1 and all(change.kind == "leave" for change in changes)
        may_leave = len(present) > FEWEST and not last_chance
        if may_leave and not (candidates and rng.random() < 0.5):
            name = rng.choice(present)
            present.remove(name)
            away[name] = rng.choice(material["reasons"])
            changes.append(Change("leave", name, away[name]))
        else:
            name = rng.choice(candidates)
            strangers = [stranger for stranger in strangers if stranger != name]
            present.append(name)
            reason = away.pop(name, None) or rng.choice(material["reasons"])
            changes.append(Change("join", name, reason))
    return Outline(topic, tuple(subtopics), tuple(names[:first]), tuple(changes))
