"""Differences in pairs (`scoring.paired`) in words, and with the answers behind them."""

from collections.abc import Mapping

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import tables
from tomlab.reporting.numbers import RUN
from tomlab.reporting.readings import KEY, said
from tomlab.scoring import paired


def labelled(
    found: pd.DataFrame, named: Mapping[str, tuple[str, str]], wording: Wording
) -> pd.DataFrame:
    """The differences of the headlines in words: a row each, ready to be drawn or printed.

    found: of `paired.differences`; named: metric and condition by name, as a paper's HEADLINES.
    Columns added: headline (its name), kind ("between models" or "between methods"), shared (the
    method or model both have), pair ("A − B"), value (the difference) and mark ("†" where p is
    below .05 after Holm's correction among such pairs).
    """
    names = {cell: name for name, cell in named.items()}
    cells = zip(found["metric"], found["condition"], strict=True)
    own = found.assign(headline=[names.get(cell, "") for cell in cells]).query("headline != ''")
    shared = own["varies"].map({"method": "model", "model": "method"})
    a, b, same = (
        [tables.name(*both, wording) for both in zip(own[side], kind, strict=True)]
        for side, kind in {"a": own["varies"], "b": own["varies"], "same": shared}.items()
    )
    own = own.assign(
        kind="between " + own["varies"] + "s",
        shared=same,
        pair=[f"{one} − {other}" for one, other in zip(a, b, strict=True)],
        value=own["difference"],
        mark=own["p_holm"].lt(paired.LEVEL).map({True: "†", False: ""}),
        source=RUN,
    )
    return own.sort_values("kind", ascending=False, kind="stable", ignore_index=True)


def disagreements(
    items: pd.DataFrame, responses: pd.DataFrame, scores: pd.DataFrame, found: pd.DataFrame
) -> pd.DataFrame:
    """One answer of each of the first five groups on which two sides differ, with both answers.

    Of the first pair in `found` (of `paired.differences`) that differs in `scores`, which may be
    those of one metric alone. Columns: question, gold, and of each side its answer and verdict.
    """
    answers, texts = responses.set_index(KEY), items.set_index("item_id")
    for pair in found[["varies", "same", "a", "b"]].drop_duplicates().itertuples(index=False):
        sides = dict(zip("ab", paired.sides(*pair), strict=True))
        one, other = (
            scores[scores["model"].eq(model) & scores["method"].eq(method)]
            for model, method in sides.values()
        )
        both = one.merge(other, on=["item_id", "sample"], suffixes=("_a", "_b"))
        both = both[both["score_a"] != both["score_b"]].drop_duplicates("group_id_a").head(5)
        if both.empty:
            continue
        asked = texts.loc[both["item_id"]]
        shown = {"question": asked["question"].tolist(), "gold": asked["answer"].map(str).tolist()}
        for letter, side in sides.items():
            keys = [(item, *side, sample) for item, sample in both[["item_id", "sample"]].values]
            shown[", ".join(side)] = [said(answers.loc[key]) for key in keys]
            shown[f"verdict on {getattr(pair, letter)}"] = both[f"outcome_{letter}"].tolist()
        index = [both["group_id_a"].rename("group"), both["item_id"].rename("item")]
        return pd.DataFrame(shown, index)
    return pd.DataFrame(columns=["question", "gold"])
