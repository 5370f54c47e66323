"""FANToM question sets in the making: conversation, part, fact, belief, record (Sec. 3, App. A).

What is written so far stands in these, and the `topic` of the conversation each is part of. Who
knows what follows from the outline of who is there.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from tomlab.benchmarks.fantom.items import sets
from tomlab.benchmarks.fantom.items.formats import farewell_length, names_person
from tomlab.benchmarks.fantom.items.outlines import Outline


@dataclass(frozen=True)
class Conversation:
    """What there is of a conversation. number: the first part of its `set_id`s."""

    outline: Outline
    number: int
    segments: tuple[tuple[sets.Line, ...], ...] = ()

    topic = property(attrgetter("outline.topic"))

    @property
    def is_open(self) -> bool:
        """Whether a segment is still to be written."""
        return len(self.segments) < len(self.outline.subtopics)

    @property
    def next_kind(self) -> str:
        """The kind of the next segment: conversation, leave or join."""
        change = self.outline.change(len(self.segments))
        return change.kind if change else "conversation"

    def lines(self, first: int = 0, end: int | None = None) -> list[sets.Line]:
        """The utterances of the segments from `first` on, up to before `end`."""
        return [line for segment in self.segments[first:end] for line in segment]


@dataclass(frozen=True)
class Part:
    """A segment with whose beginning somebody, PersonX, joins, and what they missed before.

    number: of the part in its conversation; summary: the missed information; questions: on it. Both
    are empty until they are there.
    """

    conversation: Conversation
    number: int
    segment: int
    summary: str = ""
    questions: tuple[str, ...] = ()

    topic = property(attrgetter("conversation.topic"))

    @property
    def person_x(self) -> str:
        """Who joins."""
        return self.conversation.outline.change(self.segment).name

    @property
    def previous(self) -> str:
        """The segment that PersonX missed, without the goodbye of one who left as it began."""
        change = self.conversation.outline.change(self.segment - 1)
        lines = self.conversation.segments[self.segment - 1]
        leaver = change.name if change and change.kind == "leave" else None
        return sets.written(lines[farewell_length(lines, leaver) :])

    @property
    def current(self) -> str:
        """The segment in which PersonX takes part."""
        return sets.written(self.conversation.segments[self.segment])

    @property
    def short(self) -> list[sets.Line]:
        """From the segment with which PersonX left, or the one before they joined, to `current`."""
        before = enumerate(self.conversation.outline.changes[: self.segment - 1], start=1)
        left = [i for i, one in before if (one.kind, one.name) == ("leave", self.person_x)]
        return self.conversation.lines([self.segment - 1, *left][-1], self.segment + 1)

    @property
    def aware(self) -> tuple[str, ...]:
        """Who was there for all of `previous`."""
        return self.conversation.outline.present(self.segment - 1)


@dataclass(frozen=True)
class FactQuestion:
    """A question about what PersonX missed, with its full and limited answer once there."""

    part: Part
    number: int
    question: str
    full: str = ""
    limited: str = ""

    topic = property(attrgetter("part.topic"))


@dataclass(frozen=True)
class BeliefQuestion:
    """A question about PersonX's belief on a fact, or about what another believes it to be.

    believer: PersonX, or that other; omniscient, centric: the two answers, once they are there.
    """

    fact: FactQuestion
    tom_type: str
    believer: str
    question: str = ""
    omniscient: str = ""
    centric: str = ""

    topic = property(attrgetter("fact.topic"))

    @property
    def names(self) -> tuple[str, ...]:
        """Whom the question has to name."""
        return tuple(dict.fromkeys([self.believer, self.fact.part.person_x]))


def parts(conversations: Sequence[Conversation]) -> list[Part]:
    """Every joining that was written, in conversations that broke off too."""
    found = []
    for conversation in conversations:
        later = range(1, len(conversation.segments))
        joins = [i for i in later if conversation.outline.change(i).kind == "join"]
        found += [Part(conversation, number, segment) for number, segment in enumerate(joins)]
    return found


def facts(parts: Sequence[Part]) -> list[FactQuestion]:
    """The fact questions of all parts, still without answers."""
    return [
        FactQuestion(part, number, question)
        for part in parts
        for number, question in enumerate(part.questions)
    ]


def beliefs(facts: Sequence[FactQuestion]) -> list[BeliefQuestion]:
    """The beliefs to ask about for each fact: one of the first order, up to two of the second.

    Second order is for people who heard the fact and see PersonX join. cyclic: someone whom the
    fact question names, so that the fact is about themselves; acyclic: someone whom it does not
    name, if it names a third person. Of several, the first in order of appearance.
    """
    found = []
    for fact in facts:
        person_x, aware = fact.part.person_x, fact.part.aware
        people = {*fact.part.conversation.outline.characters} - {person_x}
        named = {name for name in people if names_person(fact.question, name)}
        cyclic = [name for name in aware if name in named]
        acyclic = [name for name in aware if name not in named] if named else []
        found.append(BeliefQuestion(fact, "first-order", person_x))
        found += [BeliefQuestion(fact, "second-order:cyclic", name) for name in cyclic[:1]]
        found += [BeliefQuestion(fact, "second-order:acyclic", name) for name in acyclic[:1]]
    return found


def records(about: Sequence[BeliefQuestion], model: str) -> list[dict]:
    """The question sets of all facts on which there is a belief with both answers.

    In the released format, with `source` ("llm:<model>"). Aware is who was there for what PersonX
    missed; all others who speak in the conversation are unaware.
    """
    by_fact, found, source = defaultdict(list), [], f"llm:{model}"
    for one in about:
        answers = (one.centric, one.omniscient)
        asked = sets.belief_question(one.question, *answers, one.tom_type, "inaccessible")
        by_fact[one.fact].append(asked)
    for fact, asked in by_fact.items():
        part, talk = fact.part, fact.part.conversation
        set_id, contexts = f"{talk.number}-{part.number}-{fact.number}", (part.short, talk.lines())
        answered = (fact.question, fact.full, fact.limited)
        found.append(sets.question_set(set_id, contexts, answered, asked, part.aware, source))
    return found
