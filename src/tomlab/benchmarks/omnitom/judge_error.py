"""What the judge's errors do to OmniToM's F1 of extraction (Sec. 5, App. B.4): what people should
label of a run's own tables, and what their labels correct.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.alignment import Alignment, precision_recall_f1
from tomlab.benchmarks.omnitom.calibration import LabelledTable
from tomlab.benchmarks.omnitom.items.records import Row
from tomlab.benchmarks.omnitom.metrics import metrics
from tomlab.judging.error import by_labels

OVERALL = ("all", "categories")  # means over stories, and of the category means
TOO_FEW = "too few stories are labelled, or none of a category"
NUMBERS = ("value", "ci_low", "ci_high", "n", "n_groups")


def of_run(
    human: Sequence[LabelledTable], tables: Sequence[LabelledTable]
) -> tuple[list[LabelledTable], list[LabelledTable]]:
    """People's tables that have the predicted rows of one of a run's tables, and the others."""
    known = {_content(table) for table in tables}
    parts = [[one for one in human if (_content(one) in known) == own] for own in (True, False)]
    return parts[0], parts[1]


def f1_by_people(
    keys: Sequence[tuple], tables: Sequence[LabelledTable], human: Sequence[LabelledTable]
) -> dict[tuple, float]:
    """F1 by people's MatchCounts, averaged over annotators, of those of a run's extracted tables
    that they labelled. keys, tables: of `tables_of`.
    """
    said = {}
    for one in human:
        f1 = precision_recall_f1(Alignment(list(one.mc_predicted), list(one.mc_gold), []))[2]
        if not np.isnan(f1):
            said.setdefault(_content(one), []).append(f1)
    found = {key: said.get(_content(table)) for key, table in zip(keys, tables, strict=True)}
    return {key: float(np.mean(f1)) for key, f1 in found.items() if f1}


def _content(table: LabelledTable) -> tuple:
    """The story and what is predicted of it, by which a table is known again."""
    return table.group, *sorted(map(_text, table.predicted))


def _text(row: Row) -> str:
    return " ".join(f"{row.actor}: {row.belief}".split())


def to_label(
    keys: Sequence[tuple], tables: Sequence[LabelledTable], stories: Collection[str]
) -> pd.DataFrame:
    """The form of `calibration.read_human` for these stories of a run, to be filled in by people:
    `match_count` and `annotator` are empty. keys, tables: of `tables_of`.
    """
    rows = [
        (table.group, "/".join(map(str, key[1:])), side, row.actor, row.belief, "", "")
        for key, table in zip(keys, tables, strict=True)
        if table.group in stories
        for side, said in (("prediction", table.predicted), ("gold", table.gold))
        for row in said
    ]
    columns = ["story_id", "system", "table", "actor", "belief", "match_count", "annotator"]
    return pd.DataFrame(rows, columns=columns)


def with_error(scores: pd.DataFrame, by_people: Mapping[tuple, float]) -> pd.DataFrame:
    """F1 of each model and method, over stories and over categories, as `model, method, condition,
    metric, value, ci_low, ci_high, n, n_groups, reason`. metric: f1_uncorrected, as judged;
    f1_by_labels, corrected by people's labels (`error.by_labels`; n: stories labelled), where value
    is nan and `reason` says why if too few are labelled.

    scores: of extraction, by one judge; by_people: of `f1_by_people`.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        stories = _stories(part, by_people)
        for condition in OVERALL:
            drop = [] if condition == "categories" else ["stratum"]
            judged = metrics(part).query("metric == 'f1' and condition == @condition").iloc[0]
            corrected = by_labels(stories.drop(columns=drop))
            found = {"f1_uncorrected": judged, "f1_by_labels": corrected and vars(corrected)}
            for metric, numbers in found.items():
                row = {"model": model, "method": method, "condition": condition, "metric": metric}
                told = {name: None if numbers is None else numbers[name] for name in NUMBERS}
                rows.append(row | told | {"reason": TOO_FEW if numbers is None else ""})
    return pd.DataFrame(rows).astype({"n": "Int64", "n_groups": "Int64"})


def _stories(part: pd.DataFrame, by_people: Mapping[tuple, float]) -> pd.DataFrame:
    """One row a story for `by_labels`: the mean of its samples, labelled if all of them are."""
    usable = part["n_predicted"] > 0
    keys = zip(*(part[name] for name in ("item_id", "model", "method", "sample")), strict=True)
    said = pd.Series([by_people.get(key, np.nan) for key in keys], part.index, dtype=float)
    rows = part.assign(said=said.where(usable, 0.0), usable=usable)
    by_story = rows.groupby("group_id", sort=False)
    stories = by_story.agg(
        group=("family", "first"), stratum=("category", "first"), judged=("score", "mean")
    )
    whole = by_story["said"].agg(lambda samples: samples.mean(skipna=False))
    return stories.assign(judged=stories["judged"].where(by_story["usable"].any()), labelled=whole)
