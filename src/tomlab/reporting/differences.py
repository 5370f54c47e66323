"""Differences in pairs (`scoring.paired`) in words, as a plan, and with the answers behind them."""

from collections.abc import Mapping

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import tables
from tomlab.reporting.numbers import ABSENT, RUN
from tomlab.reporting.readings import KEY, said
from tomlab.scoring import paired, power

HOLDS = "†"  # beside a difference that holds among its pairs
Named = Mapping[str, tuple[str, str]]  # metric and condition by name, as a paper's HEADLINES


def labelled(found: pd.DataFrame, named: Named, wording: Wording) -> pd.DataFrame:
    """The differences of the headlines in words: a row each, ready to be drawn or printed.

    found: of `paired.differences`. Columns added: headline (its name), kind ("between models" or
    "between methods"), shared (the method or model both have), pair ("A − B"), value (the
    difference) and mark ("†" where p is below .05 after Holm's correction among such pairs).
    """
    own = of_headlines(found, named).rename(columns={"name": "headline"})
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


def plan(found: pd.DataFrame, named: Named, wished: float = 0.1) -> pd.DataFrame:
    """A row a headline and pair: groups, on how many the two differ, the least difference that so
    many show with a power of 80 % and how many the wished one needs, if any (`scoring.power`).
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
    items: pd.DataFrame, responses: pd.DataFrame, scores: pd.DataFrame, found: pd.DataFrame
) -> pd.DataFrame:
    """One answer of each of the first five groups on which two sides differ, with both answers.

    Of the first pair in `found` (of `paired.differences`) that differs in `scores`, which may be
    those of one metric alone. Columns: question, gold, and of each side its answer and verdict.
    """
    answers, texts = responses.set_index(KEY), items.set_index("item_id")
    for _, pair in found.drop_duplicates(["varies", "same", "a", "b"]).iterrows():
        (a, b), sided = paired.sides(pair), [scores["model"], scores["method"]]
        one, other = (scores[sided[0].eq(m) & sided[1].eq(method)] for m, method in (a, b))
        both = one.merge(other, on=["item_id", "sample"], suffixes=("_a", "_b"))
        both = both[both["score_a"] != both["score_b"]].drop_duplicates("group_id_a").head(5)
        asked = texts.loc[both["item_id"]]
        shown = {"question": asked["question"].tolist(), "gold": asked["answer"].map(str).tolist()}
        for letter, side in (("a", a), ("b", b)):
            keys = [(item, *side, n) for item, n in both[["item_id", "sample"]].values]
            shown[", ".join(side)] = [said(answers.loc[key]) for key in keys]
            shown[f"verdict on {pair[letter]}"] = both[f"outcome_{letter}"].tolist()
        if len(both):
            index = [both["group_id_a"].rename("group"), both["item_id"].rename("item")]
            return pd.DataFrame(shown, index)
    return pd.DataFrame(columns=["question", "gold"])


def of_headlines(found: pd.DataFrame, named: Named) -> pd.DataFrame:
    """The rows of the headlines, with the `name` of each, in the order of the pairs."""
    names = {cell: name for name, cell in named.items()}
    cells = list(zip(found["metric"], found["condition"], strict=True))
    return found.assign(name=[names.get(cell, "") for cell in cells]).query("name != ''")
