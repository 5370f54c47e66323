"""FANToM question sets by language model: conversations, facts, beliefs (Sec. 3, App. A.1-A.3).

`STEPS` says of each step what is asked, how the answer is read and where it goes; a `Writer` takes
them one after the other. What does not parse is left out of the next step and stays in the table.

Two departures from the paper: what PersonX missed is read off the segment before PersonX joins, not
off a longer absence, since only of one segment the outline tells who heard all of it; and answers
about beliefs answer the belief question, where App. A.3 prints the fact question.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import pandas as pd

from tomlab.asking import attempts
from tomlab.asking.attempts import Answer, Unparsed
from tomlab.benchmarks.fantom.items import formats
from tomlab.benchmarks.fantom.items.drafts import BeliefQuestion, Conversation, FactQuestion, Part
from tomlab.benchmarks.fantom.items.outlines import Outline
from tomlab.benchmarks.fantom.items.sets import Line, written
from tomlab.errors import InputError
from tomlab.models.specs import Request, Response

# One row an answer. step: one of `KINDS`; status: parsed, unparsed (reason says why) or failed
# (reason is the error of the request); source: "llm:<model>".
COLUMNS = ("step", "topic", "status", "reason", "text", "source")

Draft = TypeVar("Draft", Conversation, Part, FactQuestion, BeliefQuestion)
Segments = tuple[tuple[Line, ...], ...]


@dataclass(frozen=True)
class Step:
    """One thing that is asked about each draft.

    max_tokens: of an answer; values: for the placeholders of the prompt; read: what an answer says,
    of its text, of what is `given` by the draft, and whether it was `cut` off; goes_to: the field
    of the draft that takes it; prompt: its name, if not that of the step; shared: placeholders that
    the drafts of a part fill alike.
    """

    max_tokens: int
    values: Callable[[Any], dict[str, str]]
    read: Callable[..., Any]
    goes_to: str
    given: Sequence[str] = ()
    prompt: str = ""
    shared: Collection[str] | None = None


def _told(**known: str) -> Callable[[Any], dict[str, str]]:
    """Values for placeholders: what a draft knows under these names."""
    return lambda draft: {place: attrgetter(name)(draft) for place, name in known.items()}


def _segment_values(talk: Conversation) -> dict[str, str]:
    number, present = len(talk.segments), talk.outline.present(len(talk.segments))
    names = f"{', '.join(present[:-1])} and {present[-1]}"
    values = {"names": names, "subtopic": talk.outline.subtopics[number]}
    if not (change := talk.outline.change(number)):
        return values | {"topic": talk.topic, "first": present[0]}
    history = written(talk.lines())
    return values | {"person": change.name, "reason": change.reason, "history": history}


def _segments(text: str, outline: Outline, before: Segments, *, cut: bool) -> Segments | Unparsed:
    """The segments of a conversation with the one in `text`."""
    present, change = outline.present(len(before)), outline.change(len(before))
    lines = formats.parse_segment(text, outline.characters, present, change, cut=cut)
    return lines if isinstance(lines, Unparsed) else (*before, lines)


def _belief_values(belief: BeliefQuestion) -> dict[str, str]:
    whose = "'s belief about ".join(belief.names) + "'s"
    return {"whose": whose, "believer": belief.believer, "question": belief.fact.question}


_PART_ANSWER = partial(Step, 100, read=formats.parse_answer, prompt="answer", shared=("context",))
_BELIEF_ANSWER = partial(Step, 100, read=formats.parse_answer, prompt="belief-answer")
_MISSED = _told(person="person_x", current="current", previous="previous")
STEPS = {
    # App. A.1: the next segment of a conversation; what was told before PersonX joined and not
    # after it.
    "segment": Step(400, _segment_values, _segments, "segments", ["outline", "segments"]),
    "missed": Step(250, _MISSED, formats.parse_summary, "summary"),
    # App. A.2: three questions that the summary answers; the answer of the conversation that
    # PersonX missed, and that of the one after it. Two equal answers would be no asymmetry.
    "facts": Step(150, _told(summary="summary"), formats.parse_questions, "questions"),
    "full-answer": _PART_ANSWER(
        _told(question="question", context="part.previous"), goes_to="full"
    ),
    "limited-answer": _PART_ANSWER(
        _told(question="question", context="part.current"), goes_to="limited", given=["full"]
    ),
    # App. A.3: the fact question turned into one about a belief; its answers, made of the full
    # answer and, centred on PersonX, of the limited one.
    "belief-question": Step(
        80, _belief_values, formats.parse_belief_question, "question", ["names", "fact.question"]
    ),
    "omniscient-answer": _BELIEF_ANSWER(
        _told(question="question", answer="fact.full"), goes_to="omniscient"
    ),
    "centric-answer": _BELIEF_ANSWER(
        _told(question="question", answer="fact.limited"), goes_to="centric", given=["omniscient"]
    ),
}
# The steps as the table tells them; a segment is the first one, or begins with a leave or a join.
KINDS = ("conversation", "leave", "join", *list(STEPS)[1:])


def requests(
    step: str, drafts: Sequence[Draft], replaced: Mapping[str, str] | None = None, **options: int
) -> list[Request]:
    """One request a draft. options: `sample`, `seed` and `max_tokens` of a `Request` (0 or None:
    those of the step). The temperature is 0.
    """
    if step not in STEPS:
        raise InputError(f"step: found {step!r}, expected one of {', '.join(STEPS)}")
    asked = STEPS[step]
    options["max_tokens"] = options.get("max_tokens") or asked.max_tokens
    prompts = [f"fantom/{asked.prompt or _kind(step, draft)}" for draft in drafts]
    return [
        attempts.request(prompt, asked.values(draft), replaced, shared=asked.shared, **options)
        for prompt, draft in zip(prompts, drafts, strict=True)
    ]


def _kind(step: str, draft: Draft) -> str:
    return draft.next_kind if step == "segment" else step


def read(
    step: str, responses: Sequence[Response], drafts: Sequence[Draft], model: str
) -> tuple[list[Draft], list[tuple[str, ...]]]:
    """What became of `requests`: the drafts whose answer parsed, with it, and rows of `COLUMNS`."""
    done, rows, asked = [], [], STEPS[step]
    for response, draft in zip(responses, drafts, strict=True):
        given = [attrgetter(name)(draft) for name in asked.given]

        def parse(answer: Answer, given: list = given) -> Any:
            if answer.finish_reason == "refusal":
                return Unparsed("refused")
            return asked.read(answer.text, *given, cut=answer.cut)

        found, outcome = attempts.attempt(response, parse, "parsed")
        status = {"parsed": "parsed", "error": "failed"}.get(outcome["status"], "unparsed")
        row = (_kind(step, draft), draft.topic, status, outcome["reason"], outcome["text"])
        rows.append((*row, f"llm:{model}"))
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

    async def converse(self, outlines: Sequence[Outline], start: int = 0) -> list[Conversation]:
        """The conversations of outlines; one whose next segment did not parse ends there.

        They are numbered from `start` by outline, so that one that comes to nothing leaves a gap
        in the `set_id`s.
        """
        growing = [Conversation(outline, number) for number, outline in enumerate(outlines, start)]
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
