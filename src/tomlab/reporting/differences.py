"""Differences in pairs (`scoring.paired`) in words, and with the answers behind them."""

from collections.abc import Mapping

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import tables
from tomlab.reporting.numbers import RUN
from tomlab.reporting.readings import KEY, said
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
    shared = own["varies"].map({"method": "model", "model": "method"})
    kinds = {"a": own["varies"], "b": own["varies"], "same": shared}
    words = {
        side: [tables.name(*both, wording) for both in zip(own[side], kind, strict=True)]
        for side, kind in kinds.items()
    }
    own = own.assign(
        kind="between " + own["varies"] + "s",
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
    for _, pair in found.drop_duplicates(_KEYS).iterrows():
        sides = paired.sides(*pair[_KEYS])
        one, other = (
            scores[scores["model"].eq(model) & scores["method"].eq(method)]
            for model, method in sides
        )
        both = one.merge(other, on=["item_id", "sample"], suffixes=("_a", "_b"))
        both = both[both["score_a"] != both["score_b"]].drop_duplicates("group_id_a").head(n)
        if len(both):
            break
    else:
        return pd.DataFrame(columns=["question", "gold"])
    texts, answers = items.set_index("item_id").loc[both["item_id"]], responses.set_index(KEY)
    shown = {"question": texts["question"].tolist(), "gold": texts["answer"].map(str).tolist()}
    for side, (model, method) in zip("ab", sides, strict=True):
        keys = [
            (item, model, method, sample) for item, sample in both[["item_id", "sample"]].values
        ]
        shown[f"{model}, {method}"] = [said(answers.loc[key]) for key in keys]
        shown[f"verdict on {pair[side]}"] = both[f"outcome_{side}"].tolist()
    return pd.DataFrame(shown, [both["group_id_a"].rename("group"), both["item_id"].rename("item")])
