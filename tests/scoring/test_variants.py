"""What the order of two options and the wording of a prompt change, counted by hand."""

import pandas as pd
import pytest

from tomlab.records.tidy import REVERSED
from tomlab.scoring.stats import DIFFERENCE, cluster_interval
from tomlab.scoring.variants import protocol, variants

# Four questions of two groups; the first option is right in one of each group.
ANSWERS = ["yes", "no", "yes", "no"]
ITEMS = pd.DataFrame({"item_id": ["a1", "a2", "b1", "b2"], "group_id": ["a", "a", "b", "b"]})
ITEMS["choices"] = [["yes", "no"]] * 4


def scores(asked_as, chosen, sample=0, **columns):
    """Scores of one model that chose these options, None where none could be read."""
    outcomes = []
    for option, answer in zip(chosen, ANSWERS, strict=True):
        outcome = "correct" if option == answer else "wrong"
        outcomes.append("unparsed" if option is None else outcome)
    table = ITEMS[["item_id", "group_id"]].assign(model="m", method="plain", sample=sample)
    table = table.assign(asked_as=asked_as, chosen=chosen, outcome=outcomes)
    return table.assign(score=table["outcome"].eq("correct").astype(float)).assign(**columns)


def rows_of(*tables):
    """The rows of one variant by metric."""
    table = variants(pd.concat(tables, ignore_index=True), ITEMS, "group_id")
    assert table["asked_as"].nunique() == 1
    return table.set_index("metric")


ALL_RIGHT = {"as_asked": 1, "varied": 1, "both": 1, "difference": 0, "both_right": 1}
HALF_RIGHT = {"as_asked": 0.5, "varied": 0.5, "both": 0.5, "difference": 0}


@pytest.mark.parametrize(
    ("chosen", "chosen_reversed", "values"),
    [
        (ANSWERS, ANSWERS, ALL_RIGHT | {"same_answer": 1, "unreadable": 0, "first_option": 0.5}),
        (  # always the second option
            ["no"] * 4,
            ["yes"] * 4,
            HALF_RIGHT | {"both_right": 0, "same_answer": 0, "unreadable": 0, "first_option": 0},
        ),
        (  # as asked: right, right, wrong, unread; reversed: right, wrong, wrong, right
            ["yes", "no", "no", None],
            ["yes", "yes", "no", "no"],
            # Of three questions read both ways: first, second, second; then second, second, first.
            HALF_RIGHT
            | {"both_right": 1 / 4, "same_answer": 2 / 4, "unreadable": 1 / 4}
            | {"first_option": pytest.approx(2 / 6)},
        ),
    ],
)
def test_numbers_of_swapped_options_are_those_counted_by_hand(chosen, chosen_reversed, values):
    rows = rows_of(scores("", chosen), scores(REVERSED, chosen_reversed, sample=1))
    assert rows["value"].to_dict() == values
    # Answers to questions that were read both ways
    assert rows.at["first_option", "n"] == 2 * sum(option is not None for option in chosen)


def test_difference_has_the_interval_of_differences():
    rows = rows_of(
        scores("", ["yes", "no", "no", None]), scores(REVERSED, ["yes", "yes", "no", "no"], 1)
    )
    moves = pd.Series([0.0, -1.0, 0.0, 1.0])
    interval = cluster_interval(moves, ITEMS["group_id"], bounds=DIFFERENCE)
    assert rows.loc["difference", [*vars(interval)]].to_dict() == vars(interval)


def test_a_wording_has_no_order_and_repeats_are_paired_with_their_own():
    first = ["yes", "no", "no", "no"]
    second = ["no"] * 4
    rows = rows_of(
        scores("", first),
        scores("", second, sample=1),
        scores("reworded", first, sample=2),
        scores("reworded", second, sample=3),
    )
    assert {"first_option", "both_right"}.isdisjoint(rows.index)
    assert rows.loc["same_answer", ["value", "n"]].tolist() == [1, 8]


def test_only_questions_put_both_ways_count():
    rows = rows_of(scores("", ["yes"] * 4), scores("reworded", ["no"] * 4, sample=1)[:2])
    assert rows.loc["as_asked", ["value", "n", "n_groups"]].tolist() == [0.5, 2, 1]


def test_scores_that_are_no_verdicts_are_compared_alone():
    plain = scores("", [None] * 4, outcome="scored", score=0.5)
    rows = rows_of(plain, scores("reworded", [None] * 4, 1, outcome="scored", score=0.25))
    expected = {"as_asked": 0.5, "varied": 0.25, "both": 0.375, "difference": -0.25}
    assert rows["value"].to_dict() == expected


def test_protocol_rows_are_those_that_no_variant_asks():
    plain = scores("", ["yes"] * 4)
    table = pd.concat([plain, scores(REVERSED, ["no"] * 4, sample=1)])
    assert protocol(table).equals(plain)
    without = table.drop(columns="asked_as")
    assert protocol(without) is without
    assert variants(without, ITEMS, "group_id").empty
    assert variants(plain, ITEMS, "group_id").empty
