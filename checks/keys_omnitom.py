"""OmniToM's gold tables a second time, derived from the events: for `keys.py`.

Ten of our stories (`source`: grammar) come with a record of events. Possible worlds say who
believes what after them. Tables of a released file are read with the forms of `keys_tombench`.
"""

import re
from itertools import combinations

import worlds
from keys_tombench import NAME, hit, read

from tomlab.benchmarks.omnitom.items.records import WORLD, read_records
from tomlab.records.files import yaml_beside
from tomlab.scoring.tracker import Event, Story

WORDS = yaml_beside(__file__)
SLOTS = ("actor", "mover", "listener", "second", "third")
KINDS = {"leaves": "leave", "returns": "enter", "enters": "enter", "moves": "move"}
KINDS |= {"looks": "look", "tells": "say", "lies": "say"}
PAST = WORDS["past"] | {"lies": "tells"}  # gold tables word a lie as they word the truth
# Rows on who is there at first or at the end, where the thing was at first, who watches in secret.
PASSED_OVER = ("present", "present at first", "placed at first", "was placed", "watches")
# A released row: who thinks so, besides its holder, and what is where.
THINKS = f"(?:(?P<who>{NAME}) thinks )?(?:(?P<other>{NAME}) thinks )?[Tt]he(?:re (?:is|are))?"
WHERE = " (?P<no>no )?(?P<thing>.+?)(?: is)? (?:in|inside) (?:the|a) (?P<value>.+)"


def omnitom(record, shown=False):
    """Where the thing is (orders 0 to 3), who has seen what, and who has it in common.

    In the story language onlookers see somebody look, not what is found, and whoever looks learns
    nothing of them. In our stories all who are there perceive the find together: `shown` has it so.
    """
    start = record["record"][0]
    people = start["actors"]
    story, seen = story_of(record["record"], shown)
    beliefs = {}
    for chain, value in worlds.values(story, order=3).items():
        beliefs[chain] = value[start["object"]]
    chains = set()
    recalled = set()
    for row in record["beliefs"]:
        holder = row["actor"]
        kind, words = form_of(row["belief"], record["record"])
        container = words.get("container")
        sight = (PAST.get(kind, kind), words.get("actor"), container)
        if kind in PASSED_OVER:
            continue
        if kind in ("placed", "order 2", "order 3"):
            names = [holder, words.get("second"), words.get("third")]
            chain = tuple(name for name in names if name and name != WORLD)
            chains.add(chain)
            yield f"where {chain} has it", container, beliefs.get(chain)
            is_true = not chain or container == beliefs.get(chain[1:])
            yield f"truth of {chain}", row["labels"]["truth_status"], str(is_true)
            group = believers(beliefs, people, container) if len(chain) < 2 else set()
        else:
            recalled.add((holder, *sight))
            group, _ = seen.get(sight, (set(), set()))
        access = "Private"
        if len(group) > 1:
            access = "Shared" if len(group) < len(people) else "Public"
        yield f"access, {holder}: {row['belief']}", row["labels"]["knowledge_access"], access
    believing = {chain for chain, container in beliefs.items() if container}
    for order in range(4):
        # A table has one belief of order 3 for everybody who has any.
        length = 1 if order == 3 else order
        has = {chain[:length] for chain in chains if len(chain) == order}
        follows = {chain[:length] for chain in believing if len(chain) == order}
        yield f"who has beliefs of order {order}", has, follows
    expected = {(WORLD, *sight) for sight in seen}
    for sight, (_, knowing) in seen.items():
        kind, actor, _ = sight
        if kind in WORDS["past"].values():
            expected |= {(name, *sight) for name in knowing - {actor}}
    yield "who knows what happened", recalled, expected


def story_of(steps, shown):
    """A record of events in the language of stories, and who saw each step: who is there, and with
    those who watch in secret. A step is what happened, who did it, and the container.
    """
    start, *steps = steps
    present = {*start["seen_by"]}
    events = []
    seen = {}
    for step in steps:
        kind = KINDS[step["event"]]
        actor = step["actor"]
        container = step.get("container", "")
        present.add(actor)
        hearers = (*(present - {actor}),) if kind == "say" else ()
        watchers = (*step.get("watched_by", ()),)
        about = (start["object"] if container else "", container)
        if shown and kind == "look":
            # A thing that nobody moves, to where it is already, is seen by all who are there.
            events.append(Event("move", "", *about, hearers, watchers))
        else:
            events.append(Event(kind, actor, *about, hearers, watchers))
        # With `PAST`, a step's name is that of the row on it.
        sight = (PAST.get(step["event"], step["event"]), actor, step.get("container"))
        seen[sight] = ({*present}, {*present, *watchers})
        if kind == "leave":
            present.remove(actor)
    containers = {start["object"]: start["container"]}
    return Story((*start["actors"],), (*start["seen_by"],), containers, (*events,)), seen


def form_of(text, steps):
    """The kind of a row of a gold table and its words."""
    containers = "|".join(step["container"] for step in steps if "container" in step)
    slots = {name: rf"(?P<{name}>\w+)" for name in SLOTS}
    slots["object"] = steps[0]["object"]
    slots["place"] = steps[0]["place"]
    slots["container"] = f"(?P<container>{containers})"
    for kind, forms in WORDS["beliefs"].items():
        for form in forms:
            match = re.fullmatch(form.format(**slots), text)
            if match:
                return kind, match.groupdict()
    raise ValueError(f"no form of a row: {text}")


def believers(beliefs, people, container):
    """The largest group of people who believe so, each of them and of each other."""
    for size in range(len(people), 1, -1):
        for group in combinations(people, size):
            chains = [chain for chain in beliefs if chain and {*chain} <= {*group}]
            if all(beliefs[chain] == container for chain in chains):
                return {*group}
    return set()


def released(path):
    """Yields story and row from 0, truth found and expected (None: not read), of a released file's
    rows on where the thing is, or on what is inside it.
    """
    for record in read_records(path):
        values, first, object_name = read(record["story"]) or ({}, "", "")
        for number, row in enumerate(record["beliefs"]):
            _, chain, words = hit({"row": THINKS + WHERE}, row["belief"])
            claim = {words.get("thing"), words.get("value")} - {object_name}
            follows = None
            if object_name in words.values() and claim <= {first, *values.values()}:
                follows = str(({values[*chain,]} == claim) != ("no" in words))
            yield f"{record['story_id']}/{number}", row["labels"]["truth_status"], follows
