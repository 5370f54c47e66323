"""What the judge's errors do to OmniToM's F1 of extraction (Sec. 5, App. B.4): people's labels of a
run's own tables, what to label, and whether the judge errs on this run as in its calibration.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.alignment import Alignment, precision_recall_f1
from tomlab.benchmarks.omnitom.calibration import UNLIKE, LabelledTable
from tomlab.benchmarks.omnitom.items.records import Row
from tomlab.benchmarks.omnitom.metrics import belief_rows, metrics
from tomlab.judging.error import as_on_edits, by_labels
from tomlab.scoring.similarity import shared

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


def f1_correlation(decided: pd.DataFrame, rows: pd.DataFrame) -> float:
    """How true and judged F1 of calibration tables go together, for `planner.plan`.

    decided: one judge's decisions; rows: of `labelled_rows`, which they are about.
    """
    both = decided[["unit", "truth", "decision"]].astype({"truth": float, "decision": float})
    both = both.merge(rows[["unit", "table_id", "side"]], on="unit")
    shares = both.groupby(["table_id", "side"])[["truth", "decision"]].mean().unstack("side")
    f1 = {
        name: 2 * shares[name].prod(axis=1) / shares[name].sum(axis=1).where(lambda s: s > 0, 1)
        for name in ("truth", "decision")
    }
    return float(f1["truth"].corr(f1["decision"]))


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


def row_labels(labelled: Sequence[LabelledTable]) -> pd.DataFrame:
    """Whether each row is matched, for `planner.alt_test`: `group, unit, annotator, label`."""
    rows = [
        (table.group, f"{_content(table)}/{side}/{_text(row)}", table.truth, count > 0)
        for table in labelled
        for side in ("predicted", "gold")
        for row, count in zip(getattr(table, side), getattr(table, f"mc_{side}"), strict=True)
        if count is not None
    ]
    found = pd.DataFrame(rows, columns=["group", "unit", "annotator", "label"])
    return found.drop_duplicates(["unit", "annotator"])


def as_judged(
    keys: Sequence[tuple], tables: Sequence[LabelledTable], scores: pd.DataFrame
) -> list[LabelledTable]:
    """A run's tables with the MatchCounts of the judge in `scores`."""
    names = ["item_id", "model", "method", "sample"]
    said = {tuple(row[name] for name in names): row for row in scores.to_dict("records")}
    found = []
    for key, table in zip(keys, tables, strict=True):
        detail = json.loads(said[key]["detail"])
        counts = {f"mc_{side}": tuple(n for *_, n in detail[side]) for side in detail}
        found.append(replace(table, **counts, truth=said[key]["judge"]))
    return found


def with_error(
    scores: pd.DataFrame,
    cells: pd.DataFrame,
    by_people: Mapping[tuple, float],
    carried: pd.DataFrame,
) -> pd.DataFrame:
    """F1 of each model and method, over stories and over categories, as `model, method, condition,
    metric, value, ci_low, ci_high, n, n_groups, reason`. metric: f1_uncorrected, as judged;
    f1_by_labels, corrected by people's labels (`error.by_labels`; n: stories labelled);
    f1_as_on_edits, if the judge errs as on its calibration (`error.as_on_edits`). Where one is not
    to be had, value is nan and `reason` says why.

    scores: of extraction, by the judge that `cells` (of `judging.confusion`) are of; by_people: of
    `f1_by_people`; carried: of `error.transport`, which a claim from the calibration has to pass:
    by the model's own rows, or where it has none by the specificity on those of the others.
    """
    family, rows = dict(zip(scores["group_id"], scores["family"], strict=True)), []
    cells = cells.assign(group=cells["group"].map(lambda group: family.get(group, group)))
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        stories = _stories(part, by_people)
        usable = part["n_predicted"] > 0
        tables = part[["precision", "recall", "score"]].where(usable)
        tables = tables.assign(group=part["family"], stratum=part["category"])
        refused = _refusal(carried, model)
        for condition in OVERALL:
            drop = [] if condition == "categories" else ["stratum"]
            series = metrics(part).query("metric == 'f1' and condition == @condition").iloc[0]
            corrected = by_labels(stories.drop(columns=drop))
            claim, reason = as_on_edits(tables.drop(columns=drop), cells)
            found = {
                "f1_uncorrected": (series.to_dict(), ""),
                "f1_by_labels": (corrected and vars(corrected), TOO_FEW),
                "f1_as_on_edits": (not refused and claim and vars(claim), refused or reason),
            }
            for metric, (numbers, why) in found.items():
                row = {"model": model, "method": method, "condition": condition, "metric": metric}
                told = {name: numbers[name] for name in NUMBERS} if numbers else {}
                rows.append(row | told | {"reason": "" if numbers else why})
    columns = ["model", "method", "condition", "metric", *NUMBERS, "reason"]
    return pd.DataFrame(rows, columns=columns).astype({"n": "Int64", "n_groups": "Int64"})


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


def _refusal(carried: pd.DataFrame, model: str) -> str:
    """Why nothing follows from the calibration for a model: the judge errs otherwise here."""
    own = carried[carried["model"] == model]
    # That copies are found says nothing of a model that words its beliefs itself.
    rows = own if len(own) else carried[carried["quality"] == "specificity"]
    told = [
        f"{row.quality} {row.value:.2f} on verbatim rows of {row.model} (n = {row.n}), in the "
        f"calibration {row.calibration_low:.2f}–{row.calibration_high:.2f}"
        for row in rows[rows["outside"].astype(bool)].itertuples()
    ]
    return "; ".join(told)


def verbatim(scores: pd.DataFrame) -> pd.DataFrame:
    """A judge's decisions on a run's tables whose rows all copy gold beliefs of the story word for
    word, as the baselines' do, for `error.transport`: the model as `judge, group` (family), `unit,
    truth, decision`.

    A row is matched if the other table has its actor and belief, and is none if that has nothing
    like it under its actor, as in the calibration (`UNLIKE`). The truth of others, and of second
    copies, is not known, and they are left out. scores: of extraction.
    """
    rows, keys = belief_rows(scores), ["model", "method", "item_id", "sample"]
    found = []
    for key, table in rows.groupby(keys, sort=False):
        sides = dict(list(table.groupby("side")))
        predicted, gold = sides.get("predicted"), sides["gold"]
        if predicted is None or not set(predicted["belief"]) <= set(gold["belief"]):
            continue
        for own, other in ((predicted, gold), (gold, predicted)):
            found += [(key, row, truth) for row, truth in _known(own, other)]
    decided = [
        (key[0], row.family, f"{key}/{row.side}/{row.Index}", truth, row.match_count)
        for key, row, truth in found
    ]
    table = pd.DataFrame(decided, columns=["judge", "group", "unit", "truth", "decision"])
    said = (table["decision"] > 0).astype("boolean").mask(table["decision"].isna())
    return table.assign(decision=said)


def _known(own: pd.DataFrame, other: pd.DataFrame) -> Iterator[tuple]:
    """The rows of one table whose truth the other one tells, and that."""
    there = set(zip(other["actor"], other["belief"], strict=True))
    for row in own.drop_duplicates(["actor", "belief"]).itertuples():
        if (row.actor, row.belief) in there:
            yield row, True
        elif all(shared(row.belief, text) < UNLIKE for actor, text in there if actor == row.actor):
            yield row, False
