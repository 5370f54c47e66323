"""Judges at work: requests, what is read of their answers, and what people's labels correct."""

from dataclasses import replace

import pandas as pd
import pytest

from omnitom_extraction import EXACT, RECORDS, answers, extraction_scores
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import calibration, judges
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.judging import agreement as judging
from tomlab.models.specs import Reply, Response

ITEMS = omnitom.compose(RECORDS)
TABLES = calibration.calibration_set(RECORDS, 6, 0)


def reply(text: str) -> Response:
    return Response("key", Reply(text, "stop", 1000, 200))


def judgement(table) -> str:
    """What a faultless judge would write of a table."""
    lines = []
    sides = (("Prediction", table.predicted, table.known.mc_predicted),)
    sides += (("Ground Truth", table.gold, table.known.mc_gold),)
    for name, rows, counts in sides:
        lines += [f"{name} Table", "Actor,Belief,MatchCount"]
        lines += [f'{r.actor},"{r.belief}",{n}' for r, n in zip(rows, counts, strict=True)]
    return "\n".join(lines)


def test_a_request_shows_story_and_both_tables():
    [request] = judges.requests(TABLES[:1], "L4", max_tokens=99)
    text = request.messages[-1]["content"]
    assert TABLES[0].story in text
    assert TABLES[0].predicted[0].belief in text
    assert TABLES[0].gold[-1].belief in text
    assert request.max_tokens == 99
    assert judges.requests(TABLES[:1], "L3")[0].max_tokens == 6000  # the released limit


def test_faultless_answers_agree_fully_and_unreadable_ones_are_undefined():
    answers = [reply(judgement(TABLES[0])), reply("I do not know."), Response("k", None, "gone")]
    found, reasons = judges.read(answers, TABLES[:3])
    assert found[0].mc_predicted == TABLES[0].known.mc_predicted
    assert found[1:] == [None, None]
    assert reasons.tolist() == ["read", "no table of matches", "failed"]
    decisions = calibration.decisions(TABLES[:3], found, "toy")
    [row] = judging.agreement_by_judge(decisions).to_dict("records")
    assert row["agreement"] == 1
    assert row["undefined"] == sum(len(t.predicted) + len(t.gold) for t in TABLES[1:3])
    assert row["agreement_all"] < 1


def test_rows_missing_from_a_cut_answer_are_undefined():
    table, whole = TABLES[0], judgement(TABLES[0]).splitlines()
    cut = "\n".join(whole[: -(len(table.gold) // 2)])
    [found], _ = judges.read([reply(cut)], TABLES[:1])
    assert found.mc_predicted == table.known.mc_predicted
    assert found.mc_gold[0] == table.known.mc_gold[0] and found.mc_gold[-1] is None


def test_a_language_model_that_won_judges_the_tables_of_the_run():
    items = omnitom.compose(RECORDS[:3])
    keys = {"model": "m", "method": "stage1-L3"}
    said = [omnitom.reference(i, "stage1-L3", 0)["gold"] for i in items.to_dict("records")[::2]]
    said[1] = "No table."
    responses = pd.DataFrame(
        [
            {"item_id": item_id, "response": text, **keys}
            for item_id, text in zip(items["item_id"][::2], said, strict=True)
        ]
    )
    tables = judges.tables_of(items, responses)
    assert [key[0] for key in tables] == [items["item_id"][0], items["item_id"][4]]
    judged = {
        key: Alignment([0] * len(t.predicted), [0] * len(t.gold), []) for key, t in tables.items()
    }
    scores = omnitom.score(items, responses, judge=EXACT, judged=judged)
    assert scores["score"].tolist() == [0, 0, 0]
    assert scores["judge"].tolist() == ["llm", "exact", "llm"]


# People's labels of a run


def test_without_labels_the_score_is_not_corrected():
    assert judges.corrected(extraction_scores("random"), {}, []).empty


def labelled_by(tables, annotator: str, miss: int = 0):
    """People who see a match in all rows but the first `miss` predicted ones."""
    said = []
    for table in tables:
        seen = [int(n >= miss) for n in range(len(table.predicted))]
        known = Alignment(seen, [1] * len(table.gold), [])
        said.append(replace(table, known=known, truth=f"human:{annotator}"))
    return said


def test_labels_of_the_run_are_known_by_their_rows_and_correct_the_score():
    tables = judges.tables_of(ITEMS, answers(ITEMS, "random"))
    first = list(tables.values())[:8]
    human = labelled_by(first, "p1") + labelled_by(first, "p2")
    strange = replace(human[0], predicted=human[0].predicted[:1])
    known = {table.content for table in tables.values()}
    assert [one for one in (*human, strange) if one.content not in known] == [strange]
    scores = extraction_scores("random")
    [found] = judges.corrected(scores, tables, [*human, strange]).to_dict("records")
    assert (found["value"], found["n"]) == (1, 8)
    assert found["ci_low"] == pytest.approx(0.025 ** (1 / found["n_groups"]))


def test_a_story_counts_once_however_often_it_is_asked():
    scores = extraction_scores("random")
    again = pd.concat([scores, scores.assign(sample=1)], ignore_index=True)
    tables = judges.tables_of(ITEMS, answers(ITEMS, "random"))
    human = labelled_by(list(tables.values())[:9], "p1")
    assert judges.corrected(scores, tables, human)["n"].tolist() == [9]
    # Of a story with two outputs, one of them labelled, people's score is not known.
    assert judges.corrected(again, tables, human).empty
    both = tables | {(*key[:3], 1): one for key, one in tables.items()}
    assert judges.corrected(again, both, human)["n"].tolist() == [9]


def test_people_who_labelled_the_same_tables_are_averaged():
    tables = judges.tables_of(ITEMS, answers(ITEMS, "random"))
    first = list(tables.values())[:8]
    human = [labelled_by(first, "p1"), labelled_by(first, "p2", miss=1)]
    scores = extraction_scores("random").assign(score=0.5)
    said = *human, [*human[0], *human[1]]
    values = [judges.corrected(scores, tables, one)["value"].item() for one in said]
    assert values[0] > values[1]
    assert values[2] == pytest.approx((values[0] + values[1]) / 2)
