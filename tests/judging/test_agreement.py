"""Agreement of judges with labelled decisions, thresholds, and scores with their judge's error."""

import json

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
    save,
)
from tomlab.judging.thresholds import cross_validated, cross_validated_thresholds


def decided(**judges: dict[str, str]) -> pd.DataFrame:
    """Decisions by judge and group, a letter a unit: T and F are right, t and f wrong, ? is none.

    "T" is a true match that the judge saw, "t" one that it missed, "F" and "f" likewise for none.
    """
    return pd.DataFrame(
        [
            {
                "judge": judge,
                "group": group,
                "unit": f"{group}{i}",
                "truth": letter in "Tt",
                "decision": None if letter == "?" else letter in "Tf",
            }
            for judge, groups in judges.items()
            for group, letters in groups.items()
            for i, letter in enumerate(letters)
        ]
    )


def only_row(frame: pd.DataFrame) -> dict:
    [row] = frame.to_dict("records")
    return row


# ---- Agreement -----------------------------------------------------------------------------------


def test_agreement_is_averaged_over_groups_not_units():
    row = only_row(agreement_by_judge(decided(exact={"a": "TTFf", "b": "T"})))
    assert row["agreement"] == pytest.approx((3 / 4 + 1) / 2)
    assert (row["n"], row["undefined"], row["n_groups"]) == (5, 0, 2)
    assert row["ci_low"] <= row["agreement"] <= row["ci_high"]


def test_precision_and_recall_are_over_the_units_of_all_groups():
    row = only_row(agreement_by_judge(decided(exact={"a": "TTtF", "b": "Tff"})))
    assert row["precision"] == pytest.approx(3 / 5)
    assert row["recall"] == pytest.approx(3 / 4)


def test_kappa_is_cohens():
    table = decided(exact={"a": "TTtFff", "b": "TFFFt"})
    row = only_row(agreement_by_judge(table))
    expected = cohen_kappa_score(table["truth"], table["decision"].astype(bool))
    assert row["kappa"] == pytest.approx(expected)
    assert row["kappa_low"] < row["kappa"] < row["kappa_high"]


def test_undefined_decisions_are_counted_and_never_taken_for_no():
    row = only_row(agreement_by_judge(decided(llm={"a": "TT??", "b": "F?"})))
    assert row["agreement"] == 1
    assert row["agreement_all"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert (row["n"], row["undefined"], row["n_groups"]) == (6, 3, 2)


def test_judge_that_decided_nothing_has_no_agreement():
    row = only_row(agreement_by_judge(decided(llm={"a": "??"})))
    assert np.isnan(row["agreement"]) and np.isnan(row["precision"]) and np.isnan(row["kappa"])
    assert row["agreement_all"] == 0
    assert (row["n"], row["undefined"], row["n_groups"]) == (2, 2, 0)


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
    right = [sum(letter in "TF" for letter in letters) for letters in groups]
    known = [sum(letter != "?" for letter in letters) for letters in groups]
    shares = [r / k for r, k in zip(right, known, strict=True) if k]
    assert row["agreement"] == pytest.approx(np.mean(shares) if shares else np.nan, nan_ok=True)
    assert row["agreement_all"] <= row["agreement"] or not shares
    for name in ("ci", "agreement_all", "precision", "recall"):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        assert np.isnan(low) or 0 <= low <= high <= 1


def test_difference_is_paired_over_groups():
    # The better judge is better in every one of twelve groups: no doubt about the sign.
    groups = [f"g{i}" for i in range(12)]
    table = decided(
        good=dict.fromkeys(groups, "TFTF"),
        poor={g: "TFTf" if i % 2 else "TFtf" for i, g in enumerate(groups)},
    )
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
    kinds = pd.Series(
        {f"{group}{i}": "copy" if i < 3 else "sibling" for group in "ab" for i in range(4)}
    )
    found = agreement_by_kind(table, "toy", kinds).set_index(["kind", "truth"])
    assert found.loc[("copy", True), "agreement"] == 3 / 4
    assert found.loc[("copy", False), "agreement"] == 0  # one is undefined, one is wrong
    assert found.loc[("sibling", False), ["agreement", "n", "n_groups"]].tolist() == [1 / 2, 2, 2]
    assert found["agreement"].is_monotonic_increasing


# ---- Thresholds ----------------------------------------------------------------------------------


def scored(**groups: list[tuple[float, bool]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"group": group, "unit": i, "score": score, "truth": truth}
            for group, units in groups.items()
            for i, (score, truth) in enumerate(units)
        ]
    )


CLEAR = [(0.9, True), (0.8, True), (0.4, False), (0.1, False)]


def test_threshold_lies_between_what_matches_and_what_does_not():
    found = cross_validated(scored(a=CLEAR, b=CLEAR, c=CLEAR), folds=3)
    assert found.final == pytest.approx(0.6)
    assert found.decisions["threshold"].tolist() == pytest.approx([0.6] * 12)
    assert (found.decisions["decision"] == found.decisions["truth"]).all()


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
    results = [cross_validated(f, folds=6).decisions for f in (frame, other)]
    own = [result.loc[result["group"] == turned, "decision"] for result in results]
    pd.testing.assert_series_equal(*own)


def test_undefined_score_is_an_undefined_decision():
    frame = scored(a=[*CLEAR, (np.nan, True)], b=CLEAR)
    found = cross_validated(frame, folds=2).decisions
    assert found["decision"].isna().tolist() == [False] * 4 + [True] + [False] * 4
    assert only_row(agreement_by_judge(found.assign(judge="cosine")))["undefined"] == 1


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
    found = cross_validated_thresholds(frame, folds=3)
    assert found.final == 0.7 and (found.decisions["threshold"] == 0.7).all()
    assert found.decisions["decision"].tolist() == [True, False] * 3


def test_best_threshold_counts_groups_alike():
    # One big group for .5, two small ones for .7.
    frame = pd.DataFrame({"group": ["a"] * 6 + ["b", "c"], "unit": range(8), "truth": True})
    frame[0.5], frame[0.7] = [True] * 6 + [False] * 2, [False] * 6 + [True] * 2
    assert cross_validated_thresholds(frame, folds=2).final == 0.7


def test_too_few_groups_and_empty_scores_are_refused():
    with pytest.raises(InputError, match="found 1 groups for 2 folds"):
        cross_validated(scored(a=CLEAR), folds=2)
    with pytest.raises(InputError, match="no defined score"):
        cross_validated(scored(a=[(np.nan, True)], b=[(np.nan, True)]), folds=2)


def test_winner_and_tables_are_written(tmp_path):
    table = pd.DataFrame({"judge": ["exact"], "agreement": [0.5]})
    save(tmp_path, {"judge": "exact", "margin": None}, agreement=table)
    assert json.loads((tmp_path / "winner.json").read_text()) == {"judge": "exact", "margin": None}
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "agreement.csv"), table)
