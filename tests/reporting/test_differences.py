"""Differences in pairs as they are printed, drawn, planned, and shown with the answers behind."""

import numpy as np
import pandas as pd

import drawn
from tomlab.records.published import Wording
from tomlab.reporting import differences, printed, readings
from tomlab.scoring import paired
from tomlab.scoring.series import Series

WORDING = Wording("Demo", {"plain": "plainly", "cot": "CoT"}, groups="templates")
NAMED = {"both right": ("tb_and_fb", "all"), "action": ("tb_and_fb", "action")}
ALONE = {"mine": 9, "yours": 3}  # of ten templates, how many each has right


def told():
    for method in ("plain", "cot"):
        for model, right in ALONE.items():
            for condition in ("all", "action") if method == "plain" else ("all",):
                values = pd.Series([1.0] * right + [0.0] * (10 - right), list("abcdefghij"))
                yield (
                    model,
                    method,
                    Series("tb_and_fb", condition, values, values.index.to_series()),
                )


FOUND = paired.differences("demo", told(), None, ["plain"])
NOTHING = paired.differences("demo", [], None, ["plain"])


def test_table_has_a_row_a_pair_and_a_column_a_headline():
    table = differences.table(FOUND, NAMED, WORDING)
    assert list(table.printed) == ["Of", "a − b", "both right", "action"]
    assert table.printed[["Of", "a − b"]].to_numpy().tolist() == [
        ["plainly", "mine − yours"],
        ["CoT", "mine − yours"],
        ["mine", "CoT − plainly"],
        ["yours", "CoT − plainly"],
    ]
    cell = table.printed.loc[0, "both right"]
    # Six of six: 2^-5; two pairs in two conditions, and two of methods that do not differ at all.
    assert cell.startswith("0.60 [")
    assert cell.endswith("†\np .031, q .052\nn = 10/10, d = 6")
    assert table.printed.loc[1, "action"] == printed.ABSENT
    assert len(table.tidy) == len(FOUND)
    assert "all 5 differences" in table.notes[1]
    assert "Demo" in printed.html(table)
    assert printed.latex(table, "demo")


def test_figure_has_a_dot_a_pair_of_the_model_at_its_difference():
    figure, caption = drawn.told(differences.figure(FOUND, NAMED, WORDING, "yours"))
    assert [label for label, _ in drawn.rows(figure)] == ["yours", "CoT − plainly"]
    figure, caption = drawn.told(differences.figure(FOUND, NAMED, WORDING, "mine"))
    labels = [label for label, _ in drawn.rows(figure)]
    assert labels == ["plainly", "mine − yours", "CoT", "mine − yours", "mine", "CoT − plainly"]
    both, action = figure.axes
    assert drawn.dots(both, "between models filled") == [(0.6, 1), (0.6, 3)]
    assert drawn.dots(both, "between methods filled") == [(0.0, 5)]
    assert drawn.counts(both) == {1: "10/10", 3: "10/10", 5: "10/10"}
    assert drawn.artists(both, "zero")
    assert [said for said in drawn.said(action) if said != "†"] == ["not asked", "not asked"]
    assert "what mine scores less what others do" in caption


def test_nothing_to_compare_is_said():
    table = differences.table(NOTHING, NAMED, WORDING)
    assert table.printed.empty
    assert table.notes == ["Nothing to compare in pairs."]
    assert printed.html(table)
    figure, *_ = differences.figure(NOTHING, NAMED, WORDING, "mine")
    assert drawn.rows(figure) == [("Nothing to compare in pairs", 0)]
    assert differences.plan(NOTHING, NAMED).empty
    assert differences.largest(differences.plan(NOTHING, NAMED)).empty


def test_plan_tells_what_ten_groups_of_which_six_differ_show():
    planned = differences.plan(FOUND, NAMED)
    first = planned.iloc[0]
    assert first[["headline", "shared", "pair"]].tolist() == ["both right", "plain", "mine − yours"]
    assert first[["groups", "differ"]].tolist() == [10, 6]
    # (1.95996 sqrt(.6) + .84162 sqrt(.6 - .01))^2 / .01 = 468.9
    assert first["groups for 0.1"] == 469
    # It would take .61, more than all six that differ can make.
    assert np.isnan(first["least shown"])
    # The methods of a model do not differ at all.
    alike = planned[planned["differ"] == 0]
    assert len(alike) == 2
    assert alike[["least shown", "groups for 0.1"]].isna().all(axis=None)
    assert differences.largest(planned).index.tolist() == list(NAMED)


def asked():
    """Two models' answers about three templates, with what could be taken for markup in them."""
    items = pd.DataFrame({"item_id": ["a/0", "a/1", "b/0", "c/0"], "question": "<b>Where?</b>"})
    items["answer"] = "the $box$"
    keys = {"method": "plain", "sample": 0}
    rows = [
        {**keys, "item_id": item, "group_id": item[0], "model": model, "score": score}
        for model, scores in {"mine": [1, 1, 1, 0], "yours": [0, 0, 1, 1]}.items()
        for item, score in zip(items["item_id"], map(float, scores), strict=True)
    ]
    scores = pd.DataFrame(rows)
    scores["outcome"] = scores["score"].map({1.0: "correct", 0.0: "wrong"})
    responses = scores[readings.KEY].assign(response="<script>1</script>", error=None)
    return items, responses, scores


def test_one_answer_of_each_group_that_differs_is_shown_with_both_sides():
    shown = differences.disagreements(*asked(), FOUND)
    assert shown.index.tolist() == [("a", "a/0"), ("c", "c/0")]
    assert shown["verdict on mine"].tolist() == ["correct", "wrong"]
    assert shown["verdict on yours"].tolist() == ["wrong", "correct"]
    assert list(shown)[2:] == ["mine, plain", "verdict on mine", "yours, plain", "verdict on yours"]
    page = readings.show(shown).data
    assert "&lt;script&gt;1&lt;/script&gt;" in page
    assert "<script>" not in page
    assert "<b>Where" not in page


def test_no_more_groups_than_asked_for_and_none_where_nothing_differs():
    items, responses, scores = asked()
    assert len(differences.disagreements(items, responses, scores, FOUND, n=1)) == 1
    assert differences.disagreements(items, responses, scores.assign(score=1.0), FOUND).empty
    assert differences.disagreements(items, responses, scores, NOTHING).empty
