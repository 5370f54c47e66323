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
    start, *steps = record["record"]
    thing, people, there, events = start["object"], start["actors"], {*start["seen_by"]}, []
    seen = {}
    for step in steps:
        kind, who, place = KINDS[step["event"]], step["actor"], step.get("container", "")
        there |= {who}
        heard = (*(there - {who}),) if kind == "say" else ()
        # A thing that nobody moves, to where it is already, is seen by all who are there.
        act = ("move", "") if shown and kind == "look" else (kind, who)
        about = (thing if place else "", place)
        secretly = (*step.get("watched_by", ()),)
        events.append(Event(*act, *about, heard, secretly))
        # With `PAST`, a step's name is that of the row on it.
        sight = (PAST.get(step["event"], step["event"]), who, step.get("container"))
        seen[sight] = {*there}, {*there, *secretly}
        there -= {who} if kind == "leave" else set()
    told = Story((*people,), (*start["seen_by"],), {thing: start["container"]}, (*events,))
    every = worlds.values(told, order=3)
    at = {chain: value[thing] for chain, value in every.items() if value[thing]}
    chains, recalled = set(), set()

    def shared(place):
        """The largest group of people who believe so, each of them and of each other."""
        for group in (set(g) for n in range(len(people), 1, -1) for g in combinations(people, n)):
            if all(at.get(c) == place for c in every if c and {*c} <= group):
                return group
        return set()

    places = "|".join(step["container"] for step in record["record"] if "container" in step)
    slots = {n: rf"(?P<{n}>\w+)" for n in ("actor", "mover", "listener", "second", "third")}
    slots |= {"object": thing, "place": start["place"], "container": f"(?P<container>{places})"}
    forms = [(kind, form.format(**slots)) for kind, of in WORDS["beliefs"].items() for form in of]
    for row in record["beliefs"]:
        holder, text, labels = row["actor"], row["belief"], row["labels"]
        read = ((kind, re.fullmatch(form, text)) for kind, form in forms)
        kind, words = next((kind, hit.groupdict()) for kind, hit in read if hit)
        place = words.get("container")
        sight = (PAST.get(kind, kind), words.get("actor"), place)
        if kind in ("placed", "order 2", "order 3"):
            names = [holder, words.get("second"), words.get("third")]
            chain = tuple(name for name in names if name and name != WORLD)
            chains.add(chain)
            yield f"where {chain} has it", place, at.get(chain)
            is_true = not chain or place == at.get(chain[1:])
            yield f"truth of {chain}", labels["truth_status"], str(is_true)
            group = shared(place) if len(chain) < 2 else set()
        elif kind in PASSED_OVER:
            continue
        else:
            recalled.add((holder, *sight))
            group, _ = seen.get(sight, ((), ()))
        access = "Private" if len(group) < 2 else "Shared" if len(group) < len(people) else "Public"
        yield f"access, {holder}: {text}", labels["knowledge_access"], access
    for n in (0, 1, 2, 3):  # a table has one belief of order 3 for everybody who has any
        has, follows = ({c[: 1 if n == 3 else n] for c in of if len(c) == n} for of in (chains, at))
        yield f"who has beliefs of order {n}", has, follows
    known = {(WORLD, *sight) for sight in seen}
    for sight in (sight for sight in seen if sight[0] in WORDS["past"].values()):
        _, knowing = seen[sight]
        known |= {(name, *sight) for name in knowing - {sight[1]}}
    yield "who knows what happened", recalled, known


def released(path):
    """Yields story and row from 0, truth found and expected (None: not read), of a released file's
    rows on where the thing is, or on what is inside it.
    """
    for record in read_records(path):
        at, first, thing = read(record["story"]) or ({}, "", "")
        for number, row in enumerate(record["beliefs"]):
            _, chain, words = hit({"row": THINKS + WHERE}, row["belief"])
            claim = {words.get("thing"), words.get("value")} - {thing}
            follows = None
            if thing in words.values() and claim <= {first, *at.values()}:
                follows = str(({at[*chain,]} == claim) != ("no" in words))
            yield f"{record['story_id']}/{number}", row["labels"]["truth_status"], follows
