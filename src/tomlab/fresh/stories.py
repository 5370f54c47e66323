"""Pairs of fresh stories, drawn by lot from `scenes.yaml`, with questions and keys.

The two stories of a pair are twins: in the second, the people A and B have changed places, and
nothing else is different. `tomlab.scoring.tracker` derives the key (right answer) of a question
from the events of its story.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from tomlab.asking.prompts import fill
from tomlab.errors import InputError
from tomlab.fresh.items import Item, condition_of
from tomlab.records.files import yaml_beside
from tomlab.scoring.choices import shuffled
from tomlab.scoring.tracker import Chain, Event, Story, beliefs

VERSION = "7"  # of the words in `scenes.yaml` and of how stories are made from them
WORDS = yaml_beside(__file__, "scenes.yaml")
TRIES = 1000  # attempts to draw a pair whose two stories have different keys
CALLER = "a caller"  # D in `scenes.yaml`, who is never at the scene
_IN_ORDER = {"A": "A", "B": "B"}
_EXCHANGED = {"A": "B", "B": "A"}
_BACK = {"leave": "enter", "distract": "attend"}


class Cell(NamedTuple):
    """The kind of a pair. order: of the belief that is asked about; 0 asks where the thing really
    is. changes: how often the thing is moved, or somebody misled about it. hidden: whether the
    others do not see who comes to believe something.
    """

    order: int
    changes: int
    hidden: bool


@dataclass(frozen=True)
class Pair:
    """What both stories of a pair are made from. Events and sentences name people by letters (A, B,
    M, D), for which `people` has the names.
    """

    name: str
    cell: Cell
    scene: str
    people: Mapping[str, str]  # names and pronouns by the fields of sentences: "A", "Ahis", …
    thing: str
    containers: tuple[str, str]  # the one that the thing is in at first, and the other
    sentences: tuple[str, ...]
    events: tuple[Event, ...]
    ways: tuple[str, ...]  # how each change becomes known
    ending: int  # how many sentences follow the last change
    question: str
    chain: Chain = ()  # whose belief is asked about


def draw(seed: str, cell: Cell, number: int) -> Pair:
    """The pair with this number in its cell. It depends on version, seed, cell and number alone.
    Scenes take turns in a random order. Errors: `InputError` if no pair is found in which twins
    have different keys (order 0 does not require this).
    """
    seen = "hidden" if cell.hidden else "seen"
    name = f"{cell.order}-{cell.changes}-{seen}-{number}"
    scenes = list(WORDS["scenes"])
    random.Random(f"{VERSION}/{seed}/{seen}/{cell.order}/{cell.changes}").shuffle(scenes)
    rng = random.Random(f"{VERSION}/{seed}/{name}")
    for _ in range(TRIES):
        pair = _draft(rng, name, cell, scenes[number % len(scenes)])
        if cell.order == 0:
            return pair
        chains = changing_chains(pair)
        if chains:
            return replace(pair, chain=rng.choice(chains))
    raise InputError(f"fresh stories, {name}: found no pair in {TRIES} draws")


def _draft(rng: random.Random, name: str, cell: Cell, scene: str) -> Pair:
    """A random pair whose `chain` (the people asked about) is still empty. Whoever changes the
    order of the draws changes the stories, and has to change `VERSION`.
    """
    words = WORDS["scenes"][scene]
    thing = rng.choice(list(words["things"]))
    thing_words = words["things"][thing]
    containers = tuple(rng.sample(thing_words["places"], 2))
    acts = rng.sample(words["acts"], cell.changes)
    errands = rng.sample(words["errands"], 2 * cell.changes)
    moves = rng.sample(thing_words["moves"], cell.changes)
    fields = _scene_fields(rng, words, thing, containers[0])
    sentences = [fill(rng.choice(WORDS[part]), fields) for part in ("openings", "beginnings")]
    events: list[Event] = []
    container, empty_container = containers
    ways = _draw_ways(rng, cell)
    for way in ways:
        if events:
            sentences.append(rng.choice(WORDS["together"]))
            events += returns(events)
        fields |= {"from": container, "to": empty_container}
        fields |= {"one": errands.pop(), "two": errands.pop()}
        fields["act"] = acts.pop()
        fields["move"] = fill(moves.pop(), fields)
        letters = rng.choice((_IN_ORDER, _EXCHANGED))
        for letter, person in letters.items():
            fields[letter] = f"{{{person}}}"
        way_words = WORDS["ways"][way]
        sentences += [fill(text, fields) for text in rng.choice(way_words["texts"])]
        events += [_event(step, letters, thing, empty_container) for step in way_words["events"]]
        if not way_words.get("misleads"):
            container, empty_container = empty_container, container
    ending = rng.choice((0, 1))
    people = draw_people(rng)
    sentences += rng.sample(words["ends"], ending)
    question = WORDS["questions"][min(cell.order, 2)][0]
    return Pair(
        *(name, cell, scene, people, thing, containers),
        sentences=tuple(sentences),
        events=tuple(events),
        ways=tuple(ways),
        ending=ending,
        question=fill(question, {"thing": thing}),
    )


def _scene_fields(rng: random.Random, words: Mapping, thing: str, container: str) -> dict[str, str]:
    """The texts, by field, that sentences say about the scene, the people there and the thing."""
    first, second, third = rng.sample("ABM", 3)
    fields = {name: words["things"][thing][name] for name in ("plan", "keep", "call")}
    fields |= {"at": words["at"], "spot": words["spot"], "aside": rng.choice(words["asides"])}
    fields["all"] = f"{{{first}}}, {{{second}}}, and {{{third}}}"
    return fields | {"thing": thing, "first": container}


def _draw_ways(rng: random.Random, cell: Cell) -> list[str]:
    """For each change, the way in which it becomes known, hidden from others if the cell is."""
    possible = [way for way, words in WORDS["ways"].items() if words["seen"] != cell.hidden]
    return rng.sample(possible, cell.changes)


def draw_people(rng: random.Random) -> dict[str, str]:
    """Names and pronouns by field ("A", "Ahis", …). A and B share their pronouns, M has others."""
    of_two, of_mover = rng.sample(list(WORDS["names"]), 2)
    name_a, name_b = rng.sample(WORDS["names"][of_two], 2)
    name_m = rng.choice(WORDS["names"][of_mover])
    people = {"A": name_a, "B": name_b, "M": name_m, "D": CALLER}
    for letter, pronoun in {"A": of_two, "B": of_two, "M": of_mover}.items():
        for form, word in WORDS["pronouns"][pronoun].items():
            people[letter + form] = word
    return people


def _event(step: str, letters: Mapping[str, str], thing: str, value: str) -> Event:
    """The event for a step in `scenes.yaml`, such as "say M A". letters: the letter that replaces A
    and that which replaces B; value: where the thing is put, or is said to be.
    """
    kind, *people = step.split()
    people = [letters.get(letter, letter) for letter in people]
    if kind == "move":
        return Event("move", "M", thing, value, secretly=tuple(people))
    if kind == "say":
        speaker, listener, *secretly = people
        return Event("say", speaker, thing, value, to=(listener,), secretly=tuple(secretly))
    return Event(kind, people[0])


def returns(events: Iterable[Event]) -> list[Event]:
    """The events by which everybody who is away or distracted after `events` comes back."""
    last_deeds = {event.who: event.kind for event in events}
    return [Event(_BACK[deed], person) for person, deed in last_deeds.items() if deed in _BACK]


def changing_chains(pair: Pair) -> list[Chain]:
    """The chains of people, as letters, whose final belief about the thing differs in the twin. A
    chain (A, B) is what A thinks that B thinks.
    """
    order = pair.cell.order
    believed = beliefs(story_of(pair, is_twin=False), order)
    believed_in_twin = beliefs(story_of(pair, is_twin=True), order)
    letters = {pair.people[letter]: letter for letter in "ABM"}
    chains = []
    for names, values in believed.items():
        if len(names) != order or CALLER in names:
            continue
        container = values[pair.thing]
        container_in_twin = believed_in_twin[names][pair.thing]
        if container and container_in_twin and container != container_in_twin:
            chains.append(tuple(letters[name] for name in names))
    return chains


def people_of(pair: Pair, is_twin: bool) -> dict[str, str]:
    """Names and pronouns by field; for the twin, A and B have exchanged their names."""
    people = dict(pair.people)
    if is_twin:
        people["A"], people["B"] = people["B"], people["A"]
    return people


def story_of(pair: Pair, is_twin: bool) -> Story:
    """The record of one of the two stories: its people, by name, and its events."""
    people = people_of(pair, is_twin)
    events = []
    for event in pair.events:
        listeners = tuple(people[letter] for letter in event.to)
        onlookers = tuple(people[letter] for letter in event.secretly)
        events.append(replace(event, who=people[event.who], to=listeners, secretly=onlookers))
    present = tuple(people[letter] for letter in "ABM")
    has_caller = any(CALLER in event.to for event in events)
    everybody = (*present, CALLER) if has_caller else present
    return Story(everybody, present, {pair.thing: pair.containers[0]}, tuple(events))


def items_of(pair: Pair) -> list[Item]:
    """The question on both stories of a pair."""
    containers = shuffled(pair.containers, 0, pair.name)
    options = [f"In the {container}." for container in containers]
    names = [pair.people[letter] for letter in pair.chain]
    fields = {"first": "".join(names[:1]), "rest": " thinks that ".join(names[1:])}
    items = []
    for number, is_twin in enumerate((False, True)):
        story = story_of(pair, is_twin)
        believed = beliefs(story, pair.cell.order)
        # Each person asked about has a belief on the thing: `changing_chains` demands it.
        answer = f"In the {believed[tuple(names)][pair.thing]}."
        reality = f"In the {believed[()][pair.thing]}."
        item = Item(
            benchmark="fresh",
            item_id=f"{pair.name}/{number}",
            group_id=pair.name,
            family=pair.scene,
            question_type=f"order {pair.cell.order}",
            **pair.cell._asdict(),
            way=pair.ways[-1],
            misled=sum(WORDS["ways"][way].get("misleads", False) for way in pair.ways),
            ending=pair.ending,
            condition=condition_of(pair.cell.order, answer == reality),
            control=pair.cell.order == 0,
            story=" ".join(fill(text, people_of(pair, is_twin)) for text in pair.sentences),
            question=fill(pair.question, fields),
            choices=options,
            answer=answer,
            reality=reality,
            source="grammar",
            chain=names,
            thing=pair.thing,
            containers=containers,
            record=story,
        )
        items.append(item)
    return items
