"""What readers get on our own items who follow nobody, and in which shares the items were designed.

    python checks/own_shortcuts.py [file of FANToM question sets with records]

The window takes everybody for knowing who speaks from one line before the fact to two lines after
it, and nobody else. Place of the fact, and question and options, are the readers of
notebooks/04_readers.ipynb, which learn from other conversations. Ends with 1 if an aim is missed.
"""

import sys

import pandas as pd
from sklearn.metrics import balanced_accuracy_score

from tomlab import paths
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.items import attendance, contexts, sets
from tomlab.scoring import readers

# The readers of whom it is said how much they should get at most.
AIMS = {
    "place of the fact": 0.70,
    "first option": 0.65,
    "last option": 0.65,
    "longer option": 0.65,
    "shorter option": 0.65,
    "words of the options": 0.65,
    "words of question and options": 0.65,
    "word pairs of question and options": 0.65,
}


# --- FANToM ----------------------------------------------------------------------------------------


def fantom_shortcuts(path):
    """One row a reader: what it gets, of how many, and at most how much it should get."""
    records = [record for record in sets.read_sets(path) if record.get("record")]
    facts = [facts_of(record) for record in records]
    print(pd.DataFrame(design_shares(facts)).to_string(index=False), "\n")

    missed = [fact for fact in facts if fact["people"] - fact["aware"]]
    rows = []
    for name, window in (("first tells", "window"), ("ever tells", "wide_window")):
        reader = f"speaks near a line that {name} the fact"
        exact = [fact[window] & fact["people"] == fact["aware"] for fact in missed]
        rows.append(row(f"{reader}: lists exact", sum(exact) / len(exact), len(exact), 0.45))
        for subject, chosen in (("sets that somebody misses", missed), ("all sets", facts)):
            pairs = [(person, fact) for fact in chosen for person in fact["people"]]
            knows = [person in fact["aware"] for person, fact in pairs]
            guessed = [person in fact[window] for person, fact in pairs]
            value = balanced_accuracy_score(knows, guessed)
            rows.append(row(f"{reader}: person and set, {subject}", value, len(pairs), 0.70))
    items = fantom.compose(records)
    table = readers.table(readers.choices(fantom, items, "short"))
    for reader in table.sort_values(["kind", "value"]).itertuples():
        name = f"{reader.kind}: {reader.reader}"
        rows.append(row(name, reader.value, reader.n, AIMS.get(reader.reader)))
    return pd.DataFrame(rows)


def row(reader, value, n, aim):
    return {"reader": reader, "value": round(value, 3), "n": n, "at most": aim}


def facts_of(record):
    """What is designed and what a window sees of one set: sets of names, and numbers of turns."""
    story = record["record"]
    lines = contexts.turns(record["full_context"])
    present = attendance.present(story, len(lines))
    person_x = story["person_x"]
    first = story["told"][0]
    wide = set()
    for turn in story["told"]:
        wide |= speakers_near(lines, turn)
    spoke_before = [turn for turn in range(story["start"], first) if person_x in lines[turn - 1][0]]
    speaks_after = [
        turn for turn in range(first + 1, story["end"] + 1) if person_x in lines[turn - 1][0]
    ]
    return {
        "person_x": person_x,
        "people": set(contexts.speakers(record["full_context"])),
        "aware": attendance.aware(story, present),
        "there": present[first],
        "window": speakers_near(lines, first),
        "wide_window": wide,
        "place": (first - story["start"]) / (story["end"] - story["start"]),
        "since_x": first - max(spoke_before, default=0),
        "until_x": min(speaks_after, default=len(lines)) - first,
        "is_retold": len(story["told"]) > 1,
    }


def speakers_near(lines, turn):
    """Who speaks from one line before a turn to two lines after it."""
    around = lines[max(turn - 2, 0) : turn + 2]
    return {name for names, _ in around for name in names}


def design_shares(facts):
    """The shares by design: of which facts, what holds, how often."""
    away = [fact for fact in facts if fact["person_x"] not in fact["there"]]
    heard = [fact for fact in facts if fact["person_x"] in fact["there"]]
    shares = [
        share("all", "PersonX knows", facts, lambda fact: fact["person_x"] in fact["aware"]),
        share("all", "somebody there is silent near it", facts, somebody_is_silent),
        share("all", "somebody misses it", facts, lambda fact: fact["people"] - fact["aware"]),
        share("told at once", "PersonX is silent near it", heard, x_is_silent),
        share("told in PersonX's absence", "told again to PersonX", away, lambda f: f["is_retold"]),
        share("told in PersonX's absence", "PersonX spoke just before", away, x_just_before),
        share("told in PersonX's absence", "PersonX is back within 2 lines", away, x_just_after),
    ]
    for name, low, high in (
        ("early", 0, 1 / 3),
        ("in the middle", 1 / 3, 2 / 3),
        ("late", 2 / 3, 2),
    ):
        for subject, knows in (("PersonX knows it", True), ("PersonX does not", False)):
            chosen = [f for f in facts if (f["person_x"] in f["aware"]) == knows]
            shares.append(
                share(subject, f"told {name}", chosen, lambda f, a=low, b=high: a <= f["place"] < b)
            )
    return shares


def share(facts_meant, holding, facts, holds):
    return {
        "of": facts_meant,
        "what": holding,
        "n": len(facts),
        "share": round(sum(bool(holds(f)) for f in facts) / len(facts), 2),
    }


def somebody_is_silent(fact):
    return fact["there"] - fact["window"]


def x_is_silent(fact):
    return fact["person_x"] not in fact["window"]


def x_just_before(fact):
    return fact["since_x"] == 1


def x_just_after(fact):
    return fact["until_x"] <= 2


def main(path=paths.DATA / "fantom" / "fantom.json"):
    shortcuts = fantom_shortcuts(path)
    print(shortcuts.to_string(index=False, na_rep="–"))
    missed = shortcuts[shortcuts["value"] > shortcuts["at most"]]
    for name in missed["reader"]:
        print(f"more than aimed at: {name}")
    return int(len(missed) > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
