"""What options' order, a prompt's wording and the story change, counted by hand."""

import numpy as np
import pandas as pd
import pytest

from tomlab.records.tidy import NO_STORY, REVERSED
from tomlab.scoring import paired
from tomlab.scoring.stats import DIFFERENCE, cluster_interval
from tomlab.scoring.variants import BOTH, gain_from_story, protocol, variants

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


# Without the story


def test_without_a_story_a_question_is_no_variant():
    plain = scores("", ["yes"] * 4)
    table = pd.concat([plain, scores(NO_STORY, ["no"] * 4, sample=1)])
    assert variants(table, ITEMS, "group_id").empty


def test_gain_from_the_story_is_that_counted_by_hand():
    version = ["true", "false", "true", "false"]
    plain = scores("", ["yes", "no", "yes", "yes"], version=version)  # all right but the last
    without = scores(NO_STORY, ["yes", "yes", None, "no"], sample=1, version=version)
    table = gain_from_story(
        pd.concat([plain, without]), "group_id", "version", versions=["group_id"]
    ).set_index("version")
    # Of each version, group a and group b; of both together, one pair a group.
    expected = {
        "with_story": {"true": 1, "false": 1 / 2, BOTH: 1 / 2},
        "without_story": {"true": 1 / 2, "false": 1 / 2, BOTH: 0},
        "gain": {"true": 1 / 2, "false": 0, BOTH: 1 / 2},
        "readable_with_story": {"true": 1, "false": 1, BOTH: 1},
        "readable_without_story": {"true": 1 / 2, "false": 1, BOTH: 1 / 2},
    }
    assert table[[*expected]].to_dict() == expected
    assert table["n"].eq(2).all() and table["n_groups"].eq(2).all()
    moves = cluster_interval(pd.Series([0.0, 1.0]), pd.Series(["a", "b"]), bounds=DIFFERENCE)
    assert table.loc["true", ["ci_low", "ci_high"]].tolist() == [moves.ci_low, moves.ci_high]


def test_versions_count_together_only_where_there_are_two():
    version = ["true", "false", "true", "true"]
    tables = [scores(way, ["yes"] * 4, n, version=version) for n, way in enumerate(["", NO_STORY])]
    table = gain_from_story(pd.concat(tables), "group_id", "version", versions=["group_id"])
    assert table.set_index("version")["n"].to_dict() == {"true": 3, "false": 1, BOTH: 1}


def test_repeats_are_paired_and_what_was_asked_one_way_only_is_left_out():
    first = ["yes", "no", "yes", "no"]
    second = ["no", "yes", "no", "yes"]
    tables = [
        scores("", first),
        scores("", second, sample=1),
        scores(NO_STORY, first, sample=4)[:2],
        scores(NO_STORY, second, sample=5)[:2],
        scores(REVERSED, second, sample=2),
    ]
    [row] = gain_from_story(pd.concat(tables).assign(kind="all"), "group_id", "kind").to_dict(
        "records"
    )
    assert (row["gain"], row["n"], row["n_groups"]) == (0, 4, 1)
    assert gain_from_story(tables[0].assign(kind="all"), "group_id", "kind").empty
    assert gain_from_story(tables[0].drop(columns="asked_as"), "group_id", "method").empty


def simulated(reads: float, sets: int, templates: int, seed: int) -> pd.DataFrame:
    """Scores of so many sets of templates, each as a model of its own. It reads the story of a
    share of questions and is right on these; it guesses at the others, and without the story.
    """
    draw = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product(
        [range(sets), range(templates), range(2)], names=["model", "group_id", "item"]
    )
    table = index.to_frame(index=False).assign(method="plain", kind="all")
    table["item_id"] = table["group_id"].astype(str) + "/" + table["item"].astype(str)
    read = draw.random(len(table)) < reads
    is_right = {
        "": read | (draw.random(len(table)) < 0.5),
        NO_STORY: draw.random(len(table)) < 0.5,
    }
    tables = []
    for sample, (asked_as, right) in enumerate(is_right.items()):
        outcome = np.where(right, "correct", "wrong")
        asked = {"asked_as": asked_as, "sample": sample, "outcome": outcome}
        tables.append(table.assign(**asked, score=right.astype(float)))
    return pd.concat(tables, ignore_index=True)


@pytest.mark.parametrize("reads", [0.5, 0], ids=["reads half", "never reads"])
def test_interval_covers_the_true_gain_as_often_as_it_says(reads, monkeypatch):
    # The p-values take most of the time, and are not looked at.
    monkeypatch.setattr(paired, "p_of_interval", lambda *_: np.nan)
    table = gain_from_story(simulated(reads, 600, 100, seed=45), "group_id", "kind")
    gain = reads / 2
    assert len(table) == 600
    covered = (table["ci_low"] <= gain) & (gain <= table["ci_high"])
    assert 0.93 <= covered.mean() <= 0.97
