"""OmniToM: Stage 1 from a judge's answer to F1, as the release computes it, written a second time."""

import random

import pytest

from omnitom_stories import EXACT, RECORDS, answers
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import judges
from tomlab.benchmarks.omnitom.alignment import parse_judgement

ITEMS = omnitom.compose(RECORDS[:24])


def judged(rows, draw):
    """A judge's table with MatchCounts by lot, and the share of its rows that have a match."""
    counts = [draw.choice([0, 1, 1, 2]) for _ in rows]
    lines = ["Actor,Belief,MatchCount"]
    for row, count in zip(rows, counts, strict=True):
        lines.append(f'{row.actor},"{row.belief}",{count}')
    return "\n".join(lines), sum(count > 0 for count in counts) / len(counts)


def test_f1_from_match_counts_is_that_of_the_release():
    """Over all stories, unusable ones count as 0, and a count of 2 or more earns no more than 1."""
    draw = random.Random(0)
    responses = answers(ITEMS, "random")
    responses.loc[::4, "response"] = "There is much to say about this story."
    expected = dict.fromkeys(responses["item_id"], 0.0)
    alignments = {}
    for key, table in judges.tables_of(ITEMS, responses).items():
        predicted, precision = judged(table.predicted, draw)
        gold, recall = judged(table.gold, draw)
        text = f"Prediction Table\n{predicted}\n\nGround Truth Table\n{gold}"
        alignments[key] = parse_judgement(text, table.predicted, table.gold)
        if precision + recall:
            expected[key[0]] = 2 * precision * recall / (precision + recall)
    scores = omnitom.score(ITEMS, responses, judged=alignments, judge=EXACT)
    assert scores["score"].tolist() == pytest.approx(list(expected.values()))
    metrics = omnitom.metrics(scores).set_index(["metric", "condition"])["value"]
    assert metrics["f1", "all"] == pytest.approx(sum(expected.values()) / len(expected))
