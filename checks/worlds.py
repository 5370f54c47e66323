"""Beliefs in a fresh story by possible worlds, a second program beside `tomlab.scoring.tracker`.

A model has worlds, and in each world every person takes one world for the real one. An event is a
few actions: the event as it happened, as its open observers take it, and nothing at all. The
product of a model and an event has a world for each pair of world and action. What an action's
person takes to happen may depend on the world, as in edge-conditioned event models (Bolander,
Seeing is Believing, 2018): who looks takes another action to happen wherever another value is seen,
and who is told something takes another action to happen where she knows better.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product


@dataclass(frozen=True)
class World:
    """How things are in one world, and for whom: `owner` takes it for real; "" for the real one."""

    owner: str
    values: tuple[tuple[str, str | None], ...]
    followers: frozenset[tuple[str, str]]  # a person and a thing known to her without a gap
    watchers: frozenset[str]  # who is at the scene and pays attention

    def value(self, name: str) -> str | None:
        return dict(self.values)[name]


@dataclass(frozen=True)
class Model:
    """Worlds by number, and `arrows[world, person]`, the world that the person takes for real."""

    worlds: Mapping[int, World]
    arrows: Mapping[tuple[int, str], int]
    actual: int = 0

    def reached(self, chain: Iterable[str]) -> World:
        """The world at the end of the arrows of a chain of people."""
        world = self.actual
        for person in chain:
            world = self.arrows[world, person]
        return self.worlds[world]


@dataclass(frozen=True)
class Action:
    """One way in which an event is taken, and what it changes in a world where it takes place."""

    way: str  # "happened", "open" or "nothing"
    sets: tuple[tuple[str, str | None], ...] = ()
    learns: frozenset[tuple[str, str]] = frozenset()  # who knows of which thing from now on
    joins: frozenset[str] = frozenset()
    goes: frozenset[str] = frozenset()

    def on(self, world: World, watchers: frozenset[str]) -> World:
        values = tuple({**dict(world.values), **dict(self.sets)}.items())
        followers = {pair for pair in world.followers | self.learns if pair[0] not in self.goes}
        watchers = (watchers | self.joins) - self.goes
        return World(world.owner, values, frozenset(followers), watchers)


NOTHING = Action("nothing")


def beginning(story) -> Model:
    """Those present share one picture, which is right. Anybody else's is empty, and so is theirs."""
    followers = frozenset(product(story.present, story.things))
    real = World("", tuple(story.things.items()), followers, frozenset(story.present))
    empty = World("", tuple((name, None) for name in story.things), frozenset(), frozenset())

    def arrow(state: tuple[World, bool], person: str) -> tuple[World, bool]:
        full = state[1] and person in story.present
        return replace(real if full else empty, owner=person), full

    return _model((real, True), lambda state: state[0], arrow, story.people)


def following(model: Model, event, people: Iterable[str]) -> Model:
    """The product of a model and an event, with worlds that are alike merged.

    A state is two worlds of the model and an action: the world that the values come from, the one
    that the watchers come from, and what takes place. The two are the same until somebody enters.
    She takes the watchers from the very world that she enters, for she sees them.
    """
    actual = model.worlds[model.actual]
    openly = {event.who}
    secretly = {*event.secretly}
    if event.kind == "peek":
        openly = set()
        secretly.add(event.who)
    elif event.kind == "say":
        openly.update(event.to)
    else:
        openly.update(actual.watchers)
        openly.discard("")
    happened = _as_it_happened(event, openly | secretly)
    in_the_open = replace(_as_it_happened(event, openly), way="open")

    def notices(action: Action, person: str) -> bool:
        if action.way == "happened":
            return person in openly | secretly
        return action.way == "open" and person in openly

    def perceived(action: Action, person: str, world: World, seen: World) -> Action:
        """What a person takes an action to be, in a world with the watchers of `seen`."""
        if not notices(action, person):
            return NOTHING
        if event.kind in ("look", "peek") and person == event.who:
            return replace(in_the_open, sets=((event.thing, world.value(event.thing)),))
        if event.kind == "say":
            speaks = action.way == "happened" and person == event.who
            follows = (person, event.thing) in world.followers and person in seen.watchers
            # In a world where what was said is so, everybody who hears it believes it.
            if action.sets or not (speaks or follows):
                return replace(in_the_open, sets=((event.thing, event.value),))
        return in_the_open

    def arrow(state: tuple[int, int, Action], person: str) -> tuple[int, int, Action]:
        world, seen, action = state
        takes = perceived(action, person, model.worlds[world], model.worlds[seen])
        enters = person == event.who and event.kind in ("enter", "attend")
        if not (enters and notices(action, person)):
            seen = model.arrows[seen, person]
        return model.arrows[world, person], seen, takes

    def world_of(state: tuple[int, int, Action]) -> World:
        world, seen, action = state
        return action.on(model.worlds[world], model.worlds[seen].watchers)

    first = (model.actual, model.actual, happened)
    return merged(_model(first, world_of, arrow, people))


def _as_it_happened(event, observers: Iterable[str]) -> Action:
    """What an event with these observers changes: a value, who knows of it, or who watches."""
    person_acting = frozenset({event.who})
    if event.kind == "move":
        learns = frozenset((person, event.thing) for person in observers)
        return Action("happened", sets=((event.thing, event.value),), learns=learns)
    if event.kind in ("look", "peek") and event.who in observers:
        return Action("happened", learns=frozenset({(event.who, event.thing)}))
    if event.kind in ("enter", "attend"):
        return Action("happened", joins=person_acting)
    if event.kind in ("leave", "distract"):
        return Action("happened", goes=person_acting)
    return Action("happened")


def _model(
    first: Hashable,
    world_of: Callable[[Hashable], World],
    arrow: Callable[[Hashable, str], Hashable],
    people: Iterable[str],
) -> Model:
    """The worlds that arrows lead to from the first one, numbered as they are found.

    In a world of one's own one takes this very world for real (introspection).
    """
    numbers = {first: 0}
    states = [first]
    worlds = {}
    arrows = {}
    for number, state in enumerate(states):  # grows on the way
        worlds[number] = world_of(state)
        for person in people:
            aim = state if person == worlds[number].owner else arrow(state, person)
            if aim not in numbers:
                numbers[aim] = len(states)
                states.append(aim)
            arrows[number, person] = numbers[aim]
    return Model(worlds, arrows)


def merged(model: Model) -> Model:
    """The smallest model alike: worlds that no chain of people can tell apart become one."""
    people = sorted({person for _, person in model.arrows})
    kinds = _numbered({world: (facts,) for world, facts in model.worlds.items()})
    while True:
        names = {}
        for world in model.worlds:
            aims = [kinds[model.arrows[world, person]] for person in people]
            names[world] = (kinds[world], *aims)
        finer = _numbered(names)
        if len(set(finer.values())) == len(set(kinds.values())):
            break
        kinds = finer
    worlds = {kinds[world]: facts for world, facts in model.worlds.items()}
    arrows = {(kinds[world], person): kinds[aim] for (world, person), aim in model.arrows.items()}
    return Model(worlds, arrows, kinds[model.actual])


def _numbered(names: Mapping[int, Hashable]) -> dict[int, int]:
    numbers = {name: n for n, name in enumerate(dict.fromkeys(names.values()))}
    return {world: numbers[name] for world, name in names.items()}


def final(story) -> Model:
    """The model at the end of a story."""
    model = beginning(story)
    for event in story.events:
        model = following(model, event, story.people)
    return model


def chains(people: Iterable[str], order: int) -> list[tuple[str, ...]]:
    """All chains up to an order in which no two neighbours are the same person."""
    result = []
    for length in range(order + 1):
        for chain in product(people, repeat=length):
            if all(person != following for person, following in pairwise(chain)):
                result.append(chain)
    return result


def held(
    story, order: int = 4
) -> dict[tuple[str, ...], tuple[dict[str, str | None], dict[str, bool], bool]]:
    """For each chain: the value of each thing that it ends at, and, as its first members believe,
    whether its last person knows each thing without a gap, and whether she watches.
    """
    model = final(story)
    result = {}
    for chain in chains(story.people, order):
        values = dict(model.reached(chain).values)
        world = model.reached(chain[:-1])  # where the last person is seen from outside
        knows = dict.fromkeys(story.things, True)
        watches = True
        if chain:
            knows = {name: (chain[-1], name) in world.followers for name in story.things}
            watches = chain[-1] in world.watchers
        result[chain] = values, knows, watches
    return result


def values(story, order: int = 4) -> dict[tuple[str, ...], dict[str, str | None]]:
    """The value of each thing that each chain of people ends at."""
    return {chain: result[0] for chain, result in held(story, order).items()}
