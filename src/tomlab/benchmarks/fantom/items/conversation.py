"""Conversations by grammar, in which people leave, come back and join (FANToM Sec. 3.1, App. A.1).

Four segments, one a subtopic, lie between the moments at which people come and go. There are two
PersonXs. Part n, the segments n + 1 and n + 2, is about the n-th of them, who misses one of the two
and hears the other, the first as often as the last (`pattern`): place does not show who knows.

What is said is a list of utterances: speaker; text; present (who is there, the leaver included when
leaving); fact (id of the fact that it tells or retells, or None); event (leave, return, join or
None); kinds (of the lines it is made of); segment (which it belongs to or leads to); reason (for
leaving). Who knows what follows from these alone (`aware`).
"""

import random
from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise
from typing import Any, NamedTuple

from tomlab.benchmarks.fantom.items.cast import CAST, CHOICE, SEGMENTS, Cast, Fact, Subtopic, Topic

RETELLING = 1 / 5  # how often someone who comes back is told what they missed
LEAVING_FOR_GOOD = 1 / 2
ASKED_BY_ANOTHER = 1 / 4  # than who opens the segment
FILLER = 1 / 4


def converse(topic: Topic, cast: Cast, rng: random.Random, visit: int, pattern: int) -> "Talk":
    """A whole conversation about `topic`: four of its subtopics in any order, two PersonXs. visit:
    which forms the topic takes; pattern: in its two bits, who of the two hears first, misses later.
    """
    talk = Talk(topic, cast, rng, visit, pattern)
    # Of two people who missed the same segment one at most is told something.
    retold = {missed: name for name, missed in talk.targets if rng.random() < RETELLING}
    subtopics = rng.sample(topic.subtopics, SEGMENTS)
    for segment, events in enumerate(talk.events):
        talk.segment, ended = segment, segment == SEGMENTS
        subtopic = subtopics[-1 if ended else segment]
        for number, (kind, person) in enumerate(events, start=1):
            leaver = _next_to_leave(events[number:])
            _happen(talk, kind, person, subtopic.name, leaver)
            if kind == "return" and retold.get(segment - 1) == person:
                _retell(talk, person, leaver)
        if not ended:
            # What is retold is no longer missed, so there is one fact more.
            _discuss(talk, subtopic, 3 if segment in retold else 2)
    return talk


Event = tuple[str, str]  # leave, return or join, and who does


def _next_to_leave(events: Sequence[Event]) -> str | None:
    """Who leaves first of all, and so does not speak right before."""
    return next((person for kind, person in events[:1] if kind == "leave"), None)


def _attendance(names: list[str], pattern: int, rng: random.Random) -> tuple[list, list, list]:
    """Which two or three of five people are there at first, and `events` and `targets` of their
    `Talk`. At least two are always there. Whoever comes does so before anyone leaves, so that all
    who were told something while PersonX was away see PersonX come back. Whoever leaves has been
    there for the two segments before.
    """
    first, second, *others = names
    targets = [(first, 1 + pattern % 2), (second, 2 + pattern // 2)]
    # Who misses the last segment may join before segment 1: there is none to be heard before it.
    others.insert(rng.choice((0, 1)) if targets[1][1] == SEGMENTS - 1 else 0, second)
    early = 1 if targets[0][1] == 2 else rng.choice((1, 2, None, None))
    late = rng.choice((2, 3, None, None, None))
    joins = dict(zip([first, *others], (0, 0, rng.choice((0, 0, 1)), early, late), strict=True))
    start = [name for name, at in joins.items() if at == 0]
    present, events = start, [[]]
    for segment in range(1, SEGMENTS + 1):
        arriving = [("return", name) for name, missed in targets if missed == segment - 1]
        arriving += [("join", name) for name, at in joins.items() if at == segment]
        leaving = [("leave", name) for name, missed in targets if missed == segment]
        here = [*present, *(person for _, person in arriving)]
        # One who is no PersonX may leave for good before the last segment. One does at the end, if
        # nobody comes back then: no part is to end with what was told last.
        spare = [n for n in others if n in present and joins[n] in (0, 1) and n != second]
        enough = segment == SEGMENTS - 1 and len(here) - len(leaving) > 3 and len(spare) > 1
        ended = segment == SEGMENTS and not arriving
        if ended or (enough and rng.random() < LEAVING_FOR_GOOD):
            leaving.append(("leave", rng.choice(spare)))
        events.append([*rng.sample(arriving, len(arriving)), *rng.sample(leaving, len(leaving))])
        present = [name for name in here if ("leave", name) not in leaving]
    return start, events, targets


class Told(NamedTuple):
    """A fact of a conversation: whose it is and what it is."""

    fact: Fact
    owner: str
    value: str

    def fill(self, text: str, **names: str) -> str:
        """A text with its placeholders filled: `names`, owner, value, about and claim."""
        known = {"owner": self.owner, "value": self.value}
        claim = self.fact.answer.format(**known).removesuffix(".")
        return text.format(about=self.fact.about.format(**known), claim=claim, **known, **names)


class Talk:
    """A conversation as it grows. events: what happens before each segment and at the end; targets:
    each PersonX with the segment missed; told: the facts of each segment.
    """

    def __init__(self, topic: Topic, cast: Cast, rng: random.Random, visit: int, pattern: int):
        self.topic, self.rng, self.visit, self.segment = topic, rng, visit, 0
        names = rng.sample(cast.names, CAST)
        self.present, self.events, self.targets = _attendance(names, pattern, rng)
        self.utterances: list[dict] = []
        self.told: dict[int, list[Told]] = {}
        self._left = {name: rng.sample(of, len(of)) for name, of in cast if name != "names"}

    def draw(self, kind: str) -> Any:
        """A line of the cast that this conversation has not had."""
        return self._left[kind].pop()

    def form(self, forms: Sequence[str]) -> str:
        """That of several forms whose turn it is, so that no two visits to a topic say the same."""
        return forms[self.visit % len(forms)]

    def others(self, *names: str | None) -> list[str]:
        return [name for name in self.present if name not in names]

    def say(self, speaker: str, kind: str, text: str, **details) -> None:
        """One line. Lines that one person says in a row are one utterance, events apart."""
        text = CHOICE.sub(lambda hit: self.rng.choice(hit[1].split("|")), text)
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
        line = talk.draw("welcome" if talk.segment < SEGMENTS else "welcome_late")
        answer = "welcome", line.format(newcomer=person, subtopic=subtopic)
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
    differ as far as there are people; a PersonX who is to be asked about them owns none.
    """
    rng, last = talk.rng, talk.utterances[-1] if talk.utterances else None
    # Not who has just greeted someone: a part can end with a greeting.
    opener = rng.choice(talk.others(last and last["speaker"]))
    parts = enumerate(talk.targets, start=1)
    hearing = [x for n, (x, missed) in parts if {n, n + 1} - {missed} == {talk.segment}]
    owners = talk.others(*hearing)
    owners = rng.sample(owners, len(owners))
    if owners[0] == opener:
        # Another comes first, so that who opens can ask.
        owners = [*owners[1:2], opener, *owners[2:]]
    talk.told[talk.segment] = [
        Told(fact, owner, talk.form(fact.values))
        for fact, owner in zip(rng.sample(subtopic.facts, count), cycle(owners), strict=False)
    ]
    used = 2 * talk.visit % len(subtopic.fillers)
    fillers = [*subtopic.fillers[used:], *subtopic.fillers[:used]]
    for speaker, kind, told in _turns(talk, opener):
        source = subtopic if kind == "opener" else told.fact
        line = fillers.pop(0) if kind == "filler" else talk.form(getattr(source, kind))
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
