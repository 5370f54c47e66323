"""Where the variance of answers lies, and how many repeats of a question pay."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from tomlab.errors import InputError
from tomlab.scoring.repeats import PAYS, split
from tomlab.scoring.stats import cluster_interval


def table(answers: dict[str, dict[str, list[float]]]) -> pd.DataFrame:
    """Scores by group and question, a list of repeats each."""
    rows = [
        {"group_id": group, "item_id": f"{group}/{item}", "sample": number, "score": float(score)}
        for group, items in answers.items()
        for item, scores in items.items()
        for number, score in enumerate(scores)
    ]
    return pd.DataFrame(rows)


def simulated(seed: int, groups: int = 40, questions: int = 4, k: int = 3) -> pd.DataFrame:
    """Variances of .02 between groups, .03 between questions, .05 between repeats."""
    draw = np.random.default_rng(seed)
    found = {}
    for group, middle in enumerate(draw.normal(0.5, 0.02**0.5, groups)):
        # Groups of unlike size.
        means = draw.normal(middle, 0.03**0.5, questions + group % 3)
        found[str(group)] = {
            str(n): draw.normal(mean, 0.05**0.5, k) for n, mean in enumerate(means)
        }
    return table(found)


def test_a_table_split_by_hand():
    found = split(
        table({"a": {"1": [1, 1], "2": [1, 0]}, "b": {"1": [0, 0], "2": [0, 0]}}), "group_id"
    )
    # Repeats: .5, 0, 0, 0 within questions, averaged. Means of questions: 1, .5 | 0, 0.
    assert found.repeats == pytest.approx(0.5 / 4)
    # Between means of a group: (.125 + 0) / 2 = .0625, of which repeats explain .125 / 2.
    assert found.questions == pytest.approx(0.0)
    # Between group means .75 and 0: 2 * .28125 / 1, less .0625, over 2 questions a group.
    assert found.groups == pytest.approx((0.5625 - 0.0625) / 2)
    assert found.share.value == pytest.approx(0.125 / (0.125 + 0.25))
    assert (found.share.n, found.share.n_groups, found.n_questions) == (8, 2, 4)
    # The mean's variance over groups: (.75 - 0)^2 / 4, less what repeats add to it now.
    assert found.lasting == pytest.approx(0.75**2 / 4 - 0.125 / 8)
    student = 12.706204736
    assert found.half_width(5) == pytest.approx(student * (found.lasting + 0.125 / 20) ** 0.5)


def test_parts_are_recovered_without_bias():
    found = [split(simulated(seed), "group_id") for seed in range(150)]
    parts = np.mean([[one.groups, one.questions, one.repeats] for one in found], axis=0)
    np.testing.assert_allclose(parts, [0.02, 0.03, 0.05], rtol=0.05)
    covered = [one.share.ci_low <= 0.5 <= one.share.ci_high for one in found]
    assert np.mean(covered) >= 0.92


def test_half_width_foretells_what_other_numbers_of_repeats_give():
    few = [split(simulated(seed, k=2), "group_id").half_width(8) for seed in range(60)]
    many = [split(simulated(900 + seed, k=8), "group_id").half_width(8) for seed in range(60)]
    assert np.mean(few) == pytest.approx(np.mean(many), rel=0.03)


def test_half_width_is_near_that_of_the_interval_for_the_repeats_there_are():
    scores = simulated(3)
    scores["score"] = 0.5 + (scores["score"] - 0.5) / 5  # so that none is beyond 0 and 1
    interval = cluster_interval(scores["score"], scores["group_id"])
    reach = (interval.ci_high - interval.ci_low) / 2
    assert split(scores, "group_id").half_width(3) == pytest.approx(reach, rel=0.1)


def test_conditions_that_all_groups_share_do_not_widen_the_mean():
    """Half of the questions are always right, half always wrong, in each group."""
    found = split(table({g: {"1": [1, 1], "2": [0, 0]} for g in "abcd"}), "group_id")
    assert found.questions == pytest.approx(0.5)
    assert found.lasting == pytest.approx(0.0)


def test_repeats_that_never_differ_have_no_share_and_one_pays():
    found = split(
        table({"a": {"1": [1] * 3}, "b": {"1": [0] * 3}, "c": {"1": [1] * 3}}), "group_id"
    )
    assert (found.repeats, found.share.value, found.pays()) == (0, 0, 1)
    same = split(table({"a": {"1": [1] * 3}, "b": {"1": [1] * 3}}), "group_id")
    assert (same.share.value, same.half_width(4), same.pays()) == (0, 0, 1)


def test_where_all_is_chance_fifty_repeats_pay():
    found = split(table({g: {"1": [1, 0, 1, 0], "2": [0, 1, 0, 1]} for g in "abc"}), "group_id")
    assert found.below_0 == ("questions",)
    assert found.questions == 0
    assert found.share.value == 1
    assert found.pays() == 50


def test_number_that_pays_is_the_least_after_which_one_more_brings_little():
    found = split(simulated(0), "group_id")
    number = int(found.pays())
    widths = [found.half_width(k) for k in range(1, number + 2)]
    gains = [1 - later / now for now, later in pairwise(widths)]
    assert number > 1
    assert all(gain > PAYS for gain in gains[:-1])
    assert gains[-1] <= PAYS


def test_order_of_rows_and_names_changes_nothing():
    scores = simulated(1)
    assert split(scores, "group_id") == split(scores.sample(frac=1, random_state=1), "group_id")


def test_questions_asked_once_tell_nothing():
    assert split(table({"a": {"1": [1], "2": [0]}, "b": {"1": [1]}}), "group_id") is None


def test_a_single_group_has_parts_and_no_half_width():
    found = split(table({"a": {"1": [1, 0], "2": [0, 0]}}), "group_id")
    assert found.groups == 0
    assert found.repeats == pytest.approx(0.25)
    assert np.isnan(found.half_width(3))
    assert np.isnan(found.pays())


def test_unequal_repeats_are_an_input_error():
    with pytest.raises(InputError, match="found 1 to 2 answers to a question"):
        split(table({"a": {"1": [1, 0], "2": [0]}}), "group_id")
