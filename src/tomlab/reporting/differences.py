"""Put paired differences (`scoring.paired`) into words, and show answers behind them."""

from collections.abc import Mapping

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import tables
from tomlab.reporting.numbers import RUN
from tomlab.reporting.readings import KEY, said
from tomlab.scoring import paired


def labelled(
    differences: pd.DataFrame, headlines: Mapping[str, tuple[str, str]], wording: Wording
) -> pd.DataFrame:
    """The differences in headline metrics, a row each, with readable names for figures and tables.

    differences: from `paired`; headlines: metric and condition by name, as a paper's HEADLINES.
    Columns added: headline (its name), kind ("between models" or "between methods"), shared (the
    method or model both have), pair ("A − B"), value (the difference) and mark ("†" where p is
    below .05 after Holm's correction among such pairs).
    """
    names = {cell: name for name, cell in headlines.items()}
    cells = zip(differences["metric"], differences["condition"], strict=True)
    rows = differences.assign(headline=[names.get(cell, "") for cell in cells])
    rows = rows.query("headline != ''")
    varies = rows["varies"]
    first = _in_words(rows["a"], varies, wording)
    second = _in_words(rows["b"], varies, wording)
    rows = rows.assign(
        kind="between " + varies + "s",
        shared=_in_words(rows["same"], varies.map({"method": "model", "model": "method"}), wording),
        pair=[f"{a} − {b}" for a, b in zip(first, second, strict=True)],
        value=rows["difference"],
        mark=rows["p_holm"].lt(paired.LEVEL).map({True: "†", False: ""}),
        source=RUN,
    )
    return rows.sort_values("kind", ascending=False, kind="stable", ignore_index=True)


def _in_words(values: pd.Series, kinds: pd.Series, wording: Wording) -> list[str]:
    """The readable names of models and methods. kinds: "model" or "method" for each value."""
    return [tables.name(value, kind, wording) for value, kind in zip(values, kinds, strict=True)]


def disagreements(
    items: pd.DataFrame, responses: pd.DataFrame, scores: pd.DataFrame, differences: pd.DataFrame
) -> pd.DataFrame:
    """Up to five questions on which two sides scored differently, from different groups.

    The sides are the first pair in `differences` (from `paired`) that differs in `scores`, which
    may be those of one metric only. Columns: question, gold, and each side's answer and verdict.
    """
    answers = responses.set_index(KEY)
    for pair in differences[["varies", "same", "a", "b"]].drop_duplicates().itertuples():
        sides = paired.sides(pair.varies, pair.same, pair.a, pair.b)
        first, second = (_scores_of(scores, *side) for side in sides)
        pairs = first.merge(second, on=["item_id", "sample"], suffixes=("_a", "_b"))
        pairs = pairs[pairs["score_a"] != pairs["score_b"]].drop_duplicates("group_id_a").head(5)
        if pairs.empty:
            continue
        asked = items.set_index("item_id").loc[pairs["item_id"]]
        index = [pairs["group_id_a"].rename("group"), pairs["item_id"].rename("item")]
        columns = {"question": asked["question"], "gold": asked["answer"].map(str)}
        table = pd.DataFrame({name: [*texts] for name, texts in columns.items()}, index)
        for letter, side in zip("ab", sides, strict=True):
            keys = [(row.item_id, *side, row.sample) for row in pairs.itertuples()]
            table[", ".join(side)] = [said(answers.loc[key]) for key in keys]
            table[f"verdict on {getattr(pair, letter)}"] = pairs[f"outcome_{letter}"].tolist()
        return table
    return pd.DataFrame(columns=["question", "gold"])


def _scores_of(scores: pd.DataFrame, model: str, method: str) -> pd.DataFrame:
    return scores[scores["model"].eq(model) & scores["method"].eq(method)]
