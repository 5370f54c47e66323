"""Conversations by grammar, in which people leave, come back and join (FANToM Sec. 3.1, App. A.1).

Four segments, one a subtopic, lie between the moments at which people come and go. What is said
is a list of utterances: speaker; text; present (who is there, the leaver included when leaving);
fact (id of the fact that it tells or retells, or None); event (leave, return, join or None); kinds
(of the lines it is made of); segment (which it belongs to or leads to); reason (for leaving). Who
knows what follows from these alone (`aware`).
"""

import random
from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any, NamedTuple

from tomlab.benchmarks.fantom.items.cast import CAST, SEGMENTS, Cast, Subtopic, Topic, TopicFact

RETELLING = 1 / 4  # how often someone who comes back is told what they missed
THIRD_FACT = 1 / 10
LEAVING_FOR_GOOD = 1 / 6
ASKED_BY_ANOTHER = 1 / 4  # than who opens the segment
FILLER = 1 / 2


def converse(topic: Topic, cast: Cast, rng: random.Random) -> "Talk":
    """A whole conversation about `topic`: four of its subtopics in any order, two PersonXs."""
    talk = Talk(topic, cast, rng)
    retold = [segment for segment in talk.missing if rng.random() < RETELLING]
    for segment, subtopic in enumerate(rng.sample(topic.subtopics, SEGMENTS)):
        talk.segment, events = segment, talk.events[segment]
        for number, (kind, person) in enumerate(events, start=1):
            leaver = _next_to_leave(events[number:])
            _happen(talk, kind, person, subtopic.name, leaver)
            if kind == "return" and segment - 1 in retold:
                _retell(talk, person, leaver)
        # What is retold is no longer missed, so there is one fact more.
        third = segment in retold or rng.random() < THIRD_FACT
        _discuss(talk, subtopic, 3 if third else 2)
    return talk


Event = tuple[str, str]  # leave, return or join, and who does


def _next_to_leave(events: Sequence[Event]) -> str | None:
    """Who leaves first of all, and so does not speak right before."""
    return next((person for kind, person in events[:1] if kind == "leave"), None)


def _attendance(names: list[str], rng: random.Random) -> tuple[list, list, dict]:
    """Which two or three of five people are there at first, and `events` and `missing` of their
    `Talk`. At least two are always there. Whoever leaves has been there for the two segments
    before, so that all who were told something while PersonX was away saw PersonX leave or return.
    """
    start = names[: rng.choice((2, 3))]
    joins = {name: rng.choice((1, 2, 3, None, None)) for name in names[len(start) :]}
    if len(start) == 2:
        joins[names[2]] = 1
    earlier, present, events, missing = start, start, [[]], {}
    for segment in range(1, SEGMENTS):
        arriving = [("return", missing[segment - 1])] if segment - 1 in missing else []
        arriving += [("join", name) for name, at in joins.items() if at == segment]
        stayed = [name for name in present if name in earlier]
        leaving = []
        if segment < SEGMENTS - 1:
            missing[segment] = rng.choice(stayed)
            leaving.append(missing[segment])
            stayed.remove(missing[segment])
        # One who has stayed must remain to be the next PersonX.
        spare = len(stayed) > 1 if segment + 1 < SEGMENTS - 1 else len(stayed) > 0
        enough = len(present) + len(arriving) - len(leaving) > 2
        if segment != 2 and spare and enough and rng.random() < LEAVING_FOR_GOOD:
            leaving.append(rng.choice(stayed))
        happening = [*arriving, *(("leave", name) for name in leaving)]
        events.append(_in_order(happening, len(present), rng))
        here = [*present, *(person for _, person in arriving)]
        earlier, present = present, [name for name in here if name not in leaving]
    return start, [*events, []], missing


def _in_order(events: Sequence[Event], present: int, rng: random.Random) -> list[Event]:
    """The events in an order in which two people are always there."""
    waiting, ordered = rng.sample(events, len(events)), []
    while waiting:
        event = next(one for one in waiting if one[0] != "leave" or present > 2)
        waiting.remove(event)
        ordered.append(event)
        present += -1 if event[0] == "leave" else 1
    return ordered


class Told(NamedTuple):
    """A fact of a conversation: whose it is and what it is."""

    fact: TopicFact
    owner: str
    value: str

    def fill(self, text: str, **names: str) -> str:
        """A text with its placeholders filled: `names`, owner, value, about and claim."""
        known = {"owner": self.owner, "value": self.value}
        claim = self.fact.answer.format(**known).removesuffix(".")
        return text.format(about=self.fact.about.format(**known), claim=claim, **known, **names)


class Talk:
    """A conversation as it grows. events: what happens before each segment and the end; missing:
    PersonX, by the segment missed; told: the facts of each segment.
    """

    def __init__(self, topic: Topic, cast: Cast, rng: random.Random):
        self.topic, self.rng, self.segment = topic, rng, 0
        self.present, self.events, self.missing = _attendance(rng.sample(cast.names, CAST), rng)
        self.utterances: list[dict] = []
        self.told: dict[int, list[Told]] = {}
        self._left = {name: rng.sample(of, len(of)) for name, of in cast if name != "names"}

    def draw(self, kind: str) -> Any:
        """A line of the cast that this conversation has not had."""
        return self._left[kind].pop()

    def others(self, *names: str | None) -> list[str]:
        return [name for name in self.present if name not in names]

    def say(self, speaker: str, kind: str, text: str, **details) -> None:
        """One line. Lines that one person says in a row are one utterance, events apart."""
        said = {"fact": None, "event": None, "reason": None} | details
        last = self.utterances[-1] if self.utterances else None
        if last and last["speaker"] == speaker and not (last["event"] or said["event"]):
            last["text"] += f" {text}"
            last["kinds"].append(kind)
            last["fact"] = last["fact"] or said["fact"]
            return
        there = {"present": list(self.present), "kinds": [kind], "segment": self.segment}
        self.utterances.append({"speaker": speaker, "text": text} | there | said)


def _happen(talk: Talk, kind: str, person: str, subtopic: str, leaver: str | None) -> None:
    """Someone comes or goes, says so and is answered, but not by `leaver`, who leaves next."""
    if kind == "leave":
        leaving = talk.draw("leaving")
        talk.say(person, kind, leaving.line, event=kind, reason=leaving.reason)
        talk.present.remove(person)
        answer = "farewell", talk.draw("farewell").format(leaver=person)
    else:
        talk.present.append(person)
        line = talk.draw("returning" if kind == "return" else "joining")
        talk.say(person, kind, line, event=kind)
        answer = "welcome", talk.draw("welcome").format(newcomer=person, subtopic=subtopic)
    talk.say(talk.rng.choice(talk.others(person, leaver)), *answer)


def _retell(talk: Talk, person: str, leaver: str | None) -> None:
    """Someone tells who came back a fact that they missed, if its owner is there to hear it."""
    possible = [
        (told, teller)
        for told in talk.told[talk.segment - 1]
        for teller in talk.others(leaver, told.owner)
        if told.owner in talk.present and teller in aware(talk.utterances, told.fact.id)
    ]
    if possible:
        told, teller = talk.rng.choice(possible)
        line = told.fill(talk.draw("retelling"), newcomer=person)
        talk.say(teller, "retelling", line, fact=told.fact.id)


def _discuss(talk: Talk, subtopic: Subtopic, count: int) -> None:
    """One segment: the opener, then `count` facts, each asked for, told and reacted to. Owners
    differ as far as there are people; who has just come back owns none, so that one can ask what
    they believe about it.
    """
    rng, last = talk.rng, talk.utterances[-1] if talk.utterances else None
    # Who has just greeted someone goes on, but says no more than three lines in a row.
    free = last is None or len(last["kinds"]) > 1
    opener = rng.choice(talk.others(last and last["speaker"])) if free else last["speaker"]
    owners = talk.others(talk.missing.get(talk.segment - 1))
    owners = rng.sample(owners, len(owners))
    if owners[0] == opener:
        # Another comes first, so that who opens can ask.
        owners = [*owners[1:2], opener, *owners[2:]]
    talk.told[talk.segment] = [
        Told(fact, owner, rng.choice(fact.values))
        for fact, owner in zip(rng.sample(subtopic.facts, count), cycle(owners), strict=False)
    ]
    turns = _turns(talk, opener)
    fillers = rng.sample(subtopic.fillers, len(subtopic.fillers))
    for speaker, kind, told in turns:
        if kind == "filler":
            line = fillers.pop(0)
        elif kind == "react":
            line = rng.choice(told.fact.react)
        else:
            line = getattr(subtopic if kind == "opener" else told.fact, kind)
        talk.say(speaker, kind, told.fill(line), fact=told.fact.id if kind == "tell" else None)


def _turns(talk: Talk, opener: str) -> list[tuple[str, str, Told]]:
    """Who says what in a segment: (speaker, kind of line, the fact it is about). Everyone speaks,
    nobody asks or answers themselves, and whoever leaves and so speaks next is not the last. As a
    rule who reacts to one fact asks for the next.
    """
    rng, others, facts = talk.rng, talk.others, talk.told[talk.segment]
    owners = [told.owner for told in facts]
    leaver = _next_to_leave(talk.events[talk.segment + 1])
    turns = [(opener, "opener", facts[0])]

    def silent(number: int) -> list[str]:
        """Who has said nothing and will not tell fact `number` or one after it."""
        return others(*(speaker for speaker, _, _ in turns), *owners[number:])

    asker = opener
    if opener == owners[0] or (silent(0) and rng.random() < ASKED_BY_ANOTHER):
        asker = rng.choice(silent(0) or others(owners[0]))
        turns += [(asker, "filler", facts[0])] if rng.random() < FILLER else []
    for number, (owner, following) in enumerate(pairwise([*owners, None])):
        told = facts[number]
        if following is None:
            # One who has been silent can still react; all others must speak now.
            quiet = rng.sample(silent(number), len(silent(number)))
            reacting = next((name for name in quiet if name != leaver), None)
            speaking = [name for name in quiet if name != reacting]
            turns += [(name, "filler", told) for name in speaking]
            asker = [asker, *speaking][-1]
        turns += [(asker, "ask", told), (owner, "tell", told)]
        able = others(owner, leaver if following is None else None)
        willing = [name for name in able if name in silent(number + 1)]
        reactor = rng.choice(willing or [n for n in able if n != following] or able)
        turns.append((reactor, "react", told))
        asker = reactor if reactor != following else rng.choice(others(following, reactor))
    return turns


def aware(utterances: Sequence[Mapping], fact: str) -> list[str]:
    """Who was there when the fact was told or retold, its owner included, in speaking order."""
    heard = {name for one in utterances if one["fact"] == fact for name in one["present"]}
    return [name for name in dict.fromkeys(one["speaker"] for one in utterances) if name in heard]
