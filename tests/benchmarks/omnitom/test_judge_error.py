"""What the judge's errors do to F1, by people's labels of the run."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from omnitom_extraction import RECORDS, answers, extraction_scores
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import calibration, judge_error, judges
from tomlab.judging import people as labelled


def claims(scores, by_people=()) -> pd.DataFrame:
    found = judge_error.with_error(scores, dict(by_people))
    return found.set_index(["condition", "metric"])


def test_without_labels_the_score_stands_uncorrected():
    scores = extraction_scores("random")
    found = claims(scores)
    assert found.loc[("all", "f1_uncorrected"), "value"] == pytest.approx(scores["score"].mean())
    for condition in ("all", "categories"):
        as_judged = found.loc[(condition, "f1_uncorrected")]
        assert as_judged["ci_low"] < as_judged["value"] < as_judged["ci_high"]
        told = found.loc[(condition, "f1_by_labels")]
        assert np.isnan(told["value"]) and told["reason"] == judge_error.TOO_FEW


def labelled_by(keys, tables, annotator: str, miss: int = 0):
    """People who see a match in all rows but the first `miss` predicted ones."""
    return [
        replace(
            table,
            table_id=f"{table.table_id}/{annotator}",
            mc_predicted=tuple(int(n >= miss) for n in range(len(table.predicted))),
            mc_gold=(1,) * len(table.gold),
            truth=f"human:{annotator}",
        )
        for key, table in zip(keys, tables, strict=True)
    ]


def test_labels_of_the_run_are_known_by_their_rows_and_correct_the_score():
    items = omnitom.compose(RECORDS)
    responses = answers(items, "random")
    keys, tables = judges.tables_of(items, responses)
    human = labelled_by(keys[:8], tables[:8], "p1") + labelled_by(keys[:8], tables[:8], "p2")
    strange = replace(human[0], predicted=human[0].predicted[:1], mc_predicted=(1,))
    of_run, elsewhere = judge_error.of_run([*human, strange], tables)
    assert (len(of_run), elsewhere) == (16, [strange])
    by_people = judge_error.f1_by_people(keys, tables, of_run)
    assert by_people == dict.fromkeys(keys[:8], 1.0)
    half = judge_error.f1_by_people(keys, tables, labelled_by(keys[:1], tables[:1], "p1", miss=1))
    assert half[keys[0]] == pytest.approx(2 / (2 + 1 / (len(tables[0].predicted) - 1)), abs=0.02)
    scores = extraction_scores("random")
    found = claims(scores, by_people).loc[("all", "f1_by_labels")]
    assert (found["value"], found["n"]) == (1, 8)
    assert found["ci_low"] == pytest.approx(0.025 ** (1 / found["n_groups"]))


def test_a_story_counts_once_however_often_it_is_asked():
    scores = extraction_scores("random")
    again = pd.concat([scores, scores.assign(sample=1)], ignore_index=True)
    key = ["item_id", "model", "method", "sample"]
    by_people = dict.fromkeys(map(tuple, scores[key].to_numpy()[:9]), 0.5)
    alone = claims(scores, by_people).loc[("all", "f1_by_labels")]
    assert alone["n"] == 9
    # Of a story with two outputs, one of them labelled, people's score is not known.
    partly = claims(again, by_people).loc[("all", "f1_by_labels")]
    assert np.isnan(partly["value"])
    both = by_people | {(*k[:3], 1): f1 for k, f1 in by_people.items()}
    assert claims(again, both).loc[("all", "f1_by_labels"), "n"] == 9


def test_what_is_to_be_labelled_is_a_form_that_can_be_read_once_filled_in(tmp_path):
    items = omnitom.compose(RECORDS)
    keys, tables = judges.tables_of(items, answers(items, "random"))
    stories = labelled.drawn({table.group for table in tables}, 3, seed=0)
    form = judge_error.to_label(keys, tables, stories)
    assert set(form["story_id"]) == set(stories)
    assert set(form["match_count"]) == set(form["annotator"]) == {""}
    assert form["system"].unique().tolist() == ["random/stage1-L3/0"]
    path = tmp_path / "filled.csv"
    form.assign(match_count="1", annotator="p1").to_csv(path, index=False)
    human = calibration.read_human(path)
    of_run, elsewhere = judge_error.of_run(human, tables)
    assert (len(of_run), elsewhere) == (3, [])
