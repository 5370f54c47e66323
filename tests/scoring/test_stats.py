"""Intervals cluster on whole groups; agreement is what one can work out by hand."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binomtest
from scipy.stats import t as student

from tomlab.scoring.stats import (
    ALIKE,
    COUNT,
    DIFFERENCE,
    EXACT,
    JACKKNIFE,
    PAIRED,
    SHARE,
    agreement,
    alpha_interval,
    balanced_interval,
    clopper_pearson,
    cluster_interval,
    cluster_statistic,
    fewest_trials,
    linear_interval,
    ratio,
    shares,
)


def interval(*groups, **options):
    """The interval of groups given as lists of values, named 0, 1, 2, ..."""
    values = pd.Series([value for group in groups for value in group])
    names = pd.Series([name for name, group in enumerate(groups) for _ in group])
    return cluster_interval(values, names, **options)


def ends(result):
    return result.ci_low, result.ci_high


def width(result):
    return result.ci_high - result.ci_low


def by_leaving_out(whole, without, bounds=(0, 1)):
    """The jackknife's ends from the value of all groups and those without each, by its formulas."""
    moved = np.array(without) - whole
    squares, size = (moved**2).sum(), len(moved)
    kurtosis = size * (moved**4).sum() / squares**2
    freedom = max(1, min(size - 1, 2 * size / (kurtosis - 1)))
    reach = student.ppf(0.975, freedom) * np.sqrt(squares)
    low, span = bounds[0], bounds[1] - bounds[0]
    share = (whole - low) / span
    middle, far = logit(share), reach / span / (share * (1 - share))
    return low + span * expit(middle - far), low + span * expit(middle + far)


def random_groups(seed, number=40):
    rng = np.random.default_rng(seed)
    return [rng.binomial(1, rng.random(), size=rng.integers(1, 9)).tolist() for _ in range(number)]


def test_interval_is_that_of_leaving_out_whole_groups_by_hand():
    groups = random_groups(1)

    def mean(kept):
        return np.mean([value for group in kept for value in group])

    without = [mean(groups[:left] + groups[left + 1 :]) for left in range(len(groups))]
    result = interval(*groups)
    assert result.ci_method == JACKKNIFE
    assert ends(result) == pytest.approx(by_leaving_out(mean(groups), without))


def test_jackknife_of_group_means_is_the_analytic_result():
    """Four groups of four answers with shares 1/4, 1/2, 3/4, 1/2, worked out by hand.

    Without a group of share m the mean 1/2 moves by (1/2 - m) / 3: 1/12, 0, -1/12, 0. The sum of
    squares is 2 / 144: the variance of group means, 1/24, over G - 1 = 3, where a mean's has G = 4.
    The kurtosis is 2, so 8 degrees of freedom, at most 3. t = 3.18245, reach .37506, on the logit,
    whose slope is 4 there, 1.50023: 1 / (1 + e^1.50023) = .1824 to .8176.
    """
    result = interval([1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 1])
    assert result.ci_method == JACKKNIFE
    assert ends(result) == pytest.approx((0.1824, 0.8176), abs=1e-4)
    # Clopper-Pearson's for four trials is wider.
    assert width(result) < np.subtract(*reversed(clopper_pearson(2, 4)))
    reach = student.ppf(0.975, 3) * np.sqrt(np.var([0.25, 0.5, 0.75, 0.5], ddof=1) / 3)
    assert ends(result) == pytest.approx((expit(-4 * reach), expit(4 * reach)))


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_order_of_rows_does_not_matter(random):
    # Fractions, whose sums differ in the last digits by the order of what is added.
    rows = [(name, value / 7) for name in "abcde" for value in (0, 7, 3, 1 + (name in "ad"), 5)]
    shuffled = random.sample(rows, len(rows))
    first, second = (pd.DataFrame(r, columns=["group", "value"]) for r in (rows, shuffled))
    for bounds in ((0.0, 1.0), DIFFERENCE, COUNT):
        assert cluster_interval(first.value, first.group, bounds=bounds) == cluster_interval(
            second.value, second.group, bounds=bounds
        )


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_order_of_groups_does_not_matter(random):
    counts = pd.DataFrame({"sum": np.arange(1, 12) / 7, "n": [3, 4] * 5 + [5]})
    turned = counts.loc[random.sample(range(11), 11)]
    assert cluster_statistic(turned, ratio, n=11) == cluster_statistic(counts, ratio, n=11)


@pytest.mark.parametrize(("right", "low", "high"), [(24, 0.858, 1), (0, 0, 0.142)])
def test_all_alike_allows_what_would_go_unseen_in_as_many_trials_as_groups(right, low, high):
    result = interval(*[[float(right > 0)] * 3 for _ in range(24)])
    assert result.ci_method == ALIKE
    assert ends(result) == pytest.approx((low, high), abs=0.0005)
    assert ends(result) == pytest.approx(clopper_pearson(right, 24))
    assert (result.n, result.n_groups) == (72, 24)


def test_groups_with_equal_shares_but_mixed_values_have_no_interval_of_width_0():
    # Ten groups at 1/2: 1 - .025 ** (1 / 10) = .3085 of others would go unseen.
    result = interval(*[[1, 0], [0, 1]] * 5)
    assert result.ci_method == ALIKE
    assert ends(result) == pytest.approx((0.5 - 0.3085 / 2, 0.5 + 0.3085 / 2), abs=1e-4)


def test_forty_ties_leave_a_difference_within_nine_hundredths():
    # 1 - .025 ** (1 / 40) = .088; as a share of 40 trials, ends were -.32 and .32.
    result = interval(*[[0]] * 40, bounds=DIFFERENCE)
    assert (result.value, result.ci_method) == (0, PAIRED)
    assert ends(result) == pytest.approx((-0.0881, 0.0881), abs=1e-4)


@pytest.mark.parametrize("groups", [3, 10, 40])
def test_no_share_is_surer_than_one_nearer_to_the_ends(groups):
    widths = [
        width(interval(*[[1]] * right, *[[0]] * (groups - right)))
        for right in range(groups // 2, groups + 1)
    ]
    assert widths == sorted(widths, reverse=True)


def test_single_group_says_next_to_nothing():
    result = interval([1, 1, 1, 1])
    assert result.ci_method == EXACT
    assert (result.value, *ends(result)) == pytest.approx((1, 0.025, 1))


def test_share_takes_the_narrower_of_jackknife_and_exact_interval():
    # Nine of ten groups right: the one that is not moves the share more than all others together.
    groups = [[1]] * 9 + [[0]]
    jackknife = cluster_statistic(counts_of(groups), ratio, n=10)
    result, exact = interval(*groups), binomtest(9, 10).proportion_ci(0.95, "exact")
    assert (jackknife.ci_method, result.ci_method) == (JACKKNIFE, EXACT)
    assert ends(result) == pytest.approx((exact.low, exact.high))
    assert width(result) < width(jackknife)


def test_exact_interval_is_of_effective_groups():
    # Sizes 6, 1, 1, 1: 9 ** 2 / 39 = 2.08 groups, and no nine answers.
    result = interval([1] * 6, [1], [0], [1])
    assert result.ci_method == EXACT
    assert ends(result) == pytest.approx(clopper_pearson(8 / 9 * 81 / 39, 81 / 39))


@pytest.mark.parametrize("trials", [1, 2, 7, 24, 200])
def test_clopper_pearson_is_scipys_exact_interval(trials):
    for successes in range(trials + 1):
        exact = binomtest(successes, trials).proportion_ci(0.95, "exact")
        assert clopper_pearson(successes, trials) == pytest.approx((exact.low, exact.high))


def clustered(rng, groups, size):
    """Answers in groups that are all right or all wrong but for one answer in ten."""
    shared = rng.integers(0, 2, size=(groups, 1))
    flipped = rng.random((groups, size)) < 0.1
    values = np.where(flipped, 1 - shared, shared).astype(float)
    return pd.Series(values.ravel()), pd.Series(np.repeat(np.arange(groups), size))


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = {"by group": 0, "by answer": 0}
    for _ in range(150):
        values, groups = clustered(rng, groups=40, size=10)
        for name, cluster in (("by group", groups), ("by answer", pd.Series(range(400)))):
            result = cluster_interval(values, cluster)
            covered[name] += result.ci_low <= 0.5 <= result.ci_high
    assert covered["by group"] / 150 > 0.92
    assert covered["by answer"] / 150 < 0.7


def test_interval_of_ratings_holds_their_mean_and_keeps_to_the_scale():
    ratings = [[rating] for rating in (5, 4, 4, 5, 3, 1, 5, 5)]
    result = interval(*ratings, bounds=(1.0, 5.0))
    assert (result.value, result.ci_method) == (4, JACKKNIFE)
    assert 1 < result.ci_low < 4 < result.ci_high < 5
    without = [np.mean(ratings[:left] + ratings[left + 1 :]) for left in range(8)]
    assert ends(result) == pytest.approx(by_leaving_out(4, without, (1, 5)))


@pytest.mark.parametrize("ratings", [[4], [4, 4, 4]])
def test_ratings_that_are_all_alike_are_no_certainty(ratings):
    result = interval(*[[rating] for rating in ratings], bounds=(1.0, 5.0))
    assert result.value == 4
    assert 1 < result.ci_low < 4 < result.ci_high < 5


# ---- Properties ----------------------------------------------------------------------------------

ANSWERS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=6), min_size=1, max_size=12)
CHANGES = st.lists(st.lists(st.integers(-1, 1), min_size=1, max_size=6), min_size=1, max_size=12)


def mean_of(groups):
    return np.mean([value for group in groups for value in group])


def test_few_large_groups_that_happen_to_agree_make_a_share_no_surer():
    # 24 groups of 12 all wrong, 4 of 96 single answers right: were .04 of all groups right, as well
    # as large ones, this is what one sees.
    result = interval(*[[0] * 12] * 24, *[[1]] * 4, *[[0]] * 92)
    assert result.value == pytest.approx(4 / 384)
    assert result.ci_high > 0.04


@given(ANSWERS)
@settings(deadline=None, max_examples=30)
def test_interval_of_a_share_holds_it_within_its_bounds(groups):
    result = interval(*groups)
    assert result.value == pytest.approx(mean_of(groups))
    assert 0 <= result.ci_low <= result.value <= result.ci_high <= 1
    assert width(result) > 0
    assert (result.n, result.n_groups) == (sum(map(len, groups)), len(groups))


@given(ANSWERS, st.integers(2, 4))
@settings(deadline=None, max_examples=30)
def test_answers_that_repeat_within_their_groups_make_a_share_no_surer(groups, times):
    once, often = interval(*groups), interval(*[group * times for group in groups])
    assert (often.value, *ends(often)) == pytest.approx((once.value, *ends(once)))
    assert often.ci_method == once.ci_method


@given(ANSWERS, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=30)
def test_names_of_groups_do_not_matter(groups, random):
    values = pd.Series([value for group in groups for value in group])
    names = random.sample("abcdefghijkl", len(groups)), range(len(groups))
    one, other = (
        cluster_interval(values, pd.Series([n for n, g in zip(of, groups, strict=True) for _ in g]))
        for of in names
    )
    assert one == other


@given(ANSWERS)
@settings(deadline=None, max_examples=30)
def test_right_and_wrong_turned_around_turn_the_interval_around(groups):
    result, turned = interval(*groups), interval(*[[1 - a for a in group] for group in groups])
    assert (1 - turned.ci_high, 1 - turned.ci_low) == pytest.approx(ends(result))


@given(CHANGES)
@settings(deadline=None, max_examples=30)
def test_interval_of_a_difference_holds_it_within_its_bounds(groups):
    result = interval(*groups, bounds=DIFFERENCE)
    assert result.value == pytest.approx(mean_of(groups))
    assert -1 <= result.ci_low <= result.value <= result.ci_high <= 1
    assert width(result) > 0
    turned = interval(*[[-change for change in group] for group in groups], bounds=DIFFERENCE)
    assert (-turned.ci_high, -turned.ci_low) == pytest.approx(ends(result))
    often = interval(*[group * 3 for group in groups], bounds=DIFFERENCE)
    assert (often.value, *ends(often)) == pytest.approx((result.value, *ends(result)))


@given(st.lists(st.lists(st.integers(0, 500), min_size=1, max_size=6), min_size=2, max_size=12))
@settings(deadline=None, max_examples=30)
def test_interval_of_a_count_holds_it_in_any_unit(groups):
    result = interval(*groups, bounds=COUNT)
    assert 0 <= result.ci_low <= result.value <= result.ci_high
    larger = interval(*[[1000 * count for count in group] for group in groups], bounds=COUNT)
    assert ends(larger) == pytest.approx([1000 * end for end in ends(result)])


# ---- Sums of shares ------------------------------------------------------------------------------


def balanced(right, kinds, **options):
    """The interval of answers that are each a group of their own."""
    groups = pd.Series(range(len(right)))
    return balanced_interval(pd.Series(right), pd.Series(kinds), groups, **options)


def test_99_of_100_right_have_one_interval_whether_balanced_or_not():
    right = [1.0] * 99 + [0.0]
    plain = interval(*[[one] for one in right])
    result = balanced(right, [0, 1] * 50)
    assert (result.value, *ends(result)) == pytest.approx((plain.value, *ends(plain)))
    assert ends(result) == pytest.approx((0.946, 1), abs=0.001)


def test_a_kind_of_few_groups_makes_a_balanced_accuracy_less_sure():
    # All right. Of ten, up to .31 of others would go unseen: .15 of a mean of two kinds.
    even, rare = balanced([1.0] * 100, [0, 1] * 50), balanced([1.0] * 100, [0] * 10 + [1] * 90)
    assert even.ci_low == pytest.approx(1 - 0.0362, abs=1e-4)
    assert rare.ci_low == pytest.approx(1 - 0.3085 / 2, abs=0.005)


def test_a_balanced_accuracy_takes_the_kinds_by_their_weights():
    right, kinds = [1.0, 1, 1, 0] * 5 + [1, 0, 0, 0] * 5, ["a"] * 20 + ["b"] * 20
    assert balanced(right, kinds).value == pytest.approx((0.75 + 0.25) / 2)
    assert balanced(right, kinds, weights={"a": 0.9, "b": 0.1}).value == pytest.approx(0.7)
    lacking = balanced(right, kinds, weights={"a": 0.5, "c": 0.5})
    assert np.isnan([lacking.value, *ends(lacking)]).all()


def test_a_gap_of_two_shares_adds_their_distances_by_squares():
    one, other = counts_of([[1]] * 45 + [[0]] * 5), counts_of([[1]] * 30 + [[0]] * 20)
    other.index += 50  # of other groups
    parts = interval(*[[1]] * 45, *[[0]] * 5), interval(*[[1]] * 30, *[[0]] * 20)
    result = linear_interval([one, other], (1, -1), n=100)
    assert result.value == pytest.approx(0.9 - 0.6)
    down = np.hypot(0.9 - parts[0].ci_low, parts[1].ci_high - 0.6)
    up = np.hypot(parts[0].ci_high - 0.9, 0.6 - parts[1].ci_low)
    assert ends(result) == pytest.approx((0.3 - down, 0.3 + up))


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), st.integers(0, 5)), min_size=1),
    st.sampled_from([SHARE, DIFFERENCE]),
)
@settings(deadline=None, max_examples=30)
def test_interval_of_a_balanced_mean_holds_it_within_its_bounds(rows, bounds):
    values, kinds, groups = (pd.Series(column) for column in zip(*rows, strict=True))
    if bounds == DIFFERENCE:
        values = values - (groups % 2)
    result = balanced_interval(values, kinds, groups, bounds=bounds)
    assert result.value == pytest.approx(values.groupby(kinds).mean().mean())
    assert bounds[0] <= result.ci_low <= result.value + 1e-12
    assert result.value - 1e-12 <= result.ci_high <= bounds[1]
    assert width(result) > 0


@given(st.lists(st.integers(1, 9), min_size=3, max_size=12), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=30)
def test_fewest_trials_do_not_depend_on_the_order_or_the_names_of_groups(sizes, random):
    # The second share lacks the first group.
    counts = [pd.Series(sizes), pd.Series(sizes[1:], index=range(1, len(sizes)))]
    names = random.sample(range(len(sizes)), len(sizes))
    renamed = [count.rename(dict(enumerate(names))).sample(frac=1) for count in counts]
    assert fewest_trials(renamed, [0.3, 0.7]) == fewest_trials(counts, [0.3, 0.7])


def test_an_f1_of_answers_that_count_alike_is_as_sure_as_a_share_is():
    counts = pd.DataFrame({"both": [2] * 99 + [0], "given and wanted": [2] * 100})
    alone = cluster_statistic(counts, ratio, n=100)
    result = cluster_statistic(counts, ratio, n=100, trials=100)
    assert alone.ci_low < 0.6
    assert ends(result) == pytest.approx(clopper_pearson(99, 100))


# ---- Agreement -----------------------------------------------------------------------------------

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
    result = agreement(ratings, "nominal")
    assert result["units"] == 4
    assert result["percent_agreement"] == 0.75
    assert result["alpha"] == pytest.approx(5 / 9)


def test_interval_alpha_counts_how_far_apart_ratings_are():
    # Two raters, three units: 1 1, 2 2, 3 5. D_o = (2 * 4) / 6; all six values give
    # D_e = sum over pairs of squared differences / (n (n - 1)) = 2 * 68 / 30.
    ratings = pd.DataFrame({"one": [1, 2, 3], "two": [1, 2, 5]})
    values = [1, 1, 2, 2, 3, 5]
    expected = sum((a - b) ** 2 for a in values for b in values) / 30
    assert agreement(ratings, "interval")["alpha"] == pytest.approx(1 - (8 / 6) / expected)


def test_alpha_is_nan_where_all_ratings_are_alike():
    result = agreement(pd.DataFrame({"one": [1, 1], "two": [1, 1]}), "nominal")
    assert result["percent_agreement"] == 1
    assert np.isnan(result["alpha"])


@pytest.mark.parametrize("ratings", [{"one": [1, 0]}, {"one": [1, None], "two": [None, 0]}, {}])
def test_units_that_one_rated_agree_with_nobody(ratings):
    result = agreement(pd.DataFrame(ratings), "nominal")
    assert result["units"] == 0
    assert np.isnan([result["percent_agreement"], result["alpha"]]).all()


# Statistics of counts


def counts_of(groups):
    """Sum and count of each group, as `cluster_statistic` takes them."""
    return pd.DataFrame({"sum": [sum(g) for g in groups], "n": [len(g) for g in groups]})


def test_statistic_of_counts_is_the_interval_of_a_mean_where_it_is_a_mean():
    groups = random_groups(5)
    n = sum(map(len, groups))
    assert cluster_statistic(counts_of(groups), ratio, n=n) == interval(*groups)


def test_groups_with_nothing_to_count_are_no_trials():
    groups = [[1, 0], [1], [1, 1], [0]]
    nothing = pd.DataFrame({"sum": [0] * 30, "n": [0] * 30})
    padded = pd.concat([counts_of(groups), nothing], ignore_index=True)
    result = cluster_statistic(padded, ratio, n=6)
    assert result == cluster_statistic(counts_of(groups), ratio, n=6)
    assert result.n_groups == 4
    # All right in three groups of which it was asked: not as sure as thirty-three would be.
    alike = cluster_statistic(pd.concat([counts_of([[1]] * 3), nothing]), ratio, n=3)
    assert (alike.ci_low, alike.n_groups) == (pytest.approx(0.025 ** (1 / 3)), 3)


def mean_of_means(counts):
    """The mean of two kinds' means, from the sum and count of each; nan where one is missing."""
    return (ratio(counts[..., :2]) + ratio(counts[..., 2:])) / 2


def test_group_that_can_not_be_left_out_is_taken_to_move_the_value_as_the_others_do():
    # The last group alone has the second kind: without it there is no mean of means.
    first, other = [(1, 2), (2, 2), (0, 1), (1, 1)], (1, 2)
    counts = pd.DataFrame([(*kind, 0, 0) for kind in first] + [(0, 0, *other)])
    result = cluster_statistic(counts, mean_of_means, n=8)
    assert result.value == pytest.approx((4 / 6 + 1 / 2) / 2)
    without = [((4 - right) / (6 - n) + 1 / 2) / 2 - result.value for right, n in first]
    squares = np.square(without).sum()
    kurtosis = 4 * np.power(without, 4).sum() / squares**2
    reach = student.ppf(0.975, min(4, 2 * 5 / (kurtosis - 1))) * np.sqrt(squares * 5 / 4)
    far = reach / result.value / (1 - result.value)
    middle = logit(result.value)
    assert result.n_groups == 5
    assert ends(result) == pytest.approx((expit(middle - far), expit(middle + far)))


def test_statistic_without_a_value_has_no_interval():
    result = cluster_statistic(pd.DataFrame({"sum": [0, 0], "n": [0, 0]}), ratio, n=0)
    assert np.isnan([result.value, *ends(result)]).all()
    assert result.n_groups == 0


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_interval_of_alpha_is_that_of_alphas_without_each_group(level):
    draw = np.random.default_rng(3)
    ratings = pd.DataFrame(draw.integers(0, 3, size=(20, 3)).astype(float))
    ratings[[1, 2]] = ratings[[1, 2]].where(draw.random((20, 2)) < 0.6, ratings[[0, 0]].to_numpy())
    ratings = ratings.mask(draw.random((20, 3)) < 0.1)
    groups = pd.Index(np.repeat(range(10), 2))

    def alpha(kept):
        rated = ratings[kept & (ratings.notna().sum(axis=1) >= 2)]
        return krippendorff.alpha(rated.to_numpy().T, level_of_measurement=level)

    without = [alpha(groups != left) for left in range(10)]
    expected = by_leaving_out(alpha(groups >= 0), without, (-1, 1))
    assert alpha_interval(ratings, level, groups) == pytest.approx(expected)


def test_interval_of_alpha_is_nan_without_two_raters_or_where_nothing_varies():
    alone = pd.DataFrame({"a": [0.0, 1.0], "b": [np.nan, np.nan]})
    same = pd.DataFrame({"a": [1.0], "b": [1.0]})
    equal = pd.DataFrame({"a": [0.0, 1.0] * 40, "b": [0.0, 1.0] * 40})
    for ratings, level in [(alone, "nominal"), (same, "ordinal"), (equal, "nominal")]:
        assert np.isnan(alpha_interval(ratings, level, ratings.index)).all()


def test_shares_have_intervals_over_groups_by_keys():
    rows = pd.DataFrame({"model": ["m", "m", "n"], "score": [1.0, 0.0, 1.0], "group": [*"aba"]})
    table = shares(rows, ["model"], "score", "group").set_index("model")
    assert table["value"].to_dict() == {"m": 0.5, "n": 1.0}
    assert (table["ci_low"] <= table["value"]).all()
    assert table.loc["m", ["n", "n_groups"]].tolist() == [2, 2]


def test_without_rows_shares_have_their_columns():
    none = pd.DataFrame({"model": [], "score": [], "group": []})
    assert {"model", "value", "ci_low"} <= {*shares(none, ["model"], "score", "group")}
