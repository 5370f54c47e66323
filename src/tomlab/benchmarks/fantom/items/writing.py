"""FANToM question sets by language model: conversations, facts, beliefs (Sec. 3, App. A.1-A.3).

`STEPS` says of each step what is asked, how the answer is read and which field of a `Draft` it
fills; a `Writer` takes them one after the other. What does not parse is left out of the next step
and stays in the table.

Two departures from the paper: what PersonX missed is read off the segment before PersonX joins, not
off a longer absence, since only of one segment the outline tells who heard all of it; and answers
about beliefs answer the belief question, where App. A.3 prints the fact question.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from tomlab.asking import attempts
from tomlab.asking.attempts import Answer, Unparsed
from tomlab.benchmarks.fantom.items import formats, sets
from tomlab.benchmarks.fantom.items.outlines import Outline
from tomlab.benchmarks.fantom.items.sets import Line, written
from tomlab.models.specs import Request, Response

# One row an answer. step: one of `KINDS`; status: parsed, unparsed (reason says why) or failed
# (reason is the error of the request); source: "llm:<model>".
COLUMNS = ("step", "topic", "status", "reason", "text", "source")

# ---- What is written so far ----------------------------------------------------------------------


@dataclass(frozen=True)
class Draft:
    """A conversation, then a part of it, then a fact question, then a belief question.

    Fields are filled step by step; those of later steps are empty. number, part, fact: the numbers
    of the `set_id`. A part begins where somebody, PersonX, joins; segment: which one that is;
    summary: what PersonX missed; full, limited: the answers to the fact question; believer:
    PersonX, or another who is asked what PersonX believes; omniscient, centric: the two answers.
    """

    outline: Outline
    number: int
    segments: tuple[tuple[Line, ...], ...] = ()
    part: int = 0
    segment: int = 0
    summary: str = ""
    questions: tuple[str, ...] = ()
    fact: int = 0
    fact_question: str = ""
    full: str = ""
    limited: str = ""
    tom_type: str = ""
    believer: str = ""
    belief_question: str = ""
    omniscient: str = ""
    centric: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a segment is still to be written."""
        return len(self.segments) < len(self.outline.subtopics)

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
        change = self.outline.change(self.segment - 1)
        leaver = change.name if change and change.kind == "leave" else None
        lines = self.segments[self.segment - 1]
        return written(lines[formats.farewell_length(lines, leaver) :])

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
    """Every joining that was written, in conversations that broke off too."""
    found = []
    for talk in conversations:
        later = range(1, len(talk.segments))
        joins = [i for i in later if talk.outline.change(i).kind == "join"]
        found += [replace(talk, part=part, segment=segment) for part, segment in enumerate(joins)]
    return found


def facts(parts: Sequence[Draft]) -> list[Draft]:
    """The fact questions of all parts, still without answers."""
    return [
        replace(part, fact=fact, fact_question=question)
        for part in parts
        for fact, question in enumerate(part.questions)
    ]


def beliefs(facts: Sequence[Draft]) -> list[Draft]:
    """The beliefs to ask about for each fact: one of the first order, up to two of the second.

    Second order is for people who heard the fact and see PersonX join. cyclic: someone whom the
    fact question names, so that the fact is about themselves; acyclic: someone whom it does not
    name, if it names a third person. Of several, the first in order of appearance.
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
    """The question sets of all facts on which there is a belief with both answers.

    In the released format, with `source` ("llm:<model>"). Aware is who was there for what PersonX
    missed; all others who speak in the conversation are unaware.
    """
    by_set, found = defaultdict(list), []
    for one in beliefs:
        by_set[f"{one.number}-{one.part}-{one.fact}"].append(one)
    for set_id, drafts in by_set.items():
        one, asked = drafts[0], []
        for each in drafts:
            told = each.belief_question, each.centric, each.omniscient, each.tom_type
            asked.append(sets.belief_question(*told, "inaccessible"))
        contexts, fact = (one.short, one.lines()), (one.fact_question, one.full, one.limited)
        source = f"llm:{model}"
        found.append(sets.question_set(set_id, contexts, fact, asked, one.aware, source))
    return found


# ---- What is asked -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One thing that is asked about each draft.

    max_tokens: of an answer; values: which field of the draft fills each placeholder of the prompt;
    read: what an answer says, of its text, of the fields `given`, and whether it was `cut` off;
    goes_to: the field that takes it; prompt: its name, if not that of the step; shared:
    placeholders that the drafts of a part fill alike.
    """

    max_tokens: int
    values: Mapping[str, str]
    read: Callable[..., Any]
    goes_to: str
    given: Sequence[str] = ()
    prompt: str = ""
    shared: Collection[str] | None = None


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
    present, change = outline.present(len(before)), outline.change(len(before))
    lines = formats.parse_segment(text, outline.characters, present, change, cut=cut)
    return lines if isinstance(lines, Unparsed) else (*before, lines)


_PART_ANSWER = partial(Step, 100, read=formats.parse_answer, prompt="answer", shared=("context",))
_BELIEF_ANSWER = partial(Step, 100, read=formats.parse_answer, prompt="belief-answer")
_MISSED = {"person": "person_x", "current": "current", "previous": "previous"}
_FULL = {"question": "fact_question", "context": "previous"}
_LIMITED = {"question": "fact_question", "context": "current"}
_BELIEF = {"whose": "whose", "believer": "believer", "question": "fact_question"}
_OMNISCIENT = {"question": "belief_question", "answer": "full"}
_CENTRIC = {"question": "belief_question", "answer": "limited"}
STEPS = {
    # App. A.1: the next segment of a conversation, whose values `_segment_values` gives; what was
    # told before PersonX joined and not after it.
    "segment": Step(400, {}, _segments, "segments", ["outline", "segments"]),
    "missed": Step(250, _MISSED, formats.parse_summary, "summary"),
    # App. A.2: three questions that the summary answers; the answer of the conversation that
    # PersonX missed, and that of the one after it. Two equal answers would be no asymmetry.
    "facts": Step(150, {"summary": "summary"}, formats.parse_questions, "questions"),
    "full-answer": _PART_ANSWER(_FULL, goes_to="full"),
    "limited-answer": _PART_ANSWER(_LIMITED, goes_to="limited", given=["full"]),
    # App. A.3: the fact question turned into one about a belief; its answers, made of the full
    # answer and, centred on PersonX, of the limited one.
    "belief-question": Step(
        80, _BELIEF, formats.parse_belief_question, "belief_question", ["names", "fact_question"]
    ),
    "omniscient-answer": _BELIEF_ANSWER(_OMNISCIENT, goes_to="omniscient"),
    "centric-answer": _BELIEF_ANSWER(_CENTRIC, goes_to="centric", given=["omniscient"]),
}
# The steps as the table tells them; a segment is the first one, or begins with a leave or a join.
KINDS = ("conversation", "leave", "join", *list(STEPS)[1:])


def requests(
    step: str, drafts: Sequence[Draft], replaced: Mapping[str, str] | None = None, **options: int
) -> list[Request]:
    """One request a draft. options: `sample`, `seed` and `max_tokens` of a `Request` (0 or None:
    those of the step). The temperature is 0.
    """
    asked, made = STEPS[step], []
    options["max_tokens"] = options.get("max_tokens") or asked.max_tokens
    for draft in drafts:
        values = {place: getattr(draft, name) for place, name in asked.values.items()}
        prompt = f"fantom/{asked.prompt or _kind(step, draft)}"
        values = values or _segment_values(draft)
        made.append(attempts.request(prompt, values, replaced, shared=asked.shared, **options))
    return made


def _kind(step: str, draft: Draft) -> str:
    """One of `KINDS`: the step, or what the next segment begins with."""
    if step != "segment":
        return step
    change = draft.outline.change(len(draft.segments))
    return change.kind if change else "conversation"


def read(
    step: str, responses: Sequence[Response], drafts: Sequence[Draft], model: str
) -> tuple[list[Draft], list[tuple[str, ...]]]:
    """What became of `requests`: the drafts whose answer parsed, with it, and rows of `COLUMNS`."""
    done, rows, asked = [], [], STEPS[step]
    for response, draft in zip(responses, drafts, strict=True):
        given = [getattr(draft, name) for name in asked.given]

        def parse(answer: Answer, given: list = given) -> Any:
            if answer.finish_reason == "refusal":
                return Unparsed("refused")
            return asked.read(answer.text, *given, cut=answer.cut)

        found, outcome = attempts.attempt(response, parse, "parsed")
        status = {"parsed": "parsed", "error": "failed"}.get(outcome["status"], "unparsed")
        told = (status, outcome["reason"], outcome["text"], f"llm:{model}")
        rows.append((_kind(step, draft), draft.outline.topic, *told))
        done += [] if found is None else [replace(draft, **{asked.goes_to: found})]
    return done, rows


@dataclass
class Writer:
    """A language model that writes question sets, and the rows of all that it answered.

    model: its name; ask: gives its responses to requests; replaced: a user's own prompts by name;
    options: of `requests`, the same in every step.
    """

    model: str
    ask: Callable[[Sequence[Request]], Awaitable[Sequence[Response]]]
    replaced: Mapping[str, str] | None = None
    options: Mapping[str, int] = field(default_factory=dict)
    rows: list[tuple[str, ...]] = field(default_factory=list)

    async def take(self, step: str, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts after a step (`STEPS`), without those whose answer did not parse."""
        asked = requests(step, drafts, self.replaced, **self.options)
        responses = await self.ask(asked) if asked else []
        done, rows = read(step, responses, drafts, self.model)
        self.rows += rows
        return done

    async def converse(self, outlines: Sequence[Outline], start: int = 0) -> list[Draft]:
        """The conversations of outlines; one whose next segment did not parse ends there.

        They are numbered from `start` by outline, so that one that comes to nothing leaves a gap
        in the `set_id`s.
        """
        growing = [Draft(outline, number) for number, outline in enumerate(outlines, start)]
        talks = {talk.number: talk for talk in growing}
        while growing:
            grown = await self.take("segment", growing)
            talks |= {talk.number: talk for talk in grown}
            growing = [talk for talk in grown if talk.is_open]
        return list(talks.values())

    @property
    def attempts(self) -> pd.DataFrame:
        """Everything that came back: `COLUMNS`, a row an answer."""
        return pd.DataFrame(self.rows, columns=list(COLUMNS), dtype=str)


def by_reason(table: pd.DataFrame) -> pd.DataFrame:
    """How many answers came to what: `step, status, reason, count`, the steps in their order."""
    counted = table.groupby(["step", "status", "reason"], sort=False).size()
    return counted.reset_index(name="count").sort_values(
        "step", key=lambda steps: steps.map(KINDS.index), kind="stable", ignore_index=True
    )
