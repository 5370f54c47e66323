"""The tracker of beliefs against stories derived by hand and against possible worlds."""

from itertools import combinations
from pathlib import Path

import pytest
import worlds
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.errors import InputError
from tomlab.scoring.tracker import Event, Story, beliefs, views_at_end

STORIES = yaml.safe_load(Path(__file__).with_name("stories.yaml").read_bytes())
VALUES = ("tin", "jar", "pot")
OF_A_THING = ("move", "look", "peek", "say")


def story_of(record):
    """A story as the file gives it."""
    events = (
        {name: tuple(part) if isinstance(part, list) else part for name, part in event.items()}
        for event in record["events"]
    )
    return Story(
        people=tuple(record["people"]),
        present=tuple(record["present"]),
        things=record["things"],
        events=tuple(Event(**event) for event in events),
    )


def told(record, found):
    """The values of the chains that a story of the file names."""
    return {
        thing: {chain: found[tuple(chain.split())][thing] for chain in chains}
        for thing, chains in record["beliefs"].items()
    }


@pytest.mark.parametrize("program", [beliefs, worlds.values])
@pytest.mark.parametrize("record", STORIES, ids=lambda record: record["name"])
def test_beliefs_are_those_derived_by_hand(record, program):
    assert told(record, program(story_of(record))) == record["beliefs"]


def test_the_stories_cover_the_language():
    kinds = [event["kind"] for record in STORIES for event in record["events"]]
    assert len(STORIES) >= 60
    assert {kind for kind in kinds if kinds.count(kind) >= 8} == {
        *("enter", "leave", "distract", "attend", "move", "look", "peek", "say")
    }
    orders = [
        {len(chain.split()) for chains in record["beliefs"].values() for chain in chains}
        for record in STORIES
    ]
    assert sum(3 in each for each in orders) >= 15
    assert sum(4 in each for each in orders) >= 10


@st.composite
def stories(draw):
    """A valid story of 2 to 4 people, 1 or 2 things and up to 8 events."""
    people = ("Ann", "Ben", "Cy", "Dee")[: draw(st.integers(2, 4))]
    things = ("key", "cup")[: draw(st.integers(1, 2))]
    present = draw(some(people))
    there, attentive, events = set(present), set(present), []
    for _ in range(draw(st.integers(0, 8))):
        can = able(people, there, attentive)
        kind = draw(st.sampled_from(list(can)))
        who = draw(st.sampled_from(can[kind]))
        to = draw(some(set(people) - {who}, at_least=1)) if kind == "say" else ()
        hidden = set(people) - attentive - {who, *to}
        events.append(
            Event(
                kind=kind,
                who=who,
                thing=draw(st.sampled_from(things)) if kind in OF_A_THING else "",
                value=draw(st.sampled_from(VALUES)) if kind in ("move", "say") else "",
                to=to,
                secretly=draw(some(hidden)),
            )
        )
        if kind in ("enter", "attend"):
            attentive = attentive | {who}
        if kind in ("leave", "distract"):
            attentive = attentive - {who}
        if kind in ("enter", "leave"):
            there = there ^ {who}
    return Story(people, present, dict.fromkeys(things, VALUES[0]), tuple(events))


def some(people, at_least=0):
    """A strategy for some of these people."""
    sizes = range(at_least, len(people) + 1)
    groups = [group for size in sizes for group in combinations(sorted(people), size)]
    return st.sampled_from(groups)


def able(people, there, attentive):
    """Who can do what now."""
    everybody = set(people)
    can = {
        "attend": there - attentive,
        "say": everybody,
        "look": there,
        "move": there | {""},
        "peek": everybody - attentive,
        "distract": attentive,
        "leave": there,
        "enter": everybody - there,
    }
    return {kind: sorted(who) for kind, who in can.items() if who}


@settings(max_examples=2_000, derandomize=True, deadline=None)
@given(stories())
def test_the_tracker_agrees_with_possible_worlds(story):
    views = views_at_end(story)
    by_chain = {chain: (view.value, view.knows, view.watching) for chain, view in views.items()}
    assert by_chain == worlds.held(story)


LOOK = Event("look", who="Ann", thing="key")
ABSORBED = Event("distract", who="Dee")


@pytest.mark.parametrize(
    "bad",
    [
        Event("enter", who="Ann"),
        Event("move", who="Ann", thing="cup", value="jar"),
        Event("move", who="Cy", thing="key", value="jar"),
        Event("say", who="Ann", thing="key", value="jar", to=("Ann",)),
        Event("move", who="Ann", thing="key", value="jar", secretly=("Ben",)),
        Event("look", who="Cy", thing="key"),
        Event("leave", who="Cy"),
        Event("leave", who="Eve"),
        Event("dance", who="Ann"),
        Event("peek", who="Ann", thing="key"),
        Event("attend", who="Ann"),
        Event("distract", who="Dee"),
        Event("say", who="Ann", thing="key", value="jar"),
        Event("say", who="Ann", thing="key", value="jar", to=("Cy", "Cy")),
        Event("say", who="Ann", thing="key", value="jar", to=("Cy",), secretly=("Cy",)),
        Event("enter", who="Cy", secretly=("Cy",)),
    ],
    ids=lambda event: f"{event.kind} {event.who}",
)
def test_a_bad_story_is_refused_with_the_number_of_its_event(bad):
    with pytest.raises(InputError, match=r"\b3\b"):
        beliefs(
            Story(
                people=("Ann", "Ben", "Cy", "Dee"),
                present=("Ann", "Ben", "Dee"),
                things={"key": "tin"},
                events=(LOOK, ABSORBED, bad, LOOK),
            )
        )
