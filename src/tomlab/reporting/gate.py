"""The gate: where answers follow the form of a question, scores say nothing about beliefs.

A share that is needed stops a model only where its whole interval lies below: a model that does
have .95 readable answers would else be stopped in two of five runs of 240 answers, by chance.
"""

import pandas as pd

from tomlab.asking.likelihood import is_weighed
from tomlab.records.published import Wording
from tomlab.records.tidy import REVERSED, SCORED
from tomlab.reporting.numbers import ABSENT, BASELINES, NUMBER, standing, written
from tomlab.reporting.tables import name
from tomlab.scoring import paired
from tomlab.scoring.stats import cluster_interval
from tomlab.scoring.variants import protocol

PASSES, FAILS, INCONCLUSIVE, UNTESTED = "passes", "fails", "inconclusive", "not asked"
LEAST = {"readable": 0.95, "same_words": 0.9}  # shares that are needed: fails if surely below
GUESS = 0.5  # only two options are swapped; whoever always picks one place keeps no answer
_WHOSE = ["model", "method", "questions"]
_SAYS = {
    "readable": "gives {readable} {unit}s in {share} of cases (.95 are needed)",
    "first_option": "picks the option shown first in {share} of its answers",
    "same_answer": "keeps {share} of them when options are swapped (guessing keeps .50)",
    "same_words": "gives the words of the option it names in {share} of cases (.90 are needed)",
}


def gate(
    scores: pd.DataFrame, items: pd.DataFrame, varied: pd.DataFrame, groups: str
) -> pd.DataFrame:
    """The shares that decide, by model, method and `questions`, and what each means (`gate`).

    scores, groups: as `variants` takes them, which makes `varied`. Shares: readable, which a table
    is not that was cut off (scores with `cut_off`); of questions with options, first_option and
    same_answer when these are swapped (without a value where they were not), and same_words of the
    answers that give words, where scores have `words`.
    """
    told = protocol(scores)
    options = told["item_id"].map(items.set_index("item_id")["choices"].map(len))
    told = told.assign(questions=options.gt(0).map({True: "choices", False: "other questions"}))
    readable = told["outcome"].isin(["correct", "wrong", SCORED])
    if "cut_off" in told:
        readable = readable & ~told["cut_off"].eq(True)
    shares = {"readable": readable}
    if "words" in told:
        words = told.loc[told["words"].isin(["same", "other", "elsewhere"]), "words"]
        shares["same_words"] = words.eq("same")
    rows = [
        dict(zip([*_WHOSE, "metric"], (*whose, metric), strict=True))
        | vars(cluster_interval(holds[part.index], part[groups]))
        for metric, holds in shares.items()
        for whose, part in told.loc[holds.index].groupby(_WHOSE, sort=False)
    ]
    # What is asked by likelihood shows no options whose order could decide.
    choosing = told.loc[options.gt(0) & ~told["method"].map(is_weighed), _WHOSE].drop_duplicates()
    choosing = choosing.merge(pd.DataFrame({"metric": ["first_option", "same_answer"]}), "cross")
    swapped = choosing.merge(varied[varied["asked_as"].eq(REVERSED)], "left")
    table = pd.concat([pd.DataFrame(rows), swapped], ignore_index=True)[[*rows[0]]]
    table["guess"] = table["metric"].ne("readable").map({True: GUESS})
    verdicts = pd.Series([_verdict(*row) for row in table[["metric", *NUMBER[:3]]].to_numpy()])
    # The row below first_option decides for both.
    verdicts = verdicts.mask(table["metric"].eq("first_option"), verdicts.shift(-1))
    return table.assign(gate=verdicts).astype({"n": "Int64", "n_groups": "Int64"})


def _verdict(metric: str, value: float, low: float, high: float) -> str:
    if metric in LEAST:
        return FAILS if high < LEAST[metric] else PASSES
    stands = {"above": PASSES, "inconclusive": INCONCLUSIVE}
    return UNTESTED if pd.isna(value) else stands.get(standing(low, high, GUESS), FAILS)


def stopped(found: pd.DataFrame, model: str, method: str) -> pd.DataFrame:
    """The rows of `gate` that stop a model and method; none stop a baseline, a mere reference."""
    own = found[found["model"].eq(model) & found["method"].eq(method) & found["gate"].ne(PASSES)]
    return own.iloc[:0] if model in BASELINES else own


def says(found: pd.DataFrame, model: str, method: str, wording: Wording) -> str:
    """All that is found about a model and method that are stopped, as a sentence; else ""."""
    rows = stopped(found, model, method)
    if rows.empty:
        return ""
    shares = zip(rows["metric"], written(rows), strict=True)
    words = {"unit": wording.unit, "readable": "readable"}
    if wording.unit == "output":  # of OmniToM: a table
        words["readable"] = "readable and complete"
    told = [_SAYS[m].format(share=s, **words) for m, s in shares if s != ABSENT]
    told += ["was not asked with swapped options"] if rows["gate"].eq(UNTESTED).any() else []
    yet = "" if rows["gate"].eq(FAILS).any() else " yet"
    where = f"On {wording.name} ({name(method, 'method', wording)}), {name(model, 'model')}"
    return f"{where} {' and '.join(told)}, so its scores say nothing{yet} about theory of mind."


def marked(differences: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Differences of `paired` with a column `gate`: the verdicts that stop either side, or ""."""
    sides = [paired.sides(*pair) for pair in differences[["varies", "same", "a", "b"]].to_numpy()]
    rows = [pd.concat([stopped(found, *side) for side in both]) for both in sides]
    return differences.assign(gate=[", ".join(own["gate"].unique()) for own in rows])
