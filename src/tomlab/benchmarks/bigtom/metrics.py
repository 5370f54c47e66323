"""BigToM's numbers: accuracy by condition and TB ∧ FB (Sec. 4.1)."""

from collections.abc import Iterator

import pandas as pd

from tomlab.benchmarks.bigtom.items.compose import NAME
from tomlab.records.tidy import check
from tomlab.scoring.series import Measures, Series, by_unit, over_all, table
from tomlab.scoring.variants import protocol

# The condition of tb_and_fb, which counts the true and false versions of a template as one unit.
PAIRS = {"belief": "tb_and_fb", "control": "control_tb_and_fb"}


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models; intervals cluster on templates.

    accuracy: by `<variable>/<condition>/<initial belief>`. tb_and_fb: the share of templates with
    both versions right, by `<variable>/tb_and_fb/<initial belief>` and `…/control_tb_and_fb/…`; n
    counts pairs of answers. outcome_rate, released_rule: over all answers; answers that the release
    would send to a grader count as wrong in released_rule.
    """
    return check(table(NAME, series(scores)), "metrics", "bigtom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """Yields (model, method, measure) for each number of `metrics`. A measure holds the values that
    the number summarises: one for each answer or, for tb_and_fb, for each template.
    """
    for (model, method), part in protocol(scores).groupby(["model", "method"], sort=False):
        for measure in _series(by_unit(part)):
            yield model, method, measure


def _series(part: pd.DataFrame) -> Iterator[Series]:
    for cell, rows in part.groupby(["variable", "condition", "initial_belief"], sort=False):
        yield Series("accuracy", "/".join(map(str, cell)), rows["score"], rows["group_id"])
    for (variable, initial), rows in part.groupby(["variable", "initial_belief"], sort=False):
        wide = rows.pivot(index=["group_id", "sample"], columns="condition", values="score")
        for pair, name in PAIRS.items():
            # Only templates with both versions asked count: 1 if both are right, else 0.
            versions = wide.reindex(columns=[f"true_{pair}", f"false_{pair}"]).dropna()
            if len(versions):
                groups = versions.index.get_level_values("group_id").to_series()
                condition = f"{variable}/{name}/{initial}"
                yield Series("tb_and_fb", condition, versions.min(axis=1), groups)
    yield from over_all(part)
