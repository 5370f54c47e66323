"""Agreement of judges with labelled decisions, thresholds, and scores with their judge's error."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from tomlab.errors import InputError
from tomlab.judging.agreement import (
    agreement_by_judge,
    agreement_by_kind,
    differences,
)
from tomlab.judging.thresholds import cross_validated, cross_validated_thresholds


def decided(**judges: dict[str, str]) -> pd.DataFrame:
    """Decisions by judge and group, a letter a unit: T and F are right, t and f wrong, ? is none.

    "T" is a true match that the judge saw, "t" one that it missed, "F" and "f" likewise for none.
    """
    rows = []
    for judge, groups in judges.items():
        for group, letters in groups.items():
            for number, letter in enumerate(letters):
                decision = None if letter == "?" else letter in "Tf"
                rows.append((judge, group, f"{group}{number}", letter in "Tt", decision))
    return pd.DataFrame(rows, columns=["judge", "group", "unit", "truth", "decision"])


def only_row(frame: pd.DataFrame) -> dict:
    [row] = frame.to_dict("records")
    return row


# ---- Agreement -----------------------------------------------------------------------------------


def test_agreement_is_averaged_over_groups_not_units():
    row = only_row(agreement_by_judge(decided(exact={"a": "TTFf", "b": "T"})))
    assert row["agreement"] == pytest.approx((3 / 4 + 1) / 2)
    assert (row["n"], row["undefined"], row["n_groups"]) == (5, 0, 2)
    assert row["ci_low"] <= row["agreement"] <= row["ci_high"]


def test_precision_recall_and_kappa_are_over_the_units_of_all_groups():
    table = decided(exact={"a": "TTtFff", "b": "TFFFt"})
    row = only_row(agreement_by_judge(table))
    expected = cohen_kappa_score(table["truth"], table["decision"].astype(bool))
    assert row["kappa"] == pytest.approx(expected)
    assert row["precision"] == pytest.approx(3 / 5)
    assert row["recall"] == pytest.approx(3 / 5)
    assert row["kappa_low"] < row["kappa"] < row["kappa_high"]


def test_undefined_decisions_are_counted_and_never_taken_for_no():
    row = only_row(agreement_by_judge(decided(llm={"a": "TT??", "b": "F?"})))
    assert row["agreement"] == 1
    assert row["agreement_all"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert (row["n"], row["undefined"], row["n_groups"]) == (6, 3, 2)
    without_decision = only_row(agreement_by_judge(decided(llm={"a": "??"})))
    assert np.isnan(without_decision["agreement"]) and np.isnan(without_decision["kappa"])
    assert without_decision["agreement_all"] == 0


def test_units_that_nobody_labelled_are_left_out():
    table = decided(exact={"a": "TTFf"}).astype({"truth": object})
    table.loc[3, "truth"] = None
    assert only_row(agreement_by_judge(table))["agreement"] == 1
    assert only_row(agreement_by_judge(table))["n"] == 3


def test_perfect_agreement_is_not_certainty():
    row = only_row(agreement_by_judge(decided(exact={"a": "TF", "b": "TF", "c": "TF"})))
    assert row["agreement"] == row["kappa"] == 1
    assert row["ci_low"] < 1 and row["precision_low"] < 1 and row["kappa_low"] < 1


@given(st.lists(st.text(alphabet="TtFf?", min_size=1, max_size=6), min_size=1, max_size=4))
@settings(deadline=None, max_examples=30)
def test_report_holds_for_any_decisions(groups):
    table = decided(judge={str(i): letters for i, letters in enumerate(groups)})
    row = only_row(agreement_by_judge(table))
    shares = []
    for letters in groups:
        known = letters.replace("?", "")
        if known:
            shares.append(sum(letter in "TF" for letter in known) / len(known))
    assert row["agreement"] == pytest.approx(np.mean(shares) if shares else np.nan, nan_ok=True)
    assert row["agreement_all"] <= row["agreement"] or not shares
    for name in ("ci", "agreement_all", "precision", "recall"):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        assert np.isnan(low) or 0 <= low <= high <= 1


def test_difference_is_paired_over_groups():
    # The better judge is better in every one of twelve groups: no doubt about the sign.
    poor = {f"g{i}": "TFTf" if i % 2 else "TFtf" for i in range(12)}
    table = decided(good=dict.fromkeys(poor, "TFTF"), poor=poor)
    row = only_row(differences(table, "good"))
    assert (row["judge"], row["best"]) == ("poor", "good")
    assert row["difference"] == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert 0 < row["ci_low"] <= row["difference"] <= row["ci_high"] < 1


def test_tables_of_judges_that_are_put_together_may_repeat_their_index():
    good = decided(good={"a": "TF", "b": "TF"})
    poor = decided(poor={"a": "Tf", "b": "tF"})
    assert only_row(differences(pd.concat([good, poor]), "good"))["judge"] == "poor"


def test_difference_is_over_units_that_both_decided():
    row = only_row(differences(decided(good={"a": "TT??"}, poor={"a": "Tt?F"}), "good"))
    assert (row["difference"], row["n"], row["n_groups"]) == (0.5, 2, 1)


def test_agreement_by_kind_is_sensitivity_of_matches_and_specificity_of_others():
    table = decided(toy={"a": "TTtF", "b": "Tf?f"})
    units = table["unit"]
    kinds = pd.Series(np.where(units.str[1].eq("3"), "sibling", "copy"), units)
    result = agreement_by_kind(table, "toy", kinds).set_index(["kind", "truth"])
    assert result.loc[("copy", True), "agreement"] == 3 / 4
    assert result.loc[("copy", False), "agreement"] == 0  # one is undefined, one is wrong
    assert result.loc[("sibling", False), ["agreement", "n", "n_groups"]].tolist() == [1 / 2, 2, 2]
    assert result["agreement"].is_monotonic_increasing


# ---- Thresholds ----------------------------------------------------------------------------------


def scored(**groups: list[tuple[float, bool]]) -> pd.DataFrame:
    rows = []
    for group, units in groups.items():
        for number, (score, truth) in enumerate(units):
            rows.append((group, number, score, truth))
    return pd.DataFrame(rows, columns=["group", "unit", "score", "truth"])


CLEAR = [(0.9, True), (0.8, True), (0.4, False), (0.1, False)]


def test_threshold_lies_between_what_matches_and_what_does_not():
    result = cross_validated(scored(a=CLEAR, b=CLEAR, c=CLEAR), folds=3)
    assert result.final == pytest.approx(0.6)
    assert result.decisions["threshold"].tolist() == pytest.approx([0.6] * 12)
    assert (result.decisions["decision"] == result.decisions["truth"]).all()


@given(st.integers(0, 1000), st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_no_group_is_decided_by_itself(seed, turned):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "group": np.repeat(np.arange(6), 4),
            "unit": np.arange(24),
            "score": draw.random(24).round(1),
            "truth": draw.random(24) < 0.5,
        }
    )
    other = frame.assign(truth=frame["truth"] ^ (frame["group"] == turned))
    is_turned = frame["group"] == turned
    before = cross_validated(frame, folds=6).decisions.loc[is_turned, "decision"]
    after = cross_validated(other, folds=6).decisions.loc[is_turned, "decision"]
    pd.testing.assert_series_equal(before, after)


def test_undefined_score_is_an_undefined_decision():
    frame = scored(a=[*CLEAR, (np.nan, True)], b=CLEAR)
    result = cross_validated(frame, folds=2).decisions
    assert result["decision"].isna().tolist() == [False] * 4 + [True] + [False] * 4
    assert only_row(agreement_by_judge(result.assign(judge="cosine")))["undefined"] == 1


def test_decisions_by_threshold_need_not_be_nested():
    frame = pd.DataFrame(
        {
            "group": ["a", "a", "b", "b", "c", "c"],
            "unit": range(6),
            "truth": [True, False] * 3,
            0.5: [True, True] * 3,
            0.6: [False, False] * 3,
            0.7: [True, False] * 3,
        }
    )
    result = cross_validated_thresholds(frame, folds=3)
    assert result.final == 0.7 and (result.decisions["threshold"] == 0.7).all()
    assert result.decisions["decision"].tolist() == [True, False] * 3


def test_too_few_groups_and_empty_scores_are_refused():
    with pytest.raises(InputError, match="found 1 groups for 2 folds"):
        cross_validated(scored(a=CLEAR), folds=2)
    with pytest.raises(InputError, match="no defined score"):
        cross_validated(scored(a=[(np.nan, True)], b=[(np.nan, True)]), folds=2)
