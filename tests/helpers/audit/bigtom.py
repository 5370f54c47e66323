"""Checks of BigToM's published tables (values: fractions)."""

import numpy as np
import pandas as pd

from audit.checks import EPS, Outcome, check, compare, matched, only, outcome

ANSWERED = ["true_belief", "false_belief"]


@check("bigtom", 1, ["table7_models"], ["table11_bigtom_claude"])
def footnote_marks(table):
    """Rows are marked † without and ‡ with initial belief (tested: pairs of the two)."""
    mark = table["initial_belief"].map({0: "†", 1: "‡"})
    wrong = table["footnote_as_printed"] != mark
    by_method = table[wrong].groupby(["model", "method"]).size()
    where = ", ".join(f"{' '.join(key)} {pairs}" for key, pairs in by_method.items())
    reason = "marked " + table["footnote_as_printed"] + ", by position " + mark
    marks = reason[wrong].to_dict()
    finding = f"{len(marks)} of {len(table) // 2} fail; by method: {where or 'none'}"
    return Outcome(len(table) // 2, len(marks), finding, marks)


@check("bigtom", 3, ["table7_models"], ["table8_controls"], ["table11_bigtom_claude"])
def joint_accuracy(table):
    """TB ∧ FB is at least TB + FB - 1 and at most the smaller of the two, whatever the rounding."""
    keys = ["model", "variable", "initial_belief", "method"]
    rows = only(table, contingency="tb_and_fb")
    single = table.pivot(index=keys, columns="contingency", values="accuracy")[ANSWERED]
    low = matched(rows, (single.sum(axis=1) - 1).clip(lower=0))
    high = matched(rows, single.min(axis=1))
    # Rounded up, as in Table 11, TB and FB are each up to .01 too high; other roundings need less.
    bad = ~rows["accuracy"].between(low - 0.02 - EPS, high + 0.01 + EPS)
    printed, least, most = (cell.map("{:.2f}".format) for cell in (rows["accuracy"], low, high))
    return outcome(rows, bad, "printed " + printed + ", possible " + least + " to " + most)


@check("bigtom", 6, ["table11_bigtom_claude"])
def counts_of_thirty(table11):
    """Every value is a multiple of 1/30, rounded up to two decimals."""
    rounded_up = [-(-100 * count // 30) for count in range(31)]
    bad = ~(100 * table11["accuracy"]).round().isin(rounded_up)
    return outcome(table11, bad, "printed " + table11["accuracy"].map(str) + ", no count of 30")


def zero_shot_mean(table: pd.DataFrame, **source) -> pd.Series:
    """Mean of the twelve 0-shot TB and FB cells, by model and the given data source."""
    rows = only(table, method="0-shot", contingency=ANSWERED).assign(**source)
    return rows.groupby(["model", *source])["accuracy"].mean()


@check("bigtom", 7, ["table10_claude_vs_gpt4", "table11_bigtom_claude"])
def means_on_bigtom_claude(table10, table11):
    """On BigToM-Claude, Table 10 is the mean of Table 11's 0-shot TB and FB, as counts of 30."""
    counts = table11.assign(accuracy=np.floor(30 * table11["accuracy"] + EPS) / 30)
    mean = zero_shot_mean(counts, data_source="BigToM-Claude")
    return compare(table10, "accuracy", mean, 0.0005, "mean of Table 11")


@check("bigtom", 7, ["table10_claude_vs_gpt4", "table7_models"])
def means_on_bigtom_gpt4(table10, table7):
    """On BigToM-gpt4, Table 10 is the mean of Table 7's 0-shot TB and FB."""
    mean = zero_shot_mean(table7, data_source="BigToM-gpt4")
    # The twelve cells may all be rounded up, by .01 at most.
    return compare(table10, "accuracy", mean, 0.0105, "mean of Table 7")


@check("bigtom", 8, ["table3_rating_contrasts"])
def three_decimals(table3):
    """No contrast and no bound has more than three decimals (tested: rows)."""
    numbers = table3[["estimate", "ci_low", "ci_high"]]
    odd = (numbers - numbers.round(3)).abs() > EPS
    reason = "printed " + numbers.where(odd).max(axis=1).map(str) + ", elsewhere three decimals"
    return outcome(table3, odd.any(axis=1), reason)


@check("bigtom", 8, ["table3_rating_contrasts"])
def contrasts_add_up(table3):
    """socialIQa-Expert is the difference of the other two contrasts, in both versions."""
    wide = table3.pivot(index=["measure", "version"], columns="contrast", values="estimate")
    wide["socialIQa-Expert"] = wide.pop("BigToM-Expert") - wide.pop("BigToM-socialIQa")
    # Posterior summaries, so a little more than rounding (.0015) can come between them.
    return compare(table3, "estimate", wide.stack(), 0.0025, "difference")


@check("bigtom", 8, ["table3_rating_contrasts"])
def aggregate_contrasts(table3):
    """The aggregate contrast is the mean of the three measures, to .005 as from separate fits."""
    measures = table3[(table3["version"] == "final") & (table3["measure"] != "aggregate")]
    keys = ["measure", "contrast", "version"]
    mean = measures.assign(measure="aggregate").groupby(keys)["estimate"].mean()
    return compare(table3, "estimate", mean, 0.005, "mean")
