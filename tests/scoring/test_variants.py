"""What the order of two options and the wording of a prompt change, counted by hand."""

import pandas as pd
import pytest

from tomlab.records.tidy import REVERSED
from tomlab.scoring.stats import DIFFERENCE, cluster_interval
from tomlab.scoring.variants import protocol, variants

# Four questions of two groups; the first option is right in one of each group.
ITEMS = pd.DataFrame(
    {
        "item_id": ["a1", "a2", "b1", "b2"],
        "choices": [["yes", "no"]] * 4,
        "answer": ["yes", "no", "yes", "no"],
        "group_id": ["a", "a", "b", "b"],
    }
)


def scores(asked_as: str, chosen: list, sample: int = 0, **columns) -> pd.DataFrame:
    """Scores of one model that chose these options, None where none could be read."""
    right = [said == answer for said, answer in zip(chosen, ITEMS["answer"], strict=True)]
    outcomes = ["unparsed" if said is None else "wrong" for said in chosen]
    outcomes = ["correct" if r else o for r, o in zip(right, outcomes, strict=True)]
    told = {"model": "m", "method": "plain", "sample": sample, "asked_as": asked_as}
    told |= {"outcome": outcomes, "score": [float(r) for r in right], "chosen": chosen}
    return ITEMS[["item_id", "group_id"]].assign(**told | columns)


def result(*tables: pd.DataFrame) -> dict[str, pd.Series]:
    """The rows of one variant by metric."""
    table = variants(pd.concat(tables, ignore_index=True), ITEMS, "group_id")
    assert table["asked_as"].nunique() == 1
    return {row["metric"]: row for _, row in table.iterrows()}


def test_who_always_names_the_second_option_has_no_first_one_and_half_of_both_orders():
    told = result(scores("", ["no"] * 4), scores(REVERSED, ["yes"] * 4, sample=1))
    assert told["first_option"]["value"] == 0
    assert told["first_option"]["n"] == 8
    assert told["both"]["value"] == 0.5
    assert told["same_answer"]["value"] == told["both_right"]["value"] == 0


def test_who_knows_the_answer_gives_it_in_both_orders():
    answers = list(ITEMS["answer"])
    told = result(scores("", answers), scores(REVERSED, answers, sample=1))
    ones = ("as_asked", "varied", "both", "same_answer", "both_right")
    assert [told[metric]["value"] for metric in ones] == [1] * 5
    assert told["first_option"]["value"] == 0.5
    assert told["difference"]["value"] == told["unreadable"]["value"] == 0


def test_numbers_are_those_counted_by_hand():
    # As asked: right, right, wrong, unread. Reversed: right, wrong, wrong, right.
    plain, second = ["yes", "no", "no", None], ["yes", "yes", "no", "no"]
    told = result(scores("", plain), scores(REVERSED, second, sample=1))
    values = {metric: row["value"] for metric, row in told.items()}
    assert values == {
        "as_asked": 2 / 4,
        "varied": 2 / 4,
        "both": 2 / 4,
        "difference": 0,
        "both_right": 1 / 4,
        "same_answer": 2 / 4,  # the first and the third
        "unreadable": 1 / 4,
        # Of three questions read both ways: first, second, second; then second, second, first.
        "first_option": pytest.approx(2 / 6),
    }
    assert told["first_option"]["n"] == 6
    change = pd.Series([0.0, -1.0, 0.0, 1.0])
    interval = cluster_interval(change, ITEMS["group_id"], bounds=DIFFERENCE)
    assert (told["difference"]["ci_low"], told["difference"]["ci_high"]) == (
        interval.ci_low,
        interval.ci_high,
    )


def test_a_wording_has_no_order_and_repeats_are_held_against_their_own():
    first, again = ["yes", "no", "no", "no"], ["no", "no", "no", "no"]
    told = result(
        scores("", first),
        scores("", again, sample=1),
        scores("reworded", first, sample=2),
        scores("reworded", again, sample=3),
    )
    assert {"first_option", "both_right"}.isdisjoint(told)
    assert told["same_answer"]["value"] == 1
    assert told["same_answer"]["n"] == 8


def test_only_questions_put_both_ways_count():
    told = result(scores("", ["yes"] * 4), scores("reworded", ["no"] * 4, sample=1)[:2])
    assert told["as_asked"]["value"] == 0.5
    assert (told["as_asked"]["n"], told["as_asked"]["n_groups"]) == (2, 1)


def test_scores_that_are_no_verdicts_are_compared_alone():
    plain = scores("", [None] * 4, outcome="scored", score=0.5)
    second = scores("reworded", [None] * 4, 1, outcome="scored", score=0.25)
    told = result(plain, second)
    assert set(told) == {"as_asked", "varied", "both", "difference"}
    assert told["difference"]["value"] == -0.25


def test_protocol_rows_are_those_that_no_variant_asks():
    both = pd.concat([scores("", ["yes"] * 4), scores(REVERSED, ["no"] * 4, sample=1)])
    assert protocol(both).equals(scores("", ["yes"] * 4))
    elsewhere = both.drop(columns="asked_as")
    assert protocol(elsewhere) is elsewhere
    assert variants(elsewhere, ITEMS, "group_id").empty
    assert variants(scores("", ["yes"] * 4), ITEMS, "group_id").empty
