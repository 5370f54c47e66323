"""FANToM question sets by language model: conversations, facts, beliefs (Sec. 3, App. A.1-A.3).

`writing.yaml` has the steps. Two departures from the paper: what PersonX missed is read off the
segment before PersonX joins, not off a longer absence, since only of one segment the outline tells
who heard all of it; and answers about beliefs answer the belief question, where App. A.3 prints the
fact question.
"""

from collections.abc import Sequence
from itertools import chain, groupby

from tomlab.benchmarks.fantom.items import sets
from tomlab.benchmarks.fantom.items.contexts import folded, written
from tomlab.benchmarks.fantom.items.formats import PARSERS, names_person
from tomlab.benchmarks.writing import Draft, Writer, steps

FIRST_NUMBER = 1001  # of a conversation; those of files count from 0 or 1
STEPS = steps(__file__, PARSERS)


async def converse(
    writer: Writer, outlines: Sequence[Sequence[Draft]], start: int = FIRST_NUMBER
) -> list[Draft]:
    """The conversations of outlines, numbered from `start`, up to what could not be read."""
    talks = {}
    for number, plan in enumerate(outlines, start):
        characters = dict.fromkeys(chain(*(segment["present"] for segment in plan)))
        talk = {"conversation": number, "plan": plan, "characters": list(characters)}
        talks[number] = talk | {"segments": [], "heard": []}
    growing = list(talks.values())
    while growing:
        asked = []
        for talk in growing:
            history = written(chain(*talk["segments"]))
            asked.append(talk | talk["plan"][len(talk["segments"])] | {"history": history})
        grown = await writer.take(STEPS["segment"], asked)
        talks |= {talk["conversation"]: talk for talk in grown}
        growing = [talk for talk in grown if len(talk["segments"]) < len(talk["plan"])]
    return list(talks.values())


def parts(conversations: Sequence[Draft]) -> list[Draft]:
    """The parts that were written, one for each who joins, of conversations that broke off too.

    person: PersonX, who joins with the segment `current` and missed the segment `previous`, taken
    without the goodbye of one who left as it began; aware: who was there for all of that; short:
    from the segment with which PersonX left, or the one before they joined, to `current`.
    """
    drafts = []
    for talk in conversations:
        number = 0
        left = {}
        for place, lines in enumerate(talk["segments"]):
            segment = talk["plan"][place]
            if segment["kind"] == "leave":
                left[segment["person"]] = place
            if segment["kind"] == "join":
                person = segment["person"]
                first = left.get(person, place - 1)
                part = {
                    "part": number,
                    "person": person,
                    "previous": written(talk["heard"][place - 1]),
                    "current": written(lines),
                    "short": list(chain(*talk["segments"][first : place + 1])),
                    "aware": talk["plan"][place - 1]["present"],
                }
                drafts.append(talk | part)
                number += 1
    return drafts


def beliefs(facts: Sequence[Draft]) -> list[Draft]:
    """The beliefs to ask about for each fact with two different answers: one of the first order, up
    to two of the second.

    Second order is for people who heard the fact and see PersonX join, the first of them whom the
    fact question names (cyclic), and the first whom it does not, if it names others (acyclic).
    """
    drafts = []
    for fact in facts:
        if folded(fact["full"]) == folded(fact["limited"]):
            continue  # there is no asymmetry
        person = fact["person"]
        people = [name for name in fact["characters"] if name != person]
        named = [name for name in people if names_person(fact["fact_question"], name)]
        aware = fact["aware"] if named else []
        believers = {
            "first-order": [person],
            "second-order:cyclic": [name for name in aware if name in named],
            "second-order:acyclic": [name for name in aware if name not in named],
        }
        for order, names in believers.items():
            for believer in names[:1]:
                whose = f"{person}'s"
                if believer != person:
                    whose = f"{believer}'s belief about {whose}"
                drafts.append(fact | {"tom_type": order, "believer": believer, "whose": whose})
    return drafts


def records(beliefs: Sequence[Draft]) -> list[dict]:
    """The question sets, in the released format, of all facts on which there is a belief with both
    answers. Aware is who was there for what PersonX missed, unaware all others who speak.
    """
    made = []
    for set_id, drafts in groupby(beliefs, "{0[conversation]}-{0[part]}-{0[facts]}".format):
        asked = []
        for draft in drafts:
            texts = draft["belief_question"], draft["centric"], draft["omniscient"]
            asked.append(sets.belief_question(*texts, draft["tom_type"], "inaccessible"))
        fact = draft["fact_question"], draft["full"], draft["limited"]
        contexts = draft["short"], list(chain(*draft["segments"]))
        aware, source = draft["aware"], draft["source"]
        made.append(sets.question_set(set_id, contexts, fact, asked, aware, source))
    return made
