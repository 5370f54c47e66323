"""Who believes what after each event of a story, to order 4 (the semantics of docs/fresh_items.md).

A chain (A, B, C) is "A believes that B believes that C believes"; () is the world.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise, product

from tomlab.errors import InputError

Chain = tuple[str, ...]
KINDS = ("enter", "leave", "distract", "attend", "move", "look", "peek", "say")


@dataclass(frozen=True)
class Event:
    kind: str  # one of `KINDS`
    who: str = ""  # the actor or speaker; "" for a change without an actor
    thing: str = ""
    value: str = ""  # the new value (move), or what is said (say)
    to: tuple[str, ...] = ()  # whom it is said to
    secretly: tuple[str, ...] = ()  # who watches through a crack or overhears, unknown to others


@dataclass(frozen=True)
class Story:
    people: tuple[str, ...]
    present: tuple[str, ...]  # at the scene at the beginning
    things: Mapping[str, str]  # the value of each at the beginning
    events: tuple[Event, ...]


@dataclass(frozen=True)
class State:
    """What holds after an event. value: by chain and thing, None for no belief. since: by chain and
    thing the number of the event that gave it this value, 0 for the beginning. knows: by chain and
    thing, whether its last person has known it without a gap, as the others believe. watching: by
    chain, whether its last person is at the scene and pays attention, as the others believe.
    openly, secretly: who observed the event.
    """

    value: Mapping[Chain, Mapping[str, str | None]]
    since: Mapping[Chain, Mapping[str, int]]
    knows: Mapping[Chain, Mapping[str, bool]]
    watching: Mapping[Chain, bool]
    present: Collection[str]
    openly: Collection[str] = ()
    secretly: Collection[str] = ()


def beliefs(story: Story, order: int = 4) -> dict[Chain, dict[str, str | None]]:
    """What each chain of at most `order` people believes of each thing at the end, None for no
    belief; the chain () has what is so. Errors: `InputError` with the number of a bad event.
    """
    *_, last = states(story, max(order, 1))  # what happens depends on who watches
    return {chain: dict(told) for chain, told in last.value.items() if len(chain) <= order}


def states(story: Story, order: int = 4) -> Iterator[State]:
    """The state at the beginning, and after each event."""
    if strangers := {*story.present} - {*story.people}:
        raise InputError(f"present: found {sorted(strangers)}, expected people of the story")
    chains = chains_of(story.people, order)
    there = {chain: {*chain} <= {*story.present} for chain in chains}
    value = {c: story.things if there[c] else dict.fromkeys(story.things) for c in chains}
    knows = {c: dict.fromkeys(story.things, there[c]) for c in chains}
    since = {c: dict.fromkeys(story.things, 0) for c in chains}
    state = State(value, since, knows, there, {*story.present})
    yield state
    for number, event in enumerate(story.events, start=1):
        if fault := _fault(story, state, event):
            raise InputError(f"event {number} ({event.kind}): {fault}")
        state = _after(state, event, number)
        yield state


def chains_of(people: Collection[str], order: int) -> list[Chain]:
    """All chains of at most so many people in which nobody stands beside himself or herself."""
    every = [chain for n in range(order + 1) for chain in product(people, repeat=n)]
    return [chain for chain in every if all(a != b for a, b in pairwise(chain))]


def _after(before: State, event: Event, number: int) -> State:
    attentive = {person for person in before.present if before.watching[(person,)]}
    openly = {event.who, *(event.to if event.kind == "say" else attentive)} - {""}
    secretly = {*event.secretly}
    if event.kind == "peek":
        openly, secretly = set(), {event.who}
    value = {chain: dict(told) for chain, told in before.value.items()}
    knows = {chain: dict(known) for chain, known in before.knows.items()}
    since = {chain: dict(last) for chain, last in before.since.items()}
    watching, present = dict(before.watching), before.present
    if event.kind in ("enter", "leave"):
        present = present | {event.who} if event.kind == "enter" else present - {event.who}
    # People who watch in secret are not known to watch, so they can only stand first.
    observing = {c for c in value if {*c[:1]} <= openly | secretly and {*c[1:]} <= openly}
    of_actor = {chain for chain in observing if chain[-1:] == (event.who,)}
    if event.kind in ("enter", "attend"):
        # She sees who is there, and onlookers take her to see what they themselves believe of
        # that. So a chain that passes through her goes on as it would without her.
        for chain in watching:
            others = (person for n, person in enumerate(chain, 1) if chain[:n] not in of_actor)
            watching[chain] = before.watching[tuple(person for person, _ in groupby(others))]
    unmoved = {(), (event.who,)}  # chains that keep their value whatever is said
    for chain, believed in value.items():
        if chain not in observing:
            continue
        if event.kind in ("enter", "attend") and chain in of_actor:
            watching[chain] = True
        elif event.kind in ("leave", "distract") and chain in of_actor:
            watching[chain] = False
            knows[chain] = dict.fromkeys(believed, False)
        elif event.kind == "move":
            believed[event.thing], knows[chain][event.thing] = event.value, True
            since[chain][event.thing] = number
        elif event.kind in ("look", "peek") and chain in of_actor:
            # Onlookers take her to see what they themselves believe to be there.
            believed[event.thing] = before.value[chain[:-1]][event.thing]
            knows[chain][event.thing], since[chain][event.thing] = True, number
        elif event.kind == "say" and chain not in unmoved:
            # Whoever knows better keeps her belief. Others believe it and that all who hear it do.
            if watching[chain] and knows[chain][event.thing] and chain[:-1] in unmoved:
                unmoved.add(chain)
            else:
                believed[event.thing], since[chain][event.thing] = event.value, number
    return State(value, since, knows, watching, present, openly, secretly)


def _fault(story: Story, state: State, event: Event) -> str:
    """What is wrong with an event at this point, "" if nothing is."""
    who, kind, is_there = event.who, event.kind, event.who in state.present
    is_attentive, heard = state.watching.get((who,)), (*event.to, *event.secretly)
    needs_scene = who and kind in ("leave", "distract", "attend", "move", "look")
    strangers = sorted({who, *heard} - {*story.people, ""})
    is_unknown = kind in ("move", "look", "peek", "say") and event.thing not in story.things
    twice = sorted({person for person in heard if heard.count(person) > 1})
    seen = [p for p in event.secretly if state.watching.get((p,))]
    faults = [
        (kind not in KINDS, kind, f"one of {', '.join(KINDS)}"),
        (strangers, strangers, "people of the story"),
        (not who and kind != "move", "nobody who does it", "a person"),
        (is_unknown, f"the thing {event.thing!r}", f"one of {', '.join(story.things)}"),
        (kind in ("move", "say") and not event.value, "no value", "one"),
        (needs_scene and not is_there, f"{who} away", "somebody at the scene"),
        (kind == "enter" and is_there, f"{who} at the scene", "somebody who is away"),
        (kind in ("attend", "peek") and is_attentive, f"{who} attentive", "somebody who is not"),
        (kind == "distract" and not is_attentive, f"{who} distracted", "somebody who is not"),
        (kind == "say" and not event.to, "nobody who is told", "a listener"),
        (twice, f"{twice} twice among those who hear or watch", "each person once"),
        (who in heard, f"{who} hearing or watching {who}", "somebody else"),
        (seen, f"{seen} at the scene and attentive", "secret watchers away or distracted"),
    ]
    told = (f"found {found}, expected {expected}" for is_bad, found, expected in faults if is_bad)
    return next(told, "")
