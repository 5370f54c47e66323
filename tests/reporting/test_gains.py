"""Cost beside gain: what a method adds to the plain one, at how many tokens and dollars."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tomlab.models.specs import Price
from tomlab.reporting.gains import gains, table
from tomlab.scoring.paired import differences
from tomlab.scoring.series import Series

HEADLINES = {"right": ("accuracy", "all")}
METHODS = {
    "plain": SimpleNamespace(),
    "twice": SimpleNamespace(first="twice-first"),
    "twice-first": SimpleNamespace(first=None),
}
ITEMS = [f"i{number}" for number in range(6)]
# By method the items asked, and the tokens of each request, in and out.
ASKED = {
    "plain": (ITEMS, 100, 10),
    "twice-first": (ITEMS[:4], 150, 60),
    "twice": (ITEMS[:4], 90, 30),
}


def responses(**columns) -> pd.DataFrame:
    rows = [
        {"item_id": item, "model": "m", "method": method, "sample": 0}
        | {"prompt_tokens": read, "completion_tokens": said, "asked_as": ""}
        for method, (items, read, said) in ASKED.items()
        for item in items
    ]
    return pd.DataFrame(rows).assign(**columns)


def found() -> pd.DataFrame:
    """The plain method is right on one item of four, the other on three."""

    def side(method, right):
        items = pd.Index(ASKED[method][0])
        values = pd.Series([float(item in right) for item in items], items)
        return "m", method, Series("accuracy", "all", values, pd.Series(items, items))

    told = [side("plain", ITEMS[:1]), side("twice", ITEMS[:3])]
    return differences("bench", told, references=("plain",))


def gained(price=None, **columns) -> pd.Series:
    [row] = gains(found(), HEADLINES, responses(**columns), METHODS, {"m": price}).to_dict(
        "records"
    )
    return row


def test_a_method_of_two_calls_costs_both_on_the_items_that_both_methods_share():
    row = gained()
    assert (row["name"], row["same"], row["a"], row["b"]) == ("right", "m", "twice", "plain")
    assert (row["difference"], row["n"], row["n_groups"]) == (0.5, 4, 4)
    assert row["requests"] == 2
    assert (row["prompt_tokens"], row["completion_tokens"]) == (240, 90)
    assert row["factor"] == 330 / 110


def test_dollars_are_those_of_a_thousand_items_at_the_list_price():
    row = gained(Price(input=2, output=10))
    assert row["usd"] == pytest.approx(1000 * (240 * 2 + 90 * 10) / 1e6)
    assert np.isnan(gained()["usd"])


def test_without_tokens_there_is_no_factor():
    assert np.isnan(gained(prompt_tokens=0, completion_tokens=0)["factor"])


def test_what_was_asked_in_another_way_does_not_count():
    more = pd.concat([responses(), responses(asked_as="reversed", sample=1)])
    [row] = gains(found(), HEADLINES, more, METHODS, {}).to_dict("records")
    assert row["requests"] == 2


def test_table_is_printed_with_interval_n_and_cost():
    shown = table(gains(found(), HEADLINES, responses(), METHODS, {"m": Price(input=2, output=10)}))
    [row] = shown.to_dict("records")
    assert row["gain"].startswith(".50 [")
    del row["gain"]
    assert row == {
        "headline": "right",
        "model": "m",
        "method − plain": "twice − plain",
        "n/groups": "4/4",
        "requests": "2.0",
        "prompt tokens": "240",
        "answer tokens": "90",
        "tokens ×": "3.0",
        "US$/1,000": "1.38",
    }


def test_without_pairs_of_methods_there_is_no_row():
    assert gains(found().iloc[:0], HEADLINES, responses(), METHODS, {}).empty
    assert table(gains(found().iloc[:0], HEADLINES, responses(), METHODS, {})).empty
