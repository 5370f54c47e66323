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
    linear_interval,
    ratio,
    shares,
)

examples = settings(deadline=None, max_examples=30)


def interval(*groups, **options):
    """The interval of groups given as lists of values."""
    names = np.repeat(range(len(groups)), [len(group) for group in groups])
    return cluster_interval(pd.Series(np.concatenate(groups)), pd.Series(names), **options)


def counts_of(groups):
    """Sum and count of each group, as `cluster_statistic` takes them."""
    return pd.DataFrame([(sum(group), len(group)) for group in groups], columns=["sum", "count"])


def ends(result):
    return result.ci_low, result.ci_high


def width(result):
    return result.ci_high - result.ci_low


def jackknife(value, without, bounds=SHARE, groups=None):
    """The jackknife's ends from the value of all groups and those without each, by its formulas;
    groups: how many there are, if some can't be left out.
    """
    moves = np.array(without) - value
    groups = groups or len(moves)
    squares = (moves**2).sum()
    kurtosis = len(moves) * (moves**4).sum() / squares**2
    degrees = max(1, min(groups - 1, 2 * groups / (kurtosis - 1)))
    distance = student.ppf(0.975, degrees) * np.sqrt(squares * groups / len(moves))
    span = bounds[1] - bounds[0]
    share = (value - bounds[0]) / span
    on_scale = logit(share) + np.array([-1, 1]) * distance / span / (share * (1 - share))
    return tuple(bounds[0] + span * expit(on_scale))


# ---- Means over groups ---------------------------------------------------------------------------

RNG = np.random.default_rng(1)
RANDOM_GROUPS = [RNG.binomial(1, RNG.random(), size=RNG.integers(1, 9)) for _ in range(40)]


@pytest.mark.parametrize(
    ("groups", "bounds"),
    [
        ([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 1]], SHARE),
        (RANDOM_GROUPS, SHARE),
        ([[5], [4], [4], [5], [3], [1], [5], [5]], (1.0, 5.0)),  # ratings
    ],
)
def test_interval_is_that_of_leaving_out_whole_groups_by_hand(groups, bounds):
    rest = [np.concatenate(groups[:place] + groups[place + 1 :]) for place in range(len(groups))]
    expected = jackknife(np.mean(np.concatenate(groups)), [part.mean() for part in rest], bounds)
    result = interval(*groups, bounds=bounds)
    assert result.ci_method == JACKKNIFE
    assert ends(result) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("groups", "bounds", "method", "expected"),
    [
        # All 24 alike: Clopper-Pearson's for as many trials as groups.
        ([[1] * 3] * 24, SHARE, ALIKE, (0.8575, 1)),
        ([[0] * 3] * 24, SHARE, ALIKE, (0, 0.1425)),
        # Ten groups at 1/2: 1 - .025 ** (1 / 10) = .3085 of others would go unseen.
        ([[1, 0], [0, 1]] * 5, SHARE, ALIKE, (0.5 - 0.3085 / 2, 0.5 + 0.3085 / 2)),
        # Two groups at .5: .5 (1 - q) to .5 (1 + q) with q = 1 - .025 ** (1 / 2).
        ([[0.5]] * 2, COUNT, ALIKE, (0.0791, 0.9209)),
        # 1 - .025 ** (1 / 40) = .088; as a share of 40 trials, ends were -.32 and .32.
        ([[0]] * 40, DIFFERENCE, PAIRED, (-0.0881, 0.0881)),
        # A single group says next to nothing.
        ([[1] * 4], SHARE, EXACT, (0.025, 1)),
        ([[4]], (1.0, 5.0), EXACT, (1.0229, 5)),
        # Nine of ten right: the one that is not moves the share more than all others together.
        ([[1]] * 9 + [[0]], SHARE, EXACT, (0.5550, 0.9975)),
        # Sizes 6, 1, 1, 1: 9 ** 2 / 39 = 2.08 effective groups, and no nine answers.
        ([[1] * 6, [1], [0], [1]], SHARE, EXACT, clopper_pearson(8 / 9 * 81 / 39, 81 / 39)),
    ],
)
def test_interval_where_groups_are_alike_or_few(groups, bounds, method, expected):
    result = interval(*groups, bounds=bounds)
    assert result.ci_method == method
    assert ends(result) == pytest.approx(expected, abs=1e-3)


def test_few_large_groups_that_happen_to_agree_make_a_share_no_surer():
    # 24 groups of 12 all wrong, 4 of 96 single answers right: were .04 of all groups right, as well
    # as large ones, this is what one sees.
    result = interval(*[[0] * 12] * 24, *[[1]] * 4, *[[0]] * 92)
    assert result.value == pytest.approx(4 / 384)
    assert result.ci_high > 0.04


@pytest.mark.parametrize("trials", [1, 7, 200])
def test_clopper_pearson_is_scipys_exact_interval(trials):
    for successes in range(trials + 1):
        exact = binomtest(successes, trials).proportion_ci(0.95, "exact")
        assert clopper_pearson(successes, trials) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize(
    ("bounds", "values"),
    [
        (SHARE, [0, 1]),
        (SHARE, [0, 1 / 7, 3 / 7, 1]),  # sums of fractions differ by the order of what is added
        (DIFFERENCE, [-1, 0, 1]),
        (COUNT, [0, 3, 1 / 7, 500]),
        ((1.0, 5.0), [1, 2, 5]),
    ],
)
@given(st.data())
@examples
def test_interval_of_a_mean_holds_it_and_knows_no_order_names_or_direction(bounds, values, data):
    answer = st.tuples(st.sampled_from(values), st.integers(0, 9))
    rows = pd.DataFrame(data.draw(st.lists(answer, min_size=1)), columns=["value", "group"])
    result = cluster_interval(rows["value"], rows["group"], bounds=bounds)
    assert result.value == pytest.approx(rows["value"].mean())
    assert bounds[0] <= result.ci_low <= result.value <= result.ci_high <= bounds[1]
    assert bounds == COUNT or width(result) > 0
    names = dict(enumerate(data.draw(st.permutations("abcdefghij"))))
    shuffled = rows.loc[data.draw(st.permutations(range(len(rows))))]
    groups = shuffled["group"].map(names)
    assert cluster_interval(shuffled["value"], groups, bounds=bounds) == result
    # Answers that repeat within their groups make nothing surer.
    often = pd.concat([rows] * 3)
    often = cluster_interval(often["value"], often["group"], bounds=bounds)
    assert ends(often) == pytest.approx(ends(result))
    if bounds != COUNT:
        turned = cluster_interval(sum(bounds) - rows["value"], rows["group"], bounds=bounds)
        expected = (sum(bounds) - turned.ci_high, sum(bounds) - turned.ci_low)
        assert ends(result) == pytest.approx(expected, abs=1e-9)
    else:
        thousands = cluster_interval(1000 * rows["value"], rows["group"], bounds=bounds)
        assert ends(thousands) == pytest.approx([1000 * end for end in ends(result)])


# ---- Sums of shares ------------------------------------------------------------------------------


def balanced(right, kinds, **options):
    """The interval of answers that are each a group of their own."""
    groups = pd.Series(range(len(right)))
    return balanced_interval(pd.Series(right), pd.Series(kinds), groups, **options)


def test_99_of_100_right_have_the_same_interval_whether_balanced_or_not():
    right = [1.0] * 99 + [0.0]
    plain = interval(*[[value] for value in right])
    result = balanced(right, [0, 1] * 50)
    assert (result.value, *ends(result)) == pytest.approx((plain.value, *ends(plain)))
    assert ends(result) == pytest.approx((0.946, 1), abs=0.001)


def test_a_kind_of_few_groups_makes_a_balanced_accuracy_less_sure():
    # All right. Of ten, up to .31 of others would go unseen: .15 of a mean of two kinds.
    even = balanced([1.0] * 100, [0, 1] * 50)
    rare = balanced([1.0] * 100, [0] * 10 + [1] * 90)
    assert even.ci_low == pytest.approx(1 - 0.0362, abs=1e-4)
    assert rare.ci_low == pytest.approx(1 - 0.3085 / 2, abs=0.005)


@pytest.mark.parametrize(
    ("weights", "value"),
    [(None, 0.5), ({"a": 0.9, "b": 0.1}, 0.7), ({"a": 0.5, "c": 0.5}, np.nan)],
)
def test_a_balanced_accuracy_takes_the_kinds_by_their_weights(weights, value):
    right = [1.0, 1, 1, 0] * 5 + [1, 0, 0, 0] * 5
    result = balanced(right, ["a"] * 20 + ["b"] * 20, weights=weights)
    assert result.value == pytest.approx(value, nan_ok=True)
    assert np.isnan(ends(result)).all() == np.isnan(value)


def test_a_gap_of_two_shares_adds_their_distances_by_squares():
    a = [[1]] * 45 + [[0]] * 5
    b = [[1]] * 30 + [[0]] * 20
    counts_b = counts_of(b).set_axis(range(50, 100))  # of groups of its own
    result = linear_interval([counts_of(a), counts_b], (1, -1), n=100)
    assert result.value == pytest.approx(0.9 - 0.6)
    down = np.hypot(0.9 - interval(*a).ci_low, interval(*b).ci_high - 0.6)
    up = np.hypot(interval(*a).ci_high - 0.9, 0.6 - interval(*b).ci_low)
    assert ends(result) == pytest.approx((0.3 - down, 0.3 + up))


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), st.integers(0, 5)), min_size=1),
    st.sampled_from([SHARE, DIFFERENCE]),
)
@examples
def test_interval_of_a_balanced_mean_holds_it_whatever_the_names_of_groups(rows, bounds):
    values, kinds, groups = (pd.Series(column) for column in zip(*rows, strict=True))
    if bounds == DIFFERENCE:
        values = values - (groups % 2)
    result = balanced_interval(values, kinds, groups, bounds=bounds)
    renamed = groups.map(dict(enumerate("dacbfe")))
    assert balanced_interval(values, kinds, renamed, bounds=bounds) == result
    assert result.value == pytest.approx(values.groupby(kinds).mean().mean())
    assert bounds[0] <= result.ci_low <= result.value + 1e-12
    assert result.value - 1e-12 <= result.ci_high <= bounds[1]
    assert width(result) > 0


# ---- Statistics of counts ------------------------------------------------------------------------


def test_an_f1_of_answers_that_count_alike_is_as_sure_as_a_share_is():
    counts = pd.DataFrame({"both": [2] * 99 + [0], "predicted and gold": [2] * 100})
    result = cluster_statistic(counts, ratio, n=100, trials=100)
    assert cluster_statistic(counts, ratio, n=100).ci_low < 0.6
    assert ends(result) == pytest.approx(clopper_pearson(99, 100))


@given(st.randoms(use_true_random=False))
@examples
def test_neither_the_order_of_groups_nor_groups_without_counts_change_a_statistic(random):
    counts = pd.DataFrame({"sum": np.arange(1, 12) / 7, "n": [3, 4] * 5 + [5]})
    padded = pd.concat([counts, 0 * counts], ignore_index=True).sample(
        frac=1, random_state=random.randrange(99)
    )
    result = cluster_statistic(padded, ratio, n=11)
    assert result == cluster_statistic(counts, ratio, n=11)
    assert result.n_groups == 11


def mean_of_means(counts):
    """The mean of two kinds' means, from the sum and count of each; nan where one is missing."""
    return (ratio(counts[..., :2]) + ratio(counts[..., 2:])) / 2


def test_group_that_can_not_be_left_out_is_taken_to_move_the_value_as_the_others_do():
    # The last group alone has the second kind: without it there is no mean of means.
    first = [(1, 2), (2, 2), (0, 1), (1, 1)]
    counts = pd.DataFrame([(*kind, 0, 0) for kind in first] + [(0, 0, 1, 2)])
    result = cluster_statistic(counts, mean_of_means, n=8)
    without = [((4 - right) / (6 - n) + 1 / 2) / 2 for right, n in first]
    assert result.value == pytest.approx((4 / 6 + 1 / 2) / 2)
    assert ends(result) == pytest.approx(jackknife(result.value, without, groups=5))


def test_statistic_without_a_value_has_no_interval():
    result = cluster_statistic(counts_of([[], []]), ratio, n=0)
    assert np.isnan([result.value, *ends(result)]).all()
    assert result.n_groups == 0


# ---- Agreement -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratings", "level", "expected"),
    [
        # Nominal alpha by hand, on the 4 units that two or more rated: coincidences o11 = 2,
        # o00 = 5, o01 = o10 = 1 (the unit 0, 0, 1 gives pairs 00, 01, 10, each over m - 1 = 2), so
        # D_o = 2 / 9, n0 = 6, n1 = 3, D_e = 2 * 6 * 3 / (9 * 8) = 1/2, alpha = 5/9.
        (
            [[0, 0, 1], [1, 1, None], [0, 0, None], [0, 0, None], [1, None, None]],
            "nominal",
            (4, 0.75, 5 / 9),
        ),
        # D_o = (2 * 4) / 6; squared differences of all 30 pairs of the six values: 136.
        ([[1, 1], [2, 2], [3, 5]], "interval", (3, 2 / 3, 1 - (8 / 6) / (136 / 30))),
        ([[1, 1], [1, 1]], "nominal", (2, 1, np.nan)),
        ([[1], [0]], "nominal", (0, np.nan, np.nan)),
        ([[1, None], [None, 0]], "nominal", (0, np.nan, np.nan)),
    ],
)
def test_agreement_is_worked_out_by_hand(ratings, level, expected):
    result = agreement(pd.DataFrame(ratings, dtype=float), level)
    numbers = [result[name] for name in ("units", "percent_agreement", "alpha")]
    assert numbers == pytest.approx(list(expected), nan_ok=True)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_interval_of_alpha_is_that_of_alphas_without_each_group(level):
    draw = np.random.default_rng(3)
    ratings = pd.DataFrame(draw.integers(0, 3, size=(20, 3)).astype(float))
    ratings[[1, 2]] = ratings[[1, 2]].where(draw.random((20, 2)) < 0.6, ratings[[0, 0]].to_numpy())
    ratings = ratings.mask(draw.random((20, 3)) < 0.1)
    groups = pd.Index(np.repeat(range(10), 2))

    def alpha(rows):
        rated = ratings[rows & (ratings.notna().sum(axis=1) >= 2)]
        return krippendorff.alpha(rated.to_numpy().T, level_of_measurement=level)

    without = [alpha(groups != group) for group in range(10)]
    expected = jackknife(alpha(groups >= 0), without, DIFFERENCE)
    assert alpha_interval(ratings, level, groups) == pytest.approx(expected)


@pytest.mark.parametrize("ratings", [[[0, np.nan], [1, np.nan]], [[1, 1]], [[0, 0], [1, 1]] * 40])
def test_interval_of_alpha_is_nan_without_two_raters_or_where_nothing_varies(ratings):
    ratings = pd.DataFrame(ratings, dtype=float)
    assert np.isnan(alpha_interval(ratings, "nominal", ratings.index)).all()


def test_shares_have_intervals_over_groups_by_keys():
    rows = pd.DataFrame({"model": ["m", "m", "n"], "score": [1.0, 0.0, 1.0], "group": [*"aba"]})
    table = shares(rows, ["model"], "score", "group").set_index("model")
    assert table["value"].to_dict() == {"m": 0.5, "n": 1.0}
    assert (table["ci_low"] <= table["value"]).all()
    assert table.loc["m", ["n", "n_groups"]].tolist() == [2, 2]


def test_without_rows_shares_have_their_columns():
    none = pd.DataFrame({"model": [], "score": [], "group": []})
    assert {"model", "value", "ci_low"} <= {*shares(none, ["model"], "score", "group")}
