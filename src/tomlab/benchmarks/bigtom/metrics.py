"""BigToM's numbers: accuracy by condition and TB ∧ FB (Sec. 4.1)."""

from collections.abc import Iterator

import pandas as pd

from tomlab.benchmarks.bigtom.items.compose import NAME
from tomlab.records.tidy import check
from tomlab.scoring.series import Measures, Series, by_unit, over_all, table
from tomlab.scoring.variants import protocol

# What stands in the place of a condition where both versions of a template are counted as one.
PAIRS = {"belief": "tb_and_fb", "control": "control_tb_and_fb"}


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models; intervals cluster on templates.

    accuracy: by `<variable>/<condition>/<initial belief>`; tb_and_fb: both right on the same
    template, by `<variable>/tb_and_fb/<initial belief>` and `…/control_tb_and_fb/…`, with n pairs;
    outcome_rate, released_rule: over all answers, what the release sends to a grader being wrong.
    """
    return check(table(NAME, series(scores)), "metrics", "bigtom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """What each number of `metrics` is made of; units are answers, for tb_and_fb templates."""
    for (model, method), part in protocol(scores).groupby(["model", "method"], sort=False):
        for measure in _series(by_unit(part)):
            yield model, method, measure


def _series(part: pd.DataFrame) -> Iterator[Series]:
    for cell, rows in part.groupby(["variable", "condition", "initial_belief"], sort=False):
        yield Series("accuracy", "/".join(map(str, cell)), rows["score"], rows["group_id"])
    for (variable, initial), rows in part.groupby(["variable", "initial_belief"], sort=False):
        wide = rows.pivot(index=["group_id", "sample"], columns="condition", values="score")
        for pair, name in PAIRS.items():
            # Only templates of which both versions were asked: 1 where both are right, else 0.
            versions = wide.reindex(columns=[f"true_{pair}", f"false_{pair}"]).dropna()
            if len(versions):
                groups = versions.index.get_level_values("group_id").to_series()
                condition = f"{variable}/{name}/{initial}"
                yield Series("tb_and_fb", condition, versions.min(axis=1), groups)
    yield from over_all(part)
