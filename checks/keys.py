"""The keys of our items that have a record of events a second time, derived from these.

    python checks/keys.py                  items of the last run
    python checks/keys.py <released> …     released files, too, as far as they can be read: a BigToM
                                           (.csv), records of OmniToM (.jsonl), ToMBench's folder

Prints how many keys agree and which do not. `omnitom` and `fantom` yield what is compared, what the
item has, and what follows: of OmniToM's stories that have a record of events by possible worlds
(`worlds.py`), of all else by the tracker. Ends with 1 if something does not follow by the benchmark's own rule.
"""

import json
import sys
from functools import partial
from pathlib import Path

from keys_bigtom import report
from keys_omnitom import omnitom, released
from keys_tombench import tombench

from tomlab import paths
from tomlab.benchmarks.fantom.items import contexts
from tomlab.scoring.tracker import Event, Story, beliefs

SCENARIOS = {False: "inaccessible", True: "accessible"}


def fantom(record):
    """Who knows the fact, and who believes what of PersonX. The owner knows the fact before anything
    is said, and others once they hear it.
    """
    story, claim = record["record"], record["record"]["claim"]
    person_x = story["person_x"]
    everybody = contexts.speakers(record["full_context"])
    in_part = contexts.speakers(record["short_context"])
    knows = fantom_knowers(story, contexts.turns(record["full_context"]), everybody)
    keys = {}
    for name in everybody:
        keys[name] = "yes" if (name,) in knows else "no" if name in in_part else "no:long"
    lists = [[n for n in keys if ((n,) in knows) is is_aware] for is_aware in (True, False)]
    for kind in ("answerability", "infoAccessibility"):
        listed, asked = record[f"{kind}QA_list"], record[f"{kind}QAs_binary"]
        yield kind, [listed["correct_answer"], listed["wrong_answer"]], lists
        marked = {question["missed_info_accessibility"] for question in (listed, *asked)}
        yield f"scenario of {kind}", marked, {SCENARIOS["no" not in keys.values()]}
        found = {one["question"].split()[1]: one["correct_answer"] for one in asked}
        yield from ((f"{kind} of {name}", found.get(name), keys[name]) for name in keys)
    for belief in record["beliefQAs"]:
        answers, chain = [belief["correct_answer"], belief["wrong_answer"]], (person_x,)
        if belief["tom_type"] != "first-order":
            chain = (answers[0].split()[0], person_x)
        # Whoever does not know the fact can't tell who else does not.
        can_tell = chain in knows or chain[:-1] in {(), *knows}
        right = [chain in knows, chain not in knows] if can_tell else "nothing"
        yield f"belief of {chain}", [claim.lower() in answer.lower() for answer in answers], right
        scenario = SCENARIOS[(person_x,) in knows]
        yield f"scenario of {chain}", belief["missed_info_accessibility"], scenario


def fantom_knowers(story, lines, everybody):
    """Who knows the fact, and of whom others know that they do: chains of one or two names."""
    claim, there = story["claim"], {*story["there"]}
    events = [Event("peek", story["owner"], "fact"), *(Event("enter", name) for name in there)]
    for number, (names, _) in enumerate(lines, start=1):
        moves = [event for event in story["events"] if event["turn"] == number]
        for event in moves:
            if event["event"] != "leaves":
                events.append(Event("enter", event["name"]))
                there |= {event["name"]}
        if number in story["told"]:
            events.append(Event("say", names[0], "fact", claim, (*(there - {names[0]}),)))
        for event in moves:
            if event["event"] == "leaves":
                events.append(Event("leave", event["name"]))
                there -= {event["name"]}
    at = beliefs(Story((*everybody,), (), {"fact": claim}, (*events,)), order=2)
    return {chain for chain, value in at.items() if value["fact"]}


def compared(name, part, records):
    """Prints what `part` finds in records with events, and returns how many keys do not follow."""
    items = {r.get("story_id", r.get("set_id")): r for r in records if r.get("record")}
    every = [(item, *key) for item, record in items.items() for key in part(record)]
    apart = [key for key in every if key[2] != key[3]]
    for item, about, found, expected in apart:
        print(f"  {item}, {about}: found {found}, expected {expected}")
    agreed = len(every) - len(apart)
    print(f"{name}: {len(items)} items, {agreed} keys agree, {len(apart)} disputes")
    return len(apart)


def listed(name, every):
    """Prints which keys of a released file do not follow. It quotes nothing."""
    every = [*every]
    apart = [one for one in every if one[2] not in (None, one[1])]
    for item, found, follows in apart:
        print(f"  {item}: found {found}, expected {follows}")
    count = sum(one[2] is not None for one in every)
    print(f"{name}: {count} of {len(every)} keys read, {len(apart)} disputes")


def main(*files):
    raw, apart = paths.RESULTS / "raw", 0
    lines = (raw / "omnitom" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    compared("OmniToM, looks as the story language has them", omnitom, records)
    apart += compared("OmniToM, finds shown", partial(omnitom, shown=True), records)
    sets = json.loads((raw / "fantom" / "sets.json").read_text(encoding="utf-8"))
    apart += compared("FANToM", fantom, sets)
    for path in map(Path, files):
        if path.suffix == ".csv":
            report(path)
        elif path.is_dir():
            listed("ToMBench", tombench(path))
        else:
            listed(f"OmniToM, {path.name}", released(path))
    return int(apart > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
