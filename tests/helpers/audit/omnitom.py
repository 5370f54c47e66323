"""Checks of OmniToM's published tables (values: percent, or counts)."""

import numpy as np
import pandas as pd

from audit.checks import check, compare, matched, only, outcome


def story_weighted(table, value: str, keys: list[str], table4: pd.DataFrame) -> pd.Series:
    """Mean of category scores by `keys`, weighted with Table 4's numbers of stories."""
    stories = only(table4, statistic="stories").set_index("category")["value"].drop("total")
    weight = matched(table, stories)
    weighted = table.assign(score=table[value] * weight, weight=weight).dropna(subset="weight")
    sums = weighted.groupby(keys)[["score", "weight"]].sum()
    return sums["score"] / sums["weight"]


def overall(by_model: pd.Series, column: str) -> pd.Series:
    """Values by model as what is expected where `column` says overall."""
    return pd.concat({"overall": by_model}, names=[column])


@check("omnitom", 27, ["table3_stage2"])
@check("omnitom", 26, ["table3_stage1"])
def plain_mean(table3):
    """Overall is the plain mean of the seven columns (categories, dimensions) before it."""
    column, value = table3.columns[-2:]
    mean = table3[table3[column] != "overall"].groupby("model")[value].mean()
    return compare(table3, value, overall(mean, column), 0.01, "plain mean")


@check("omnitom", 26, ["table3_stage1", "table4_categories"])
def macro_average(stage1, table4):
    """Overall is the macro-average over stories that §5 defines."""
    mean = story_weighted(stage1, "f1", ["model"], table4)
    printed = only(stage1, category="overall").set_index("model")["f1"]
    same = printed.rank().eq(mean.rank()).all()
    also = f"; the order of the models {'stays' if same else 'changes'}"
    expected = overall(mean, "category")
    return compare(stage1, "f1", expected, 0.01, "macro-average over stories", also=also)


@check("omnitom", 27, ["table3_stage2", "table10_stage2_by_category", "table4_categories"])
def stage2_by_story(stage2, table10, table4):
    """Each dimension is the mean of Table 10's categories, weighted with all their stories."""
    plain = matched(stage2, table10.groupby(["model", "dimension"])["accuracy"].mean())
    gap = (stage2["accuracy"] - plain).abs()
    also = f"; plain means miss {(gap > 0.02).sum()} by more than .02, at most by {gap.max():.2f}"
    weighted = story_weighted(table10, "accuracy", ["model", "dimension"], table4)
    return compare(stage2, "accuracy", weighted, 0.01, "over stories", also=also)


@check("omnitom", 28, ["table4_categories"])
def category_sums(table4):
    """Categories sum to the total, orders to the beliefs, and beliefs per story is their ratio."""
    wide = table4.pivot(index="category", columns="statistic", values="value")
    orders = ["order_0", "order_1", "order_2_plus"]
    expected = wide * np.nan
    expected.loc["total"] = wide.drop("total").sum()
    expected["beliefs"] = wide[orders].sum(axis=1)
    expected["beliefs_per_story"] = wide["beliefs"] / wide["stories"]
    also = f"; {7 * wide['beliefs']['total']:.0f} labels in seven dimensions"
    return compare(table4, "value", expected.stack(), 0.005, "from the other cells", also=also)


@check("omnitom", 28, ["order_distribution", "table4_categories"])
def order_shares(distribution, table4):
    """The percentages of order 0 and 1 are Table 4's counts, and those of 2 and 3 its order 2+."""
    count = only(table4, category="total").set_index("statistic")["value"]
    share = 100 * count / count["beliefs"]
    percent = distribution.set_index("order")["percent"]
    expected = pd.Series({0: share["order_0"], 1: share["order_1"]})
    expected[2] = share["order_2_plus"] - percent[3]
    also = f"; order 2+ is {share['order_2_plus']:.2f}"
    return compare(
        distribution, "percent", expected.rename_axis("order"), 0.1, "Table 4 gives", also=also
    )


@check("omnitom", 30, ["table9_teler", "table5_calibration_models", "judge_agreement"])
def level_four(table9, table5, agreement):
    """L4 is the value of Table 5 (stages) and App. B.4 (judges)."""
    task = table5["metric"].map({"stage1_f1": "stage1", "stage2_accuracy": "stage2"})
    stages = table5.assign(task=task, level="L4")
    judges = agreement.assign(task="judge", value=agreement["agreement_percent"])
    both = pd.concat([stages, judges]).set_index(["model", "task", "level"])["value"]
    return compare(table9, "value", both, 0, "elsewhere")


@check("omnitom", 30, ["table9_teler"])
def best_level(table9):
    """L4 is the best level."""
    wide = table9.pivot(index=["model", "task"], columns="level", values="value")
    falls = ((wide["L2"] < wide["L1"]) | (wide["L3"] < wide["L2"])).sum()
    rows = only(table9, level="L4")
    best = matched(rows, wide.drop(columns="L4").max(axis=1))
    also = f"; {falls} of {len(wide)} rows of the paper fall between L1 and L3"
    return outcome(rows, rows["value"] <= best, "another level has " + best.map(str), also)


@check("omnitom", 31, ["table11_matchcount"])
def matchcount_totals(table11):
    """MatchCounts sum to the total of each model, and models to the total of each MatchCount."""
    wide = table11.pivot(index="model", columns="matchcount", values="count")
    expected = wide * np.nan
    expected.loc["total"] = wide.drop("total").sum()
    expected["total"] = wide.drop(columns="total").sum(axis=1)
    also = f"; {wide['4']['total']} beliefs have MatchCount 4"
    return compare(table11, "count", expected.stack(), 0, "sum", also=also)


@check("omnitom", 32, ["table6_reliability"])
def agreement_shares(table6):
    """Dimensions sum to the overall counts, and each percentage is agree / n."""
    wide = table6.pivot(index="dimension", columns="statistic", values="value")
    expected = wide * np.nan
    expected.loc["overall"] = wide.drop("overall").sum()
    expected["agreement_percent"] = 100 * wide["agree"] / wide["n"]
    also = f"; {wide['agree']['overall']:.0f} of {wide['n']['overall']:.0f} agree"
    return compare(table6, "value", expected.stack(), 0.005, "from the counts", also=also)


@check("omnitom", 32, ["human_matchcount"])
def human_matchcounts(human):
    """Percentages of the human MatchCounts are their counts out of all."""
    counts = only(human, statistic="beliefs").set_index("matchcount")["value"]
    percent = pd.concat({"percent": 100 * counts / counts.sum()}, names=["statistic"])
    also = f"; {counts.sum():.0f} beliefs"
    return compare(human, "value", percent, 0.005, "from the counts", also=also)


@check("omnitom", 33, ["table12_unusable", "table4_categories"])
def unusable_counts(table12, table4):
    """Each rate of unusable outputs is a count out of all stories."""
    stories = only(table4, category="total", statistic="stories")["value"].iloc[0]
    rates = table12.set_index(["model", "stage"])["unusable_percent"]
    counts = (rates * stories / 100).round()
    second = rates.xs("stage1", level="stage").sort_values().index[-2]
    also = f"; at most {counts.max():.0f} of {stories:.0f}, second in Stage 1 is {second}"
    return compare(table12, "unusable_percent", 100 * counts / stories, 0.005, "nearest", also=also)
