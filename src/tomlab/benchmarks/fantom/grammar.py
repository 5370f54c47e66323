"""FANToM question sets by grammar: the construction of Sec. 3.1-3.3 and App. A without a model.

Where the paper asks language models for utterances and questions, a grammar draws both, so that
the answers follow from who was there. PersonX is away for one segment of a conversation; the part
that concerns PersonX runs from their leaving to the end of the segment after their return.

A question set has the fields of a released one, `source` ("grammar") and `record`: topic; person_x,
owner, fact: whom and what the set is about; start, end: the part's utterances as a half-open range;
utterances: as in `conversation`.
"""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence

from tomlab.benchmarks.fantom.cast import Cast, Topic, name_problems, topic_texts
from tomlab.benchmarks.fantom.conversation import Talk, Told, aware, converse, speakers
from tomlab.errors import InputError, refuse

SOURCE = "grammar"
MOST_SETS = 4  # a part always has two facts for either scenario

FIRST_ORDER = (
    "What does {x} believe about {about}?",
    "What exactly does {x} believe about {about}?",
    "What belief does {x} hold about {about}?",
)
SECOND_ORDER = (
    "What does {y} think about {x}'s belief on {about}?",
    "What does {y} think {x} believes about {about}?",
    "What belief does {y} ascribe to {x} about {about}?",
)
NO_INFORMATION = "There is no information on {about}."
KNOWS = "{x} believes that {claim}."
KNOWS_NOTHING = "{x} does not know anything about {about}."
BELIEVES = "{y} believes that {belief}"
ANSWERABILITY_LIST = "List all the characters who know the correct answer to this question."
INFO_ACCESS_LIST = "List all the characters who know this information."
ANSWERABILITY_YN = "Does {name} know the correct answer to this question?"
INFO_ACCESS_YN = "Does {name} know this information?"
_WORDINGS = (
    *FIRST_ORDER,
    *SECOND_ORDER,
    NO_INFORMATION,
    KNOWS,
    KNOWS_NOTHING,
    BELIEVES,
    ANSWERABILITY_LIST,
    INFO_ACCESS_LIST,
    ANSWERABILITY_YN,
    INFO_ACCESS_YN,
)


def generate(
    topics: Sequence[Topic],
    cast: Cast,
    *,
    conversations: int,
    sets_per_part: int = 2,
    seed: int,
) -> list[dict]:
    """Question sets of `conversations` conversations, two parts each, in the released format.

    Topics take turns. A conversation depends on `seed` and its number alone, and its text not on
    `sets_per_part` (2 to 4). Sets about what PersonX missed and what PersonX heard alternate.

    Errors: `InputError` for counts out of range and for names that a topic's lines contain.
    """
    if conversations < 1:
        raise InputError(f"conversations: found {conversations}, expected 1 or more")
    if not 2 <= sets_per_part <= MOST_SETS:
        raise InputError(f"sets_per_part: found {sets_per_part}, expected 2 to {MOST_SETS}")
    texts = [text for topic in topics for text in topic_texts(topic)]
    refuse(name_problems(cast.names, [*texts, *_WORDINGS]), "names of the cast")
    sets = []
    for number in range(conversations):
        talk = converse(topics[number % len(topics)], cast, random.Random(f"{seed}/{number}"))
        for part, missed in enumerate(talk.plan.missing):
            rng = random.Random(f"{seed}/{number}/{part}")
            for index, asked in enumerate(_asked(talk, missed, sets_per_part, rng)):
                ids = {"set_id": f"{number}-{part}-{index}"}
                sets.append(ids | _question_set(talk, missed, asked, rng))
    return sets


def _part(talk: Talk, missed: int) -> tuple[int, int]:
    """The utterances of the part whose PersonX misses segment `missed`, as a half-open range."""
    person_x = talk.plan.missing[missed]
    start = next(
        index
        for index, one in enumerate(talk.utterances)
        if one["event"] == "leave" and one["speaker"] == person_x and one["segment"] == missed
    )
    return start, sum(one["segment"] <= missed + 1 for one in talk.utterances)


def _asked(talk: Talk, missed: int, count: int, rng: random.Random) -> list[Told]:
    """`count` facts to ask about: one that PersonX missed, one that PersonX heard, and so on.

    Only facts that are told within the part alone: with the short context as with the full one,
    the same people know them. What PersonX was told afterwards comes first of what they heard.
    """
    person_x, (start, end) = talk.plan.missing[missed], _part(talk, missed)
    inside = {one["fact"] for one in talk.utterances[start:end]}
    outside = {one["fact"] for one in talk.utterances[:start] + talk.utterances[end:]}
    told = [
        one
        for segment in (missed, missed + 1)
        for one in rng.sample(talk.told[segment], len(talk.told[segment]))
        if one.fact.id in inside - outside
    ]
    heard = [one for one in told if person_x in aware(talk.utterances, one.fact.id)]
    unheard = [one for one in told if one not in heard]
    pairs = zip(unheard, heard, strict=False)
    return [one for pair in pairs for one in pair][:count]


def _question_set(talk: Talk, missed: int, told: Told, rng: random.Random) -> dict:
    """Everything asked about one fact, in the released format, without the id."""
    utterances, (start, end) = talk.utterances, _part(talk, missed)
    person_x, fact = talk.plan.missing[missed], told.fact
    knowing = aware(utterances, fact.id)
    scenario = "accessible" if person_x in knowing else "inaccessible"
    limited = NO_INFORMATION.format(about=told.about)
    record = {
        "topic": talk.topic.topic,
        "person_x": person_x,
        "owner": told.owner,
        "fact": fact.id,
        "start": start,
        "end": end,
        "utterances": utterances,
    }
    return {
        "short_context": _written(utterances[start:end]),
        "full_context": _written(utterances),
        "factQA": {
            "question": fact.question.format(owner=told.owner),
            "correct_answer": told.answer,
            "wrong_answer": limited,
            "question_type": "fact",
        },
        "beliefQAs": list(_beliefs(utterances[start:end], person_x, told, scenario, rng)),
        **access_questions(knowing, speakers(utterances[start:end]), speakers(utterances)),
        "source": SOURCE,
        "record": record,
    }


def _written(utterances: Sequence[Mapping]) -> str:
    return "\n".join(f"{one['speaker']}: {one['text']}" for one in utterances)


def _beliefs(
    part: Sequence[Mapping], person_x: str, told: Told, scenario: str, rng: random.Random
) -> Iterator[dict]:
    """What PersonX believes, what the owner believes about that, and what another does (if there is
    one who can tell whether PersonX knows).
    """
    knows = KNOWS.format(x=person_x, claim=told.claim)
    ignorant = KNOWS_NOTHING.format(x=person_x, about=told.about)
    accessible = scenario == "accessible"
    answers = (knows, ignorant) if accessible else (ignorant, knows)
    others = [name for name in _witnesses(part, person_x, told) if name != told.owner]
    asked = [("first-order", person_x), ("second-order:cyclic", told.owner)]
    asked += [("second-order:acyclic", rng.choice(others))] if others else []
    for order, name in asked:
        first = order == "first-order"
        stem = rng.choice(FIRST_ORDER if first else SECOND_ORDER)
        right, wrong = (
            answers if first else (BELIEVES.format(y=name, belief=one) for one in answers)
        )
        yield {
            "question": stem.format(x=person_x, y=name, about=told.about),
            "correct_answer": right,
            "wrong_answer": wrong,
            "question_type": f"tom:belief:{scenario}",
            "tom_type": order,
            "missed_info_accessibility": scenario,
        }


def _witnesses(part: Sequence[Mapping], person_x: str, told: Told) -> list[str]:
    """Who knows the fact and whether PersonX does: they heard it together with PersonX or, when
    PersonX did not hear it, were there as PersonX left or came back.
    """
    knowing = aware(part, told.fact.id)
    telling = [one for one in part if one["fact"] == told.fact.id]
    seen = [one for one in telling if person_x in one["present"]] or [
        one for one in part if one["speaker"] == person_x and one["event"] in ("leave", "return")
    ]
    return [
        name for name in knowing if name != person_x and any(name in one["present"] for one in seen)
    ]


def access_questions(
    aware: Collection[str], short: Collection[str], everyone: Sequence[str]
) -> dict:
    """Answerability and information access, as lists and for each name of `everyone`.

    short: who speaks in the short context. The scenario is these questions' own: somebody else of
    the part may have missed what PersonX heard.
    """
    keys = {name: "no" if name in short else "no:long" for name in everyone}
    keys |= dict.fromkeys(aware, "yes")
    of = {
        "missed_info_accessibility": "inaccessible" if "no" in keys.values() else "accessible",
    }
    questions = {}
    for kind, field, list_question, yes_no_question in (
        ("answerability", "answerability", ANSWERABILITY_LIST, ANSWERABILITY_YN),
        ("info_accessibility", "infoAccessibility", INFO_ACCESS_LIST, INFO_ACCESS_YN),
    ):
        questions[f"{field}QA_list"] = {
            "question": list_question,
            "correct_answer": [name for name in everyone if name in aware],
            "wrong_answer": [name for name in everyone if name not in aware],
            "question_type": f"tom:{kind}:list",
        } | of
        questions[f"{field}QAs_binary"] = [
            {
                "question": yes_no_question.format(name=name),
                "correct_answer": keys[name],
                "question_type": f"tom:{kind}:binary",
            }
            | of
            for name in everyone
        ]
    return questions
