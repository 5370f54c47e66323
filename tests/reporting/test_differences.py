"""Differences in pairs: in words, and with the answers behind them."""

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import differences, readings
from tomlab.reporting.cards import cards
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
                groups = values.index.to_series()
                yield model, method, Series("tb_and_fb", condition, values, groups)


FOUND = paired.differences("demo", told(), None, ["plain"])
NOTHING = paired.differences("demo", [], None, ["plain"])


def test_a_difference_has_its_pair_its_value_and_a_mark_where_it_holds():
    rows = differences.labelled(FOUND, NAMED, WORDING).query("headline == 'both right'")
    assert rows[["kind", "shared", "pair"]].to_numpy().tolist() == [
        ["between models", "plainly", "mine − yours"],
        ["between models", "CoT", "mine − yours"],
        ["between methods", "mine", "CoT − plainly"],
        ["between methods", "yours", "CoT − plainly"],
    ]
    assert rows["value"].round(3).tolist() == [0.6, 0.6, 0.0, 0.0]
    assert rows["mark"].tolist() == ["†", "†", "", ""]


def test_nothing_to_compare_is_an_empty_table():
    assert differences.labelled(NOTHING, NAMED, WORDING).empty


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
    table = differences.disagreements(*asked(), FOUND)
    assert table.index.tolist() == [("a", "a/0"), ("c", "c/0")]
    assert table["verdict on mine"].tolist() == ["correct", "wrong"]
    assert table["verdict on yours"].tolist() == ["wrong", "correct"]
    assert list(table)[2:] == ["mine, plain", "verdict on mine", "yours, plain", "verdict on yours"]
    page = cards(table).data
    assert "&lt;script&gt;1&lt;/script&gt;" in page
    assert "<script>" not in page
    assert "<b>Where" not in page


def test_nothing_is_shown_where_nothing_differs():
    items, responses, scores = asked()
    assert differences.disagreements(items, responses, scores.assign(score=1.0), FOUND).empty
    assert differences.disagreements(items, responses, scores, NOTHING).empty
