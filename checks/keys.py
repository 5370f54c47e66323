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
    story = record["record"]
    person_x = story["person_x"]
    everybody = contexts.speakers(record["full_context"])
    in_part = contexts.speakers(record["short_context"])
    knows = fantom_knowers(story, contexts.turns(record["full_context"]), everybody)
    keys = {}
    for name in everybody:
        keys[name] = "no" if name in in_part else "no:long"
        if (name,) in knows:
            keys[name] = "yes"
    aware = [name for name, key in keys.items() if key == "yes"]
    unaware = [name for name, key in keys.items() if key != "yes"]
    for kind in ("answerability", "infoAccessibility"):
        asked_list = record[f"{kind}QA_list"]
        asked = record[f"{kind}QAs_binary"]
        answers = [asked_list["correct_answer"], asked_list["wrong_answer"]]
        yield kind, answers, [aware, unaware]
        scenarios = {question["missed_info_accessibility"] for question in (asked_list, *asked)}
        yield f"scenario of {kind}", scenarios, {SCENARIOS["no" not in keys.values()]}
        yes_or_no = {}
        for question in asked:
            yes_or_no[question["question"].split()[1]] = question["correct_answer"]
        for name, key in keys.items():
            yield f"{kind} of {name}", yes_or_no.get(name), key
    for belief in record["beliefQAs"]:
        answers = [belief["correct_answer"], belief["wrong_answer"]]
        chain = (person_x,)
        if belief["tom_type"] != "first-order":
            chain = (answers[0].split()[0], person_x)
        # Whoever does not know the fact can't tell who else does not.
        can_tell = chain in knows or chain[:-1] in {(), *knows}
        right = [chain in knows, chain not in knows] if can_tell else "nothing"
        claims = [story["claim"].lower() in answer.lower() for answer in answers]
        yield f"belief of {chain}", claims, right
        scenario = SCENARIOS[(person_x,) in knows]
        yield f"scenario of {chain}", belief["missed_info_accessibility"], scenario


def fantom_knowers(story, lines, everybody):
    """Who knows the fact, and of whom others know that they do: chains of one or two names."""
    claim = story["claim"]
    present = {*story["there"]}
    events = [Event("peek", story["owner"], "fact"), *(Event("enter", name) for name in present)]
    for number, (names, _) in enumerate(lines, start=1):
        moves = [event for event in story["events"] if event["turn"] == number]
        for event in moves:
            if event["event"] != "leaves":
                events.append(Event("enter", event["name"]))
                present |= {event["name"]}
        if number in story["told"]:
            events.append(Event("say", names[0], "fact", claim, (*(present - {names[0]}),)))
        for event in moves:
            if event["event"] == "leaves":
                events.append(Event("leave", event["name"]))
                present -= {event["name"]}
    values = beliefs(Story((*everybody,), (), {"fact": claim}, (*events,)), order=2)
    return {chain for chain, value in values.items() if value["fact"]}


def compared(name, part, records):
    """Prints what `part` finds in records with events, and returns how many keys do not follow."""
    n_items = 0
    n_keys = 0
    disputes = 0
    for record in records:
        if not record.get("record"):
            continue
        n_items += 1
        item = record.get("story_id", record.get("set_id"))
        for subject, key, follows in part(record):
            n_keys += 1
            if key != follows:
                disputes += 1
                print(f"  {item}, {subject}: found {key}, expected {follows}")
    print(f"{name}: {n_items} items, {n_keys - disputes} keys agree, {disputes} disputes")
    return disputes


def listed(name, keys):
    """Prints which keys of a released file do not follow. It quotes nothing."""
    keys = [*keys]
    read = [(item, key, follows) for item, key, follows in keys if follows is not None]
    disputes = [(item, key, follows) for item, key, follows in read if key != follows]
    for item, key, follows in disputes:
        print(f"  {item}: found {key}, expected {follows}")
    print(f"{name}: {len(read)} of {len(keys)} keys read, {len(disputes)} disputes")


def main(*files):
    raw = paths.RESULTS / "raw"
    lines = (raw / "omnitom" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    compared("OmniToM, looks as the story language has them", omnitom, records)
    disputes = compared("OmniToM, finds shown", partial(omnitom, shown=True), records)
    sets = json.loads((raw / "fantom" / "sets.json").read_text(encoding="utf-8"))
    disputes += compared("FANToM", fantom, sets)
    for path in map(Path, files):
        if path.suffix == ".csv":
            report(path)
        elif path.is_dir():
            listed("ToMBench", tombench(path))
        else:
            listed(f"OmniToM, {path.name}", released(path))
    return int(disputes > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
