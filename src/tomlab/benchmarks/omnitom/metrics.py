"""OmniToM's metrics (Sec. 5, App. D): means over stories, with intervals that are clustered by
families of stories that are nearly the same (`items.compose.families`).
"""

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.items.compose import NAME
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.records.tidy import OUTCOMES, check
from tomlab.scoring.series import Measure, Measures, Series, Statistic, by_unit, table
from tomlab.scoring.stats import COUNT
from tomlab.scoring.variants import protocol

# The names of belief orders in results. The paper puts the second and the third together.
BUCKETS = {"0": "order 0", "1": "order 1", "2": "order 2+", "3": "order 2+"}
MATCH_COUNTS = ("0", "1", "2", "3+")
_STORY = ["family", "group_id", "sample"]  # one output for one story


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models.

    Extraction: f1, precision, recall (condition "all": mean over stories; "categories": mean of the
    category means, as in Table 3; each category; for f1 each belief order too), beliefs_per_story,
    matchcount. Labelling, over rows that repeat actor and belief, as in the release: accuracy
    ("all": mean of the seven dimensions; by dimension, category, order, or two of them, such as
    "context/HT"); macro_f1, balanced_accuracy and majority_baseline by dimension;
    accuracy_by_position, which pairs rows by their place instead and so also credits reworded
    beliefs and wrong actors. ToMBench's questions: linked_accuracy, the mean score of
    `by_question`, under the conditions of precision; its n counts questions.
    An unusable output counts as 0, but is left out under conditions that end in "/usable".
    unusable and outcome_rate are shares of all outputs; each try at a question is one output.
    """
    return check(table(NAME, series(scores)), "metrics", "omnitom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """The data behind each number of `metrics`, as (model, method, measure): values of outputs,
    beliefs or linked questions.
    """
    scores = protocol(scores)
    scores = scores.assign(usable=~scores["outcome"].isin(OUTCOMES[2:]))
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        for measure in _measures(by_unit(part)):
            yield model, method, measure


def _measures(part: pd.DataFrame) -> Iterator[Measure]:
    """All metrics of one model and method."""
    of_stage = (_linked, _extraction, _labelling)[part["stage"].iloc[0]]
    yield from of_stage(part)
    families = part["family"]
    yield Series("unusable", "all", ~part["usable"], families)
    for outcome in OUTCOMES:
        yield Series("outcome_rate", outcome, part["outcome"] == outcome, families)
    yield Series("completion_tokens", "all", part["completion_tokens"], families, COUNT)


def _means_of_all_and_usable(metric: str, part: pd.DataFrame, column: str) -> Iterator[Measure]:
    yield from _means(metric, part, column)
    yield from _means(metric, part[part["usable"]], column, "/usable")


def _means(metric: str, rows: pd.DataFrame, column: str, suffix: str = "") -> Iterator[Measure]:
    """A score's mean over stories, the mean of its category means, and each category's mean."""
    if rows.empty:
        return
    mean = Series(metric, f"all{suffix}", rows[column], rows["family"])
    yield mean
    yield mean._replace(condition=f"categories{suffix}", kinds=rows["category"])
    yield from _means_by(metric, rows, column, "category", f"{{}}{suffix}")


def _means_by(
    metric: str, rows: pd.DataFrame, column: str, by: str, condition: str = "{}"
) -> Iterator[Measure]:
    """The mean of `column` for each value of `by`; that value fills the braces of `condition`."""
    for level, cell in rows.groupby(by):
        yield Series(metric, condition.format(level), cell[column], cell["family"])


def _linked(part: pd.DataFrame) -> Iterator[Measure]:
    for tries, suffix in ((part, ""), (part[part["usable"]], "/usable")):
        questions = by_unit(by_question(tries), "question", "sample")
        yield from _means("linked_accuracy", questions, "score", suffix)


def by_question(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per ToMBench question and `sample`: `option` (the letter, as in ToMBench's file, that
    most tries chose), its `votes`, the number of `tries`, and `score` (1 if the option is right).

    If options have equally many votes, the one chosen in the earliest try wins, as in ToMBench's
    released code (`get_results.py`). An unreadable try is a vote for "", which may win: this is our
    choice; the release counts such a try for the first option shown. scores: of method `linked`.
    """
    details = [json.loads(detail) for detail in scores["detail"]]
    tries = scores.join(pd.DataFrame(details, scores.index, ["question", "try", "option"]))
    keys = ["model", "method", "sample", "question"]
    tries["tries"] = tries.groupby(keys)["try"].transform("size")
    tries["votes"] = tries.groupby([*keys, "option"])["try"].transform("size")
    ranked = tries.sort_values(["votes", "try"], ascending=[False, True], kind="stable")
    winners = ranked.drop_duplicates(keys).sort_values(keys, ignore_index=True)
    return winners[["family", "group_id", "category", *keys, "option", "votes", "tries", "score"]]


def _extraction(part: pd.DataFrame) -> Iterator[Measure]:
    for metric, column in (("f1", "score"), ("precision", "precision"), ("recall", "recall")):
        yield from _means_of_all_and_usable(metric, part, column)
    yield from _means_by("f1", by_unit(f1_by_order(part)), "f1", "bucket")
    yield Series("beliefs_per_story", "all", part["n_predicted"], part["family"], COUNT)
    predicted = by_unit(belief_rows(part).query("side == 'predicted'"))
    if predicted.empty:
        return
    match_counts = predicted["match_count"].clip(upper=3)
    for number, name in enumerate(MATCH_COUNTS):
        yield Series("matchcount", name, match_counts == number, predicted["family"])


_OUTPUT = ["family", "group_id", "category", "model", "method", "sample"]


def belief_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per belief of a table: side (predicted, gold), actor, belief, order, match_count (nan
    where the judge gave none). Unusable outputs only have rows for their gold beliefs, unmatched.
    """
    columns = ["item_id", *_OUTPUT]
    rows = []
    for score in scores.to_dict("records"):
        output = [score[name] for name in columns]
        for side, beliefs in json.loads(score["detail"]).items():
            rows += [[*output, side, *belief] for belief in beliefs]
    columns += ["side", "actor", "belief", "order", "match_count"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(match_count=pd.to_numeric(table["match_count"]))


def f1_by_order(scores: pd.DataFrame) -> pd.DataFrame:
    """F1 (`f1`) of each output by belief order (`bucket`; Fig. 5a), for orders that its gold table
    has. Precision is over beliefs predicted with that order, recall over gold beliefs of that
    order. Matched beliefs may differ in their order.
    """
    rows = belief_rows(scores).dropna(subset="match_count")
    rows = rows.assign(bucket=rows["order"].map(BUCKETS), matched=rows["match_count"] > 0)
    keys = ["item_id", "family", "group_id", "model", "method", "sample", "bucket"]
    shares = rows.pivot_table(index=keys, columns="side", values="matched", aggfunc="mean")
    shares = shares.reindex(columns=["predicted", "gold"]).dropna(subset=["gold"]).fillna(0.0)
    total = shares.sum(axis=1)
    f1 = 2 * shares["predicted"] * shares["gold"] / total.where(total > 0, 1)
    return f1.rename("f1").reset_index()


def label_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per gold belief and dimension: belief (its number), bucket (its order), dimension,
    gold (the right label), predicted (the label in the row that repeats the belief; None: no legal
    one), right (whether it equals gold), placed (whether the label in the row at the same place
    equals gold).
    """
    columns = [*_OUTPUT, "usable"]
    rows = []
    for score in scores.to_dict("records"):
        output = [score[name] for name in columns]
        for number, (order, labels) in enumerate(json.loads(score["detail"])):
            belief = [*output, number, BUCKETS[order]]
            for dimension, (gold, predicted, at_place) in labels.items():
                is_right = [gold == predicted, gold == at_place]
                rows.append([*belief, dimension, gold, predicted, *is_right])
    columns += ["belief", "bucket", "dimension", "gold", "predicted", "right", "placed"]
    return pd.DataFrame(rows, columns=columns)


def _labelling(part: pd.DataFrame) -> Iterator[Measure]:
    labels = label_rows(part)
    right = _by_story(labels, "right")
    placed = _by_story(labels, "placed")
    usable = right[right["usable"]]
    yield from _means_of_all_and_usable("accuracy", right, "all")
    for subject in ("all", *DIMENSIONS):
        yield Series("accuracy_by_position", subject, placed[subject], placed["family"])
    yield from _means_by("accuracy", right, "all", "category", "all/{}")
    for dimension in DIMENSIONS:
        yield Series("accuracy", dimension, right[dimension], right["family"])
        yield from _means_by("accuracy", right, dimension, "category", f"{dimension}/{{}}")
        if len(usable):
            yield Series("accuracy", f"{dimension}/usable", usable[dimension], usable["family"])
        yield from _beyond_accuracy(labels[labels["dimension"] == dimension], dimension)
    for subject in (*DIMENSIONS, "all"):
        cells = labels if subject == "all" else labels[labels["dimension"] == subject]
        by_order = cells.groupby([*_STORY, "bucket"])["right"].mean().reset_index()
        by_order = by_unit(by_order, "group_id", "sample")
        yield from _means_by("accuracy", by_order, "right", "bucket", f"{subject}/{{}}")


def _by_story(labels: pd.DataFrame, column: str) -> pd.DataFrame:
    """One row per output: the mean of `column` for each dimension, and their mean in `all`."""
    keys = [*_STORY, "category", "usable"]
    stories = labels.groupby([*keys, "dimension"], sort=False)[column].mean()
    stories = stories.unstack("dimension")[list(DIMENSIONS)]
    stories = stories.assign(all=stories.mean(axis=1)).reset_index()
    return by_unit(stories, "group_id", "sample")


def _beyond_accuracy(labels: pd.DataFrame, dimension: str) -> Iterator[Measure]:
    """For one dimension: F1 and recall, each averaged over the gold labels, and the accuracy of
    always answering with the commonest gold label.
    """
    beliefs = by_unit(labels, "group_id", "sample", "belief")
    yield Statistic("macro_f1", dimension, beliefs, _confusions, macro_f1, _gold_counts)
    recalls = Series("balanced_accuracy", dimension, beliefs["right"], beliefs["family"])
    yield recalls._replace(kinds=beliefs["gold"])
    # If several labels are equally common, the first in alphabetical order.
    commonest = labels["gold"].value_counts().sort_index().idxmax()
    stories = labels.assign(share=labels["gold"] == commonest).groupby(_STORY)["share"].mean()
    stories = by_unit(stories.reset_index(), "group_id", "sample")
    yield Series("majority_baseline", dimension, stories["share"], stories["family"])


def _confusions(labels: pd.DataFrame) -> pd.DataFrame:
    """Counts by family (rows). Columns are pairs (gold, predicted): each gold label with each gold
    label, and with "another" for any other prediction.
    """
    legal = DIMENSIONS[labels["dimension"].iloc[0]]
    names = [label for label in legal if labels["gold"].eq(label).any()]
    predicted = labels["predicted"].where(labels["predicted"].isin(names), "another")
    counts = labels.groupby(["family", "gold", predicted]).size().unstack(["gold", "predicted"])
    cells = pd.MultiIndex.from_product([names, [*names, "another"]])
    return counts.reindex(columns=cells).fillna(0)


def _gold_counts(counts: np.ndarray) -> np.ndarray:
    """How often each label is gold. counts: as for `macro_f1`."""
    n_labels = int(counts.shape[-1] ** 0.5)
    return counts.reshape(*counts.shape[:-1], n_labels, n_labels + 1).sum(axis=-1)


def macro_f1(counts: np.ndarray) -> np.ndarray:
    """The mean of the labels' F1; nan if one of the labels never occurs in gold. counts: from
    `_confusions`, of shape (..., labels * (labels + 1)).
    """
    gold = _gold_counts(counts)
    confusions = counts.reshape(*gold.shape, -1)
    right = np.diagonal(confusions, axis1=-2, axis2=-1)
    predicted = confusions[..., :-1].sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(gold > 0, 2 * right / (gold + predicted), np.nan).mean(axis=-1)
