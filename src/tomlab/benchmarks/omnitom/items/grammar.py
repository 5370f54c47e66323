"""False-belief stories made by rule, with their gold belief tables (OmniToM, Sec. 3, App. A.2).

A story is a list of events. Its text and its beliefs are both made from that list: `ended` asks
`scoring.tracker` what each actor takes to be the case, up to order 3. Words: `grammar.yaml`.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, cycle

from tomlab.benchmarks.omnitom.items.records import CATEGORIES, DIMENSIONS, WORLD
from tomlab.records.files import yaml_beside
from tomlab.scoring.tracker import Chain, Event, State, Story, chains_of, states

FIRST_ID = 2001
_DATA = yaml_beside(__file__)
KINDS, NAMES = _DATA["kinds"], _DATA["names"]
_ARRIVALS = ("returns", "enters")
_SPOKEN = ("tells", "lies")
# All who are there perceive what somebody finds, as if it were put where it is.
_KINDS = {"leaves": "leave", "returns": "enter", "enters": "enter", "moves": "move"}
_KINDS |= {"looks": "move", "tells": "say", "lies": "say"}


def generate(n: int, seed: int) -> list[dict]:
    """`n` records of false-belief stories, `KINDS` in turn, each by `seed` and its number alone.

    Beyond the keys of App. B.5: `source`, `paraphrases` of every belief, and `record`, the events:
    `event`, `seen_by` (who perceives it, each knowing of the others) and what the event has of
    `actor`, `container`, `listener`, `watched_by` (who sees it in secret).
    """
    records = []
    for number, kind in zip(range(n), cycle(KINDS), strict=False):
        rng = random.Random(f"{seed}/{number}")
        events = _events(kind, rng)
        record = {"story_id": FIRST_ID + number, "story_category": CATEGORIES["FBT"]}
        record |= {"source": "grammar", "story": _text(events, rng)}
        records.append(record | {"beliefs": beliefs(events), "record": events})
    return records


def _events(name: str, rng: random.Random) -> list[dict]:
    kind = KINDS[name]
    place = rng.choice([*_DATA["places"]])
    objects, containers = _DATA["places"][place].values()
    containers = rng.sample(containers, 3)
    cast = dict(zip(kind["actors"], rng.sample(NAMES, len(kind["actors"])), strict=True))
    # Who moves the object is not always named first.
    actors = rng.sample([*cast.values()], len(cast))
    present = [actor for actor in actors if actor != cast.get(kind.get("late"))]
    start = {"event": "start", "kind": name, "place": place, "object": rng.choice(objects)}
    start |= {"actors": actors, "container": containers[0], "seen_by": [*present]}
    events, at = [start], 0
    for step in kind["steps"].split(", "):
        if step.endswith("?") and rng.random() < 0.5:
            continue
        who, verb, *listener = step.strip("?").split()
        actor = cast[who]
        if verb == "watches":
            events[-1]["watched_by"] = [actor]
            continue
        if verb in _ARRIVALS:
            present.append(actor)
        event = {"event": verb, "actor": actor, "seen_by": [*present]}
        if verb == "leaves":
            present.remove(actor)
        if verb == "moves":
            at += 1
        if verb in ("moves", "looks", "tells"):
            event["container"] = containers[at]
        if verb == "lies":
            event["container"] = rng.choice([c for c in containers if c != containers[at]])
        if listener:
            event["listener"] = cast[listener[0]]
        events.append(event)
    return events


def _text(events: Sequence[Mapping], rng: random.Random) -> str:
    start, before = events[0], events[0]["container"]
    names = " and ".join([", ".join(start["seen_by"][:-1]), start["seen_by"][-1]])
    sentences = []
    for event in events:
        words = {**start, **event, "names": names, "before": before}
        sentences.append(rng.choice(_DATA["told"][event["event"]]).format(**words))
        for watcher in event.get("watched_by", []):
            sentences.append(rng.choice(_DATA["told"]["watches"]).format(actor=watcher))
        if event["event"] == "moves":
            before = event["container"]
    return " ".join(sentences)


def ended(events: Sequence[Mapping]) -> State:
    """What `scoring.tracker` says of a story's end, for chains of up to three actors."""
    start, *later = events
    people = dict.fromkeys([*start["seen_by"], *start["actors"]])  # newcomers come last
    thing, happened = start["object"], []
    for event in later:
        kind, who, value = _KINDS[event["event"]], event["actor"], event.get("container", "")
        heard = tuple({*event["seen_by"]} - {who}) if kind == "say" else ()
        secretly = tuple(event.get("watched_by", ()))
        happened.append(Event(kind, who, thing, value, heard, secretly))
    at_first = {thing: start["container"]}
    *_, last = states(Story(tuple(people), tuple(start["seen_by"]), at_first, tuple(happened)), 3)
    return last


def beliefs(events: Sequence[Mapping]) -> list[dict]:
    """The gold table of a story: narrated facts, then each actor's beliefs in the story's order.

    Labels (App. A.2). Truth: at the end of the story; a nested belief is true if the actor it is
    about thinks so. Access, whoever holds the row: how many perceived the event, knowing of each
    other, or think so mutually to order 3; nested beliefs are private. Explicit: narrated, told, or
    said to be seen by this actor. Source: how it came about, Memory for a past state. Context:
    Deceptive for a lie and what rests on it, else Temporal for what is outdated or past.
    """
    story = _Story(events)
    table = list(story.narrated())
    for actor in events[0]["actors"]:
        table += [*story.witnessed(actor), *story.company(actor)]
        table += [story.opinion(chain) for chain in story.relevant(actor)]
    return table


class _Story:
    """The events of a story, who is there in the end, where each chain has the object, and why."""

    def __init__(self, events: Sequence[Mapping]) -> None:
        self.events, self.start, end = events, events[0], ended(events)
        thing, self.there = self.start["object"], end.present
        self.at = {chain: told[thing] for chain, told in end.value.items() if told[thing]}
        self.decided = {chain: events[end.since[chain][thing]] for chain in self.at}

    def row(self, actor: str, wording: str, words: Mapping, labels: str) -> dict:
        words = {**self.start, **words}
        paraphrases = [text.format(**words) for text in _DATA["beliefs"][wording]]
        # The wordings of nested beliefs take turns, or a word would tell how deep they are.
        turn = self.start["actors"].index(words["second"]) if "second" in words else 0
        belief = paraphrases.pop(turn % len(paraphrases))
        named = dict(zip(DIMENSIONS, labels.split(), strict=True))
        return {"actor": actor, "belief": belief, "labels": named, "paraphrases": paraphrases}

    def access(self, sharing: Sequence[str]) -> str:
        if len(sharing) == len(self.start["actors"]):
            return "Public"
        return "Shared" if len(sharing) > 1 else "Private"

    def narrated(self) -> Iterator[dict]:
        first, facts = self.start["seen_by"], []
        for actor in first:
            stays = actor in self.there
            wording, context = ("present", "Neutral") if stays else ("present at first", "Temporal")
            facts.append((wording, {"actor": actor}, first, "Location", context))
        facts.append(("placed at first", {}, first, "Location", "Temporal"))
        for event in self.events[1:]:
            context = "Deceptive" if event["event"] == "lies" else "Neutral"
            facts.append((event["event"], event, event["seen_by"], "Action/Event", context))
            for watcher in event.get("watched_by", []):
                words = {"actor": watcher, "mover": event["actor"]}
                facts.append(("watches", words, [watcher], "Action/Event", "Neutral"))
        place = self.at[()]
        facts.append(("placed", {"container": place}, self.sharing(place), "Location", "Neutral"))
        for wording, words, sharing, content, context in facts:
            labels = f"0 True {self.access(sharing)} Explicit {content} Narration {context}"
            yield self.row(WORLD, wording, words, labels)

    def sharing(self, container: str) -> Chain:
        """The largest group in which everybody thinks so, of each other too."""
        actors = self.start["actors"]
        for group in (g for n in range(len(actors), 1, -1) for g in combinations(actors, n)):
            own = (chain for chain in chains_of(group, 3) if chain)
            if all(self.at.get(chain) == container for chain in own):
                return group
        return ()

    def witnessed(self, actor: str) -> Iterator[dict]:
        """What the actor recalls of the start, and what the actor saw others do."""
        first = self.start["seen_by"]
        if actor in first and self.at[(actor,)] != self.start["container"]:
            labels = f"1 True {self.access(first)} Implicit Location Memory Temporal"
            yield self.row(actor, "was placed", {}, labels)
        for event in self.events[1:]:
            hidden = actor in event.get("watched_by", [])
            seen, stated = event["seen_by"], "Explicit" if hidden else "Implicit"
            perceived = hidden or actor in seen
            if perceived and event["actor"] != actor and event["event"] in _DATA["past"]:
                labels = f"1 True {self.access(seen)} {stated} Action/Event Perception Neutral"
                yield self.row(actor, _DATA["past"][event["event"]], event, labels)

    def company(self, actor: str) -> Iterator[dict]:
        """Whom an actor who went away takes to be there, unless seen to come or go before."""
        if actor in self.there:
            return
        met = [event for event in self.events if actor in event["seen_by"]]
        moving = {event["actor"] for event in met if event["event"] in ("leaves", *_ARRIVALS)}
        for other in self.start["actors"]:
            if other in met[-1]["seen_by"] and other not in moving:
                stays = other in self.there
                access = self.access(self.start["seen_by"] if stays else [actor])
                context = "Neutral" if stays else "Temporal"
                labels = f"1 {stays} {access} Implicit Location Perception {context}"
                yield self.row(actor, "present", {"actor": other}, labels)

    def relevant(self, actor: str) -> list[Chain]:
        """All chains of the actor of order 1 and 2, and of order 3 one: the first that differs."""
        own = [chain for chain in self.at if chain[:1] == (actor,)]  # the short ones first
        deepest = [chain for chain in own if len(chain) == 3]
        telling = [chain for chain in deepest if self.at[chain] != self.at[(actor,)]]
        return [*(chain for chain in own if len(chain) < 3), *(telling or deepest)[:1]]

    def opinion(self, chain: Chain) -> dict:
        """The row of where the object is for a chain."""
        event, actor, order, container = self.decided[chain], chain[0], len(chain), self.at[chain]
        true = container == self.at[chain[1:]]
        context = "Neutral" if true else "Temporal"
        context = "Deceptive" if event["event"] == "lies" else context
        words = {"container": container, **dict(zip(("second", "third"), chain[1:], strict=False))}
        if order > 1:
            labels = f"{order} {true} Private Implicit Epistemic Inference {context}"
            return self.row(actor, f"order {order}", words, labels)
        told = event["event"] in _SPOKEN
        watched = actor in event.get("watched_by", [])
        found = event["event"] == "looks" and event["actor"] == actor
        stated = "Explicit" if told or watched or found else "Implicit"
        source = "Testimony" if told else "Perception"
        access = self.access(self.sharing(container))
        labels = f"1 {true} {access} {stated} Location {source} {context}"
        return self.row(actor, "placed", words, labels)
