"""What all views draw by lot: a scene, what happens, and who comes to know of it (`words.yaml`)."""

import random
from collections.abc import Callable, Collection, Mapping, Sequence

import pandas as pd

from tomlab.errors import refuse
from tomlab.records.files import yaml_beside
from tomlab.scoring.tracker import Event, Story

VERSION = "3"  # of the words, and of what is made of them
LOTS = "1"  # of how lots fall: as long as it stays, a story changes only where its words do
WORDS = yaml_beside(__file__, "words.yaml")
AWAY = "somebody else"  # who is never at the scene: D in `words.yaml`
_OTHER = "another thing"  # what changes in a control


def scenes(rng: random.Random) -> tuple[dict[str, str], dict[str, str]]:
    """The words of a scene: people A, O and M, a place, a thing, two containers and their spots.
    Then those of its mirror image, where the thing is in the other container at first.
    """
    names = [(name, pronoun) for pronoun, own in WORDS["names"].items() for name in own]
    (agent, she), (other, _), (mover, _) = rng.sample(names, 3)
    place, told = rng.choice([*WORDS["places"].items()])
    thing, desire = rng.choice([*told["things"].items()])
    ends = [*zip(rng.sample(told["spots"], 2), rng.sample(told["sides"], 2), strict=True)]
    (first, first_side), (second, second_side) = ends
    words = {"A": agent, "O": other, "M": mover, "she": she, "place": place, "at": told["at"]}
    words |= {"thing": thing, "desire": desire, "first": first, "first_side": first_side}
    words |= {"second": second, "second_side": second_side}
    (s1, d1), (s2, d2) = rng.sample(ends, 2)
    mirror_image = words | {"s1": s2, "d1": d2, "s2": s1, "d2": d1}
    return words | {"s1": s1, "d1": d1, "s2": s2, "d2": d2}, mirror_image


def happening(rng: random.Random, *lists: Sequence[str]) -> str:
    """The template of a sentence on what M does: an opening, and words of each of these lists."""
    opening, *parts = map(rng.choice, (WORDS["openings"], *lists))
    return f"{opening}, {''.join(parts)}."


def ways(rng: random.Random, groups: Mapping, kinds: Collection = ()) -> list[tuple]:
    """How A comes to know of what happens, and how A does not: the template of the last sentence
    and the steps of the story. In the second, A and O have changed places. kinds: those of
    `groups` to draw from; all if empty.
    """
    found = []
    every = [(groups[kind], told) for kind in kinds or groups for told in groups[kind]["told"]]
    group, told = rng.choice(every)
    for knows, does_not in ("AO", "OA"):
        text = told.replace("{X}", f"{{{knows}}}").replace("{Y}", f"{{{does_not}}}")
        steps = [step.replace("X", knows).replace("Y", does_not) for step in group["steps"]]
        found.append((text, steps))
    return found


def story(words: Mapping, steps: Sequence[str], letters: Sequence[str], control=False) -> Story:
    """The story behind the steps of `words.yaml`, with people in the order of their letters. In a
    control something else changes than the place of the thing.
    """
    thing, value = (_OTHER, "new") if control else (words["thing"], words["s2"])
    people = tuple(words[letter] for letter in letters)
    things = {words["thing"]: words["s1"], _OTHER: "old"}
    return Story((*people, AWAY), people, things, events(words, steps, thing, value))


def events(words: Mapping, steps: Sequence[str], thing: str, value: str) -> tuple[Event, ...]:
    """The events behind steps, in which a thing gets a value, or is said to have it."""
    found = []
    for kind, *by in map(str.split, steps):
        who = tuple(words.get(letter, AWAY) for letter in by)
        if kind == "event":
            found.append(Event("move", words["M"], thing, value, secretly=who))
        elif kind == "tell":
            found.append(Event("say", who[0], thing, value, who[1:2], who[2:]))
        else:
            found.append(Event(kind, who[0], thing if kind == "look" else ""))
    return tuple(found)


def check_keys(view: str, items: pd.DataFrame, rows: pd.Series, derived: Callable) -> None:
    """Errors: `InputError` with every item whose key is not what `derived` makes of the item and of
    the drawn row behind it.
    """
    problems = []
    for item, row in zip(items.to_dict("records"), rows, strict=True):
        if (key := derived(item, row)) != item["answer"]:
            problems.append(f"{item['item_id']}: found {item['answer']!r}, expected {key!r}")
    refuse(problems, f"fresh {view}: keys that do not follow from the events")
