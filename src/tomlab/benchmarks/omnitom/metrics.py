"""OmniToM's metrics (Sec. 5, App. D): scores by story, averaged over stories, with intervals over
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

# Of belief orders: the paper puts the second and the third together.
BUCKETS = {"0": "order 0", "1": "order 1", "2": "order 2+", "3": "order 2+"}
MATCH_COUNTS = ("0", "1", "2", "3+")
_STORY = ["family", "group_id", "sample"]  # one output for one story


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models.

    Extraction: f1, precision, recall ("all": mean over stories; "categories": mean of the category
    means, as Table 3 prints it; by category; f1 by belief order), beliefs_per_story, matchcount.
    Labelling, over rows that repeat actor and belief, as in the release: accuracy ("all": mean of
    the seven dimensions; by dimension, category, order, and such as "context/HT"), macro_f1,
    balanced_accuracy and majority_baseline by dimension; accuracy_by_position pairs rows by their
    place instead, which credits reworded beliefs and wrong actors, too.
    ToMBench's questions: linked_accuracy, as f1, of `by_question`; its n counts questions.
    An unusable output counts as 0; under conditions that end in "/usable" it is left out. unusable,
    outcome_rate: over all outputs, each try at a question being one.
    """
    return check(table(NAME, series(scores)), "metrics", "omnitom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """What each number of `metrics` is made of: outputs, gold beliefs or linked questions."""
    scores = protocol(scores)
    scores = scores.assign(usable=~scores["outcome"].isin(OUTCOMES[2:]))
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        yield from ((model, method, one) for one in _found(by_unit(part)))


def _found(part: pd.DataFrame) -> Iterator[Measure]:
    yield from (_linked, _extraction, _labelling)[part["stage"].iloc[0]](part)
    groups = part["family"]
    yield Series("unusable", "all", ~part["usable"], groups)
    for outcome in OUTCOMES:
        yield Series("outcome_rate", outcome, part["outcome"] == outcome, groups)
    yield Series("completion_tokens", "all", part["completion_tokens"], groups, COUNT)


def _macro(metric: str, part: pd.DataFrame, column: str) -> Iterator[Measure]:
    yield from _means(metric, part, column)
    yield from _means(metric, part[part["usable"]], column, "/usable")


def _means(metric: str, rows: pd.DataFrame, column: str, suffix: str = "") -> Iterator[Measure]:
    """A score by story: its mean over stories, over categories, and in each category."""
    if len(rows):
        mean = Series(metric, f"all{suffix}", rows[column], rows["family"])
        yield mean
        yield mean._replace(condition=f"categories{suffix}", kinds=rows["category"])
        yield from _each(metric, rows, column, "category", after=suffix)


def _each(
    metric: str, rows: pd.DataFrame, column: str, by: str, before: str = "", after: str = ""
) -> Iterator[Measure]:
    for level, cell in rows.groupby(by):
        yield Series(metric, f"{before}{level}{after}", cell[column], cell["family"])


def _linked(part: pd.DataFrame) -> Iterator[Measure]:
    for tries, suffix in ((part, ""), (part[part["usable"]], "/usable")):
        questions = by_unit(by_question(tries), "question", "sample")
        yield from _means("linked_accuracy", questions, "score", suffix)


def by_question(scores: pd.DataFrame) -> pd.DataFrame:
    """A row a ToMBench question (and `sample`): `option`, the one named by most of its tries, as
    its letter in the file, `votes` for it of `tries`, and `score`, 1 if it is the right one.

    Of options with as many votes the one whose try came first counts, as in ToMBench's released
    code (`get_results.py`). A try of which no option was read votes for none, "", which may win:
    our choice, where the release takes it for the first option shown. scores: of method `linked`.
    """
    told = [json.loads(detail) for detail in scores["detail"]]
    tries = scores.join(pd.DataFrame(told, scores.index, ["question", "try", "option"]))
    keys = ["model", "method", "sample", "question"]
    tries["tries"] = tries.groupby(keys)["try"].transform("size")
    tries["votes"] = tries.groupby([*keys, "option"])["try"].transform("size")
    first = tries.sort_values(["votes", "try"], ascending=[False, True], kind="stable")
    kept = ["family", "group_id", "category", *keys, "option", "votes", "tries", "score"]
    return first.drop_duplicates(keys)[kept].sort_values(keys, ignore_index=True)


def _extraction(part: pd.DataFrame) -> Iterator[Measure]:
    for metric, column in (("f1", "score"), ("precision", "precision"), ("recall", "recall")):
        yield from _macro(metric, part, column)
    yield from _each("f1", by_unit(f1_by_order(part)), "f1", "bucket")
    yield Series("beliefs_per_story", "all", part["n_predicted"], part["family"], COUNT)
    predicted = by_unit(belief_rows(part).query("side == 'predicted'"))
    for number, level in enumerate(MATCH_COUNTS if len(predicted) else ()):
        hit = predicted["match_count"].clip(upper=3) == number
        yield Series("matchcount", level, hit, predicted["family"])


def belief_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """One row a belief of a table: side (predicted, gold), actor, belief, order, match_count (nan
    where the judge gave none). Unusable outputs have their gold beliefs, unmatched.
    """
    kept = ["item_id", "family", "group_id", "category", "model", "method", "sample"]
    rows = [
        [*(score[name] for name in kept), side, *belief]
        for score in scores.to_dict("records")
        for side, beliefs in json.loads(score["detail"]).items()
        for belief in beliefs
    ]
    columns = [*kept, "side", "actor", "belief", "order", "match_count"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(match_count=pd.to_numeric(table["match_count"]))


def f1_by_order(scores: pd.DataFrame) -> pd.DataFrame:
    """F1 of each story by belief order (Fig. 5a): precision over predicted beliefs said to be of an
    order that gold has, recall over gold beliefs of it. A match need not agree on the order.
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
    """One row a gold belief and dimension: bucket (of its order), dimension, gold, the label
    predicted in the row that repeats the belief (None: no legal one), whether that is right, and
    whether the label in the row at its place (placed) is.
    """
    kept = ["family", "group_id", "category", "model", "method", "sample", "usable"]
    rows = [
        [*(score[name] for name in kept), number, BUCKETS[order], dimension, *cell[:2]]
        + [cell[0] == label for label in cell[1:]]
        for score in scores.to_dict("records")
        for number, (order, labels) in enumerate(json.loads(score["detail"]))
        for dimension, cell in labels.items()
    ]
    columns = ["belief", "bucket", "dimension", "gold", "predicted", "right", "placed"]
    return pd.DataFrame(rows, columns=[*kept, *columns])


def _labelling(part: pd.DataFrame) -> Iterator[Measure]:
    labels = label_rows(part)
    wide, placed = (_by_story(labels, column) for column in ("right", "placed"))
    usable = wide[wide["usable"]]
    yield from _macro("accuracy", wide, "all")
    for subject in ("all", *DIMENSIONS):
        yield Series("accuracy_by_position", subject, placed[subject], placed["family"])
    yield from _each("accuracy", wide, "all", "category", "all/")
    for dimension in DIMENSIONS:
        yield Series("accuracy", dimension, wide[dimension], wide["family"])
        yield from _each("accuracy", wide, dimension, "category", f"{dimension}/")
        if len(usable):
            yield Series("accuracy", f"{dimension}/usable", usable[dimension], usable["family"])
        yield from _beyond_accuracy(labels[labels["dimension"] == dimension], dimension)
    for dimension in (*DIMENSIONS, "all"):
        own = labels if dimension == "all" else labels[labels["dimension"] == dimension]
        by_story = own.groupby([*_STORY, "bucket"])["right"].mean().reset_index()
        by_story = by_unit(by_story, "group_id", "sample")
        yield from _each("accuracy", by_story, "right", "bucket", f"{dimension}/")


def _by_story(labels: pd.DataFrame, column: str) -> pd.DataFrame:
    """A row a story: the share of each dimension, and of `all` their mean."""
    keys = [*_STORY, "category", "usable"]
    stories = labels.groupby([*keys, "dimension"], sort=False)[column].mean()
    stories = stories.unstack("dimension")[list(DIMENSIONS)]
    stories = stories.assign(all=stories.mean(axis=1)).reset_index()
    return by_unit(stories, "group_id", "sample")


def _beyond_accuracy(own: pd.DataFrame, dimension: str) -> Iterator[Measure]:
    """Of one dimension: the means over gold labels of F1 and of the share right, and what the
    commonest gold label would score.
    """
    labelled = by_unit(own, "group_id", "sample", "belief")
    yield Statistic("macro_f1", dimension, labelled, _confusions, macro_f1, _golden)
    recalls = Series("balanced_accuracy", dimension, labelled["right"], labelled["family"])
    yield recalls._replace(kinds=labelled["gold"])
    # The first by name of those that are as common.
    commonest = own["gold"].value_counts().sort_index().idxmax()
    shares = own["gold"].eq(commonest).groupby([own[name] for name in _STORY]).mean()
    by_story = by_unit(shares.rename("share").reset_index(), "group_id", "sample")
    yield Series("majority_baseline", dimension, by_story["share"], by_story["family"])


def _confusions(own: pd.DataFrame) -> pd.DataFrame:
    """By family how often each gold label was given each of them or, the last column, another."""
    legal = DIMENSIONS[own["dimension"].iloc[0]]
    labels = pd.Index([label for label in legal if own["gold"].eq(label).any()])
    family, names = pd.factorize(own["family"], sort=True)
    counts = np.zeros((len(names), len(labels), len(labels) + 1))
    # Another label has the place -1.
    np.add.at(counts, (family, *(labels.get_indexer(own[n]) for n in ("gold", "predicted"))), 1)
    return pd.DataFrame(counts.reshape(len(names), -1), names)


def _golden(counts: np.ndarray) -> np.ndarray:
    """How often each label is gold, of `_confusions` of shape (..., labels * (labels + 1))."""
    size = int(counts.shape[-1] ** 0.5)
    return counts.reshape(*counts.shape[:-1], size, size + 1).sum(axis=-1)


def macro_f1(counts: np.ndarray) -> np.ndarray:
    """The mean F1 of labels, nan where one of them does not occur in gold. counts: of
    `_confusions`, of shape (..., labels * (labels + 1)).
    """
    gold = _golden(counts)
    table = counts.reshape(*gold.shape, -1)
    right, said = np.diagonal(table, axis1=-2, axis2=-1), table[..., :-1].sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(gold > 0, 2 * right / (gold + said), np.nan).mean(axis=-1)
