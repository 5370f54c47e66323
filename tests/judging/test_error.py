"""What a judge's errors do to a mean score: by people's labels, by a calibration, here as there."""

import numpy as np
import pandas as pd
import pytest

from tomlab.judging.error import as_on_edits, by_labels, qualities, transport
from tomlab.scoring.stats import cluster_interval


def cells_of(sensitivity: float, specificity: float, groups: int = 20, size: int = 50):
    """A calibration's confusion, groups alike but for one case."""
    rows = []
    for group in range(groups):
        off = group % 2
        tp, tn = round(sensitivity * size) - off, round(specificity * size) - off
        counts = {"tp": tp, "fn": size - tp, "tn": tn, "fp": size - tn}
        rows.append({"group": f"calibration {group}", **counts})
    return pd.DataFrame(rows)


# ---- Corrected by labels -------------------------------------------------------------------------


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


# ---- If the judge errs as on constructed edits ---------------------------------------------------


def judged(stories: dict[str, tuple[int, int]], size: int = 20, **columns) -> pd.DataFrame:
    """Tables by story from how many of `size` predicted and gold rows the judge matched."""
    rows = []
    for story, matched in stories.items():
        precision, recall = (n / size for n in matched)
        score = 2 * precision * recall / max(precision + recall, 1e-9)
        rows.append({"group": story, "precision": precision, "recall": recall, "score": score})
    return pd.DataFrame(rows).assign(**columns)


SOME = {f"story {n}": (8 + n % 5, 10 - n % 3) for n in range(30)}


def test_a_perfect_judge_leaves_the_score_as_it_is():
    table = judged(SOME)
    found, reason = as_on_edits(table, cells_of(1, 1).assign(tp=50, fn=0, tn=50, fp=0))
    plain = cluster_interval(table["score"], table["group"])
    assert reason == ""
    assert found.value == pytest.approx(plain.value)
    assert found.ci_low == pytest.approx(plain.ci_low, abs=0.02)


def simulated(draw, sensitivity: float, specificity: float, stories: int = 60, size: int = 40):
    """Tables as an erring judge matched them, and as they are: half of the rows match."""
    share = draw.beta(8, 8, (stories, 1, 1))
    true = draw.random((stories, 2, size)) < share
    said = np.where(
        true, draw.random(true.shape) < sensitivity, draw.random(true.shape) > specificity
    )
    both = [rows.sum(axis=2) for rows in (said, true)]
    return [judged({f"s{i}": tuple(n) for i, n in enumerate(one)}, size) for one in both]


def test_the_sensitivity_analysis_holds_the_true_score_where_its_assumption_holds():
    draw, held, close = np.random.default_rng(0), [], []
    for _ in range(60):
        said, true = simulated(draw, 0.8, 0.85)
        cells = cells_of(0, 0).assign(tp=draw.binomial(50, 0.8, 20), tn=draw.binomial(50, 0.85, 20))
        cells = cells.assign(fn=50 - cells["tp"], fp=50 - cells["tn"])
        found, _ = as_on_edits(said, cells)
        held.append(found.ci_low <= true["score"].mean() <= found.ci_high)
        close.append(abs(found.value - true["score"].mean()))
    assert np.mean(held) >= 0.93
    assert np.mean(close) < 0.03


def test_doubt_about_the_judge_widens_it():
    table = judged(SOME)
    few, many = (as_on_edits(table, cells_of(0.8, 0.9, groups))[0] for groups in (4, 40))
    assert few.ci_high - few.ci_low > many.ci_high - many.ci_low
    assert few.value == pytest.approx(many.value)


def test_nothing_matched_on_two_stories_is_no_certainty():
    # Was [0, 0]. A judge that finds false matches in one row of seven should have found some.
    found, reason = as_on_edits(judged({"a": (0, 0), "b": (0, 0)}), cells_of(0.92, 0.86))
    assert found is None and reason == "fewer matches than the judge's false ones alone would be"


def test_an_interval_contains_its_own_estimate():
    # Was 36.0 [14.4, 32.3]: the value as judged beside the interval of another one.
    for cells in (cells_of(0.92, 0.86), cells_of(0.7, 0.95), cells_of(0.99, 0.8)):
        found, _ = as_on_edits(judged(SOME), cells)
        assert found.ci_low < found.value < found.ci_high
    draw = np.random.default_rng(7)
    for _ in range(100):
        one = by_labels(erring(draw, 30, 3))
        assert one.ci_low <= one.value <= one.ci_high


def test_repeats_of_a_story_are_not_stories():
    table = judged(SOME)
    thrice = pd.concat([table] * 3, ignore_index=True)
    one, three = (as_on_edits(each, cells_of(0.92, 0.86))[0] for each in (table, thrice))
    assert three.n_groups == one.n_groups == 30
    assert (three.ci_low, three.ci_high) == pytest.approx((one.ci_low, one.ci_high))


def test_a_judge_that_says_nothing_allows_no_claim():
    found, reason = as_on_edits(judged(SOME), cells_of(0.5, 0.5))
    assert found is None and reason.startswith("the judge said nothing")


def test_more_matches_than_the_judge_could_see_allow_no_claim():
    found, reason = as_on_edits(judged({"a": (19, 19), "b": (18, 20)}), cells_of(0.6, 0.95))
    assert found is None and reason == "more matches than the judge could see"


def test_outputs_without_a_table_stay_0_and_tell_nothing_of_the_judge():
    table = judged(SOME)
    lost = pd.DataFrame({"group": [f"lost {n}" for n in range(30)]})
    whole, half = (
        as_on_edits(one, cells_of(0.9, 0.9))[0] for one in (table, pd.concat([table, lost]))
    )
    assert half.value == pytest.approx(whole.value / 2)
    found, reason = as_on_edits(lost.reindex(columns=table.columns), cells_of(0.9, 0.9))
    assert found is None and reason == "no output has a table"


# ---- Here as there -------------------------------------------------------------------------------


def decisions(model: str, right: int, wrong: int, truth: bool) -> pd.DataFrame:
    said = [truth] * right + [not truth] * wrong
    units = [f"{model} {truth} {n}" for n in range(len(said))]
    groups = [n % 10 for n in range(len(said))]
    return pd.DataFrame(
        {"group": groups, "unit": units, "truth": truth, "decision": said, "judge": model}
    )


def test_transport_says_where_the_judge_errs_otherwise_than_in_its_calibration():
    cells = cells_of(0.9, 0.85)
    there = qualities(cells)
    assert there["sensitivity"].value == pytest.approx(0.89)
    known = [decisions("toy", 89, 11, True), decisions("toy", 50, 50, False)]
    found = transport(pd.concat([*known, decisions("other", 9, 1, True)]), cells)
    assert found[["model", "quality"]].to_numpy().tolist() == [
        ["toy", "sensitivity"],
        ["toy", "specificity"],
        ["other", "sensitivity"],
    ]
    assert found["outside"].tolist()[:2] == [False, True]
    assert found["n"].tolist() == [100, 100, 10]
    assert (found["calibration_low"] < found["calibration"]).all()


def test_a_specificity_of_70_is_outside_where_the_calibration_says_86():
    cells = cells_of(0.92, 0.86).assign(tn=[40, 46] * 10, fp=[10, 4] * 10)
    run = [decisions("one", 700, 300, False), decisions("other", 86, 14, False)]
    found = transport(pd.concat(run), cells)
    assert found["value"].tolist() == [0.7, 0.86] and found["calibration"].eq(0.86).all()
    assert found["outside"].tolist() == [True, False]


def test_transport_of_nothing_known_has_no_rows():
    assert transport(decisions("toy", 0, 0, True), cells_of(0.9, 0.9)).empty
