"""Who is there and who knows the fact, derived from the record that stands beside a question set.

The record has the events by which people come and go and the turns in which the fact is told, as
numbers from 1 in the full context. Whoever leaves is gone after that turn, whoever returns or joins
is there from that turn on. Who is there in a turn that tells the fact knows it, and nobody else.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from tomlab.benchmarks.fantom.items.contexts import speakers, turns
from tomlab.records.files import yaml_beside

FAMILIES = yaml_beside(__file__)
Attendance = dict[int, set[str]]  # who is there, by turn


class Dispute(NamedTuple):
    """A field that differs from what the record says."""

    field: str
    found: Any
    expected: Any


def disputes(record: Mapping) -> Iterator[Dispute]:
    """All fields of a question set that differ from what its record says."""
    story = record["record"]
    lines = dict(enumerate(turns(record["full_context"]), start=1))
    attendance = present(story, len(lines))
    knowing = aware(story, attendance)
    yield from _moves(story, lines)
    for turn, (names, _) in lines.items():
        for name in names:
            if name not in attendance[turn]:
                yield Dispute(
                    f"full_context, turn {turn}", f"{name} speaks", "somebody who is there"
                )
    part = range(story["start"], story["end"] + 1)
    if turns(record["short_context"]) != [lines.get(turn) for turn in part]:
        where = f"turns {story['start']} to {story['end']} of the full context"
        yield Dispute("short_context", "other turns", where)
    if not set(story["told"]) <= set(part):
        yield Dispute("record.told", story["told"], f"turns {story['start']} to {story['end']}")
    keys = who_knows(record["short_context"], record["full_context"], knowing)
    for field, expected in keys.items():
        yield from _differences(field, record[field], expected)
    seeing = witnesses(story, attendance) & knowing
    for number, belief in enumerate(record["beliefQAs"]):
        yield from _belief_disputes(f"beliefQAs.{number}", belief, story, knowing, seeing)


def present(story: Mapping, n_turns: int) -> Attendance:
    """Who is there in each turn of the full context."""
    here = set(story["there"])
    attendance = {}
    for turn in range(1, n_turns + 1):
        events = [event for event in story["events"] if event["turn"] == turn]
        here |= {event["name"] for event in events}
        attendance[turn] = set(here)
        here -= {event["name"] for event in events if event["event"] == "leaves"}
    return attendance


def aware(story: Mapping, attendance: Attendance) -> set[str]:
    """Who knows the fact in the end."""
    return set().union(*(attendance.get(turn, ()) for turn in story["told"]))


def witnesses(story: Mapping, attendance: Attendance) -> set[str]:
    """Who can tell whether PersonX knows the fact, if they know it themselves: they were there when
    PersonX heard it or, if PersonX never did, in every turn of PersonX since it was told, so that
    nobody can have told PersonX without their hearing it.
    """
    person_x = story["person_x"]
    hearing = [attendance[turn] for turn in story["told"] if person_x in attendance.get(turn, ())]
    if hearing:
        there = set.union(*hearing)
    else:
        first = min(story["told"])
        since = [attendance[turn] for turn in attendance if turn > first]
        with_x = [names for names in since if person_x in names]
        there = set.intersection(*with_x) if with_x else set()
    return there - {person_x}


def who_knows(short_context: str, full_context: str, knowing: Collection[str]) -> dict:
    """The lists and the yes/no questions on who knows, in the released format. Who does not know
    and does not speak in the short context is keyed "no:long".
    """
    in_part = speakers(short_context)
    keys = {}
    for name in speakers(full_context):
        if name in knowing:
            keys[name] = "yes"
        else:
            keys[name] = "no" if name in in_part else "no:long"
    # Not that of the beliefs: somebody else of the part may have missed what PersonX heard.
    scenario = {"missed_info_accessibility": "accessible"}
    if "no" in keys.values():
        scenario = {"missed_info_accessibility": "inaccessible"}
    fields = {}
    for family, wording in FAMILIES.items():
        kind = f"tom:{wording['kind']}"
        fields[f"{family}QA_list"] = {
            "question": wording["list"],
            "correct_answer": [name for name in keys if keys[name] == "yes"],
            "wrong_answer": [name for name in keys if keys[name] != "yes"],
            "question_type": f"{kind}:list",
        } | scenario
        fields[f"{family}QAs_binary"] = [
            {
                "question": wording["yes_no"].format(name=name),
                "correct_answer": key,
                "question_type": f"{kind}:binary",
            }
            | scenario
            for name, key in keys.items()
        ]
    return fields


def _moves(story: Mapping, lines: Mapping) -> Iterator[Dispute]:
    """Whoever comes or goes says something in that turn; nobody does it twice in a row."""
    here = set(story["there"])
    for event in sorted(story["events"], key=lambda event: event["turn"]):
        name = event["name"]
        field = f"record.events, turn {event['turn']}"
        move = f"{name} {event['event']}"
        names, _ = lines.get(event["turn"], ((), ""))
        if name not in names:
            yield Dispute(field, move, f"a turn in which {name} speaks")
        if (event["event"] == "leaves") != (name in here):
            yield Dispute(field, move, "that who leaves is there, and who returns or joins is away")
        here ^= {name}


def _differences(field: str, found: Any, expected: Any) -> Iterator[Dispute]:
    """Where two nested values differ; keys that are not expected are let pass."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            yield from _differences(f"{field}.{key}", found.get(key), value)
    elif expected and isinstance(expected[0], dict) and len(found) == len(expected):
        for number, value in enumerate(expected):
            yield from _differences(f"{field}.{number}", found[number], value)
    elif found != expected:
        yield Dispute(field, found, expected)


def _belief_disputes(
    field: str, belief: Mapping, story: Mapping, knowing: set[str], seeing: set[str]
) -> Iterator[Dispute]:
    person_x, owner = story["person_x"], story["owner"]
    # An answer of somebody who knows has the claim in it, that of somebody who does not the topic.
    scenario = "accessible"
    words = {"correct_answer": story["claim"], "wrong_answer": story["about"]}
    if person_x not in knowing:
        scenario = "inaccessible"
        words = {"correct_answer": story["about"], "wrong_answer": story["claim"]}
    if belief["missed_info_accessibility"] != scenario:
        found = belief["missed_info_accessibility"]
        yield Dispute(f"{field}.missed_info_accessibility", found, scenario)
    for answer, text in words.items():
        if text.casefold() not in belief[answer].casefold():
            yield Dispute(f"{field}.{answer}", belief[answer], f"an answer with {text!r}")
    believers = {
        "first-order": {person_x},
        "second-order:cyclic": seeing & {owner},
        "second-order:acyclic": seeing - {owner},
    }
    names = believers.get(belief["tom_type"], set())
    asked = belief["question"].partition("does ")[2].partition(" ")[0]
    if asked not in names or person_x not in belief["question"]:
        expected = f"what {' or '.join(sorted(names)) or 'nobody'} believes, of {person_x}"
        yield Dispute(f"{field}.question", belief["question"], expected)
