"""Who is taken to hear a fact, by who speaks near it, in the released FANToM.

    python checks/who_hears.py <who_hears.csv>

who_hears.csv has a row for each question set: `set_id`, `people` (their number), `speakers` (who
speaks line by line, counted from 0), `fact_line` and `hears` (who perceives that line, as the
authors of PercepToM label it). These labels have no licence, so the file stays outside: only the
shares that this script prints go to data/published/fantom/who_hears_aggregate.csv. The questions
about beliefs are those of data/published/fantom/belief_questions.csv. Intervals are over
conversations, the first number of a `set_id`.
"""

import sys

import pandas as pd

from tomlab import paths
from tomlab.scoring.stats import balanced_interval, cluster_interval

FOLDER = paths.PUBLISHED / "fantom"
KEYS = ["share", "reader", "tom_order", "scenario"]


def near_the_fact(row):
    """The people who speak from one line before the fact to two lines after it."""
    lines = row.speakers.split()
    return set(lines[max(row.fact_line - 1, 0) : row.fact_line + 3])


def heard(sets):
    """How well the window tells who hears the fact, in sets in which somebody does not."""
    lines = []
    people = []
    for row in sets.itertuples():
        if len(row.hears.split()) == row.people:
            continue
        window = near_the_fact(row)
        hears = set(row.hears.split())
        lines.append({"conversation": row.conversation, "right": float(window == hears)})
        for person in map(str, range(row.people)):
            right = float((person in window) == (person in hears))
            people.append([row.conversation, str(person in hears), right])
    lines = pd.DataFrame(lines)
    people = pd.DataFrame(people, columns=["conversation", "hears", "right"])
    exact = cluster_interval(lines["right"], lines["conversation"])
    yield {"share": "lines with exactly the right people"} | vars(exact)
    balanced = balanced_interval(people["right"], people["hears"], people["conversation"])
    yield {"share": "people, balanced accuracy"} | vars(balanced)


def beliefs(sets):
    """How many belief questions are right, if the people of the window, or those who hear the fact
    by the labels, know it and nobody else does; by question, and all questions of a set.
    """
    questions = pd.read_csv(FOLDER / "belief_questions.csv").merge(sets, on="set_id")
    windows = map(near_the_fact, questions.itertuples())
    labels = questions["hears"].str.split().map(set)
    known = questions["scenario"].eq("accessible")
    readers = {"window": windows, "labels of PercepToM": labels, "nobody": [set()] * len(known)}
    for reader, knowing in readers.items():
        asked = questions["asked_about"].str.split()
        says_known = [set(people) <= who for people, who in zip(asked, knowing, strict=True)]
        right = known.eq(says_known).astype(float)
        for (order, scenario), part in questions.groupby(["tom_order", "scenario"]):
            interval = cluster_interval(right[part.index], part["conversation"])
            row = {"share": "belief questions", "tom_order": order, "scenario": scenario}
            yield row | {"reader": reader} | vars(interval)
        by_set = questions.assign(right=right).groupby("set_id")
        by_set = by_set.agg(right=("right", "min"), conversation=("conversation", "first"))
        interval = cluster_interval(by_set["right"], by_set["conversation"])
        yield {"share": "all belief questions of a set", "reader": reader} | vars(interval)


def aggregate(file):
    """All shares: a row for each, with its interval over conversations."""
    sets = pd.read_csv(file, dtype={"speakers": str, "hears": str}).fillna({"hears": ""})
    sets["conversation"] = sets["set_id"].str.partition("-")[0]
    table = pd.DataFrame([*heard(sets), *beliefs(sets)]).fillna({"reader": "window"})
    return table[[*KEYS, "value", "ci_low", "ci_high", "n", "n_groups"]].round(4)


def main(file):
    table = aggregate(file)
    path = FOLDER / "who_hears_aggregate.csv"
    table.to_csv(path, index=False)
    print(table.to_string(index=False), path, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
