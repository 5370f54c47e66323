"""Differences in pairs (`scoring.paired`) in words, as a plan, and with the answers behind them."""

from collections.abc import Mapping

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import readings, tables
from tomlab.reporting.numbers import ABSENT, RUN
from tomlab.scoring import paired, power

HOLDS = "†"  # beside a difference that holds among its pairs
WISHED = 0.1
_KEYS = ["varies", "same", "a", "b"]
Named = Mapping[str, tuple[str, str]]  # metric and condition by name, as a paper's HEADLINES


def labelled(found: pd.DataFrame, named: Named, wording: Wording) -> pd.DataFrame:
    """The differences of the headlines in words: a row each, ready to be drawn or printed.

    found: of `paired.differences`; named: metric and condition by name. Columns added: headline
    (its name), kind ("between models" or "between methods"), shared (the method or model both
    have), pair ("A − B"), value (the difference) and mark ("†" where p is below .05 after Holm's
    correction among the pairs that share a method or a model).
    """
    own = of_headlines(found, named).rename(columns={"name": "headline"})
    is_method = own["varies"].eq("method")
    sides = {"a": is_method, "b": is_method, "same": ~is_method}
    words = {
        side: [
            tables.name(value, "method" if method else "model", wording)
            for value, method in zip(own[side], kind, strict=True)
        ]
        for side, kind in sides.items()
    }
    own = own.assign(
        kind=is_method.map({True: "between methods", False: "between models"}),
        shared=words["same"],
        pair=[f"{a} − {b}" for a, b in zip(words["a"], words["b"], strict=True)],
        value=own["difference"],
        mark=own["p_holm"].lt(paired.LEVEL).map({True: HOLDS, False: ""}),
        source=RUN,
    )
    return own.sort_values("kind", ascending=False, kind="stable", ignore_index=True)


def plan(found: pd.DataFrame, named: Named, wished: float = WISHED) -> pd.DataFrame:
    """A row a headline and pair: how many groups it is from, on how many the two differ, the least
    difference that so many groups show with a power of 80 %, and how many the wished one needs.

    Arguments as of `table`. Missing where no group differs, or none could be shown. See
    `scoring.power`.
    """
    rows = [
        [
            *(row.name, row.same, f"{row.a} − {row.b}", row.n_groups, row.n_discordant),
            round(power.detectable(row.n_groups, row.discordance, row.mean_square), 2),
            power.groups_needed(wished, row.discordance, row.mean_square),
        ]
        for row in of_headlines(found, named).itertuples(index=False)
    ]
    columns = ["headline", "shared", "pair", "groups", "differ", "least shown"]
    planned = pd.DataFrame(rows, columns=[*columns, f"groups for {wished:g}"])
    return planned.astype({f"groups for {wished:g}": "Int64"})


def largest(planned: pd.DataFrame) -> pd.DataFrame:
    """Of a `plan` the first of the pairs with the most groups for each headline, as printed."""
    most = planned.sort_values("groups", ascending=False, kind="stable")
    most = most.drop_duplicates("headline").sort_index().set_index("headline")
    return most.astype(object).where(most.notna(), ABSENT)


def disagreements(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    found: pd.DataFrame,
    n: int = 5,
) -> pd.DataFrame:
    """One answer of each of the first n groups on which two sides differ, with both answers.

    Of the first pair in `found` (of `paired.differences`) that differs in `scores`, which may be
    those of one metric alone. Columns: question, gold, and of each side its answer and verdict.
    """
    rows, texts = [], items.set_index("item_id")[["question", "answer"]]
    for _, pair in found.drop_duplicates(_KEYS).iterrows():
        sides = paired.sides(pair)
        one, other = (
            scores[scores["model"].eq(model) & scores["method"].eq(method)]
            for model, method in sides
        )
        both = one.merge(other, on=["item_id", "sample"], suffixes=("_a", "_b"))
        both = both[both["score_a"] != both["score_b"]].drop_duplicates("group_id_a").head(n)
        if both.empty:
            continue
        answers = responses.set_index(readings.KEY)
        for row in both.to_dict("records"):
            question, gold = texts.loc[row["item_id"]]
            told = {"group": row["group_id_a"], "item": row["item_id"]}
            told |= {"question": readings.shortened(question)}
            told |= {"gold": readings.shortened(str(gold))}
            for side, (model, method) in zip("ab", sides, strict=True):
                answer = answers.loc[(row["item_id"], model, method, row["sample"])]
                told[f"{model}, {method}"] = readings.said(answer)
                told[f"verdict on {pair[side]}"] = row[f"outcome_{side}"]
            rows.append(told)
        break
    columns = None if rows else ["group", "item", "question", "gold"]
    return pd.DataFrame(rows, columns=columns).set_index(["group", "item"])


def of_headlines(found: pd.DataFrame, named: Named) -> pd.DataFrame:
    """The rows of the headlines, with the `name` of each, in the order of the pairs."""
    names = {cell: name for name, cell in named.items()}
    cells = list(zip(found["metric"], found["condition"], strict=True))
    return found.assign(name=[names.get(cell, "") for cell in cells]).query("name != ''")
