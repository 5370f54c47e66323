"""Who believes what after each event of a story, to order 4 (the semantics of docs/fresh.md).

A chain (A, B, C) is "A believes that B believes that C believes"; () is the world.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, product

from tomlab.errors import InputError

Chain = tuple[str, ...]
WORLD: Chain = ()
# Who must be at the scene for it, and who must be away.
_AT_THE_SCENE = ("leave", "distract", "attend", "move", "look")
_AWAY = ("enter",)
_OF_A_THING = ("move", "look", "peek", "say")
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


@dataclass
class State:
    """What holds after an event. value: by chain and thing, None for no belief. watching: by chain,
    whether its last person is at the scene and pays attention, as the others believe. observers:
    who observed the event openly, and who in secret.
    """

    value: dict[Chain, dict[str, str | None]]
    watching: dict[Chain, bool]
    present: frozenset[str]
    observers: tuple[frozenset[str], frozenset[str]] = field(default=(frozenset(), frozenset()))


def beliefs(story: Story, order: int = 4) -> dict[Chain, dict[str, str | None]]:
    """What each chain of at most `order` people believes of each thing at the end, None for no
    belief; the chain () has what is so. Errors: `InputError` with the number of a bad event.
    """
    *_, last = states(story, order)
    return last.value


def states(story: Story, order: int = 4) -> Iterator[State]:
    """The state at the beginning, and after each event."""
    _check(story)
    chains = [c for n in range(order + 1) for c in product(story.people, repeat=n)]
    chains = [chain for chain in chains if all(a != b for a, b in pairwise(chain))]
    there = {chain: {*chain} <= {*story.present} for chain in chains}
    unknown = dict.fromkeys(story.things)
    value = {chain: dict(story.things if there[chain] else unknown) for chain in chains}
    state = State(value, there, frozenset(story.present))
    yield state
    for number, event in enumerate(story.events, start=1):
        if fault := _fault(story, state, event):
            raise InputError(f"event {number} ({event.kind}): {fault}")
        state = _after(state, event)
        yield state


def _after(before: State, event: Event) -> State:
    openly, secretly = observers(before, event)
    value = {chain: dict(told) for chain, told in before.value.items()}
    watches, watching, present = before.watching, dict(before.watching), before.present
    if event.kind == "enter":
        present |= {event.who}
    elif event.kind == "leave":
        present -= {event.who}
    for chain, believed in value.items():
        # People who watch in secret are not known to watch, so they can only stand first.
        observes = {*chain[:1]} <= openly | secretly and {*chain[1:]} <= openly
        ends_in_actor = chain[-1:] == (event.who,)
        if not observes:
            continue
        if event.kind in ("enter", "attend", "leave", "distract") and ends_in_actor:
            watching[chain] = event.kind in ("enter", "attend")
        elif event.kind == "move":
            believed[event.thing] = event.value
        elif event.kind in ("look", "peek") and ends_in_actor:
            # Onlookers take her to see what they themselves believe to be there.
            believed[event.thing] = before.value[chain[:-1]][event.thing]
        elif event.kind == "say" and chain not in (WORLD, (event.who,)) and not watches[chain]:
            # Whoever watches saw all changes and knows better, as do those who know that.
            believed[event.thing] = event.value
    return State(value, watching, present, (openly, secretly))


def observers(before: State, event: Event) -> tuple[frozenset[str], frozenset[str]]:
    """Who observes an event openly, and who in secret."""
    actor = {event.who} - {""}
    if event.kind == "say":
        return frozenset(actor | {*event.to}), frozenset(event.secretly)
    if event.kind == "peek":
        return frozenset(), frozenset(actor | {*event.secretly})
    attentive = {person for person in before.present if before.watching[(person,)]}
    return frozenset(attentive | actor), frozenset(event.secretly)


def _check(story: Story) -> None:
    people = {*story.people}
    if len(people) < len(story.people) or "" in people:
        raise InputError(f"people: found {story.people}, expected different names")
    if strangers := {*story.present} - people:
        raise InputError(f"present: found {sorted(strangers)}, expected people of the story")


def _fault(story: Story, state: State, event: Event) -> str:
    """What is wrong with an event at this point, "" if nothing is."""
    if event.kind not in KINDS:
        return f"found this kind of event, expected one of {', '.join(KINDS)}"
    if strangers := {event.who, *event.to, *event.secretly} - {*story.people, ""}:
        return f"found {', '.join(sorted(strangers))}, expected people of the story"
    if not event.who and event.kind != "move":
        return "found nobody who does it, expected a person"
    if event.kind in _OF_A_THING and event.thing not in story.things:
        return f"found the thing {event.thing!r}, expected one of {', '.join(story.things)}"
    if event.kind in ("move", "say") and not event.value:
        return f"found no value of {event.thing}, expected one"
    if event.kind in _AT_THE_SCENE and event.who and event.who not in state.present:
        return f"found that {event.who} is away, expected {event.who} to be at the scene"
    if event.kind in _AWAY and event.who in state.present:
        return f"found that {event.who} is at the scene, expected {event.who} to be away"
    if event.kind == "say" and event.who in event.to:
        return f"found that {event.who} says it to {event.who}, expected somebody else"
    for person in event.secretly:
        if person in state.present and state.watching[(person,)]:
            what = "is at the scene and attentive, expected a secret watcher to be away"
            return f"found that {person} {what} or distracted"
    return ""
