"""Judges at work: what is read of their answers, and what people's labels correct."""

from dataclasses import replace

import pandas as pd
import pytest

from omnitom_stories import RECORDS, answers, extraction_scores
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import calibration, judges
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.models.specs import Reply, Response


def judgement(table):
    """The lines that a faultless judge would write of a table."""
    lines = []
    for title, rows, counts in (
        ("Prediction", table.predicted, table.known.mc_predicted),
        ("Ground Truth", table.gold, table.known.mc_gold),
    ):
        lines += [title, "Actor,Belief,MatchCount"]
        for row, count in zip(rows, counts, strict=True):
            lines.append(f'{row.actor},"{row.belief}",{count}')
    return lines


def test_unread_answers_and_rows_are_undefined_and_no_match_as_the_release_counts():
    tables = calibration.calibration_set(RECORDS, 3, 0)
    known = tables[0].known
    texts = ["\n".join(judgement(tables[0])[:-1]), "I do not know."]
    responses = [Response("key", Reply(text, "stop")) for text in texts]
    alignments, reasons = judges.read([*responses, Response("key", None, "gone")], tables)
    assert reasons.tolist() == ["read", "no table of matches", "failed"]
    assert alignments == [Alignment(known.mc_predicted, [*known.mc_gold[:-1], None]), None, None]
    counted, uncounted, _ = judges.as_released(alignments, tables)
    assert counted == Alignment(known.mc_predicted, [*known.mc_gold[:-1], 0])
    assert {*uncounted.mc_predicted, *uncounted.mc_gold} == {0}


def test_the_usable_tables_of_a_run_are_judged():
    items = omnitom.compose(RECORDS[:2])
    responses = answers(items, "gold")
    responses.loc[1, "response"] = "No table."
    [(key, table)] = judges.tables_of(items, responses).items()
    assert key == (responses["item_id"][0], "gold", "stage1-L3", 0)
    assert table.predicted[0].belief == RECORDS[0]["beliefs"][0]["belief"]


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
        known = Alignment(counts, [1] * len(table.gold))
        labelled.append(replace(table, known=known, truth=f"human:{annotator}"))
    return labelled


def test_labels_are_known_by_their_rows_and_correct_the_score(tables, scores):
    assert judges.corrected(scores, {}, []).empty
    human = labelled_by(tables, "p1", 8)
    other_rows = replace(human[0], predicted=human[0].predicted[:1])
    [row] = judges.corrected(scores, tables, [*human, other_rows]).to_dict("records")
    assert (row["value"], row["n"]) == (1, 8)
    assert row["ci_low"] == pytest.approx(0.025 ** (1 / row["n_groups"]))


def test_a_story_counts_as_labelled_if_all_of_its_samples_are(tables, scores):
    human = labelled_by(tables, "p1", 9)
    samples = pd.concat([scores, scores.assign(sample=1)], ignore_index=True)
    assert judges.corrected(samples, tables, human).empty
    second_tables = {(*key[:3], 1): table for key, table in tables.items()}
    assert judges.corrected(samples, tables | second_tables, human)["n"].tolist() == [9]


def test_people_who_labelled_the_same_tables_are_averaged(tables, scores):
    first = labelled_by(tables, "p1", 8)
    second = labelled_by(tables, "p2", 8, n_missed=1)
    scores = scores.assign(score=0.5)
    values = []
    for human in (first, second, first + second):
        values.append(judges.corrected(scores, tables, human)["value"].item())
    assert values[0] > values[1]
    assert values[2] == pytest.approx((values[0] + values[1]) / 2)
