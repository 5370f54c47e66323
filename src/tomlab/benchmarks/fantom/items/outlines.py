"""Outlines of FANToM conversations to be written: topic, subtopics, who is there (App. A.1)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tomlab.benchmarks.fantom.items.cast import CAST, Cast, Topic

FEWEST = 2  # people at once, App. A.1
FIRST = (2, 3)  # people at the start, App. A.1


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
    topics: Sequence[Topic], cast: Cast, n: int, seed: int = 0, subtopics: int = 3
) -> list[Outline]:
    """`n` outlines of 2 to 4 subtopics. A larger `n` begins with the same ones; topics recur.

    Two or three people are there at first. With each later subtopic somebody leaves or joins, and
    somebody joins at least once, because nothing is missed otherwise. Who joins without having been
    there before stepped away earlier, as the paper's one prompt for joining has it.
    """
    order = random.Random(seed).sample(topics, len(topics))
    turns = ((order[i % len(order)], random.Random(f"{seed}/{i}")) for i in range(n))
    return [_outline(topic, cast, subtopics, rng) for topic, rng in turns]


def _outline(topic: Topic, cast: Cast, count: int, rng: random.Random) -> Outline:
    subtopics = [subtopic.name for subtopic in rng.sample(topic.subtopics, count)]
    names, first = rng.sample(cast.names, CAST), rng.choice(FIRST)
    reasons = [entry.reason for entry in cast.leaving]
    present, strangers, away, changes = names[:first], names[first:], {}, []
    for left in range(count - 1, 0, -1):
        # Of those who were never there the next one, so that those who left can return as often.
        candidates = [*away, *strangers[:1]] if len(present) < CAST else []
        last_chance = left == 1 and all(change.kind == "leave" for change in changes)
        may_leave = len(present) > FEWEST and not last_chance
        if may_leave and not (candidates and rng.random() < 0.5):
            name = rng.choice(present)
            present.remove(name)
            away[name] = rng.choice(reasons)
            changes.append(Change("leave", name, away[name]))
        else:
            name = rng.choice(candidates)
            strangers = [stranger for stranger in strangers if stranger != name]
            present.append(name)
            changes.append(Change("join", name, away.pop(name, None) or rng.choice(reasons)))
    return Outline(topic.topic, tuple(subtopics), tuple(names[:first]), tuple(changes))
