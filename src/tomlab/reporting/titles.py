"""What a figure finds of a run's models in its numbers: its title, and what is said below it."""

from collections.abc import Mapping
from string import Formatter

import pandas as pd

from tomlab.reporting import headings, printed
from tomlab.reporting.findings import BASELINES
from tomlab.reporting.printed import PAPER, RUN


def headline(rows: pd.DataFrame, column: str, says: Mapping[str, str]) -> str:
    """The title of a figure: what it finds of the models of this run.

    rows: source, model, value, n_groups; column: what names a number, in braces in `says["run"]`
    beside {models}; several numbers of one name are told as their range. Of baselines, and of too
    few groups, nothing is found, nor of a run that lacks one of these numbers: then `says["else"]`.
    """
    own = _models(rows)
    own = own[~printed.is_few(own)]
    spans = own.groupby(column)["value"].agg(["min", "max"]).map(printed.share)
    told = {level: "–".join(dict.fromkeys(ends)) for level, ends in spans.T.items()}
    models = own["model"].unique()
    who = models[0] if len(models) == 1 else f"{len(models)} models"
    lacking = [part for part in _named_in(says["run"]) if part not in told | {"models": who}]
    return says["else"] if lacking or own.empty else says["run"].format(models=who, **told)


def told(points: pd.DataFrame, words: Mapping[str, str], place: str = "") -> dict[str, str]:
    """`headings.said` of points, below what the paper claims in words: those of a figure (`paper`,
    "" for none, and `not shown`); place: where the paper's numbers are printed.
    """
    found = headings.said(points, place, words["not shown"])
    numbers = [found["paper"]] if points["source"].eq(PAPER).any() else []
    found["paper"] = " ".join([words["paper"], *numbers]).strip()
    return {key: text for key, text in found.items() if text}


def _models(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["source"].eq(RUN) & ~rows["model"].isin(BASELINES) & rows["value"].notna()]


def _named_in(template: str) -> list[str]:
    return [name for _, name, *_ in Formatter().parse(template) if name]
