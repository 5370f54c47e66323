"""FANToM question sets by language model: conversations, facts, beliefs (Sec. 3, App. A.1-A.3).

`writing.yaml` says of each step what is asked and which field of a `Draft` the answer goes to. Two
departures from the paper: what PersonX missed is read off the segment before PersonX joins, not off
a longer absence, since only of one segment the outline tells who heard all of it; and answers about
beliefs answer the belief question, where App. A.3 prints the fact question.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any

from tomlab.asking import attempts
from tomlab.asking.attempts import Answer, Unparsed
from tomlab.benchmarks.fantom.items import formats, sets
from tomlab.benchmarks.fantom.items.contexts import Line, written
from tomlab.benchmarks.fantom.items.outlines import Outline
from tomlab.models.specs import Request, Response
from tomlab.records.files import yaml_beside

# One row an answer. step: that of `STEPS`, a segment by what it begins with; status: parsed,
# unparsed (reason says why) or failed (reason is the error of the request).
COLUMNS = ("step", "topic", "status", "reason", "text")
FIRST_NUMBER = 1001  # of a conversation; those of files count from 0 or 1


@dataclass(frozen=True)
class Draft:
    """A conversation, then a part, a fact question, a belief question: filled step by step."""

    outline: Outline
    number: int  # the first of the `set_id`, before those of part and fact
    segments: tuple[tuple[Line, ...], ...] = ()
    part: int = 0
    segment: int = 0  # with which PersonX joins, where a part begins
    summary: str = ""  # what PersonX missed
    questions: tuple[str, ...] = ()
    fact: int = 0
    fact_question: str = ""
    full: str = ""  # this and the next: the answers to the fact question
    limited: str = ""
    tom_type: str = ""
    believer: str = ""  # PersonX, or another who is asked what PersonX believes
    belief_question: str = ""
    omniscient: str = ""  # this and the next: the two answers to the belief question
    centric: str = ""

    def lines(self, first: int = 0, end: int | None = None) -> list[Line]:
        """The utterances of the segments from `first` on, up to before `end`."""
        return [line for segment in self.segments[first:end] for line in segment]

    @property
    def person_x(self) -> str:
        """Who joins with the part."""
        return self.outline.change(self.segment).name

    @property
    def previous(self) -> str:
        """The segment that PersonX missed, without the goodbye of one who left as it began."""
        lines, change = self.segments[self.segment - 1], self.outline.change(self.segment - 1)
        return written(lines[formats.farewell_length(lines, change) :])

    @property
    def current(self) -> str:
        """The segment in which PersonX takes part."""
        return written(self.segments[self.segment])

    @property
    def short(self) -> list[Line]:
        """From the segment with which PersonX left, or the one before they joined, to `current`."""
        before = enumerate(self.outline.changes[: self.segment - 1], start=1)
        left = [i for i, one in before if (one.kind, one.name) == ("leave", self.person_x)]
        return self.lines([self.segment - 1, *left][-1], self.segment + 1)

    @property
    def aware(self) -> tuple[str, ...]:
        """Who was there for all of `previous`."""
        return self.outline.present(self.segment - 1)

    @property
    def names(self) -> tuple[str, ...]:
        """Whom the belief question has to name."""
        return tuple(dict.fromkeys([self.believer, self.person_x]))

    @property
    def whose(self) -> str:
        """Whose belief is asked about: "Anna's belief about Gina's"."""
        return "'s belief about ".join(self.names) + "'s"


def parts(conversations: Sequence[Draft]) -> list[Draft]:
    """The parts that were written, of conversations that broke off too."""
    found = []
    for talk in conversations:
        later = range(1, len(talk.segments))
        joins = [i for i in later if talk.outline.change(i).kind == "join"]
        found += [replace(talk, part=part, segment=segment) for part, segment in enumerate(joins)]
    return found


def facts(parts: Sequence[Draft]) -> list[Draft]:
    """The fact questions of all parts, still without answers."""
    asked = ((part, *one) for part in parts for one in enumerate(part.questions))
    return [replace(part, fact=fact, fact_question=question) for part, fact, question in asked]


def beliefs(facts: Sequence[Draft]) -> list[Draft]:
    """The beliefs to ask about for each fact: one of the first order, up to two of the second.

    Second order is for people who heard the fact and see PersonX join, the first of them whom the
    fact question names (cyclic), and the first whom it does not, if it names others (acyclic).
    """
    found = []
    for fact in facts:
        people = {*fact.outline.characters} - {fact.person_x}
        named = {name for name in people if formats.names_person(fact.fact_question, name)}
        cyclic = [name for name in fact.aware if name in named]
        acyclic = [name for name in fact.aware if name not in named] if named else []
        asked = [("first-order", fact.person_x)]
        asked += [("second-order:cyclic", name) for name in cyclic[:1]]
        asked += [("second-order:acyclic", name) for name in acyclic[:1]]
        found += [replace(fact, tom_type=order, believer=name) for order, name in asked]
    return found


def records(beliefs: Sequence[Draft], model: str) -> list[dict]:
    """The question sets, in the released format, of all facts on which there is a belief with both
    answers. Aware is who was there for what PersonX missed, unaware all others who speak.
    """
    found = []
    for set_id, drafts in groupby(beliefs, lambda one: f"{one.number}-{one.part}-{one.fact}"):
        one, *others = drafts
        said = ((d.belief_question, d.centric, d.omniscient, d.tom_type) for d in (one, *others))
        asked = [sets.belief_question(*each, "inaccessible") for each in said]
        contexts, fact = (one.short, one.lines()), (one.fact_question, one.full, one.limited)
        found.append(sets.question_set(set_id, contexts, fact, asked, one.aware, f"llm:{model}"))
    return found


def _segment_values(talk: Draft) -> dict[str, str]:
    number, present = len(talk.segments), talk.outline.present(len(talk.segments))
    names = f"{', '.join(present[:-1])} and {present[-1]}"
    values = {"names": names, "subtopic": talk.outline.subtopics[number]}
    if not (change := talk.outline.change(number)):
        return values | {"topic": talk.outline.topic, "first": present[0]}
    history = written(talk.lines())
    return values | {"person": change.name, "reason": change.reason, "history": history}


def _segments(text: str, outline: Outline, before: tuple, *, cut: bool) -> tuple | Unparsed:
    """The segments of a conversation with the one in `text`."""
    lines = formats.parse_segment(text, outline, len(before), cut=cut)
    return lines if isinstance(lines, Unparsed) else (*before, lines)


STEPS = yaml_beside(__file__)
# How the answer to a step is read; `parse_answer` reads all others.
_READ = {"segment": _segments, "missed": formats.parse_summary, "facts": formats.parse_questions}
_READ["belief-question"] = formats.parse_belief_question


def requests(
    step: str, drafts: Sequence[Draft], replaced: Mapping[str, str] | None = None, **options: int
) -> list[Request]:
    """One request a draft, at temperature 0. options: of a `Request`."""
    asked, made = STEPS[step], []
    for draft in drafts:
        values = {place: getattr(draft, name) for place, name in asked.get("fills", {}).items()}
        prompt = f"fantom/{asked.get('prompt') or _kind(step, draft)}"
        values, shared = values or _segment_values(draft), asked.get("shared")
        made.append(attempts.request(prompt, values, replaced, shared=shared, **options))
    return made


def _kind(step: str, draft: Draft) -> str:
    """The step, or what the next segment begins with: conversation (the first), leave or join."""
    if step != "segment":
        return step
    change = draft.outline.change(len(draft.segments))
    return change.kind if change else "conversation"


def _read(answer: Answer, step: str, draft: Draft) -> Any:
    """What an answer says; `Unparsed` says that it was cut off or refused, if that is why."""
    if answer.finish_reason == "refusal":
        return Unparsed("refused")
    given = [getattr(draft, name) for name in STEPS[step].get("given", ())]
    found = _READ.get(step, formats.parse_answer)(answer.text, *given, cut=answer.cut)
    if not isinstance(found, Unparsed):
        return found
    if answer.cut:
        return Unparsed("cut off")
    # An utterance may well begin with "Sorry"; a refusal has no "Name:" in it.
    return Unparsed("refused") if answer.failure == "refused" and ":" not in answer.text else found


@dataclass
class Writer:
    """A language model that writes question sets, and the rows (`COLUMNS`) of all it answered."""

    ask: Callable[[Sequence[Request]], Awaitable[Sequence[Response]]]
    replaced: Mapping[str, str] | None  # this and the next: of `requests`, the same in every step
    options: Mapping[str, int]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    async def take(self, step: str, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts after a step (`STEPS`), without those whose answer did not parse."""
        asked = requests(step, drafts, self.replaced, **self.options)
        responses, done = await self.ask(asked) if asked else [], []
        for response, draft in zip(responses, drafts, strict=True):
            parse = partial(_read, step=step, draft=draft)
            found, outcome = attempts.attempt(response, parse, "parsed")
            status = {"parsed": "parsed", "error": "failed"}.get(outcome["status"], "unparsed")
            of = _kind(step, draft), draft.outline.topic
            self.rows.append((*of, status, outcome["reason"], outcome["text"]))
            done += [] if found is None else [replace(draft, **{STEPS[step]["goes to"]: found})]
        return done

    async def converse(self, outlines: Sequence[Outline], start: int = FIRST_NUMBER) -> list[Draft]:
        """The conversations of outlines, numbered from `start`, up to what did not parse."""
        growing = [Draft(outline, number) for number, outline in enumerate(outlines, start)]
        talks = {talk.number: talk for talk in growing}
        while growing:
            grown = await self.take("segment", growing)
            talks |= {talk.number: talk for talk in grown}
            growing = [talk for talk in grown if len(talk.segments) < len(talk.outline.subtopics)]
        return list(talks.values())
