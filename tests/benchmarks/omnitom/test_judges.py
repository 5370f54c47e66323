"""Judges at work: requests, what is read of their answers, and what people's labels correct."""

from dataclasses import replace

import pandas as pd
import pytest

from omnitom_stories import EXACT, RECORDS, answers, extraction_scores
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import calibration, judges
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.models.specs import Reply, Response

TABLES = calibration.calibration_set(RECORDS, 3, 0)


def judgement(table):
    """The lines that a faultless judge would write of a table."""
    lines = []
    for name, rows, counts in (
        ("Prediction", table.predicted, table.known.mc_predicted),
        ("Ground Truth", table.gold, table.known.mc_gold),
    ):
        lines += [f"{name} Table", "Actor,Belief,MatchCount"]
        for row, count in zip(rows, counts, strict=True):
            lines.append(f'{row.actor},"{row.belief}",{count}')
    return lines


def reply(*lines):
    return Response("key", Reply("\n".join(lines), "stop", 1000, 200))


def test_faultless_answers_are_read_and_unreadable_ones_are_undefined():
    responses = [reply(*judgement(TABLES[0])), reply("I do not know."), Response("k", None, "gone")]
    alignments, reasons = judges.read(responses, TABLES)
    assert alignments[0].mc_predicted == TABLES[0].known.mc_predicted
    assert alignments[0].mc_gold == TABLES[0].known.mc_gold
    assert alignments[1:] == [None, None]
    assert reasons.tolist() == ["read", "no table of matches", "failed"]


def test_rows_missing_from_a_cut_answer_are_undefined_and_no_match_as_the_release_counts():
    table = TABLES[0]
    [alignment], _ = judges.read([reply(*judgement(table)[:-1])], TABLES[:1])
    assert alignment.mc_gold == [*table.known.mc_gold[:-1], None]
    first, second = judges.as_released([alignment, None], TABLES[:2])
    assert first.mc_gold == [*table.known.mc_gold[:-1], 0]
    assert set(second.mc_predicted + second.mc_gold) == {0}


def test_a_language_model_judges_the_usable_tables_of_a_run():
    items = omnitom.compose(RECORDS[:3])
    responses = answers(items, "gold")
    responses.loc[1, "response"] = "No table."
    tables = judges.tables_of(items, responses)
    assert [key[0] for key in tables] == responses["item_id"].tolist()[::2]
    judged = {}
    for key, table in tables.items():
        judged[key] = Alignment([0] * len(table.predicted), [0] * len(table.gold), [])
    scores = omnitom.score(items, responses, judge=EXACT, judged=judged)
    assert scores["score"].tolist() == [0, 0, 0]
    assert scores["judge"].tolist() == ["llm", "exact", "llm"]


# People's labels of a run


@pytest.fixture(scope="module")
def tables():
    items = omnitom.compose(RECORDS)
    return judges.tables_of(items, answers(items, "random"))


@pytest.fixture(scope="module")
def scores():
    return extraction_scores("random")


def labelled_by(tables, annotator, n, n_missed=0):
    """The first n tables by people who see a match in all rows but the first predicted ones."""
    labelled = []
    for table in list(tables.values())[:n]:
        counts = [int(place >= n_missed) for place in range(len(table.predicted))]
        known = Alignment(counts, [1] * len(table.gold), [])
        labelled.append(replace(table, known=known, truth=f"human:{annotator}"))
    return labelled


def test_labels_are_known_by_their_rows_and_correct_the_score(tables, scores):
    assert judges.corrected(scores, {}, []).empty
    human = labelled_by(tables, "p1", 8) + labelled_by(tables, "p2", 8)
    strange = replace(human[0], predicted=human[0].predicted[:1])
    [row] = judges.corrected(scores, tables, [*human, strange]).to_dict("records")
    assert (row["value"], row["n"]) == (1, 8)
    assert row["ci_low"] == pytest.approx(0.025 ** (1 / row["n_groups"]))


def test_a_story_counts_as_labelled_if_all_of_its_samples_are(tables, scores):
    human = labelled_by(tables, "p1", 9)
    twice = pd.concat([scores, scores.assign(sample=1)], ignore_index=True)
    assert judges.corrected(twice, tables, human).empty
    again = {(*key[:3], 1): table for key, table in tables.items()}
    assert judges.corrected(twice, tables | again, human)["n"].tolist() == [9]


def test_people_who_labelled_the_same_tables_are_averaged(tables, scores):
    first = labelled_by(tables, "p1", 8)
    second = labelled_by(tables, "p2", 8, n_missed=1)
    scores = scores.assign(score=0.5)
    high, low, mean = (
        judges.corrected(scores, tables, human)["value"].item()
        for human in (first, second, first + second)
    )
    assert high > low
    assert mean == pytest.approx((high + low) / 2)
