"""Checks of FANToM's published tables (values: percent)."""

from itertools import combinations

import numpy as np
import pandas as pd

from audit.checks import EPS, Outcome, check, compare, matched, only, outcome, sentence
from tomlab.benchmarks.fantom.items.sets import RELEASED_COUNTS

ROW = ["context", "model", "prompting"]


def twins(table9: pd.DataFrame, least: float, most: float) -> Outcome:
    """Pairs of complete rows whose largest gap over all columns lies in the range."""
    rows = table9.pivot(index=ROW, columns="column", values="value").dropna()
    cells, found, marks = table9.groupby(ROW).groups, [], {}
    for (a, left), (b, right) in combinations(zip(rows.index, rows.to_numpy(), strict=True), 2):
        gap = np.abs(left - right)
        if least - EPS <= gap.max() <= most + EPS:
            equal = f"in {(gap < EPS).sum()} of {len(gap)} cells, largest gap {gap.max():.1f}"
            found.append(f"{' '.join(a)} equals {' '.join(b)} {equal}")
            for one, other in ((a, b), (b, a)):
                for row in cells[one]:
                    marks.setdefault(row, []).append(f"row equals {' '.join(other)} {equal}")
    tested = len(rows) * (len(rows) - 1) // 2
    marks = {row: "; ".join(reasons) for row, reasons in marks.items()}
    return Outcome(tested, len(found), sentence(found, tested), marks)


@check("fantom", 13, ["table9_all"])
def copied_rows(table9):
    """No two rows of the paper are equal in all twelve cells (tested: pairs of rows)."""
    return twins(table9, 0, 0)


@check("fantom", 14, ["table9_all"])
def nearly_equal_rows(table9):
    """No two rows of the paper differ by less than 0.5 in every cell (tested: pairs of rows)."""
    return twins(table9, 0.1, 0.4)


@check("fantom", 15, ["table9_all"])
@check("fantom", 37, ["newer_models"])
def nested_scores(table):
    """All* ≤ All ≤ each question's All ≤ its List, as one asks for all the other asks for."""
    keys = table.columns.difference(["column", "value"]).tolist()
    wide = table.pivot(index=keys, columns="column", values="value")
    bound = pd.DataFrame({"all": wide[["answerability_all", "infoaccess_all"]].min(axis=1)})
    bound["all_star"] = np.minimum(wide["all"], bound["all"])
    bound["answerability_all"] = wide["answerability_list"]
    bound["infoaccess_all"] = wide["infoaccess_list"]
    bound = bound.rename_axis(columns="column")
    rows = only(table, column=list(bound))
    most = matched(rows, bound.stack())
    reason = "printed " + rows["value"].map(str) + ", at most " + most.map(str)
    return outcome(rows, rows["value"] > most + EPS, reason)


@check("fantom", 16, ["table9_all"])
def set_scores_move(table9):
    """Where CoT changes List and Y/N of a question, its All (from 0.5 up) changes too."""
    wide = table9.pivot(index=["context", "model"], columns=["prompting", "column"], values="value")
    changed = wide["none"].ne(wide["cot"]) & wide["cot"].notna()
    moves = pd.DataFrame(index=wide.index).rename_axis(columns="column")
    for question in ("answerability", "infoaccess"):
        parts_move = changed[f"{question}_list"] & changed[f"{question}_yn"]
        moves[f"{question}_all"] = changed[f"{question}_all"].where(parts_move)
    rows = only(table9, prompting=["none", "cot"])
    moves = matched(rows, moves.stack()).dropna().astype(bool)
    rows = rows.loc[moves.index]
    reason = "printed " + rows["value"].map(str) + " with and without CoT"
    stay = wide.index[wide["none"]["belief_choice"] == wide["cot"]["belief_choice"]]
    also = f"; Belief Choice stays for {', '.join(map(' '.join, stay))}"
    # Below 0.5 a score is so few sets that two of them are often equal.
    return outcome(rows, ~moves & (rows["value"] >= 0.5), reason, also)


@check("fantom", 16, ["table9_all", "dataset_counts"])
def human_counts(table9, counts):
    """Every human score is a count of the sets that people solved."""
    sets = counts.set_index("item")["count"]["human_sets"]
    human = only(table9, model="Human").set_index([*ROW, "column"])["value"]
    solved = (human * sets / 100).round()
    also = f"; {', '.join(str(int(n)) for n in sorted(set(solved)))} of {sets}"
    return compare(table9, "value", 100 * solved / sets, 0.05, "nearest", also=also)


@check("fantom", 17, ["table1_headline", "table9_all"], ["table2_yn", "table9_all"])
def rows_of_table9(table, table9):
    """Each row is the short-context row of Table 9 for its model and prompting (tested: rows)."""
    short = only(table9, context="short").set_index(["model", "prompting", "column"])["value"]
    short = short.unstack("column")
    groups, marks, found = table.groupby(["model", "prompting"]), {}, []
    for (model, prompting), part in groups:
        cells = part.set_index("metric")["value"]
        equal = short.index[(short[cells.index] - cells).abs().max(axis=1) < EPS]
        # Table 1 prints "Falcon Instruct" without its size: any model of that name will do.
        if not any(name.startswith(model) and how == prompting for name, how in equal):
            other = " or ".join(" ".join(key) for key in equal) or "no model"
            found.append(f"{model} {prompting}: Table 9 has this row for {other}")
            marks |= dict.fromkeys(part.index, f"Table 9 has this row for {other}")
    return Outcome(len(groups), len(found), sentence(found, len(groups)), marks)


@check("fantom", 18, ["table4_order"])
def second_order_overall(table4):
    """Second-order Overall is the mean of Cyclic and Acyclic."""
    wide = table4.pivot(index=["model", "prompting"], columns="order", values="value")
    below = wide.index[wide["second_overall"] < wide["first"]]
    also = f"; second order below first: {', '.join(map(' '.join, below)) or 'nowhere'}"
    mean = wide[["second_cyclic", "second_acyclic"]].mean(axis=1)
    expected = pd.concat({"second_overall": mean}, names=["order"])
    return compare(table4, "value", expected, 0.1, "mean", also=also)


@check("fantom", 18, ["table9_all", "table4_order"])
def belief_dist_from_orders(table9, table4):
    """Belief Dist. (short context) is the mean of Table 4's First and Second-order Overall."""
    orders = only(table4, order=["first", "second_overall"])
    mean = orders.assign(context="short", column="belief_dist").groupby([*ROW, "column"])["value"]
    return compare(table9, "value", mean.mean(), 0.1, "mean of Table 4's orders")


@check("fantom", 18, ["table4_order", "table9_all"])
def orders_from_belief_dist(table4, table9):
    """First and Second-order Overall average to Table 9's Belief Dist. (short context)."""
    orders = only(table4, order=["first", "second_overall"])
    mean = orders.groupby(["model", "prompting"])["value"].transform("mean")
    dist = only(table9, context="short", column="belief_dist")
    dist = dist.set_index(["model", "prompting"])["value"]
    return compare(orders.assign(value=mean), "value", dist, 0.1, "Table 9 has", "mean of orders")


@check("fantom", 20, ["dataset_counts", "table8_statistics"])
def all_questions(counts, table8):
    """The kinds of question, with the yes/no questions of each of two kinds, sum to the total."""
    count = counts.set_index("item")["count"]
    total = count.drop(["conversations", "all_questions", "human_sets"]).sum()
    per_context = table8.set_index(["dataset", "statistic"])["value"]
    contexts = total / per_context["FANToM", "avg_questions_per_context"]
    also = f"; {total} questions, {total - count['answerability_yn']} with yes/no counted once"
    also += f"; {contexts:.0f} contexts, {count['conversations']} conversations"
    expected = pd.Series({"all_questions": total}).rename_axis("item")
    return compare(counts, "count", expected, 500, "sum", also=also)  # the total is printed as 10K


def fits(printed: pd.Series, n: int) -> bool:
    """Whether every percentage, printed with one decimal, is a count out of n."""
    counts = np.floor(printed * n / 100)
    gaps = [(100 * count / n - printed).abs() for count in (counts, counts + 1)]
    return bool((np.minimum(*gaps) <= 0.05 + EPS).all())


@check("fantom", 37, ["newer_models", "dataset_counts"])
def released_sets(newer, counts):
    """Lists and beliefs of both tasks are counts out of the release's numbers, not the paper's."""
    paper = counts.set_index("item")["count"]
    questions = {
        "answerability_list": ["answerability_list", "infoaccess_list"],
        "belief_choice": ["belief_choice", "belief_dist"],
    }
    findings = []
    n_failed = 0
    for kind, columns in questions.items():
        rows = only(newer, column=columns)
        missed = only(rows, scenario="inaccessible")["value"]
        heard = only(rows, scenario="control")["value"]
        totals = {"release": RELEASED_COUNTS[kind], "paper": paper[kind]}
        for source, total in totals.items():
            splits = [n for n in range(1, total) if fits(missed, n) and fits(heard, total - n)]
            texts = [f"{n} + {total - n}" for n in splits]
            findings.append(f"{source}: {total} = {' or '.join(texts) or 'no split'}")
            n_failed += (source == "release") != bool(splits)
    finding = f"{n_failed} of {len(findings)} fail; {'; '.join(findings)}"
    return Outcome(len(findings), n_failed, finding, {})
