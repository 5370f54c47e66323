"""OmniToM: Stage 1 from a judge's answer to F1, as the release computes it, written a second time."""

import csv
import random

import pandas as pd
import pytest

from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.alignment import parse_judgement
from tomlab.benchmarks.omnitom.items.compose import gold_rows, table_text
from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.benchmarks.omnitom.scoring import Judge
from tomlab.paths import DATA

RECORDS = read_records(DATA / "omnitom" / "stories.jsonl")[:12]
ITEMS = omnitom.asked(omnitom.compose(RECORDS), "stage1-L3")


def judged_table(rows, counts: list[int]) -> str:
    lines = ["Actor,Belief,MatchCount"]
    for row, count in zip(rows, counts, strict=True):
        belief = row.belief.replace('"', '""')
        lines.append(f'{row.actor},"{belief}",{count}')
    return "\n".join(lines)


def released_f1(judgement: str) -> float:
    """F1 of the shares of rows with a MatchCount above 0 in the two tables."""
    shares = []
    for part in judgement.split("\n\n"):
        rows = list(csv.DictReader(part.splitlines()[1:]))
        shares.append(sum(int(row["MatchCount"]) > 0 for row in rows) / len(rows))
    precision, recall = shares
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("seed", range(3))
def test_f1_from_match_counts_is_that_of_the_release(seed):
    """Over all stories, unusable ones count as 0, and a count of 2 or more earns no more than 1."""
    draw = random.Random(seed)
    responses, judged, expected = [], {}, []
    for number, item in enumerate(ITEMS.to_dict("records")):
        gold = gold_rows(item)
        response = {"item_id": item["item_id"], "model": "m", "method": "stage1-L3"}
        if number % 4 == 3:
            responses.append(response | {"response": "There is much to say about this story."})
            expected.append(0.0)
            continue
        predicted = draw.sample(gold, max(1, len(gold) - draw.randrange(4)))
        predicted_counts = [draw.choice([0, 1, 1, 2]) for _ in predicted]
        gold_counts = [draw.choice([0, 1, 1, 3]) for _ in gold]
        judgement = "Prediction Table\n" + judged_table(predicted, predicted_counts)
        judgement += "\n\nGround Truth Table\n" + judged_table(gold, gold_counts)
        alignment = parse_judgement(judgement, predicted, gold)
        judged[item["item_id"], "m", "stage1-L3", 0] = alignment
        responses.append(response | {"response": table_text(predicted, 1)})
        expected.append(released_f1(judgement))
    table = pd.DataFrame(responses)
    scores = omnitom.score(ITEMS, table, judge=Judge("exact", 1.0), judged=judged)
    assert scores["score"].tolist() == pytest.approx(expected)
    metrics = omnitom.metrics(scores).set_index(["metric", "condition"])["value"]
    assert metrics["f1", "all"] == pytest.approx(sum(expected) / len(expected))
