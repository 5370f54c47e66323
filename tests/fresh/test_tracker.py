"""The tracker of beliefs against stories derived by hand and against possible worlds."""

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
    events = []
    for fields in record["events"]:
        lists = {name: tuple(part) for name, part in fields.items() if isinstance(part, list)}
        events.append(Event(**fields | lists))
    return Story(tuple(record["people"]), tuple(record["present"]), record["things"], tuple(events))


@pytest.mark.parametrize("program", [beliefs, worlds.values])
@pytest.mark.parametrize("record", STORIES, ids=lambda record: record["name"])
def test_beliefs_are_those_derived_by_hand(record, program):
    held = program(story_of(record))
    for thing, chains in record["beliefs"].items():
        for chain, value in chains.items():
            assert held[tuple(chain.split())][thing] == value


@st.composite
def stories(draw):
    """A valid story of 2 to 4 people, 1 or 2 things and up to 8 events."""
    people = ("Ann", "Ben", "Cy", "Dee")[: draw(st.integers(2, 4))]
    things = ("key", "cup")[: draw(st.integers(1, 2))]
    present = draw(some(people))
    there = set(present)
    attentive = set(present)
    events = []
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
    people = st.sampled_from(sorted(people)) if people else st.nothing()
    return st.lists(people, min_size=at_least, unique=True).map(tuple)


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


@settings(max_examples=300, derandomize=True, deadline=None)
@given(stories())
def test_the_tracker_agrees_with_possible_worlds(story):
    views = views_at_end(story)
    by_chain = {chain: (view.value, view.knows, view.watching) for chain, view in views.items()}
    assert by_chain == worlds.held(story)


TO_SAY = {"who": "Ann", "thing": "key", "value": "jar"}


@pytest.mark.parametrize(
    "event",
    [
        Event("enter", who="Ann"),
        Event("leave", who="Cy"),
        Event("dance", who="Ann"),
        Event("attend", who="Ann"),
        Event("distract", who="Dee"),
        Event("peek", who="Ann", thing="key"),
        Event("move", who="Ann", thing="cup", value="jar"),
        Event("move", **TO_SAY, secretly=("Ben",)),
        Event("say", **TO_SAY),
        Event("say", **TO_SAY, to=("Ann",)),
    ],
    ids=str,
)
def test_an_event_that_cannot_happen_is_refused_with_its_number(event):
    events = (Event("look", who="Ann", thing="key"), Event("distract", who="Dee"), event)
    people = ("Ann", "Ben", "Cy", "Dee")
    with pytest.raises(InputError, match="event 3"):
        beliefs(Story(people, ("Ann", "Ben", "Dee"), {"key": "tin"}, events))
