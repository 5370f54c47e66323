"""Who believes what at the end of a story, to order 4 (the semantics of docs/fresh_items.md).

A chain (A, B, C) is "A believes that B believes that C believes"; () is the world.
"""

from collections.abc import Collection, Mapping
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
    to: tuple[str, ...] = ()  # the people to whom it is said
    secretly: tuple[str, ...] = ()  # who watches through a crack or overhears, unknown to others


@dataclass(frozen=True)
class Story:
    people: tuple[str, ...]
    present: tuple[str, ...]  # at the scene at the beginning
    things: Mapping[str, str]  # the value of each at the beginning
    events: tuple[Event, ...]


@dataclass
class View:
    """What a chain believes about the world, and about the attention of its last person."""

    value: dict[str, str | None]  # of each thing, None for no belief
    knows: dict[str, bool]  # whether the last person has known a thing's value without a gap
    watching: bool  # whether the last person is at the scene and pays attention

    def copy(self) -> "View":
        return View(dict(self.value), dict(self.knows), self.watching)

    def learn(self, thing: str, value: str | None) -> None:
        self.value[thing] = value
        self.knows[thing] = True


def beliefs(story: Story, order: int = 4) -> dict[Chain, dict[str, str | None]]:
    """The value that each chain of at most `order` people believes each thing to have at the end of
    the story, None for no belief; the chain () has the true values. Errors: `InputError` for people
    at the scene who are not in the story, or with the number of a bad event.
    """
    views = views_at_end(story, max(order, 1))  # order 1 says who watches, which events depend on
    return {chain: view.value for chain, view in views.items() if len(chain) <= order}


def views_at_end(story: Story, order: int = 4) -> dict[Chain, View]:
    """The view of each chain of at most `order` people after all events. Errors: as `beliefs`."""
    present = set(story.present)
    strangers = present.difference(story.people)
    if strangers:
        raise InputError(f"present: found {sorted(strangers)}, expected people of the story")
    views = {}
    for chain in _chains(story.people, order):
        watching = present.issuperset(chain)
        value: dict[str, str | None] = dict.fromkeys(story.things)
        if watching:
            value |= story.things
        views[chain] = View(value, dict.fromkeys(story.things, watching), watching)
    for number, event in enumerate(story.events, start=1):
        fault = _fault(story, views, present, event)
        if fault:
            raise InputError(f"event {number} ({event.kind}): {fault}")
        views = _after(views, present, event)
        if event.kind == "enter":
            present.add(event.who)
        elif event.kind == "leave":
            present.remove(event.who)
    return views


def _chains(people: Collection[str], order: int) -> list[Chain]:
    """All chains of at most `order` people in which nobody stands next to himself or herself."""
    chains = []
    for length in range(order + 1):
        for chain in product(people, repeat=length):
            if all(person != neighbour for person, neighbour in pairwise(chain)):
                chains.append(chain)
    return chains


def _after(earlier: dict[Chain, View], present: set[str], event: Event) -> dict[Chain, View]:
    """The views of all chains after an event."""
    views = {chain: view.copy() for chain, view in earlier.items()}
    observing = _observing_chains(earlier, present, event)
    actor_chains = [chain for chain in observing if chain[-1:] == (event.who,)]
    match event.kind:
        case "enter" | "attend":
            _see_who_is_there(views, earlier, actor_chains)
        case "leave" | "distract":
            for chain in actor_chains:
                views[chain].watching = False
                views[chain].knows = dict.fromkeys(views[chain].knows, False)
        case "move":
            for chain in observing:
                views[chain].learn(event.thing, event.value)
        case "look" | "peek":
            # Onlookers assume that the actor sees what they themselves believe to be there.
            for chain in actor_chains:
                views[chain].learn(event.thing, earlier[chain[:-1]].value[event.thing])
        case "say":
            _hear(views, observing, event)
    return views


def _observing_chains(earlier: dict[Chain, View], present: set[str], event: Event) -> list[Chain]:
    """The chains that an event reaches, because everybody in them observes it. earlier: the views
    before the event.
    """
    secretly = set(event.secretly)
    if event.kind == "peek":
        openly = set()
        secretly = {event.who}
    elif event.kind == "say":
        openly = {event.who, *event.to}
    else:
        attentive = {person for person in present if earlier[(person,)].watching}
        openly = attentive | {event.who}
    openly.discard("")
    # Nobody knows about secret watchers, so these can only be the first person of a chain.
    return [
        chain
        for chain in earlier
        if openly.issuperset(chain[1:]) and (openly | secretly).issuperset(chain[:1])
    ]


def _see_who_is_there(
    views: dict[Chain, View], earlier: dict[Chain, View], actor_chains: Collection[Chain]
) -> None:
    """Updates who is watching, in `views`, after somebody has come or attends again."""
    for chain, view in views.items():
        view.watching = earlier[_without_actor(chain, actor_chains)].watching
    for chain in actor_chains:
        views[chain].watching = True


def _without_actor(chain: Chain, actor_chains: Collection[Chain]) -> Chain:
    """The shorter chain from which `chain` takes who is watching after an actor has come. The actor
    sees who is there, and onlookers assume that the actor sees what they themselves believe, so the
    actor drops out of the chain.
    """
    onlookers = []
    for number, person in enumerate(chain, start=1):
        if chain[:number] not in actor_chains:
            onlookers.append(person)
    return tuple(person for person, _ in groupby(onlookers))


def _hear(views: dict[Chain, View], observing: Collection[Chain], event: Event) -> None:
    """Updates `views` after something is said. A hearer who knows the value without a gap keeps the
    old belief. The others believe what is said, and believe that all who hear it believe it.
    """
    unmoved = {(), (event.who,)}
    for chain in observing:
        view = views[chain]
        if chain in unmoved:
            continue
        if view.watching and view.knows[event.thing] and chain[:-1] in unmoved:
            unmoved.add(chain)
        else:
            view.value[event.thing] = event.value


def _fault(story: Story, views: dict[Chain, View], present: set[str], event: Event) -> str:
    """A description of what is wrong with an event at this point of the story, "" if nothing is."""
    attentive = [person for person in story.people if views[(person,)].watching]
    return (
        _fault_of_words(story, event)
        or _fault_of_scene(present, attentive, event)
        or _fault_of_hearers(attentive, event)
    )


def _fault_of_words(story: Story, event: Event) -> str:
    """Describes an unknown kind, person or thing, or a missing actor or value; "" if none."""
    people = {event.who, *event.to, *event.secretly}
    strangers = sorted(people.difference(story.people, [""]))
    if event.kind not in KINDS:
        return f"found {event.kind}, expected one of {', '.join(KINDS)}"
    if strangers:
        return f"found {strangers}, expected people of the story"
    if not event.who and event.kind != "move":
        return "found nobody who does it, expected a person"
    if event.kind in ("move", "look", "peek", "say") and event.thing not in story.things:
        return f"found the thing {event.thing!r}, expected one of {', '.join(story.things)}"
    if event.kind in ("move", "say") and not event.value:
        return "found no value, expected one"
    return ""


def _fault_of_scene(present: Collection[str], attentive: Collection[str], event: Event) -> str:
    """Describes an actor who is not where the event needs the actor to be, or who is attentive or
    distracted against its needs; "" if there is no such fault.
    """
    who = event.who
    takes_scene = event.kind in ("leave", "distract", "attend", "move", "look")
    if who and takes_scene and who not in present:
        return f"found {who} away, expected somebody at the scene"
    if event.kind == "enter" and who in present:
        return f"found {who} at the scene, expected somebody who is away"
    if event.kind in ("attend", "peek") and who in attentive:
        return f"found {who} attentive, expected somebody who is not"
    if event.kind == "distract" and who not in attentive:
        return f"found {who} distracted, expected somebody who is not"
    return ""


def _fault_of_hearers(attentive: Collection[str], event: Event) -> str:
    """Describes a missing listener, somebody who hears or watches in two roles, or a secret watcher
    who is at the scene and attentive anyway; "" if there is no such fault.
    """
    hearers = [*event.to, *event.secretly]
    repeated = sorted({person for person in hearers if hearers.count(person) > 1})
    seen = [person for person in event.secretly if person in attentive]
    if event.kind == "say" and not event.to:
        return "found nobody who is told, expected a listener"
    if repeated:
        return f"found {repeated} twice among those who hear or watch, expected each person once"
    if event.who in hearers:
        return f"found {event.who} hearing or watching {event.who}, expected somebody else"
    if seen:
        return (
            f"found {seen} at the scene and attentive, expected secret watchers away or distracted"
        )
    return ""
