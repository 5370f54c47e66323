"""Checks of SimpleToM's published tables (values: percent)."""

import numpy as np
import pandas as pd

from audit.checks import EPS, Outcome, check, matched, only, outcome, sentence

ACCURACIES = ["table2_main", "table3_ms_remind", "table4_system_prompt", "table5_cot"]
QUESTIONS = ["mental_state", "behavior", "judgment"]


def with_condition(table: pd.DataFrame) -> pd.DataFrame:
    """The table with its intervention (reminder, system prompt or method) as `condition`."""
    own = table.columns.difference(["model", "question_type", "accuracy"])
    return table.assign(condition=table[own[0]] if len(own) else "none")


@check("simpletom", 21, *([table, "table8_statistics"] for table in ACCURACIES))
def averages_of_counts(table, statistics):
    """Each average is possible as the mean of three accuracies that are counts of the stories."""
    stories = statistics.set_index("scenario")["stories"]["All stories"]
    rows = with_condition(table)
    wide = rows.pivot(index=["model", "condition"], columns="question_type", values="accuracy")
    wide = wide[QUESTIONS]
    # Interventions leave the mental-state question as it is, so it is printed once.
    wide["mental_state"] = wide.groupby("model")["mental_state"].transform("first")
    fewest = np.ceil((wide - 0.05) * stories / 100 - EPS)
    most = np.floor((wide + 0.05) * stories / 100 + EPS)
    bounds = (100 * counts.mean(axis=1) / stories for counts in (fewest, most))
    rows = only(rows, question_type="average")
    low, high, mean = (matched(rows, values) for values in (*bounds, wide.mean(axis=1)))
    bad = ~rows["accuracy"].between(low - 0.05 - EPS, high + 0.05 + EPS)
    reason = "possible " + low.map("{:.2f}".format) + " to " + high.map("{:.2f}".format)
    off = rows[~bad & ((rows["accuracy"] - mean).abs() > 0.05 + EPS)]
    which = "".join(f", {row.model} {row.condition} {row.accuracy}" for row in off.itertuples())
    also = f"; {len(off)} only miss the mean of the rounded accuracies{which}"
    return outcome(rows, bad, reason, also)


@check("simpletom", 22, *([own, *(o for o in ACCURACIES if o != own)] for own in ACCURACIES))
def shared_cells(table, *others):
    """A cell without intervention is the same in all tables that print it."""
    plain = [only(with_condition(each), condition="none") for each in (table, *others)]
    seen = pd.concat(plain[1:]).groupby(["model", "question_type"])["accuracy"]
    rows = plain[0].assign(low=matched(plain[0], seen.min()), high=matched(plain[0], seen.max()))
    rows = rows.dropna()
    low, high = rows.pop("low"), rows.pop("high")
    reason = "printed " + rows["accuracy"].map(str) + ", elsewhere " + low.map(str)
    reason += (" and " + high.map(str)).where(low < high, "")
    return outcome(rows, (rows["accuracy"] != low) | (rows["accuracy"] != high), reason)


@check("simpletom", 23, ["table3_ms_remind"])
def beyond_random(table3):
    """With the reminder only Claude-3.5-Sonnet is above 50 on judgment (tested: other models)."""
    rows = only(table3, question_type="judgment", reminder="ms").set_index("model")["accuracy"]
    others = rows.drop("Claude-3.5-Sonnet")
    above = [f"{model} {accuracy}" for model, accuracy in others[others > 50].items()]
    # The caption is what fails: the cells themselves are in order.
    return Outcome(len(others), len(above), sentence(above, len(others)), {})


@check("simpletom", 24, ["table8_statistics"])
def scenario_sums(statistics):
    """Stories sum to the total; unique entities, which may recur, to no less (tested: totals)."""
    total = statistics.index[statistics["scenario"] == "All stories"][0]
    sums = statistics.drop(total).drop(columns="scenario").sum()
    printed = statistics.loc[total, sums.index].astype(float)
    wrong = (sums < printed) | (sums > printed) & (sums.index == "stories")
    each = [f"{column} {sums[column]:g} for {printed[column]:g}" for column in sums.index]
    also = f"; sums: {', '.join(each)}; {statistics['unique_y'].isna().sum()} without person Y"
    failing = [text for text, bad in zip(each, wrong, strict=True) if bad]
    marks = {total: f"sum {'; '.join(failing)}"} if failing else {}
    return Outcome(len(sums), len(failing), sentence(failing, len(sums), also), marks)
