"""FANToM question sets by language model: conversations, facts, beliefs (Sec. 3, App. A.1-A.3).

`writing.yaml` says of each step what is asked and which field of a draft the answer goes to. Two
departures from the paper: what PersonX missed is read off the segment before PersonX joins, not off
a longer absence, since only of one segment the outline tells who heard all of it; and answers about
beliefs answer the belief question, where App. A.3 prints the fact question.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from tomlab.asking import attempts
from tomlab.asking.attempts import Answer, Unparsed
from tomlab.benchmarks.fantom.items import formats, sets
from tomlab.benchmarks.fantom.items.contexts import written
from tomlab.benchmarks.fantom.items.outlines import Outline
from tomlab.models.specs import Request, Response
from tomlab.records.files import yaml_beside

# One row an answer. step: that of `STEPS`, a segment by what it begins with; status: parsed,
# unparsed (reason says why) or failed (reason is the error of the request).
COLUMNS = ("step", "topic", "status", "reason", "text")
FIRST_NUMBER = 1001  # of a conversation; those of files count from 0 or 1
STEPS = yaml_beside(__file__)
# A conversation, then a part, a fact question, a belief question: `outline`, `number` (the first of
# the `set_id`), `segments` (of lines) and what the functions below and the steps add.
Draft = dict[str, Any]


@dataclass
class Writer:
    """A language model that writes question sets, and the rows (`COLUMNS`) of all it answered."""

    ask: Callable[[Sequence[Request]], Awaitable[Sequence[Response]]]
    replaced: Mapping[str, str] | None  # this and the next: of `requests`, the same in every step
    options: Mapping[str, int]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    async def take(self, step: str, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts after a step (`STEPS`), without those whose answer did not parse."""
        if not drafts:
            return []
        responses = await self.ask(requests(step, drafts, self.replaced, **self.options))
        parsed = []
        for response, draft in zip(responses, drafts, strict=True):
            parse = partial(_parse, step=step, draft=draft)
            value, outcome = attempts.attempt(response, parse, "parsed")
            status = {"parsed": "parsed", "error": "failed"}.get(outcome["status"], "unparsed")
            topic = draft["outline"].topic
            reason, text = outcome["reason"], outcome["text"]
            self.rows.append((_prompt_of(step, draft, name=step), topic, status, reason, text))
            if value is not None:
                parsed.append(draft | {STEPS[step]["goes to"]: value})
        return parsed

    async def converse(self, outlines: Sequence[Outline], start: int = FIRST_NUMBER) -> list[Draft]:
        """The conversations of outlines, numbered from `start`, up to what did not parse."""
        talks = {}
        for number, outline in enumerate(outlines, start):
            talks[number] = {"outline": outline, "number": number, "segments": ()}
        growing = list(talks.values())
        while growing:
            grown = await self.take("segment", growing)
            talks |= {talk["number"]: talk for talk in grown}
            growing = [t for t in grown if len(t["segments"]) < len(t["outline"].subtopics)]
        return list(talks.values())


def parts(conversations: Sequence[Draft]) -> list[Draft]:
    """The parts that were written, one for each who joins, of conversations that broke off too.

    person: PersonX, who joins with the segment `current` and missed the segment `previous`, taken
    without the goodbye of one who left as it began; aware: who was there for all of that; short:
    from the segment with which PersonX left, or the one before they joined, to `current`.
    """
    drafts = []
    for talk in conversations:
        outline, segments = talk["outline"], talk["segments"]
        joins = [n for n in range(1, len(segments)) if outline.change(n).kind == "join"]
        for number, segment in enumerate(joins):
            missed = segments[segment - 1]
            goodbye = formats.farewell_length(missed, outline.change(segment - 1))
            person = outline.change(segment).name
            first = segment - 1
            for earlier in range(1, segment):
                if outline.change(earlier)[:2] == ("leave", person):
                    first = earlier
            part = {
                "part": number,
                "person": person,
                "previous": written(missed[goodbye:]),
                "current": written(segments[segment]),
                "short": sum(segments[first : segment + 1], ()),
                "aware": outline.present(segment - 1),
            }
            drafts.append(talk | part)
    return drafts


def facts(parts: Sequence[Draft]) -> list[Draft]:
    """The fact questions of all parts, still without answers."""
    drafts = []
    for part in parts:
        for number, question in enumerate(part["questions"]):
            drafts.append(part | {"fact": number, "fact_question": question})
    return drafts


def beliefs(facts: Sequence[Draft]) -> list[Draft]:
    """The beliefs to ask about for each fact: one of the first order, up to two of the second.

    Second order is for people who heard the fact and see PersonX join, the first of them whom the
    fact question names (cyclic), and the first whom it does not, if it names others (acyclic).
    """
    drafts = []
    for fact in facts:
        people = set(fact["outline"].characters) - {fact["person"]}
        named = {name for name in people if formats.names_person(fact["fact_question"], name)}
        cyclic = [name for name in fact["aware"] if name in named]
        acyclic = [name for name in fact["aware"] if name not in named] if named else []
        believers = {"first-order": [fact["person"]]}
        believers |= {"second-order:cyclic": cyclic[:1], "second-order:acyclic": acyclic[:1]}
        for order, names in believers.items():
            for believer in names:
                chain = tuple(dict.fromkeys([believer, fact["person"]]))
                # "Anna's belief about Gina's"
                whose = "'s belief about ".join(chain) + "'s"
                belief = {"tom_type": order, "believer": believer, "names": chain, "whose": whose}
                drafts.append(fact | belief)
    return drafts


def records(beliefs: Sequence[Draft], model: str) -> list[dict]:
    """The question sets, in the released format, of all facts on which there is a belief with both
    answers. Aware is who was there for what PersonX missed, unaware all others who speak.
    """
    made = []
    for set_id, drafts in groupby(beliefs, "{0[number]}-{0[part]}-{0[fact]}".format):
        asked = []
        for draft in drafts:
            texts = draft["belief_question"], draft["centric"], draft["omniscient"]
            asked.append(sets.belief_question(*texts, draft["tom_type"], "inaccessible"))
        fact = draft["fact_question"], draft["full"], draft["limited"]
        contexts = draft["short"], sum(draft["segments"], ())
        source = f"llm:{model}"
        made.append(sets.question_set(set_id, contexts, fact, asked, draft["aware"], source))
    return made


def requests(
    step: str, drafts: Sequence[Draft], replaced: Mapping[str, str] | None = None, **options: int
) -> list[Request]:
    """One request a draft, at temperature 0. options: of a `Request`."""
    how = STEPS[step]
    made = []
    for draft in drafts:
        if step == "segment":
            values = _segment_values(draft)
        else:
            values = {place: draft[name] for place, name in how["fills"].items()}
        prompt = f"fantom/{_prompt_of(step, draft, name=how.get('prompt', step))}"
        made.append(attempts.request(prompt, values, replaced, shared=how.get("shared"), **options))
    return made


def _prompt_of(step: str, draft: Draft, name: str) -> str:
    """`name`, or what the next segment begins with: conversation (the first), leave or join."""
    if step != "segment":
        return name
    change = draft["outline"].change(len(draft["segments"]))
    return change.kind if change else "conversation"


def _segment_values(talk: Draft) -> dict[str, str]:
    """What fills the prompt for the next segment of a conversation."""
    outline, number = talk["outline"], len(talk["segments"])
    present = outline.present(number)
    change = outline.change(number)
    values = {
        "names": f"{', '.join(present[:-1])} and {present[-1]}",
        "subtopic": outline.subtopics[number],
    }
    if not change:
        return values | {"topic": outline.topic, "first": present[0]}
    history = written(sum(talk["segments"], ()))
    return values | {"person": change.name, "reason": change.reason, "history": history}


def _parse(answer: Answer, step: str, draft: Draft) -> Any:
    """What an answer says; `Unparsed` says that it was cut off or refused, if that is why."""
    if answer.finish_reason == "refusal":
        return Unparsed("refused")
    values = [draft[name] for name in STEPS[step].get("given", ())]
    value = formats.PARSERS[step](answer.text, *values, cut=answer.cut)
    if not isinstance(value, Unparsed):
        return value
    if answer.cut:
        return Unparsed("cut off")
    # An utterance may well begin with "Sorry"; a refusal has no "Name:" in it.
    is_refusal = answer.failure == "refused" and ":" not in answer.text
    return Unparsed("refused") if is_refusal else value
