"""OmniToM's metrics: belief extraction and belief labelling (Sec. 5, App. D), with intervals.

The unit is the story: scores are computed per story and averaged over stories, and intervals
resample whole stories.
"""

import json
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.records import CATEGORIES, DIMENSIONS
from tomlab.records.tables import OUTCOMES, check
from tomlab.scoring.stats import Interval, cluster_interval, cluster_statistic, ratio

NAME = "omnitom"
UNUSABLE = OUTCOMES[2:]
# Of belief orders: the paper puts the second and the third together.
BUCKETS = {"0": "order 0", "1": "order 1", "2": "order 2+", "3": "order 2+"}
MATCH_COUNTS = ("0", "1", "2", "3+")


def metrics(scores: pd.DataFrame, *, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """The metrics table of one or more models.

    Extraction: f1, precision, recall ("all": mean over stories; "categories": mean of the category
    means, as Table 3 prints it; by category; f1 by belief order), beliefs_per_story, matchcount.
    Labelling: accuracy ("all": mean of the seven dimensions; by dimension, category, order),
    macro_f1, balanced_accuracy and majority_baseline by dimension. An unusable output counts as 0;
    under conditions that end in "/usable" it is left out. unusable, outcome_rate: over all outputs.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        keys = {"benchmark": NAME, "model": model, "method": method}
        for metric, condition, interval in _rows(part, resamples, seed):
            rows.append(keys | {"metric": metric, "condition": condition} | vars(interval))
    return check(pd.DataFrame(rows), "metrics", "omnitom metrics")


def _rows(part: pd.DataFrame, resamples: int, seed: int) -> Iterator[tuple[str, str, Interval]]:
    options = {"resamples": resamples, "seed": seed}
    part = part.assign(usable=~part["outcome"].isin(UNUSABLE))
    stages = {0: _linked, 1: _extraction, 2: _labelling}
    yield from stages[part["stage"].iloc[0]](part, options)
    groups = part["group_id"]
    yield "unusable", "all", cluster_interval(~part["usable"], groups, **options)
    for outcome in OUTCOMES:
        hit = part["outcome"] == outcome
        yield "outcome_rate", outcome, cluster_interval(hit, groups, **options)
    tokens = part["completion_tokens"]
    yield "completion_tokens", "all", cluster_interval(tokens, groups, bounds=None, **options)


def _macro(
    part: pd.DataFrame, column: str, options: dict, prefix: str = ""
) -> Iterator[tuple[str, Interval]]:
    """A score by story: its mean over stories, over categories, and in each category."""
    for suffix, rows in (("", part), ("/usable", part[part["usable"]])):
        if rows.empty:
            continue
        yield (
            f"{prefix or 'all'}{suffix}",
            cluster_interval(rows[column], rows["group_id"], **options),
        )
        if not prefix:
            yield f"categories{suffix}", category_mean(rows, column, options)
        for code in CATEGORIES:
            cell = rows[rows["category"] == code]
            if len(cell) and not (prefix and suffix):
                condition = f"{prefix}/{code}" if prefix else f"{code}{suffix}"
                yield condition, cluster_interval(cell[column], cell["group_id"], **options)


def category_mean(rows: pd.DataFrame, column: str, options: dict) -> Interval:
    """The mean of the category means, stories drawn within their category."""
    codes = [code for code in CATEGORIES if (rows["category"] == code).any()]
    columns = {}
    for code in codes:
        own = rows["category"] == code
        columns[f"sum {code}"] = rows[column].where(own, 0.0)
        columns[f"n {code}"] = own.astype(float)
    sums = pd.DataFrame(columns).groupby(rows["group_id"], sort=False).sum()
    category = rows.drop_duplicates("group_id").set_index("group_id")["category"]

    def mean_of_means(counts: np.ndarray) -> np.ndarray:
        pairs = counts.reshape(*counts.shape[:-1], len(codes), 2)
        return ratio(pairs).mean(axis=-1)

    return cluster_statistic(
        sums, mean_of_means, n=len(rows), strata=category[sums.index], **options
    )


def _linked(part: pd.DataFrame, options: dict) -> Iterator[tuple[str, str, Interval]]:
    """Accuracy on the ToMBench questions that the stories come from."""
    for condition, interval in _macro(part, "score", options):
        yield "linked_accuracy", condition, interval


# ---- Extraction ----------------------------------------------------------------------------------


def _extraction(part: pd.DataFrame, options: dict) -> Iterator[tuple[str, str, Interval]]:
    for metric in ("f1", "precision", "recall"):
        for condition, interval in _macro(part.assign(f1=part["score"]), metric, options):
            yield metric, condition, interval
    by_order = f1_by_order(part)
    for bucket, cell in by_order.groupby("bucket"):
        yield "f1", bucket, cluster_interval(cell["f1"], cell["group_id"], **options)
    counts = part["n_predicted"]
    interval = cluster_interval(counts, part["group_id"], bounds=None, **options)
    yield "beliefs_per_story", "all", interval
    rows = belief_rows(part)
    predicted = rows[rows["side"] == "predicted"]
    if len(predicted):
        for number, level in enumerate(MATCH_COUNTS):
            hit = predicted["match_count"].clip(upper=3) == number
            yield "matchcount", level, cluster_interval(hit, predicted["group_id"], **options)


def belief_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """One row a belief of a table, predicted or gold: side, actor, belief, order, match_count.

    match_count is nan where the judge gave none. scores: of extraction. Outputs that are not usable have their gold beliefs, unmatched.
    """
    kept = ["item_id", "group_id", "category", "model", "method", "sample"]
    rows = []
    for score in scores.to_dict("records"):
        keys = {name: score[name] for name in kept}
        for side, beliefs in json.loads(score["detail"]).items():
            for actor, belief, order, count in beliefs:
                row = {"actor": actor, "belief": belief, "order": order, "match_count": count}
                rows.append({**keys, "side": side, **row})
    columns = [*kept, "side", "actor", "belief", "order", "match_count"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(match_count=pd.to_numeric(table["match_count"]))


def f1_by_order(scores: pd.DataFrame) -> pd.DataFrame:
    """F1 of each story by belief order (Fig. 5a), for the orders that its gold table has.

    Precision is over predicted beliefs said to be of that order, recall over gold beliefs of it; a
    match need not agree on the order. A predicted belief without a legal order counts to none.
    """
    rows = belief_rows(scores)
    rows = rows[rows["match_count"].notna()]
    rows = rows.assign(bucket=rows["order"].map(BUCKETS), matched=rows["match_count"] > 0)
    keys = ["item_id", "group_id", "model", "method", "sample", "bucket"]
    shares = rows.pivot_table(index=keys, columns="side", values="matched", aggfunc="mean")
    shares = shares.reindex(columns=["predicted", "gold"]).dropna(subset=["gold"]).fillna(0.0)
    total = shares["predicted"] + shares["gold"]
    product = 2 * shares["predicted"] * shares["gold"]
    return (product / total.where(total > 0, 1)).rename("f1").reset_index()


# ---- Labelling -----------------------------------------------------------------------------------


def label_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """One row a gold belief and dimension: order, dimension, gold, predicted (None if no legal label).

    scores: of labelling. An unusable output has no predicted label at all.
    """
    kept = ["group_id", "category", "model", "method", "sample", "usable"]
    rows = [
        {**{name: score[name] for name in kept}, "belief": number, "order": order}
        | {"dimension": dimension, "gold": gold, "predicted": predicted}
        for score in scores.to_dict("records")
        for number, (order, labels) in enumerate(json.loads(score["detail"]))
        for dimension, (gold, predicted) in labels.items()
    ]
    return pd.DataFrame(rows)


def _labelling(part: pd.DataFrame, options: dict) -> Iterator[tuple[str, str, Interval]]:
    labels = label_rows(part)
    labels = labels.assign(right=labels["gold"] == labels["predicted"])
    keys = ["group_id", "category", "sample", "usable"]
    stories = labels.groupby([*keys, "dimension"], sort=False)["right"].mean()
    stories = stories.unstack("dimension")[list(DIMENSIONS)]
    wide = stories.assign(all=stories.mean(axis=1)).reset_index()
    for condition, interval in _macro(wide, "all", options):
        yield "accuracy", condition, interval
    for code in CATEGORIES:
        cell = wide[wide["category"] == code]
        if len(cell):
            yield (
                "accuracy",
                f"all/{code}",
                cluster_interval(cell["all"], cell["group_id"], **options),
            )
    for dimension in DIMENSIONS:
        for condition, interval in _macro(wide, dimension, options, prefix=dimension):
            yield "accuracy", condition, interval
        own = labels[labels["dimension"] == dimension]
        yield from _beyond_accuracy(own, dimension, options)
    yield from _by_order(labels, options)


def _by_order(labels: pd.DataFrame, options: dict) -> Iterator[tuple[str, str, Interval]]:
    labels = labels.assign(bucket=labels["order"].map(BUCKETS))
    keys = ["group_id", "sample", "bucket"]
    for dimension in (*DIMENSIONS, "all"):
        own = labels if dimension == "all" else labels[labels["dimension"] == dimension]
        by_story = own.groupby(keys)["right"].mean().reset_index()
        for bucket, cell in by_story.groupby("bucket"):
            interval = cluster_interval(cell["right"], cell["group_id"], **options)
            yield "accuracy", f"{dimension}/{bucket}", interval


def _beyond_accuracy(
    own: pd.DataFrame, dimension: str, options: dict
) -> Iterator[tuple[str, str, Interval]]:
    """Of one dimension: macro-F1, balanced accuracy, and what the commonest gold label would score."""
    legal = list(DIMENSIONS[dimension])
    cells = {
        (gold, said): (own["gold"] == gold) & (own["predicted"] == said)
        for gold in legal
        for said in legal
    }
    # No legal label: a column of its own, so that rows sum to the gold counts.
    for gold in legal:
        cells[gold, ""] = (own["gold"] == gold) & ~own["predicted"].isin(legal)
    order = [(gold, said) for gold in legal for said in (*legal, "")]
    sums = pd.DataFrame(cells)[order].groupby(own["group_id"], sort=False).sum()
    for metric, statistic in (("macro_f1", macro_f1), ("balanced_accuracy", balanced_accuracy)):
        made = _of_confusion(statistic, len(legal))
        yield metric, dimension, cluster_statistic(sums, made, n=len(own), **options)
    majority = own["gold"] == own["gold"].mode().iloc[0]
    by_story = majority.groupby([own["group_id"], own["sample"]]).mean().reset_index()
    interval = cluster_interval(by_story["gold"], by_story["group_id"], **options)
    yield "majority_baseline", dimension, interval


def _of_confusion(statistic: Callable, labels: int) -> Callable:
    return lambda counts: statistic(counts.reshape(*counts.shape[:-1], labels, labels + 1))


def macro_f1(confusion: np.ndarray) -> np.ndarray:
    """Mean F1 of the labels that occur in gold. confusion: (..., gold labels, predicted labels + 1),
    the last column for predictions that are no legal label.
    """
    gold = confusion.sum(axis=-1)
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    said = confusion[..., :-1].sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(gold > 0, 2 * right / (gold + said), np.nan)
    return _mean_of_present(f1)


def balanced_accuracy(confusion: np.ndarray) -> np.ndarray:
    """Mean recall of the labels that occur in gold; `confusion` as for `macro_f1`."""
    gold = confusion.sum(axis=-1)
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _mean_of_present(right / gold)


def _mean_of_present(values: np.ndarray) -> np.ndarray:
    present = ~np.isnan(values)
    return np.where(present, values, 0).sum(axis=-1) / present.sum(axis=-1)


def split_condition(conditions: pd.Series) -> pd.DataFrame:
    """Conditions as subject, within ("" where none) and is_usable (unusable outputs left out).

    subject: all, categories, a category, a dimension or an order of beliefs; within: the category
    or order in which a dimension is scored.
    """
    levels = r"^(?P<subject>[^/]+)(?:/(?!usable)(?P<within>[^/]+))?(?P<is_usable>/usable)?$"
    split = conditions.str.extract(levels)
    return split.assign(is_usable=split["is_usable"].notna()).fillna({"within": ""})
