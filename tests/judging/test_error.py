"""A judge's mean score, corrected by people's labels of a part."""

import numpy as np
import pandas as pd
import pytest

from tomlab.judging.error import by_labels
from tomlab.scoring.stats import cluster_interval


def erring(draw, stories: int, labelled: int, slope: float = 0.7, lift: float = 0.15):
    """Stories whose judge is lenient and noisy, some drawn by lot and labelled: F1 of mean .5."""
    truth = draw.binomial(20, draw.beta(2, 2, stories)) / 20
    judged = np.clip(slope * truth + lift + draw.normal(0, 0.1, stories), 0, 1)
    labels = np.full(stories, np.nan)
    chosen = draw.choice(stories, labelled, replace=False)
    labels[chosen] = truth[chosen]
    return pd.DataFrame({"group": range(stories), "judged": judged, "labelled": labels})


def width(interval):
    return interval.ci_high - interval.ci_low


@pytest.mark.parametrize("slope", [0.9, 0.4])
def test_coverage_with_20_labelled_of_100_stories_is_as_told(slope):
    draw = np.random.default_rng(0)
    intervals = [by_labels(erring(draw, 100, 20, slope)) for _ in range(120)]
    assert np.mean([result.ci_low <= 0.5 <= result.ci_high for result in intervals]) >= 0.93


def test_labels_on_every_story_leave_nothing_to_the_judge():
    table = erring(np.random.default_rng(1), 30, 30)
    mean = table["labelled"].mean()
    assert by_labels(table).value == pytest.approx(mean)
    assert by_labels(table.assign(judged=0.5)).value == pytest.approx(mean)
    # An output without a table counts as 0 without a label.
    is_lost = table["group"] >= 20
    result = by_labels(table.assign(judged=table["judged"].mask(is_lost)))
    assert result.value == pytest.approx(table["labelled"][~is_lost].sum() / 30)


def test_a_good_judge_narrows_the_interval_and_a_useless_one_does_not_widen_it():
    draw = np.random.default_rng(2)
    good = erring(draw, 100, 20, slope=1.0, lift=0.0)
    labelled = good.dropna()
    without_judge = width(cluster_interval(labelled["labelled"], labelled["group"]))
    assert width(by_labels(good)) < 0.75 * without_judge
    assert width(by_labels(good.assign(judged=draw.random(100)))) < 1.25 * without_judge


def test_by_hand_with_a_judge_that_is_off_by_a_constant():
    # The judge says .2 too much: power 1 - 2/4, as it tells all but this; others: .5 and .7.
    judged = [0.6, 1.0, 0.5, 0.7]
    labels = [0.4, 0.8, np.nan, np.nan]
    table = pd.DataFrame({"group": range(4), "judged": judged, "labelled": labels})
    covariance = np.cov([0.6, 1.0], [0.4, 0.8])[0, 1]
    power = min(covariance / np.var(judged, ddof=1) * (1 - 2 / 4), 1)
    assert by_labels(table).value == pytest.approx(0.6 + power * (0.6 - 0.8))


def test_strata_weigh_as_their_stories_do_and_each_needs_a_label():
    table = erring(np.random.default_rng(4), 40, 40).assign(stratum=["judge"] * 30 + ["rule"] * 10)
    table.loc[30:, ["judged", "labelled"]] = 1.0
    assert by_labels(table).value == pytest.approx(table["labelled"].mean())
    # Ten of thirty are labelled: their mean, moved by the judge's word, weighs three times as much.
    partly = table.assign(labelled=table["labelled"].mask(table["group"].between(10, 29)))
    judges = by_labels(partly[:30].drop(columns="stratum"))
    result = by_labels(partly)
    assert result.value == pytest.approx((3 * judges.value + 1) / 4)
    assert result.ci_low < result.value < result.ci_high
    rules = partly.assign(labelled=partly["labelled"].mask(partly["group"] < 30, np.nan))
    rules.loc[30:34, "labelled"] = 0.5
    assert by_labels(rules) is None


def test_one_label_is_no_correction_and_labels_that_are_all_alike_are_worth_their_number():
    assert by_labels(erring(np.random.default_rng(5), 30, 1)) is None
    table = erring(np.random.default_rng(6), 100, 5)
    result = by_labels(table.assign(labelled=table["labelled"] * 0))
    assert result.value == result.ci_low == 0
    assert result.ci_high == pytest.approx(1 - 0.025 ** (1 / 5))
