"""OmniToM: Stage 1 from a judge's answer to F1, as the release computes it, written a second time."""

import csv
import random

import pytest

from omnitom_stories import EXACT, RECORDS
from replies import answered
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.alignment import parse_judgement
from tomlab.benchmarks.omnitom.items.compose import gold_rows, table_text

ITEMS = omnitom.asked(omnitom.compose(RECORDS[:12]), "stage1-L3")


def judged_table(rows, draw):
    """A judge's table with MatchCounts by lot."""
    lines = ["Actor,Belief,MatchCount"]
    for row in rows:
        belief = row.belief.replace('"', '""')
        lines.append(f'{row.actor},"{belief}",{draw.choice([0, 1, 1, 2])}')
    return "\n".join(lines)


def released_share(table):
    """The share of rows with a MatchCount above 0."""
    counts = [int(row["MatchCount"]) for row in csv.DictReader(table.splitlines())]
    return sum(count > 0 for count in counts) / len(counts)


@pytest.mark.parametrize("seed", range(3))
def test_f1_from_match_counts_is_that_of_the_release(seed):
    """Over all stories, unusable ones count as 0, and a count of 2 or more earns no more than 1."""
    draw = random.Random(seed)
    texts = []
    judged = {}
    expected = []
    for number, item in enumerate(ITEMS.to_dict("records")):
        if number % 4 == 3:
            texts.append("There is much to say about this story.")
            expected.append(0.0)
            continue
        gold = gold_rows(item)
        predicted = draw.sample(gold, max(1, len(gold) - draw.randrange(4)))
        tables = judged_table(predicted, draw), judged_table(gold, draw)
        judgement = "Prediction Table\n{}\n\nGround Truth Table\n{}".format(*tables)
        key = (item["item_id"], "model", "stage1-L3", 0)
        judged[key] = parse_judgement(judgement, predicted, gold)
        texts.append(table_text(predicted, 1))
        precision, recall = map(released_share, tables)
        total = precision + recall
        expected.append(2 * precision * recall / total if total else 0.0)
    responses = answered(ITEMS, texts, "stage1-L3")
    scores = omnitom.score(ITEMS, responses, judge=EXACT, judged=judged)
    assert scores["score"].tolist() == pytest.approx(expected)
    metrics = omnitom.metrics(scores).set_index(["metric", "condition"])["value"]
    assert metrics["f1", "all"] == pytest.approx(sum(expected) / len(expected))
