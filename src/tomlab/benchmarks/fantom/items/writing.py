"""Question sets written by a language model: conversations, facts, beliefs (Sec. 3, App. A.1-A.3).

`writing.yaml` lists the steps. There are two departures from the paper. What PersonX missed is
taken from the one segment before PersonX joins, even after a longer absence, since the outline
tells only for single segments who heard all of it. And answers about beliefs answer the belief
question, where App. A.3 prints the fact question.
"""

from collections.abc import Sequence
from itertools import chain, groupby

from tomlab.benchmarks.fantom.items.attendance import who_knows
from tomlab.benchmarks.fantom.items.contexts import folded, written
from tomlab.benchmarks.fantom.items.formats import PARSERS, names_person
from tomlab.benchmarks.writing import Draft, Writer, steps

FIRST_NUMBER = 1001  # of the first conversation; those in files start from 0 or 1
STEPS = steps(__file__, PARSERS)


async def converse(
    writer: Writer, outlines: Sequence[Sequence[Draft]], start: int = FIRST_NUMBER
) -> list[Draft]:
    """One conversation for each outline, numbered from `start`. A conversation ends early, before
    the first segment that could not be read.
    """
    talks: dict[int, Draft] = {}
    for number, plan in enumerate(outlines, start):
        characters = dict.fromkeys(chain(*(segment["present"] for segment in plan)))
        talks[number] = {
            "conversation": number,
            "plan": plan,
            "characters": list(characters),
            "segments": [],
            "heard": [],
        }
    for position in range(max(map(len, outlines), default=0)):
        drafts = []
        for talk in talks.values():
            if len(talk["segments"]) == position < len(talk["plan"]):
                history = written(chain(*talk["segments"]))
                drafts.append(talk | talk["plan"][position] | {"history": history})
        for talk in await writer.take(STEPS["segment"], drafts):
            talks[talk["conversation"]] = talk
    return list(talks.values())


def parts(conversations: Sequence[Draft]) -> list[Draft]:
    """The parts of the conversations, one for each person who joins, even if the conversation ended
    early.

    person: PersonX, who joins as the segment `current` begins and missed the segment `previous`,
    which is given without the goodbye of anybody who left as it began; aware: who was there for all
    of `previous`; short: the segments up to `current`, beginning with the one with which PersonX
    left or, if they were never there, with `previous`.
    """
    drafts = []
    for talk in conversations:
        segments = talk["segments"]
        plan = talk["plan"][: len(segments)]
        joins = [position for position, segment in enumerate(plan) if segment["kind"] == "join"]
        for number, position in enumerate(joins):
            person = plan[position]["person"]
            leaves = [n + 1 for n in range(position) if person in plan[n]["present"]]
            first = max(leaves, default=position - 1)
            part = {
                "part": number,
                "person": person,
                "previous": written(talk["heard"][position - 1]),
                "current": written(segments[position]),
                "short": list(chain(*segments[first : position + 1])),
                "aware": plan[position - 1]["present"],
            }
            drafts.append(talk | part)
    return drafts


def beliefs(facts: Sequence[Draft]) -> list[Draft]:
    """The beliefs to ask about for each fact with two different answers: one of the first order and
    up to two of the second.

    Second-order beliefs are those of people who heard the fact and see PersonX join: the first of
    them whom the fact question names (cyclic) and, if it names anybody but PersonX, the first of
    them whom it does not name (acyclic).
    """
    drafts = []
    for fact in facts:
        if folded(fact["full"]) == folded(fact["limited"]):
            continue  # PersonX missed nothing that changes the answer
        person = fact["person"]
        owner = f"{person}'s"
        drafts.append(fact | {"tom_type": "first-order", "believer": person, "whose": owner})
        for order, name in _second_order_believers(fact):
            belief = f"{name}'s belief about {owner}"
            drafts.append(fact | {"tom_type": order, "believer": name, "whose": belief})
    return drafts


def _second_order_believers(fact: Draft) -> list[tuple[str, str]]:
    """The second-order beliefs to ask about, each as its `tom_type` and the believer's name."""
    people = [name for name in fact["characters"] if name != fact["person"]]
    mentioned = [name for name in people if names_person(fact["fact_question"], name)]
    if not mentioned:
        return []
    cyclic = [name for name in fact["aware"] if name in mentioned]
    acyclic = [name for name in fact["aware"] if name not in mentioned]
    believers = []
    if cyclic:
        believers.append(("second-order:cyclic", cyclic[0]))
    if acyclic:
        believers.append(("second-order:acyclic", acyclic[0]))
    return believers


def records(beliefs: Sequence[Draft]) -> list[dict]:
    """The question sets, in the released format, of all facts with at least one of `beliefs`, which
    must have both answers. Those who were there for what PersonX missed count as aware, all others
    who speak as unaware.
    """
    sets = []
    for set_id, drafts in groupby(beliefs, "{0[conversation]}-{0[part]}-{0[facts]}".format):
        questions = []
        for draft in drafts:
            question = {
                "question": draft["belief_question"],
                "correct_answer": draft["centric"],
                "wrong_answer": draft["omniscient"],
                "question_type": "tom:belief:inaccessible",
                "tom_type": draft["tom_type"],
                "missed_info_accessibility": "inaccessible",
            }
            questions.append(question)
        short = written(draft["short"])
        full = written(chain(*draft["segments"]))
        record = {
            "set_id": set_id,
            "short_context": short,
            "full_context": full,
            "factQA": {
                "question": draft["fact_question"],
                "correct_answer": draft["full"],
                "wrong_answer": draft["limited"],
                "question_type": "fact",
            },
            "beliefQAs": questions,
            **who_knows(short, full, draft["aware"]),
            "source": draft["source"],
        }
        sets.append(record)
    return sets
