"""Who is there and who knows the fact, derived from the record that stands beside a question set.

The record has the events by which people come and go and the turns in which the fact is told, as
numbers from 1 in the full context. Whoever leaves is gone after that turn, whoever returns or joins
is there from that turn on. Who is there in a turn that tells the fact knows it, and nobody else.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tomlab.benchmarks.fantom.items.contexts import speakers, turns
from tomlab.records.files import yaml_beside

WORDINGS = yaml_beside(__file__)
Attendance = Mapping[int, set[str]]  # who is there, by turn; nobody in a turn that there is not
Disputes = Iterator[tuple[str, Any, Any]]  # a field, what stands in it, and what the record says


def disputes(record: Mapping) -> Disputes:
    """All fields of a question set that differ from what its record says."""
    story = record["record"]
    lines = dict(enumerate(turns(record["full_context"]), start=1))
    attendance = present(story, len(lines))
    yield from _moves(story, lines)
    for turn, (names, _) in lines.items():
        for name in set(names) - attendance[turn]:
            yield f"full_context, turn {turn}", f"{name} speaks", "somebody who is there"
    part = range(story["start"], story["end"] + 1)
    part_in_words = f"turns {story['start']} to {story['end']}"
    if turns(record["short_context"]) != [lines.get(turn) for turn in part]:
        yield "short_context", "other turns", f"{part_in_words} of the full context"
    if not set(story["told"]) <= set(part):
        yield "record.told", story["told"], part_in_words
    knowing = aware(story, attendance)
    keys = who_knows(record["short_context"], record["full_context"], knowing)
    for field, questions in keys.items():
        yield from _differences(field, record[field], questions)
    seeing = witnesses(story, attendance) & knowing
    for number, belief in enumerate(record["beliefQAs"]):
        yield from _belief_disputes(f"beliefQAs.{number}", belief, story, knowing, seeing)


def present(story: Mapping, n_turns: int) -> Attendance:
    """Who is there in each turn of the full context."""
    here = set(story["there"])
    attendance = defaultdict(set)
    for turn in range(1, n_turns + 1):
        events = [event for event in story["events"] if event["turn"] == turn]
        here |= {event["name"] for event in events}
        attendance[turn] = set(here)
        here -= {event["name"] for event in events if event["event"] == "leaves"}
    return attendance


def aware(story: Mapping, attendance: Attendance) -> set[str]:
    """Who knows the fact in the end."""
    return set().union(*[attendance[turn] for turn in story["told"]])


def witnesses(story: Mapping, attendance: Attendance) -> set[str]:
    """Who can tell whether PersonX knows the fact, if they know it themselves: they were there when
    PersonX heard it or, if PersonX never did, in every turn of PersonX since it was told, so that
    nobody can have told PersonX without their hearing it.
    """
    with_x = [turn for turn in attendance if story["person_x"] in attendance[turn]]
    hearing = [attendance[turn] for turn in with_x if turn in story["told"]]
    since = [attendance[turn] for turn in with_x if turn > min(story["told"])]
    there = set().union(*hearing)
    if since and not hearing:
        there = set.intersection(*since)
    return there - {story["person_x"]}


def who_knows(short_context: str, full_context: str, knowing: Collection[str]) -> dict:
    """The lists and the yes/no questions on who knows, in the released format. Who does not know
    and does not speak in the short context is keyed "no:long".
    """
    keys = dict.fromkeys(speakers(full_context), "no:long")
    keys |= dict.fromkeys(speakers(short_context), "no")
    keys |= dict.fromkeys(keys.keys() & knowing, "yes")
    # Not that of the beliefs: somebody else of the part may have missed what PersonX heard.
    scenario = "inaccessible" if "no" in keys.values() else "accessible"
    lists = {
        "correct_answer": [name for name in keys if keys[name] == "yes"],
        "wrong_answer": [name for name in keys if keys[name] != "yes"],
    }
    questions = {}
    for family, wording in WORDINGS.items():
        questions[f"{family}QA_list"] = {
            "question": wording["list"],
            **lists,
            "question_type": f"tom:{wording['kind']}:list",
            "missed_info_accessibility": scenario,
        }
        questions[f"{family}QAs_binary"] = [
            {
                "question": wording["yes_no"].format(name=name),
                "correct_answer": key,
                "question_type": f"tom:{wording['kind']}:binary",
                "missed_info_accessibility": scenario,
            }
            for name, key in keys.items()
        ]
    return questions


def _moves(story: Mapping, lines: Mapping) -> Disputes:
    """Whoever comes or goes says something in that turn; nobody does it twice in a row."""
    here = set(story["there"])
    for event in sorted(story["events"], key=lambda event: event["turn"]):
        name = event["name"]
        names, _ = lines.get(event["turn"], ((), ""))
        is_due = (name in here) == (event["event"] == "leaves")
        if name not in names or not is_due:
            expected = f"a turn in which {name} speaks, and who leaves to be there, others away"
            yield f"record.events, turn {event['turn']}", f"{name} {event['event']}", expected
        here ^= {name}


def _differences(field: str, value: Any, expected: Any) -> Disputes:
    """Where two nested values differ; keys that are not expected are let pass."""
    if isinstance(expected, dict):
        for key in expected:
            yield from _differences(f"{field}.{key}", value.get(key), expected[key])
    elif field.endswith("QAs_binary") and len(value) == len(expected):
        for number, question in enumerate(expected):
            yield from _differences(f"{field}.{number}", value[number], question)
    elif value != expected:
        yield field, value, expected


def _belief_disputes(
    field: str, belief: Mapping, story: Mapping, knowing: set[str], seeing: set[str]
) -> Disputes:
    """Whether scenario, answers and question of a belief fit who knows, and who sees PersonX."""
    person_x = story["person_x"]
    # An answer of somebody who knows has the claim in it, that of somebody who does not the topic.
    scenario = "accessible"
    right, wrong = story["claim"], story["about"]
    if person_x not in knowing:
        scenario = "inaccessible"
        right, wrong = wrong, right
    yield from _differences(field, belief, {"missed_info_accessibility": scenario})
    for answer, text in {"correct_answer": right, "wrong_answer": wrong}.items():
        if text.casefold() not in belief[answer].casefold():
            yield f"{field}.{answer}", belief[answer], f"an answer with {text!r}"
    believers = {
        "first-order": {person_x},
        "second-order:cyclic": seeing & {story["owner"]},
        "second-order:acyclic": seeing - {story["owner"]},
    }
    names = believers.get(belief["tom_type"], set())
    is_asked = any(f"does {name} " in belief["question"] for name in names)
    if not is_asked or person_x not in belief["question"]:
        expected = f"what {' or '.join(sorted(names)) or 'nobody'} believes, of {person_x}"
        yield f"{field}.question", belief["question"], expected
