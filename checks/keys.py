"""The keys of grammar items a second time, derived from events.

    python checks/keys.py                  items of the last run, and 100 conversations of FANToM's
                                           grammar with other seeds
    python checks/keys.py <released> …     released files, too, as far as they can be read: a BigToM
                                           (.csv), records of OmniToM (.jsonl), ToMBench's folder

Prints how many keys agree and which do not. `omnitom` and `fantom` yield what is compared, what the
item has, and what follows: of OmniToM's stories that have a record of events by possible worlds
(`worlds.py`), of all else by the tracker. Ends with 1 if something does not follow by the benchmark's own rule.
"""

import json
import re
import sys
from functools import partial
from pathlib import Path

from keys_bigtom import report
from keys_omnitom import omnitom, released
from keys_tombench import tombench

from tomlab import paths
from tomlab.benchmarks.fantom.items import cast, sets
from tomlab.benchmarks.fantom.items import grammar as fantom_grammar
from tomlab.records.files import yaml_beside
from tomlab.scoring.tracker import Event, Story, beliefs

WORDS = yaml_beside(fantom_grammar.__file__)
KINDS = {"leave": "leave", "return": "enter", "join": "enter"}
SCENARIOS = {False: "inaccessible", True: "accessible"}


def fantom(record):
    """Who is there, who knows the fact, and who believes what of PersonX, with either context. The
    owner knows the fact before anything is said, and others once they hear it.
    """
    about, claim = record["record"], record["factQA"]["correct_answer"]
    x, parts = about["person_x"], {"full": about["utterances"]}
    parts["short"] = parts["full"][about["start"] : about["end"]]
    everybody, here = (sets.speakers(record[f"{part}_context"]) for part in ("full", "short"))
    for part, said in parts.items():
        text = sets.written([(one["speaker"], one["text"]) for one in said])
        yield f"{part} context", record[f"{part}_context"], text
        came = {said[0]["speaker"]} if KINDS.get(said[0]["event"]) == "enter" else set()
        there = {*said[0]["present"]} - came
        events = [Event("peek", about["owner"], "fact"), *(Event("enter", n) for n in there)]
        for number, one in enumerate(said):
            kind, who = KINDS.get(one["event"]), one["speaker"]
            there |= {who}
            yield f"{part}: who is there at {number}", {*one["present"]}, {*there}
            events += [Event(kind, who)] if kind else []
            if one["fact"] == about["fact"]:
                events.append(Event("say", who, "fact", claim, (*(there - {who}),)))
            there -= {who} if kind == "leave" else set()
        at = beliefs(Story((*everybody,), (), {"fact": claim}, (*events,)), order=2)
        knows = {chain for chain, value in at.items() if value["fact"]}
        keys = {n: "yes" if (n,) in knows else "no" if n in here else "no:long" for n in everybody}
        lists = [[n for n in keys if ((n,) in knows) is is_aware] for is_aware in (True, False)]
        for kind in ("answerability", "infoAccessibility"):
            listed, asked = record[f"{kind}QA_list"], record[f"{kind}QAs_binary"]
            yield f"{part}: {kind}", [listed["correct_answer"], listed["wrong_answer"]], lists
            marked = {one["missed_info_accessibility"] for one in (listed, *asked)}
            yield f"{part}: scenario of {kind}", marked, {SCENARIOS["no" not in keys.values()]}
            names = (re.search("|".join(keys), one["question"])[0] for one in asked)
            found = {n: one["correct_answer"] for n, one in zip(names, asked, strict=True)}
            yield from ((f"{part}: {kind} of {n}", found.get(n), keys[n]) for n in keys)
        for one in record["beliefQAs"]:
            answers, chain = [one["correct_answer"], one["wrong_answer"]], (x,)
            if one["tom_type"] != "first-order":
                chain = (re.match("|".join(keys), answers[0])[0], x)
                opening = WORDS["believes"][0].format(y=chain[0], belief="")
                answers = [answer.removeprefix(opening) for answer in answers]
            claims = [w.format(x=x, claim=claim.removesuffix(".")) for w in WORDS["knows"]]
            # Whoever does not know the fact can't tell who else does not.
            can_tell = chain in knows or chain[:-1] in {(), *knows}
            right = [chain in knows, chain not in knows] if can_tell else "nothing"
            yield f"{part}: belief of {chain}", [answer in claims for answer in answers], right
            scenario = SCENARIOS[(x,) in knows]
            yield f"{part}: scenario of {chain}", one["missed_info_accessibility"], scenario


def compared(name, part, records):
    """Prints what `part` finds in records by grammar, and returns how many keys do not follow."""
    items = {r.get("story_id", r.get("set_id")): r for r in records if r["source"] == "grammar"}
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
    raw, data, apart = paths.RESULTS / "raw", paths.DATA / "fantom", 0
    topics, names = cast.read_topics(data / "topics.yaml"), cast.read_cast(data / "cast.yaml")
    lines = (raw / "omnitom" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    compared("OmniToM, looks as the story language has them", omnitom, records)
    apart += compared("OmniToM, finds shown", partial(omnitom, shown=True), records)
    drawn = {"last run": json.loads((raw / "fantom" / "sets.json").read_text(encoding="utf-8"))}
    for seed in (101, 102):
        counts = {"conversations": 50, "sets_per_part": 4, "seed": seed}
        drawn[f"seed {seed}"] = fantom_grammar.generate(topics, names, **counts)
    apart += sum(compared(f"FANToM, {name}", fantom, records) for name, records in drawn.items())
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
