"""Each response finds its item, or the message says which one does not."""

import numpy as np
import pandas as pd
import pytest

from tomlab.errors import InputError
from tomlab.scoring.answers import failed, pairs

ITEMS = pd.DataFrame({"item_id": ["one", "two"], "answer": ["No", "Yes"]})


def responses(*rows, **columns):
    """Rows are item and answer; columns hold for all of them."""
    table = pd.DataFrame(rows, columns=["item_id", "response"])
    return table.assign(**{"model": "mine", "method": "none", **columns})


def paired(table, items=ITEMS, methods=("none", "cot")):
    return list(pairs(items, table, dict.fromkeys(methods)))


def test_response_of_four_columns_is_filled_up():
    [(item, response)] = paired(responses(("two", "(A)")))
    assert item == {"item_id": "two", "answer": "Yes"}
    assert response == {
        "item_id": "two",
        "model": "mine",
        "method": "none",
        "response": "(A)",
        "sample": 0,
        "finish_reason": "stop",
        "error": None,
        "completion_tokens": 0,
        "asked_as": "",
    }
    assert not failed(response)


def test_columns_that_are_given_are_kept():
    given = {"sample": 2, "finish_reason": "length", "error": "no", "completion_tokens": 7, "x": 1}
    [(_, response)] = paired(responses(("one", "(A)"), **given))
    assert given.items() <= response.items()


def test_order_is_that_of_the_responses_and_items_may_be_left_over():
    rows = [("two", "b"), ("one", "a")]
    assert [item["item_id"] for item, _ in paired(responses(*rows))] == ["two", "one"]
    assert paired(responses()) == []


def test_index_of_the_tables_does_not_matter():
    table = responses(("two", "b"), ("one", "a")).set_axis([5, 5])
    result = [item["answer"] for item, _ in paired(table, ITEMS.set_axis([9, 9]))]
    assert result == ["Yes", "No"]


@pytest.mark.parametrize("name", ["item_id", "model", "method", "response"])
def test_missing_column_is_named(name):
    with pytest.raises(InputError, match=f"^responses: missing columns {name}$"):
        paired(responses(("one", "a")).drop(columns=name))


def test_missing_columns_are_named_together():
    with pytest.raises(InputError, match="missing columns model, response"):
        paired(responses(("one", "a"))[["method", "item_id"]])


def test_unknown_items_are_counted_and_the_first_is_named():
    with pytest.raises(InputError, match=r"no item 'three' \(2 unknown in all\)"):
        paired(responses(("two", "a"), ("zero", "b"), ("three", "c")))


def test_unknown_method_is_named_with_those_there_are():
    with pytest.raises(InputError, match="no method 'tot'; there are: none, cot"):
        paired(responses(("one", "a"), method="tot"))


def test_doubled_response_is_named():
    with pytest.raises(InputError, match=r"^responses: .*'one', 'mine', 'none', 0.* once"):
        paired(responses(("one", "a"), ("two", "b"), ("one", "c")))


def test_same_item_by_another_model_method_or_sample_is_no_double():
    table = pd.concat(
        responses(("one", "a"), **columns)
        for columns in ({}, {"model": "other"}, {"method": "cot"}, {"sample": 1})
    ).fillna({"sample": 0})
    assert len(paired(table)) == 4


@pytest.mark.parametrize(
    ("error", "text", "is_failed"),
    [
        (None, "(A)", False),
        (np.nan, "(A)", False),
        (None, "", False),
        ("timeout", None, True),
        ("timeout", "(A)", True),
        (None, None, True),
        (None, np.nan, True),
    ],
)
def test_error_or_no_text_is_a_failure(error, text, is_failed):
    assert failed({"error": error, "response": text}) is is_failed


def test_item_asked_in_the_other_order_has_its_options_exchanged():
    items = ITEMS.assign(choices=[np.array(["No", "Yes"])] * 2)
    both = responses(("one", "(A)"), ("one", "(A)"), sample=[0, 1], asked_as=["", "reversed"])
    shown = [item["choices"] for item, _ in paired(both, items)]
    assert [list(each) for each in shown] == [["No", "Yes"], ["Yes", "No"]]
