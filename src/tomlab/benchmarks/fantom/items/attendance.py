"""Who is present and who knows the fact, derived from the `record` field of a question set.

This field (`sets.Story`) lists when people come and go and which turns tell the fact; turns are
numbered from 1 in the full context. People who leave are absent after that turn; people who return
or join are present from that turn on. Only those present in a turn that tells the fact know it.
"""

from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import Any

from tomlab.benchmarks.fantom.items.contexts import speakers, turns
from tomlab.records.files import yaml_beside

WORDINGS = yaml_beside(__file__)
Attendance = Mapping[int, set[str]]  # the people present, by turn
Disputes = Iterator[str]  # one message per conflict: the field, its content, what is expected


def disputes(record: Mapping) -> Disputes:
    """A message for every conflict between a question set and its own `record` field. If the fact
    is told outside the short context, checking stops there: the field then implies no answers.
    """
    story = record["record"]
    lines = dict(enumerate(turns(record["full_context"]), start=1))
    part = range(story["start"], story["end"] + 1)
    part_in_words = f"turns {story['start']} to {story['end']}"
    if turns(record["short_context"]) != [lines.get(turn) for turn in part]:
        yield f"short_context: found other turns, expected {part_in_words} of the full context"
    if not set(story["told"]) <= lines.keys() & part:
        yield f"record.told: found {story['told']}, expected {part_in_words}"
        return
    attendance = present(story, len(lines))
    yield from _moves(story, lines)
    for turn, (names, _) in lines.items():
        for name in set(names) - attendance[turn]:
            yield f"full_context, turn {turn}: found {name} speaks, expected somebody who is there"
    knowing = aware(story, attendance)
    keys = who_knows(record["short_context"], record["full_context"], knowing)
    for field, expected in keys.items():
        yield from _key_disputes(field, record[field], expected)
    seeing = witnesses(story, attendance) & knowing
    for number, belief in enumerate(record["beliefQAs"]):
        yield from _belief_disputes(f"beliefQAs.{number}", belief, story, knowing, seeing)


def present(story: Mapping, n_turns: int) -> Attendance:
    """The people present in each turn of the full context."""
    people = set(story["there"])
    attendance = {}
    for turn in range(1, n_turns + 1):
        events = [event for event in story["events"] if event["turn"] == turn]
        people = people.union(event["name"] for event in events)
        attendance[turn] = people
        people = people.difference(e["name"] for e in events if e["event"] == "leaves")
    return attendance


def aware(story: Mapping, attendance: Attendance) -> set[str]:
    """The people who know the fact at the end of the conversation."""
    return set().union(*[attendance[turn] for turn in story["told"]])


def witnesses(story: Mapping, attendance: Attendance) -> set[str]:
    """The people who can tell whether PersonX knows the fact, provided that they know it.
    If PersonX heard it, they were present then. If not, they were present in every turn of PersonX
    after it was first told, so they would have heard anybody tell PersonX.
    """
    with_x = [turn for turn in attendance if story["person_x"] in attendance[turn]]
    hearing = [attendance[turn] for turn in with_x if turn in story["told"]]
    since = [attendance[turn] for turn in with_x if turn > min(story["told"])]
    people = set().union(*hearing)
    if since and not hearing:
        people = set.intersection(*since)
    return people - {story["person_x"]}


def who_knows(short_context: str, full_context: str, knowing: Collection[str]) -> dict:
    """The fields of a question set with the list and yes/no questions on who knows, in the released
    format. The right answer is "no:long" for those who do not know and do not speak in the short
    context. knowing: the people who know.
    """
    keys = dict.fromkeys(speakers(full_context), "no:long")
    keys |= dict.fromkeys(speakers(short_context), "no")
    keys |= dict.fromkeys(keys.keys() & knowing, "yes")
    # The beliefs' scenario may differ: somebody else may have missed what PersonX heard.
    scenario = "inaccessible" if "no" in keys.values() else "accessible"
    aware = [name for name in keys if keys[name] == "yes"]
    unaware = [name for name in keys if keys[name] != "yes"]
    questions: dict[str, Any] = {}
    for family, wording in WORDINGS.items():
        questions[f"{family}QA_list"] = {
            "question": wording["list"],
            "correct_answer": aware,
            "wrong_answer": unaware,
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
    """Conflicts in the events: people must speak in the turn in which they come or go, and only
    those present can leave, only those absent come.
    """
    people = set(story["there"])
    for event in sorted(story["events"], key=itemgetter("turn")):
        name = event["name"]
        names, _ = lines.get(event["turn"], ((), ""))
        is_due = (name in people) == (event["event"] == "leaves")
        if name not in names or not is_due:
            move = f"turn {event['turn']}: found {name} {event['event']}"
            expected = f"a turn in which {name} speaks, and who leaves to be there, others away"
            yield f"record.events, {move}, expected {expected}"
        people ^= {name}


def _key_disputes(field: str, questions: Any, expected: Any) -> Disputes:
    """Differences between the questions on who knows and those expected."""
    if isinstance(expected, dict):
        yield from _differences(field, questions, expected)
    elif len(questions) != len(expected):
        yield f"{field}: found {len(questions)}, expected {len(expected)}, one for each who speaks"
    else:
        for number, question in enumerate(questions):
            yield from _differences(f"{field}.{number}", question, expected[number])


def _differences(field: str, question: Mapping, expected: Mapping) -> Disputes:
    """Differences between a question and the expected keys; any other keys are ignored."""
    for key, value in expected.items():
        if question.get(key) != value:
            yield f"{field}.{key}: found {question.get(key)}, expected {value}"


def _belief_disputes(
    field: str, belief: Mapping, story: Mapping, knowing: set[str], seeing: set[str]
) -> Disputes:
    """Conflicts in a belief's scenario, answers and question. knowing: those who know the fact;
    seeing: those of them who can tell whether PersonX knows it (`witnesses`).
    """
    person_x = story["person_x"]
    owner = {story["owner"]}
    # The belief of somebody who knows states the claim; that of somebody who does not, the topic.
    scenario = "inaccessible"
    expected_words = {"correct_answer": story["about"], "wrong_answer": story["claim"]}
    if person_x in knowing:
        scenario = "accessible"
        expected_words = {"correct_answer": story["claim"], "wrong_answer": story["about"]}
    yield from _differences(field, belief, {"question_type": f"tom:belief:{scenario}"})
    for answer, text in expected_words.items():
        if text.casefold() not in belief[answer].casefold():
            yield f"{field}.{answer}: found {belief[answer]}, expected an answer with {text!r}"
    believers = {
        "first-order": {person_x},
        "second-order:cyclic": seeing & owner,
        "second-order:acyclic": seeing - owner,
    }
    names = believers.get(belief["tom_type"], set())
    is_asked = any(f"does {name} " in belief["question"] for name in names)
    if not is_asked or person_x not in belief["question"]:
        expected = f"what {' or '.join(sorted(names)) or 'nobody'} believes, of {person_x}"
        yield f"{field}.question: found {belief['question']}, expected {expected}"
