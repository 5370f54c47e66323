"""Differences in pairs (`scoring.paired`) in words, and with the answers behind them."""

from collections.abc import Mapping

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import readings, tables
from tomlab.reporting.numbers import RUN
from tomlab.scoring import paired

HOLDS = "†"  # beside a difference that holds among its pairs
_KEYS = ["varies", "same", "a", "b"]
Named = Mapping[str, tuple[str, str]]  # metric and condition by name, as a paper's HEADLINES


def labelled(found: pd.DataFrame, named: Named, wording: Wording) -> pd.DataFrame:
    """The differences of the headlines in words: a row each, ready to be drawn or printed.

    found: of `paired.differences`; named: metric and condition by name. Columns added: headline
    (its name), kind ("between models" or "between methods"), shared (the method or model both
    have), pair ("A − B"), value (the difference) and mark ("†" where p is below .05 after Holm's
    correction among the pairs that share a method or a model).
    """
    names = {cell: name for name, cell in named.items()}
    cells = zip(found["metric"], found["condition"], strict=True)
    own = found.assign(headline=[names.get(cell, "") for cell in cells]).query("headline != ''")
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
        sides = paired.sides(*pair[_KEYS])
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
