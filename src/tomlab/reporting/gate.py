"""The gate: if answers follow the form of a question, scores say nothing about beliefs.

A required share stops a model only if its whole interval lies below the requirement. Otherwise, a
model with a true share of .95 readable answers would be stopped by chance in two of five runs of
240 answers. A share below the requirement that rests on fewer groups than a finding needs is
inconclusive: none of one answer readable has an interval up to .97.
"""

import pandas as pd

from tomlab.asking.likelihood import is_weighed
from tomlab.records.published import Wording
from tomlab.records.tidy import REVERSED, SCORED
from tomlab.reporting.numbers import (
    ABSENT,
    BASELINES,
    GROUPS_FOR_A_FINDING,
    standing,
    written,
)
from tomlab.reporting.tables import name
from tomlab.scoring import paired
from tomlab.scoring.stats import cluster_interval
from tomlab.scoring.variants import protocol

PASSES, FAILS, INCONCLUSIVE, UNTESTED = "passes", "fails", "inconclusive", "not asked"
LEAST = {"readable": 0.95, "same_words": 0.9}  # required shares: fails if surely below
GUESS = 0.5  # share of answers that guessing keeps when two options are swapped
_KEYS = ["model", "method", "questions"]
_SAYS = {
    "readable": "{share} of its {unit}s are {readable} (.95 are needed)",
    "first_option": "it picks the option shown first in {share} of its answers",
    "same_answer": "it gives the same answer in {share} of cases when options are swapped "
    "(guessing: .50)",
    "same_words": "{share} of its answers give the words of the option they name (.90 are needed)",
}


def gate(
    scores: pd.DataFrame, items: pd.DataFrame, varied: pd.DataFrame, groups: str
) -> pd.DataFrame:
    """The shares that decide, by model, method and `questions`, each with its verdict (`gate`).

    scores, groups: as for `variants`, which returns `varied`. The column `metric` names the share:
    readable, of all answers (those with `cut_off` do not count as readable); for questions with
    options, first_option and same_answer with swapped options (no value if not asked so); and, if
    scores have `words`, same_words, of the answers that give an option's words.
    """
    asked = protocol(scores)
    n_options = asked["item_id"].map(items.set_index("item_id")["choices"].map(len))
    questions = n_options.gt(0).map({True: "choices", False: "other questions"})
    asked = asked.assign(questions=questions)
    readable = asked["outcome"].isin(["correct", "wrong", SCORED])
    if "cut_off" in asked:
        readable &= ~asked["cut_off"].eq(True)
    shares = [_shares("readable", readable, asked, groups)]
    if "words" in asked:
        words = asked.loc[asked["words"].isin(["same", "other", "elsewhere"]), "words"]
        shares.append(_shares("same_words", words.eq("same"), asked, groups))
    # Questions asked by likelihood show no options, so their order can't matter.
    shows_options = n_options.gt(0) & ~asked["method"].map(is_weighed)
    choosing = asked.loc[shows_options, _KEYS].drop_duplicates()
    choosing = choosing.merge(pd.DataFrame({"metric": ["first_option", "same_answer"]}), "cross")
    swapped = choosing.merge(varied[varied["asked_as"].eq(REVERSED)], "left")
    table = pd.concat([*shares, swapped], ignore_index=True)[[*shares[0]]]
    table["guess"] = table["metric"].ne("readable").map({True: GUESS})
    verdicts = table.apply(_verdict, axis=1)
    # Each first_option takes the verdict of same_answer, the row below it.
    verdicts = verdicts.mask(table["metric"].eq("first_option"), verdicts.shift(-1))
    return table.assign(gate=verdicts).astype({"n": "Int64", "n_groups": "Int64"})


def _shares(metric: str, holds: pd.Series, asked: pd.DataFrame, groups: str) -> pd.DataFrame:
    """The share of answers for which `holds` is true, with its interval, by model, method and
    questions. holds: indexed as `asked`, but only for the answers that count.
    """
    rows = []
    for keys, part in asked.loc[holds.index].groupby(_KEYS, sort=False):
        row = dict(zip(_KEYS, keys, strict=True))
        interval = cluster_interval(holds[part.index], part[groups])
        rows.append(row | {"metric": metric} | vars(interval))
    return pd.DataFrame(rows)


def _verdict(share: pd.Series) -> str:
    """The verdict on a row of `gate`."""
    if share["metric"] in LEAST:
        required = LEAST[share["metric"]]
        if share["ci_high"] < required:
            return FAILS
        rests_on_few = share["n_groups"] < GROUPS_FOR_A_FINDING
        return INCONCLUSIVE if rests_on_few and share["value"] < required else PASSES
    if pd.isna(share["value"]):
        return UNTESTED
    stands = {"above": PASSES, "inconclusive": INCONCLUSIVE}
    return stands.get(standing(share["ci_low"], share["ci_high"], GUESS), FAILS)


def stopped(gated: pd.DataFrame, model: str, method: str) -> pd.DataFrame:
    """The rows of `gate` that a model and method do not pass; none for baselines, which only serve
    as references.
    """
    rows = gated[gated["model"].eq(model) & gated["method"].eq(method) & gated["gate"].ne(PASSES)]
    return rows.iloc[:0] if model in BASELINES else rows


def says(gated: pd.DataFrame, model: str, method: str, wording: Wording) -> str:
    """A sentence on why the gate stops a model and method; "" if it does not."""
    rows = stopped(gated, model, method)
    if rows.empty:
        return ""
    words = {"unit": wording.unit, "readable": "readable"}
    if wording.unit == "output":  # an output of OmniToM is a table
        words["readable"] = "readable and complete"
    findings = []
    for metric, share in zip(rows["metric"], written(rows), strict=True):
        if share != ABSENT:
            findings.append(_SAYS[metric].format(share=share, **words))
    if rows["gate"].eq(UNTESTED).any():
        findings.append("it was not asked with swapped options")
    fails = rows["gate"].eq(FAILS).any()
    verdict = "fails" if fails else "has not passed"
    conclusion = "no conclusion" if fails else "no conclusion yet"
    where = f"{wording.name} ({name(method, 'method', wording)})"
    why = "; ".join(findings)
    return (
        f"{name(model, 'model')} {verdict} the check on {where}: {why}. "
        f"We draw {conclusion} from its scores."
    )


def marked(differences: pd.DataFrame, gated: pd.DataFrame) -> pd.DataFrame:
    """Differences from `paired` with a column `gate`: the verdicts that stop a side, or ""."""
    verdicts = []
    for pair in differences[["varies", "same", "a", "b"]].to_numpy():
        rows = pd.concat([stopped(gated, *side) for side in paired.sides(*pair)])
        verdicts.append(", ".join(rows["gate"].unique()))
    return differences.assign(gate=verdicts)
