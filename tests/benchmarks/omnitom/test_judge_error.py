"""What the judge's errors do to F1: labels by people, the calibration, and the run's own copies."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from omnitom_extraction import RECORDS, answers, extraction_scores
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import calibration, judge_error, judges
from tomlab.judging import error, planner

DECISION = ["judge", "group", "unit", "truth", "decision"]


def confusion(**cells: int) -> pd.DataFrame:
    counts = {"tp": 90, "fp": 1, "fn": 1, "tn": 90} | cells
    return pd.DataFrame([{"group": str(n), **counts} for n in range(10)])


UNCHECKED = error.transport(pd.DataFrame(columns=DECISION), confusion())


def claims(scores, cells, by_people=(), carried=UNCHECKED) -> pd.DataFrame:
    found = judge_error.with_error(scores, cells, dict(by_people), carried)
    return found.set_index(["condition", "metric"])


def test_without_labels_the_score_stands_uncorrected_beside_the_claim_from_edits():
    scores = extraction_scores("random")
    found = claims(scores, confusion(fp=9, tn=81))
    assert found.loc[("all", "f1_uncorrected"), "value"] == pytest.approx(scores["score"].mean())
    for condition in ("all", "categories"):
        as_judged = found.loc[(condition, "f1_uncorrected")]
        claim = found.loc[(condition, "f1_as_on_edits")]
        assert as_judged["ci_low"] < as_judged["value"] < as_judged["ci_high"]
        assert claim["ci_low"] < claim["value"] < claim["ci_high"]
        assert claim["value"] < as_judged["value"]
        told = found.loc[(condition, "f1_by_labels")]
        assert np.isnan(told["value"]) and told["reason"] == judge_error.TOO_FEW


def test_a_claim_from_edits_is_refused_where_the_judge_errs_otherwise_here():
    scores = extraction_scores("random")
    lenient = confusion(fp=30, tn=60)
    carried = error.transport(judge_error.verbatim(scores), lenient)
    assert carried.set_index("quality")["outside"]["specificity"]
    refused = claims(scores, lenient, carried=carried).loc[("all", "f1_as_on_edits")]
    assert np.isnan(refused["value"])
    assert "specificity 1.00 on verbatim rows of random" in refused["reason"]
    elsewhere = claims(scores.assign(model="llm"), lenient, carried=carried)
    assert "of random" in elsewhere.loc[("all", "f1_as_on_edits"), "reason"]


def test_truth_of_verbatim_rows_is_read_off_the_tables():
    scores = extraction_scores("random")
    found = judge_error.verbatim(scores)
    # The judge of equal texts errs in none of them.
    assert len(found) > 100 and (found["truth"] == found["decision"].astype(bool)).all()
    assert found["truth"].any() and not found["truth"].all()
    reworded = scores.assign(detail=scores["detail"].str.replace(" is ", " was ", n=1))
    assert len(judge_error.verbatim(reworded)) < len(found)


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
    found = claims(scores, confusion(), by_people).loc[("all", "f1_by_labels")]
    assert (found["value"], found["n"]) == (1, 8)
    assert found["ci_low"] == pytest.approx(0.025 ** (1 / found["n_groups"]))


def test_a_story_counts_once_however_often_it_is_asked():
    scores = extraction_scores("random")
    again = pd.concat([scores, scores.assign(sample=1)], ignore_index=True)
    key = ["item_id", "model", "method", "sample"]
    by_people = dict.fromkeys(map(tuple, scores[key].to_numpy()[:9]), 0.5)
    alone = claims(scores, confusion(), by_people).loc[("all", "f1_by_labels")]
    assert alone["n"] == 9
    # Of a story with two outputs, one of them labelled, people's score is not known.
    partly = claims(again, confusion(), by_people).loc[("all", "f1_by_labels")]
    assert np.isnan(partly["value"])
    both = by_people | {(*k[:3], 1): f1 for k, f1 in by_people.items()}
    assert claims(again, confusion(), both).loc[("all", "f1_by_labels"), "n"] == 9


def test_what_is_to_be_labelled_is_a_form_that_can_be_read_once_filled_in(tmp_path):
    items = omnitom.compose(RECORDS)
    keys, tables = judges.tables_of(items, answers(items, "random"))
    stories = planner.drawn({table.group for table in tables}, 3, seed=0)
    form = judge_error.to_label(keys, tables, stories)
    assert set(form["story_id"]) == set(stories)
    assert set(form["match_count"]) == set(form["annotator"]) == {""}
    assert form["system"].unique().tolist() == ["random/stage1-L3/0"]
    path = tmp_path / "filled.csv"
    form.assign(match_count="1", annotator="p1").to_csv(path, index=False)
    human = calibration.read_human(path)
    of_run, elsewhere = judge_error.of_run(human, tables)
    assert (len(of_run), elsewhere) == (3, [])


def test_the_judge_and_people_are_held_against_each_other_row_by_row():
    items = omnitom.compose(RECORDS)
    responses = answers(items, "random")
    keys, tables = judges.tables_of(items, responses)
    judged = judge_error.as_judged(keys, tables, extraction_scores("random"))
    people = [replace(table, truth=f"human:p{n}") for n in (1, 2) for table in judged]
    own = judge_error.row_labels(judged)
    assert own["label"].any() and not own["label"].all()
    found = planner.alt_test(judge_error.row_labels(people), own.set_index("unit")["label"])
    assert found["rejected"].all() and (found["judge_wins"] == 1).all()


def test_judged_and_true_f1_of_calibration_tables_go_together_as_their_rows_do():
    tables = calibration.calibration_set(RECORDS, 9, 0)
    rows = calibration.labelled_rows(tables)
    faultless = rows.assign(decision=rows["truth"])
    assert judge_error.f1_correlation(faultless, rows) == pytest.approx(1)
    by_lot = faultless.assign(decision=rows["truth"].sample(frac=1, random_state=0).to_numpy())
    assert judge_error.f1_correlation(by_lot, rows) < 0.9
