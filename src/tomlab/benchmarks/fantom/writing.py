"""FANToM question sets by language model: conversations, facts, beliefs (Sec. 3, App. A.1-A.3).

A step is a pair of functions: one builds requests, the other reads the answers to them into what
the next step takes, and into a table of everything that came back (`COLUMNS`). In their order:

    plans, conversations
    conversation_requests, continued: a segment at a time, until nothing is requested any more
    parts
    missed_requests, missed
    facts_requests, facts
    answer_requests, answered: for "full", then for "limited"
    beliefs
    belief_requests, believed
    belief_answer_requests, belief_answered: for "omniscient", then for "centric"
    records

What does not parse is left out of the next step and stays in the table.

Two departures from the paper. What PersonX missed is read off the segment before PersonX joins, not
off all of a longer absence: only of a single segment does the plan tell who heard everything in it.
And the answers about beliefs answer the belief question; App. A.3 prints the fact question there,
to which an answer about somebody's belief does not belong.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pandas as pd

from tomlab.asking import prompts
from tomlab.benchmarks.fantom.drafts import (
    Belief,
    Conversation,
    Fact,
    Part,
)
from tomlab.benchmarks.fantom.formats import (
    MIN_LINES,
    Line,
    Unparsed,
    parse_answer,
    parse_belief_question,
    parse_questions,
    parse_segment,
    parse_summary,
    written,
)
from tomlab.benchmarks.fantom.plans import Plan
from tomlab.errors import InputError
from tomlab.models.specs import Request, Response
from tomlab.scoring.answers import visible

# One row an answer. step: one of `STEPS`; status: parsed, unparsed (reason says why) or failed
# (reason is the error of the request); source: "llm:<model>".
COLUMNS = ("step", "topic", "status", "reason", "text", "source")
STEPS = (
    *("conversation", "leave", "join", "missed", "facts", "full-answer", "limited-answer"),
    *("belief-question", "omniscient-answer", "centric-answer"),
)
FACT_ANSWERS = ("full", "limited")
# An answer about a belief, and the fact answer that it is made of.
BELIEF_ANSWERS = {"omniscient": "full", "centric": "limited"}

Draft = TypeVar("Draft", Part, Fact, Belief)
Replaced = Mapping[str, str] | None


def conversations(planned: Iterable[Plan], start: int = 0) -> list[Conversation]:
    """The conversations of plans, still empty, numbered from `start`.

    Numbers count plans, so that one that comes to nothing leaves a gap in the `set_id`s.
    """
    return [Conversation(plan, number) for number, plan in enumerate(planned, start)]


# Conversations


def conversation_requests(
    talks: Sequence[Conversation],
    replaced: Replaced = None,
    *,
    max_tokens: int = 400,
    **options: int,
) -> list[Request]:
    """One request for the next segment of every open conversation (App. A.1).

    Here and below, options: `sample` and `seed` of a `Request`. The temperature is 0.
    """
    texts = [_segment_prompt(talk, replaced) for talk in talks if talk.is_open]
    return [_request(text, max_tokens=max_tokens, **options) for text in texts]


def _segment_prompt(talk: Conversation, replaced: Replaced) -> str:
    number = len(talk.segments)
    change, present = talk.plan.change(number), talk.plan.present(number)
    fields = {
        "names": f"{', '.join(present[:-1])} and {present[-1]}",
        "subtopic": talk.plan.subtopics[number],
    }
    if change is None:
        fields |= {"topic": talk.topic, "first": present[0]}
    else:
        # The history goes in last, or a brace that a model wrote would be taken for a placeholder.
        fields |= {"person": change.name, "reason": change.reason, "history": written(talk.lines())}
    return prompts.filled(f"fantom/{talk.step}", replaced, **fields)


def continued(
    responses: Sequence[Response],
    talks: Sequence[Conversation],
    model: str,
    *,
    min_lines: int = MIN_LINES,
) -> tuple[list[Conversation], pd.DataFrame]:
    """All of `talks`, the open ones a segment longer, or broken if the answer did not parse."""

    def parse(talk: Conversation, text: str, cut: bool) -> tuple[Line, ...] | Unparsed:
        plan, number = talk.plan, len(talk.segments)
        present, change = plan.present(number), plan.change(number)
        return parse_segment(text, plan.characters, present, change, min_lines=min_lines, cut=cut)

    asked = [talk for talk in talks if talk.is_open]
    found, table = _read(responses, asked, [talk.step for talk in asked], parse, model)
    lines = iter(found)
    return [_grown(talk, next(lines)) if talk.is_open else talk for talk in talks], table


def _grown(talk: Conversation, lines: tuple[Line, ...] | None) -> Conversation:
    if lines is None:
        return replace(talk, broken=True)
    return replace(talk, segments=(*talk.segments, lines))


# Facts


def missed_requests(
    missing: Sequence[Part], replaced: Replaced = None, *, max_tokens: int = 250, **options: int
) -> list[Request]:
    """One request a part for what was told before PersonX joined and not after it (App. A.1)."""
    texts = [
        prompts.filled(
            "fantom/missed", replaced, person=p.person_x, current=p.current, previous=p.previous
        )
        for p in missing
    ]
    return [_request(text, max_tokens=max_tokens, **options) for text in texts]


def missed(
    responses: Sequence[Response], missing: Sequence[Part], model: str
) -> tuple[list[Part], pd.DataFrame]:
    """The parts with a summary of what was missed."""

    def parse(_: Part, text: str, cut: bool) -> str | Unparsed:
        return parse_summary(text, cut=cut)

    return _with(responses, missing, "summary", "missed", parse, model)


def facts_requests(
    missing: Sequence[Part], replaced: Replaced = None, *, max_tokens: int = 150, **options: int
) -> list[Request]:
    """One request a part for three fact questions that its summary answers (App. A.2)."""
    texts = [prompts.filled("fantom/facts", replaced, summary=part.summary) for part in missing]
    return [_request(text, max_tokens=max_tokens, **options) for text in texts]


def facts(
    responses: Sequence[Response], missing: Sequence[Part], model: str
) -> tuple[list[Fact], pd.DataFrame]:
    """The fact questions, still without answers, in the order of the parts."""

    def parse(_: Part, text: str, cut: bool) -> tuple[str, ...] | Unparsed:
        return parse_questions(text, cut=cut)

    found, table = _read(responses, missing, ["facts"] * len(missing), parse, model)
    asked = [
        Fact(part, number, question)
        for part, questions in zip(missing, found, strict=True)
        for number, question in enumerate(questions or ())
    ]
    return asked, table


def answer_requests(
    asked: Sequence[Fact],
    kind: str,
    replaced: Replaced = None,
    *,
    max_tokens: int = 100,
    **options: int,
) -> list[Request]:
    """One request a fact question for its answer (App. A.2).

    kind: "full", from the conversation that PersonX missed, or "limited", from the one after it.
    """
    _check(kind, FACT_ANSWERS)
    requests = []
    for fact in asked:
        context = fact.part.previous if kind == "full" else fact.part.current
        fields = {"question": fact.question, "context": context}
        text = prompts.filled("fantom/answer", replaced, **fields)
        # What stands before the question is the same for all questions about a part.
        shared = text[: max(text.rfind(fact.question), 0)]
        requests.append(_request(text, shared, max_tokens=max_tokens, **options))
    return requests


def answered(
    responses: Sequence[Response], asked: Sequence[Fact], kind: str, model: str
) -> tuple[list[Fact], pd.DataFrame]:
    """The facts with their answer of a kind, which must not be the same as the other one."""
    _check(kind, FACT_ANSWERS)

    def parse(fact: Fact, text: str, cut: bool) -> str | Unparsed:
        return parse_answer(text, fact.full if kind == "limited" else "", cut=cut)

    return _with(responses, asked, kind, f"{kind}-answer", parse, model)


# Beliefs


def belief_requests(
    asked: Sequence[Belief], replaced: Replaced = None, *, max_tokens: int = 80, **options: int
) -> list[Request]:
    """One request a belief for turning its fact question into a question about it (App. A.3)."""
    requests = []
    for belief in asked:
        fields = {
            "whose": "'s belief about ".join(belief.names) + "'s",
            "believer": belief.believer,
            "question": belief.fact.question,
        }
        text = prompts.filled("fantom/belief-question", replaced, **fields)
        requests.append(_request(text, max_tokens=max_tokens, **options))
    return requests


def believed(
    responses: Sequence[Response], asked: Sequence[Belief], model: str
) -> tuple[list[Belief], pd.DataFrame]:
    """The beliefs with their question."""

    def parse(belief: Belief, text: str, cut: bool) -> str | Unparsed:
        return parse_belief_question(text, belief.names, belief.fact.question, cut=cut)

    return _with(responses, asked, "question", "belief-question", parse, model)


def belief_answer_requests(
    asked: Sequence[Belief],
    kind: str,
    replaced: Replaced = None,
    *,
    max_tokens: int = 100,
    **options: int,
) -> list[Request]:
    """One request a belief question for its answer, made of an answer to the fact (App. A.3).

    kind: "omniscient", of the full answer, or "centric" (on PersonX), of the limited one.
    """
    _check(kind, BELIEF_ANSWERS)
    requests = []
    for belief in asked:
        fields = {"question": belief.question, "answer": getattr(belief.fact, BELIEF_ANSWERS[kind])}
        text = prompts.filled("fantom/belief-answer", replaced, **fields)
        requests.append(_request(text, max_tokens=max_tokens, **options))
    return requests


def belief_answered(
    responses: Sequence[Response], asked: Sequence[Belief], kind: str, model: str
) -> tuple[list[Belief], pd.DataFrame]:
    """The beliefs with their answer of a kind, which must not be the same as the other one."""
    _check(kind, BELIEF_ANSWERS)

    def parse(belief: Belief, text: str, cut: bool) -> str | Unparsed:
        return parse_answer(text, belief.omniscient if kind == "centric" else "", cut=cut)

    return _with(responses, asked, kind, f"{kind}-answer", parse, model)


# What came back


def by_reason(table: pd.DataFrame) -> pd.DataFrame:
    """How many answers came to what: `step, status, reason, count`, the steps in their order."""
    counted = (
        table.groupby(["step", "status", "reason"], sort=False).size().reset_index(name="count")
    )
    order = counted["step"].map(STEPS.index)
    return counted.iloc[order.argsort(kind="stable")].reset_index(drop=True)


def _request(text: str, shared_prefix: str = "", *, max_tokens: int, **options: int) -> Request:
    message = {"role": "user", "content": text}
    return Request((message,), max_tokens, shared_prefix=shared_prefix, **options)


def _check(kind: str, known: Iterable[str]) -> None:
    if kind not in known:
        raise InputError(f"answers: found kind {kind!r}, expected {' or '.join(known)}")


def _read(
    responses: Sequence[Response],
    drafts: Sequence[Any],
    steps: Sequence[str],
    parse: Callable[[Any, str, bool], Any],
    model: str,
) -> tuple[list[Any], pd.DataFrame]:
    """What `parse(draft, text, cut)` makes of each answer, None instead of `Unparsed`; `COLUMNS`."""
    found, rows = [], []
    for response, draft, step in zip(responses, drafts, steps, strict=True):
        parsed = _parsed(response, draft, parse)
        failed = isinstance(parsed, Unparsed)
        found.append(None if failed else parsed)
        reason = parsed.reason if failed else ""
        status = "unparsed" if failed else "parsed"
        status = status if response.reply else "failed"
        text = response.reply.text if response.reply else ""
        rows.append((step, draft.topic, status, reason, text, f"llm:{model}"))
    return found, pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)


def _parsed(response: Response, draft: Any, parse: Callable[[Any, str, bool], Any]) -> Any:
    if response.reply is None:
        return Unparsed(response.error or "")
    if response.reply.finish_reason == "refusal":
        return Unparsed("refused")
    text, open_thought = visible(response.reply.text)
    return parse(draft, text, open_thought or response.reply.finish_reason == "length")


def _with(
    responses: Sequence[Response],
    drafts: Sequence[Draft],
    field: str,
    step: str,
    parse: Callable[[Any, str, bool], str | Unparsed],
    model: str,
) -> tuple[list[Draft], pd.DataFrame]:
    """The drafts whose answer parsed, each with it in `field`."""
    found, table = _read(responses, drafts, [step] * len(drafts), parse, model)
    done = [
        replace(draft, **{field: text})
        for draft, text in zip(drafts, found, strict=True)
        if text is not None
    ]
    return done, table
