"""A judge's mean score, corrected by people's labels of a part."""

import numpy as np
import pandas as pd
import pytest

from tomlab.judging.error import by_labels
from tomlab.scoring.stats import cluster_interval


def erring(draw, stories: int, labelled: int, kept: float = 0.7, lift: float = 0.15):
    """Stories whose judge is lenient and noisy, some drawn by lot and labelled: F1 of mean .5."""
    true = draw.binomial(20, draw.beta(2, 2, stories)) / 20
    judged = np.clip(kept * true + lift + draw.normal(0, 0.1, stories), 0, 1)
    said = np.full(stories, np.nan)
    chosen = draw.choice(stories, labelled, replace=False)
    said[chosen] = true[chosen]
    return pd.DataFrame({"group": range(stories), "judged": judged, "labelled": said})


@pytest.mark.parametrize("kept", [0.9, 0.4])
def test_coverage_with_20_labelled_of_100_stories_is_as_told(kept):
    draw = np.random.default_rng(0)
    found = [by_labels(erring(draw, 100, 20, kept)) for _ in range(300)]
    assert np.mean([one.ci_low <= 0.5 <= one.ci_high for one in found]) >= 0.93


def test_labels_on_every_story_leave_nothing_to_the_judge():
    table = erring(np.random.default_rng(1), 30, 30)
    found, plain = by_labels(table), cluster_interval(table["labelled"], table["group"])
    assert found.value == pytest.approx(plain.value)
    assert by_labels(table.assign(judged=0.5)).value == pytest.approx(plain.value)


def test_a_good_judge_narrows_the_interval_and_a_useless_one_does_not_widen_it():
    draw = np.random.default_rng(2)
    good = erring(draw, 100, 20, kept=1.0, lift=0.0)
    known = good.dropna()
    plain = cluster_interval(known["labelled"], known["group"])
    useless = by_labels(good.assign(judged=draw.random(100)))
    wide = plain.ci_high - plain.ci_low
    assert by_labels(good).ci_high - by_labels(good).ci_low < 0.75 * wide
    assert useless.ci_high - useless.ci_low < 1.25 * wide


def test_by_hand_with_a_judge_that_is_off_by_a_constant():
    # The judge says .2 too much: power 1 - 2/4, as it tells all but this; others: .5 and .7.
    said = [0.4, 0.8, np.nan, np.nan]
    table = pd.DataFrame({"group": range(4), "judged": [0.6, 1.0, 0.5, 0.7], "labelled": said})
    covariance, variance = np.cov([0.6, 1.0], [0.4, 0.8])[0, 1], np.var(table["judged"], ddof=1)
    power = min(covariance / variance * (1 - 2 / 4), 1)
    assert by_labels(table).value == pytest.approx(0.6 + power * (0.6 - 0.8))


def test_an_output_without_a_table_counts_as_0_without_a_label():
    table = erring(np.random.default_rng(3), 40, 40)
    lost = table.assign(judged=table["judged"].where(table["group"] < 20))
    assert by_labels(lost).value == pytest.approx(table["labelled"][:20].sum() / 40)


def test_strata_are_averaged_and_each_needs_a_label():
    table = erring(np.random.default_rng(4), 30, 30).assign(stratum=["HT"] * 20 + ["SST"] * 10)
    means = table.groupby("stratum")["labelled"].mean()
    assert by_labels(table).value == pytest.approx(means.mean())
    unlabelled = table.assign(labelled=table["labelled"].where(table["stratum"] == "HT"))
    assert by_labels(unlabelled) is None


def test_strata_may_weigh_as_their_stories_do():
    table = erring(np.random.default_rng(4), 40, 40).assign(stratum=["judge"] * 30 + ["rule"] * 10)
    table.loc[30:, ["judged", "labelled"]] = 1.0
    assert by_labels(table, by_size=True).value == pytest.approx(table["labelled"].mean())
    # Ten of thirty are labelled: their mean, moved by the judge's word, weighs three times as much.
    some = table.assign(labelled=table["labelled"].mask(table["group"].between(10, 29)))
    own = by_labels(some[:30].drop(columns="stratum"))
    found = by_labels(some, by_size=True)
    assert found.value == pytest.approx((3 * own.value + 1) / 4)
    assert found.ci_low < found.value < found.ci_high


def test_too_few_labels_are_no_correction():
    table = erring(np.random.default_rng(5), 30, 1)
    assert by_labels(table) is None


def test_labels_that_are_all_alike_are_worth_their_number():
    table = erring(np.random.default_rng(6), 100, 5)
    alike = table.assign(labelled=table["labelled"] * 0)
    found = by_labels(alike)
    assert found.value == found.ci_low == 0
    assert found.ci_high == pytest.approx(1 - 0.025 ** (1 / 5))
