"""FANToM question sets by grammar: the construction of Sec. 3.1-3.3 and App. A without a model.

A grammar draws utterances and questions, so that the answers follow from who was there. The part of
a conversation that concerns PersonX is two segments, one of which PersonX misses. It ends with
somebody who comes or goes: with PersonX's return, if the later segment is missed. A question set
has the fields of a released one, `source` and `record`: topic; person_x, owner, fact (whom and what
it is about); utterances, as in `conversation`; start, end (those of the part).
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product, takewhile

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

    Topics take turns, each time in their next forms, and so do the four orders in which the two
    PersonXs miss and hear. A conversation depends on `seed` and its number alone, and its text not
    on `sets_per_part` (2 to 4, as a part has two facts for either scenario). Sets about what
    PersonX missed and heard alternate; the answers of who knows are the longer ones in one part.
    Errors: `InputError` for names that a topic contains.
    """
    texts = [text for topic in topics for _, text in topic.said()]
    texts += [*chain(*_WORDINGS.values()), *WORDINGS]
    refuse(name_problems(cast.names, texts), "names of the cast")
    sets, first_visit = [], random.Random(seed).randrange(60)
    for number in range(conversations):
        rng, (visit, place) = random.Random(f"{seed}/{number}"), divmod(number, len(topics))
        turn = place + visit
        talk = converse(topics[place], cast, rng, first_visit + visit, turn % 4)
        for n, (person_x, _) in enumerate(talk.targets):
            part, rng = _part(talk, n), random.Random(f"{seed}/{number}/{n}")
            for index, told in enumerate(_asked(talk, n, part, rng)[:sets_per_part]):
                set_id, longer = f"{number}-{n}-{index}", (-1) ** (turn // 4 + n + index // 2)
                sets.append(_question_set(set_id, talk, person_x, part, told, longer, rng))
    return sets


def _part(talk: Talk, n: int) -> slice:
    """The utterances of part `n`, with a coming or going on either side: PersonX leaves first or
    comes back last, whichever is not between the two segments.
    """
    person_x, missed = talk.targets[n]
    moves = [(one["event"], one["speaker"]) for one in talk.utterances]
    at = [place for place, (event, _) in enumerate(moves) if event]
    start = max(place for place in at if talk.utterances[place]["segment"] == n + 1)
    end = min(place for place in at if talk.utterances[place]["segment"] == n + 3)
    if missed == n + 1:
        start = moves.index(("leave", person_x))
    else:
        end = moves.index(("return", person_x), end)
    after = takewhile(lambda one: not one["event"], talk.utterances[end + 1 :])
    said = sum(one["kinds"][0] in ("welcome", "farewell", "retelling") for one in after)
    return slice(start, end + 1 + said)


def _asked(talk: Talk, n: int, part: slice, rng: random.Random) -> list[Told]:
    """The facts to ask about: one that PersonX missed, one that PersonX heard, and so on. Only
    facts that are told within the part alone: with the short context as with the full one, the same
    people know them. What PersonX was told afterwards comes first of what they heard.
    """
    person_x, missed = talk.targets[n]
    outside = talk.utterances[: part.start] + talk.utterances[part.stop :]
    told = [
        one
        for segment in (missed, 2 * n + 3 - missed)  # and the other of n + 1 and n + 2
        for one in rng.sample(talk.told[segment], len(talk.told[segment]))
        if not aware(outside, one.fact.id)
    ]
    heard = [one for one in told if person_x in aware(talk.utterances, one.fact.id)]
    unheard = [one for one in told if one not in heard]
    return [*chain(*zip(unheard, heard, strict=False))]


def _question_set(
    set_id: str, talk: Talk, person_x: str, part: slice, told: Told, longer: int, rng: random.Random
) -> dict:
    """Everything asked about one fact, in the released format."""
    utterances, fact = talk.utterances, told.fact
    knowing = aware(utterances, fact.id)
    full = [(one["speaker"], one["text"]) for one in utterances]
    question = talk.form(fact.question)
    asked = tuple(map(told.fill, (question, fact.answer, *_WORDINGS["no information"])))
    answers = _answers(told, person_x, longer, rng)
    beliefs = [*_beliefs(utterances[part], person_x, told, answers, rng)]
    found = question_set(set_id, (full[part], full), asked, beliefs, knowing, "grammar")
    about = {"topic": talk.topic.topic, "person_x": person_x, "owner": told.owner, "fact": fact.id}
    place = {"start": part.start, "end": part.stop, "utterances": utterances}
    return found | {"record": about | place}


def _answers(told: Told, x: str, longer: int, rng: random.Random) -> tuple[str, str]:
    """What PersonX believes who knows the fact, and who does not; longer: 1 that, -1 this one."""
    kinds = (_WORDINGS[kind] for kind in ("knows", "knows nothing"))
    pairs = [*product(*([told.fill(one, x=x) for one in kind] for kind in kinds))]
    fit = [(knows, lacks) for knows, lacks in pairs if longer * (len(knows) - len(lacks)) > 0]
    return rng.choice(fit or pairs)


def _beliefs(
    part: Sequence[Mapping], person_x: str, told: Told, answers: tuple[str, str], rng: random.Random
) -> Iterator[dict]:
    """What PersonX believes; what the owner, and another who can tell, if any, believe of that."""
    # It can be told by who was there as PersonX heard of it or, if PersonX did not, came back.
    hearing = [one for one in part if one["fact"] == told.fact.id and person_x in one["present"]]
    scenario, answers = ("accessible", answers) if hearing else ("inaccessible", answers[::-1])
    back = [one for one in part if (one["event"], one["speaker"]) == ("return", person_x)]
    seen = {name for one in hearing or back for name in one["present"]} - {person_x, told.owner}
    others = [name for name in aware(part, told.fact.id) if name in seen]
    asked = [("first-order", person_x), ("second-order:cyclic", told.owner)]
    asked += [("second-order:acyclic", rng.choice(others))] if others else []
    for order, name in asked:
        level, _, kind = order.partition(":")
        question = told.fill(rng.choice(_WORDINGS[level]), x=person_x, y=name)
        said = [_WORDINGS["believes"][0].format(y=name, belief=one) for one in answers]
        right, wrong = said if kind else answers
        yield belief_question(question, right, wrong, order, scenario)
