"""FANToM question sets by grammar: the construction of Sec. 3.1-3.3 and App. A without a model.

A grammar draws utterances and questions, so that the answers follow from who was there. PersonX is
away for one segment of a conversation; the part that concerns PersonX runs from their leaving to
the end of the segment after their return. A question set has the fields of a released one, `source`
and `record`: topic; person_x, owner, fact (whom and what it is about); utterances, as in
`conversation`; start, end (those of the part).
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from tomlab.benchmarks.fantom.items.cast import Cast, Topic, name_problems
from tomlab.benchmarks.fantom.items.conversation import Talk, Told, aware, converse
from tomlab.benchmarks.fantom.items.sets import WORDINGS, belief_question, question_set
from tomlab.errors import refuse
from tomlab.records.files import yaml_beside

_WORDINGS = yaml_beside(__file__)


def generate(
    topics: Sequence[Topic], cast: Cast, *, conversations: int, sets_per_part: int = 2, seed: int
) -> list[dict]:
    """Question sets of `conversations` conversations, two parts each, in the released format.

    Topics take turns. A conversation depends on `seed` and its number alone, and its text not on
    `sets_per_part` (2 to 4, as a part has two facts for either scenario). Sets about what PersonX
    missed and what PersonX heard alternate. Errors: `InputError` for names that a topic contains.
    """
    texts = [text for topic in topics for _, text in topic.said()]
    texts += [*chain(*_WORDINGS.values()), *WORDINGS]
    refuse(name_problems(cast.names, texts), "names of the cast")
    sets = []
    for number in range(conversations):
        talk = converse(topics[number % len(topics)], cast, random.Random(f"{seed}/{number}"))
        for n, missed in enumerate(talk.missing):
            part, rng = _part(talk, missed), random.Random(f"{seed}/{number}/{n}")
            for index, told in enumerate(_asked(talk, missed, part, rng)[:sets_per_part]):
                set_id, person_x = f"{number}-{n}-{index}", talk.missing[missed]
                sets.append(_question_set(set_id, talk, person_x, part, told, rng))
    return sets


def _part(talk: Talk, missed: int) -> slice:
    """The utterances of the part whose PersonX misses segment `missed`."""
    leaving = ("leave", talk.missing[missed], missed)
    events = [(one["event"], one["speaker"], one["segment"]) for one in talk.utterances]
    return slice(events.index(leaving), sum(segment <= missed + 1 for _, _, segment in events))


def _asked(talk: Talk, missed: int, part: slice, rng: random.Random) -> list[Told]:
    """The facts to ask about: one that PersonX missed, one that PersonX heard, and so on. Only
    facts that are told within the part alone: with the short context as with the full one, the same
    people know them. What PersonX was told afterwards comes first of what they heard.
    """
    outside = talk.utterances[: part.start] + talk.utterances[part.stop :]
    told = [
        one
        for segment in (missed, missed + 1)
        for one in rng.sample(talk.told[segment], len(talk.told[segment]))
        if not aware(outside, one.fact.id)
    ]
    heard = [one for one in told if talk.missing[missed] in aware(talk.utterances, one.fact.id)]
    unheard = [one for one in told if one not in heard]
    return [*chain(*zip(unheard, heard, strict=False))]


def _question_set(
    set_id: str, talk: Talk, person_x: str, part: slice, told: Told, rng: random.Random
) -> dict:
    """Everything asked about one fact, in the released format."""
    utterances, fact = talk.utterances, told.fact
    knowing = aware(utterances, fact.id)
    scenario = "accessible" if person_x in knowing else "inaccessible"
    full = [(one["speaker"], one["text"]) for one in utterances]
    asked = tuple(map(told.fill, (fact.question, fact.answer, *_WORDINGS["no information"])))
    beliefs = [*_beliefs(utterances[part], person_x, told, scenario, rng)]
    found = question_set(set_id, (full[part], full), asked, beliefs, knowing, "grammar")
    about = {"topic": talk.topic.topic, "person_x": person_x, "owner": told.owner, "fact": fact.id}
    place = {"start": part.start, "end": part.stop, "utterances": utterances}
    return found | {"record": about | place}


def _beliefs(
    part: Sequence[Mapping], person_x: str, told: Told, scenario: str, rng: random.Random
) -> Iterator[dict]:
    """What PersonX believes; what the owner, and another who can tell, if any, believe of that."""
    answers = [told.fill(_WORDINGS[known][0], x=person_x) for known in ("knows", "knows nothing")]
    answers = answers if scenario == "accessible" else answers[::-1]
    # Others can tell who heard it together with PersonX or, if PersonX did not hear it, were there
    # as PersonX left or came back.
    telling = [one for one in part if one["fact"] == told.fact.id and person_x in one["present"]]
    moving = [one for one in part if one["event"] and one["speaker"] == person_x]
    seen = {name for one in telling or moving for name in one["present"]} - {person_x, told.owner}
    others = [name for name in aware(part, told.fact.id) if name in seen]
    asked = [("first-order", person_x), ("second-order:cyclic", told.owner)]
    asked += [("second-order:acyclic", rng.choice(others))] if others else []
    for order, name in asked:
        level, _, kind = order.partition(":")
        question = told.fill(rng.choice(_WORDINGS[level]), x=person_x, y=name)
        said = [_WORDINGS["believes"][0].format(y=name, belief=one) for one in answers]
        right, wrong = said if kind else answers
        yield belief_question(question, right, wrong, order, scenario)
