"""Beliefs in a fresh story by possible worlds, a second program beside `tomlab.fresh.tracker`.

A model has worlds, and in each world every person takes one world for the real one. An event is a
few actions: the event as it happened, as its open observers take it, and nothing at all. The
product of a model and an event has a world for each pair of world and action. What an action's
person takes to happen may depend on the world, as in edge-conditioned event models (Bolander,
Seeing is Believing, 2018): who looks takes another action to happen wherever another value is seen.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product


@dataclass(frozen=True)
class World:
    """How things are in one world, and for whom: `owner` takes it for real; "" for the real one."""

    owner: str
    values: tuple[tuple[str, str | None], ...]
    watchers: frozenset[str]  # who is at the scene and pays attention

    def value(self, thing: str) -> str | None:
        return dict(self.values)[thing]


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
    joins: frozenset[str] = frozenset()
    goes: frozenset[str] = frozenset()

    def on(self, world: World, owner: str) -> World:
        values = tuple({**dict(world.values), **dict(self.sets)}.items())
        return World(owner, values, (world.watchers | self.joins) - self.goes)


NOTHING = Action("nothing")


def beginning(story) -> Model:
    """Those present share one picture, which is right. Anybody else's is empty, and so is theirs."""
    real = World("", tuple(story.things.items()), frozenset(story.present))
    empty = World("", tuple((thing, None) for thing in story.things), frozenset())

    def arrow(state: tuple[World, bool], person: str) -> tuple[World, bool]:
        full = state[1] and person in story.present
        return replace(real if full else empty, owner=person), full

    return _model((real, True), lambda state: state[0], arrow, story.people)


def after(model: Model, event, people: Iterable[str]) -> Model:
    """The product of a model and an event, with worlds that are alike merged."""
    actual = model.worlds[model.actual]
    attentive = actual.watchers | ({event.who} if event.kind == "enter" else set())
    if event.kind == "peek":
        openly, secretly = frozenset(), frozenset({event.who, *event.secretly})
    elif event.kind == "say":
        openly, secretly = frozenset({event.who, *event.to}), frozenset(event.secretly)
    else:
        openly, secretly = (attentive | {event.who}) - {""}, frozenset(event.secretly)
    happened = _as_it_happened(event)

    def taken(action: Action, person: str, world: World) -> Action:
        """What a person in a world takes an action to be."""
        if action.way == "happened":
            noticed = person in openly | secretly
        else:
            noticed = action.way == "open" and person in openly
        if not noticed:
            return NOTHING
        open_action = replace(happened, way="open")
        if event.kind in ("look", "peek") and person == event.who:
            return replace(open_action, sets=((event.thing, world.value(event.thing)),))
        if event.kind == "say":
            speaks = action.way == "happened" and person == event.who
            if not speaks and person not in world.watchers:
                return replace(open_action, sets=((event.thing, event.value),))
        return open_action

    def arrow(state: tuple[int, Action], person: str) -> tuple[int, Action]:
        world, action = state
        return model.arrows[world, person], taken(action, person, model.worlds[world])

    def world_of(state: tuple[int, Action]) -> World:
        world = model.worlds[state[0]]
        return state[1].on(world, world.owner)

    return merged(_model((model.actual, happened), world_of, arrow, people))


def _as_it_happened(event) -> Action:
    """What an event changes in the real world: a value, or who watches."""
    who = frozenset({event.who})
    if event.kind == "move":
        return Action("happened", sets=((event.thing, event.value),))
    if event.kind in ("enter", "attend"):
        return Action("happened", joins=who)
    if event.kind in ("leave", "distract"):
        return Action("happened", goes=who)
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
    numbers, states, worlds, arrows = {first: 0}, [first], {}, {}
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
        finer = _numbered(
            {
                world: (kinds[world], *(kinds[model.arrows[world, person]] for person in people))
                for world in model.worlds
            }
        )
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
        model = after(model, event, story.people)
    return model


def chains(people: Iterable[str], order: int) -> list[tuple[str, ...]]:
    """All chains up to an order in which no two neighbours are the same person."""
    return [
        chain
        for length in range(order + 1)
        for chain in product(people, repeat=length)
        if all(one != other for one, other in pairwise(chain))
    ]


def values(story, order: int = 4) -> dict[tuple[str, ...], dict[str, str | None]]:
    """The value of each thing that each chain of people ends at."""
    model = final(story)
    return {chain: dict(model.reached(chain).values) for chain in chains(story.people, order)}
