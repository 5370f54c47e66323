"""Intervals resample whole groups; agreement is what one can work out by hand."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from tomlab.scoring.stats import (
    agreement,
    alpha_interval,
    clopper_pearson,
    cluster_interval,
    cluster_statistic,
    mean_interval,
    ratio,
)


def interval(*groups, **options):
    """The interval of groups given as lists of values, named 0, 1, 2, ..."""
    values = pd.Series([value for group in groups for value in group])
    names = pd.Series([name for name, group in enumerate(groups) for _ in group])
    return cluster_interval(values, names, **options)


def brute_force(groups, resamples, seed):
    """The 2.5 % and 97.5 % points of the mean over groups drawn with replacement, by loops."""
    draw = np.random.default_rng(seed)
    means = []
    for _ in range(resamples):
        drawn = [groups[i] for i in draw.integers(len(groups), size=len(groups))]
        means.append(np.mean([value for group in drawn for value in group]))
    return np.quantile(means, [0.025, 0.975])


def test_interval_is_that_of_resampling_whole_groups_by_hand():
    rng = np.random.default_rng(1)
    groups = [rng.binomial(1, rng.random(), size=rng.integers(1, 9)).tolist() for _ in range(40)]
    found = interval(*groups, resamples=10_000)
    low, high = brute_force(groups, 10_000, seed=2)
    assert found.ci_method == "cluster bootstrap"
    assert found.ci_low == pytest.approx(low, abs=0.01)
    assert found.ci_high == pytest.approx(high, abs=0.01)


def test_value_is_the_mean_over_values_not_over_groups():
    found = interval([1, 1, 1], [0])
    assert found.value == 0.75
    assert (found.n, found.n_groups) == (4, 2)


def test_two_groups_of_which_one_is_right_can_come_out_anywhere():
    found = interval([1, 1, 1], [0])
    assert (found.ci_low, found.ci_high) == (0, 1)


def test_same_seed_gives_the_same_interval_and_another_seed_another():
    groups = [[1, 0], [0, 0], [1, 1], [1, 0], [0, 1], [0, 0], [1]]
    assert interval(*groups, seed=3) == interval(*groups, seed=3)
    one, other = interval(*groups, resamples=99, seed=3), interval(*groups, resamples=99, seed=4)
    assert (one.ci_low, one.ci_high) != (other.ci_low, other.ci_high)


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_order_of_rows_does_not_matter(random):
    rows = [(name, value) for name in "abcde" for value in (0, 1, name in "ad", name in "ab")]
    shuffled = random.sample(rows, len(rows))
    first, second = (pd.DataFrame(r, columns=["group", "value"]) for r in (rows, shuffled))
    assert cluster_interval(first.value, first.group, resamples=200) == cluster_interval(
        second.value, second.group, resamples=200
    )


def test_index_of_the_series_does_not_matter():
    values, groups = pd.Series([1.0, 0, 1, 1]), pd.Series(["x", "x", "y", "z"])
    assert cluster_interval(values, groups) == cluster_interval(
        values.set_axis([7, 8, 9, 10]), groups.set_axis(list("qrst"))
    )


def test_truth_values_count_as_zero_and_one():
    assert interval([True], [False], [True]) == interval([1], [0], [1])


@pytest.mark.parametrize(("right", "low", "high"), [(24, 0.858, 1), (0, 0, 0.142)])
def test_all_alike_gives_clopper_pearson_for_as_many_trials_as_groups(right, low, high):
    found = interval(*[[float(right > 0)] * 3 for _ in range(24)])
    assert found.ci_method == "Clopper-Pearson"
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=0.0005)
    assert (found.n, found.n_groups) == (72, 24)


def test_groups_with_equal_shares_but_mixed_values_get_clopper_pearson_too():
    exact = binomtest(5, 10).proportion_ci(0.95, "exact")
    found = interval(*[[1, 0], [0, 1]] * 5)
    assert found.ci_method == "Clopper-Pearson"
    assert (found.ci_low, found.ci_high) == pytest.approx((exact.low, exact.high))


def test_single_group_says_next_to_nothing():
    found = interval([1, 1, 1, 1])
    assert found.ci_method == "Clopper-Pearson"
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx((1, 0.025, 1))


@pytest.mark.parametrize("trials", [1, 2, 7, 24, 200])
def test_clopper_pearson_is_scipys_exact_interval(trials):
    for successes in range(trials + 1):
        exact = binomtest(successes, trials).proportion_ci(0.95, "exact")
        assert clopper_pearson(successes, trials) == pytest.approx((exact.low, exact.high))


def test_clopper_pearson_of_a_fraction_lies_between_its_neighbours():
    below, between, above = (clopper_pearson(s, 10) for s in (3, 3.5, 4))
    assert below < between < above


def clustered(rng, groups, size):
    """Answers in groups that are all right or all wrong but for one answer in ten."""
    shared = rng.integers(0, 2, size=(groups, 1))
    flipped = rng.random((groups, size)) < 0.1
    values = np.where(flipped, 1 - shared, shared).astype(float)
    return pd.Series(values.ravel()), pd.Series(np.repeat(np.arange(groups), size))


def test_groups_that_answer_alike_widen_the_interval():
    values, groups = clustered(np.random.default_rng(0), groups=40, size=10)
    by_group = cluster_interval(values, groups)
    by_answer = cluster_interval(values, pd.Series(range(len(values))))
    assert by_group.value == by_answer.value
    assert by_group.ci_high - by_group.ci_low > 2 * (by_answer.ci_high - by_answer.ci_low)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = {"by group": 0, "by answer": 0}
    for _ in range(150):
        values, groups = clustered(rng, groups=40, size=10)
        for name, cluster in (("by group", groups), ("by answer", pd.Series(range(400)))):
            found = cluster_interval(values, cluster, resamples=200)
            covered[name] += found.ci_low <= 0.5 <= found.ci_high
    assert covered["by group"] / 150 > 0.88
    assert covered["by answer"] / 150 < 0.7


def test_mean_interval_holds_the_mean_of_ratings():
    mean, low, high = mean_interval(pd.Series([5, 4, 4, 5, 3, 1, 5, 5]))
    assert mean == 4
    assert 1 < low < 4 < high <= 5


@pytest.mark.parametrize("ratings", [[4], [4, 4, 4]])
def test_mean_interval_is_nan_where_nothing_varies(ratings):
    mean, low, high = mean_interval(pd.Series(ratings))
    assert mean == 4
    assert np.isnan([low, high]).all()


# Three raters, five units. Nominal alpha by hand, on the 4 units that two or more rated:
# coincidences o11 = 2, o00 = 5, o01 = o10 = 1 (the unit 0, 0, 1 gives pairs 00, 01, 10, each over
# m - 1 = 2), so D_o = 2 / 9, n0 = 6, n1 = 3, D_e = 2 * 6 * 3 / (9 * 8) = 1/2, alpha = 5/9.
RATINGS = pd.DataFrame(
    {
        "one": [0, 1, 0, 0, 1],
        "two": [0, 1, 0, 0, None],
        "three": [1, None, None, None, None],
    }
)


def test_agreement_is_krippendorffs_alpha_worked_out_by_hand():
    ratings = RATINGS.copy()
    found = agreement(ratings, "nominal")
    assert found["units"] == 4
    assert found["percent_agreement"] == 0.75
    assert found["alpha"] == pytest.approx(5 / 9)


def test_interval_alpha_counts_how_far_apart_ratings_are():
    # Two raters, three units: 1 1, 2 2, 3 5. D_o = (2 * 4) / 6; all six values give
    # D_e = sum over pairs of squared differences / (n (n - 1)) = 2 * 68 / 30.
    ratings = pd.DataFrame({"one": [1, 2, 3], "two": [1, 2, 5]})
    values = [1, 1, 2, 2, 3, 5]
    expected = sum((a - b) ** 2 for a in values for b in values) / 30
    assert agreement(ratings, "interval")["alpha"] == pytest.approx(1 - (8 / 6) / expected)


def test_order_of_units_and_raters_does_not_matter():
    turned = RATINGS.iloc[::-1][["three", "one", "two"]]
    assert agreement(turned, "nominal") == pytest.approx(agreement(RATINGS, "nominal"))


def test_full_agreement_is_alpha_one():
    found = agreement(pd.DataFrame({"one": [1, 5, 3], "two": [1, 5, 3]}), "ordinal")
    assert (found["percent_agreement"], found["alpha"]) == (1, pytest.approx(1))


def test_alpha_is_nan_where_all_ratings_are_alike():
    found = agreement(pd.DataFrame({"one": [1, 1], "two": [1, 1]}), "nominal")
    assert found["percent_agreement"] == 1
    assert np.isnan(found["alpha"])


@pytest.mark.parametrize("ratings", [{"one": [1, 0]}, {"one": [1, None], "two": [None, 0]}, {}])
def test_units_that_one_rated_agree_with_nobody(ratings):
    found = agreement(pd.DataFrame(ratings), "nominal")
    assert found["units"] == 0
    assert np.isnan([found["percent_agreement"], found["alpha"]]).all()


# Statistics of counts


def counts_of(groups):
    """Sum and count of each group, as `cluster_statistic` takes them."""
    return pd.DataFrame({"sum": [sum(g) for g in groups], "n": [len(g) for g in groups]})


def test_statistic_of_counts_is_the_interval_of_a_mean_where_it_is_a_mean():
    rng = np.random.default_rng(5)
    groups = [rng.binomial(1, rng.random(), size=rng.integers(1, 9)).tolist() for _ in range(40)]
    n = sum(map(len, groups))
    found = cluster_statistic(counts_of(groups), ratio, n=n, resamples=10_000)
    expected = interval(*groups, resamples=10_000)
    assert (found.value, found.n, found.n_groups) == (expected.value, n, 40)
    assert found.ci_low == pytest.approx(expected.ci_low, abs=0.01)
    assert found.ci_high == pytest.approx(expected.ci_high, abs=0.01)


def test_statistic_that_no_resample_moves_has_the_exact_interval():
    found = cluster_statistic(counts_of([[1, 1], [1]] * 6), ratio, n=18)
    assert found.ci_method == "Clopper-Pearson"
    assert (found.ci_low, found.ci_high) == clopper_pearson(12, 12)


def test_resamples_without_a_value_are_left_out():
    groups = pd.DataFrame({"sum": [1.0, 0.5, 0], "n": [2, 1, 0]})
    found = cluster_statistic(groups, ratio, n=3)
    assert found.value == pytest.approx(0.5)
    assert 0 <= found.ci_low <= found.ci_high <= 1


def test_groups_are_drawn_within_their_strata():
    groups, strata = counts_of([[1], [1], [0], [0]]), pd.Series(["a", "a", "b", "b"])
    within = cluster_statistic(groups, ratio, n=4, strata=strata)
    assert within.ci_method == "Clopper-Pearson"  # two of each stratum, whichever they are
    assert cluster_statistic(groups, ratio, n=4).ci_method == "cluster bootstrap"


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_interval_of_alpha_is_that_of_alphas_of_resampled_groups(level):
    draw = np.random.default_rng(3)
    ratings = pd.DataFrame(draw.integers(0, 3, size=(20, 3)).astype(float))
    ratings = ratings.mask(draw.random((20, 3)) < 0.1)
    groups = pd.Index(np.repeat(range(10), 2))
    times = np.random.default_rng(7).multinomial(10, np.full(10, 1 / 10), size=50)
    used = ratings[ratings.notna().sum(axis=1) >= 2]
    alphas = [
        krippendorff.alpha(
            used.loc[np.repeat(used.index, some[groups[used.index]])].to_numpy().T,
            level_of_measurement=level,
        )
        for some in times
    ]
    found = alpha_interval(ratings, level, groups, resamples=50, seed=7)
    assert found == pytest.approx(np.percentile(alphas, [2.5, 97.5]))


def test_interval_of_alpha_is_nan_without_two_raters_or_where_nothing_varies():
    alone = pd.DataFrame({"a": [0.0, 1.0], "b": [np.nan, np.nan]})
    assert np.isnan(alpha_interval(alone, "nominal")).all()
    assert np.isnan(alpha_interval(pd.DataFrame({"a": [1.0], "b": [1.0]}), "ordinal")).all()
    equal = pd.DataFrame({"a": [0.0, 1.0] * 40, "b": [0.0, 1.0] * 40})
    assert np.isnan(alpha_interval(equal, "nominal")).all()
