"""SimpleToM's numbers: accuracy, first failure, gap and what interventions add (Sec. 4 and 5)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import ndtri

from tomlab.asking.likelihood import is_weighed
from tomlab.benchmarks.simpletom.items.compose import AWARE, MAIN, METHODS, NAME, QUESTIONS
from tomlab.records.tidy import check
from tomlab.scoring.series import LEAST_RIGHT, Measures, Series, by_unit, over_all, table
from tomlab.scoring.stats import COUNT, DIFFERENCE, cluster_statistic
from tomlab.scoring.variants import protocol


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models; intervals cluster on sets of entities.

    accuracy: by question, by `<question>/<scenario>` and `<question>/severity <n>`, and by
    `judgment:<wording>`. average: the mean of the three questions. first_failure: the share of
    stories in which this question is the first wrong one (`none`: all are right), also by scenario.
    gap: mental-state score minus that of an applied question on the same stories. delta: the score
    with an intervention minus the score with the method `none` on the same items.
    completion_tokens: the mean by question. outcome_rate, released_rule: over all answers. Where an
    intervention does not ask the mental-state question, the answers of `none` stand in, as in
    Tables 3 to 5. For methods that ask about twins (`aware`), by question: both_right, the share of
    stories answered rightly together with their twins; both_gap, both_right of an earlier question
    minus that of a later one; d_prime and criterion, see `_detection`.
    """
    tables = [table(NAME, series(scores)), pd.DataFrame(_detection(scores))]
    return check(pd.concat(tables, ignore_index=True), "metrics", "simpletom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """Yields (model, method, series of values) for each number of `metrics`. A value belongs to an
    answer, or to a story where answers to its questions are compared. scores: must include those
    of the method `none`, which interventions are compared with.
    """
    for model, answers in protocol(scores).groupby("model", sort=False):
        plain = by_unit(answers[answers["method"] == "none"])
        for method, part in answers.groupby("method", sort=False):
            for measure in _series(method, by_unit(part), plain):
                yield model, method, measure


def _series(method: str, part: pd.DataFrame, plain: pd.DataFrame) -> Iterator[Series]:
    for (kind, variant), cell in part.groupby(["question_type", "variant"], sort=False):
        name = kind if variant == MAIN else f"{kind}:{variant}"
        yield Series("accuracy", name, cell["score"], cell["group_id"])
    main = part[part["variant"] == MAIN]
    for column, level_name in (("scenario", "{}/{}"), ("severity", "{}/severity {}")):
        for key, cell in main.groupby(["question_type", column], sort=False):
            yield Series("accuracy", level_name.format(*key), cell["score"], cell["group_id"])
    for kind, cell in part.groupby("question_type", sort=False):
        yield Series("completion_tokens", kind, cell["completion_tokens"], cell["group_id"], COUNT)
    variants = METHODS[method].variants
    if MAIN in variants:
        yield from _compared(method, part, plain)
    if AWARE in variants:
        yield from _both_versions(part if MAIN in variants else pd.concat([part, plain]))
    yield from over_all(part)


def _compared(method: str, part: pd.DataFrame, plain: pd.DataFrame) -> Iterator[Series]:
    """The series that compare answers on the same story: average, first failure, gap and delta.

    part: the answers by this method; plain: those by the method `none`.
    """
    with_states = pd.concat([part, plain[plain["question_type"] == "mental_state"]])
    main = with_states[with_states["variant"] == MAIN].drop_duplicates(["item_id", "sample"])
    keys = ["story_id", "group_id", "scenario", "severity", "sample"]
    # One row for each story and sample, with a column of scores for each of the three questions;
    # rows that lack a question are dropped.
    wide = main.pivot(index=keys, columns="question_type", values="score")
    stories = by_unit(wide.reindex(columns=QUESTIONS).dropna().reset_index(), "story_id", "sample")
    if not stories.empty:
        yield from _of_stories(stories)
    if method == "none" or is_weighed(method):
        return
    pairs = by_unit(part.merge(plain, on=["item_id", "sample"], suffixes=("", "_none")))
    for kind, cell in pairs.groupby("question_type", sort=False):
        change = cell["score"] - cell["score_none"]
        yield Series("delta", kind, change, cell["group_id"], DIFFERENCE)


def _of_stories(stories: pd.DataFrame) -> Iterator[Series]:
    """Average, first failure and gap. stories: one row a story, one score column a question."""
    scores = stories[[*QUESTIONS]]
    groups = stories["group_id"]
    yield Series("average", "all", scores.mean(axis=1), groups)
    is_wrong = (scores != 1).assign(none=True)
    first_failure = is_wrong.idxmax(axis=1)  # in the order of Fig. 3
    for question in is_wrong:
        is_first = first_failure == question
        yield Series("first_failure", question, is_first, groups)
        for scenario, part in stories.groupby("scenario", sort=False):
            name = f"{question}/{scenario}"
            yield Series("first_failure", name, is_first[part.index], part["group_id"])
    for kind in QUESTIONS[1:]:
        yield Series("gap", kind, scores["mental_state"] - scores[kind], groups, DIFFERENCE)


def _versions(scores: pd.DataFrame) -> pd.DataFrame:
    """One row for each answer on a twin, joined with the answer on the original story (columns
    that end in `_story`), which was given by `none`, or by the same method if options are weighed.
    """
    scores = scores.assign(way=scores["method"].where(scores["method"].map(is_weighed), "none"))
    twins = scores[scores["variant"] == AWARE]
    plain = scores[scores["variant"].eq(MAIN) & scores["method"].eq(scores["way"])]
    keys = ["model", "way", "story_id", "question_type", "sample"]
    return twins.merge(plain, on=keys, suffixes=("", "_story"))


def _both_versions(scores: pd.DataFrame) -> Iterator[Series]:
    """The series on pairs of a story and its twin: `both_right`, and `both_gap` between questions.

    scores: answers by one method, and the answers on original stories that they are paired with.
    """
    versions = _versions(scores)
    versions["both_right"] = versions["score"] * versions["score_story"]
    by_question = {}
    for kind, cell in versions.groupby("question_type"):
        cell = by_unit(cell, "story_id", "sample")
        by_question[kind] = cell
        yield Series("both_right", kind, cell["both_right"], cell["group_id"])
    for first, second in combinations(QUESTIONS, 2):
        if first in by_question and second in by_question:
            cell = by_question[first]
            gap = (cell["both_right"] - by_question[second]["both_right"]).dropna()
            if len(gap):
                groups = cell["group_id"][gap.index]
                yield Series("both_gap", f"{first}/{second}", gap, groups, DIFFERENCE)


def _detection(scores: pd.DataFrame) -> Iterator[dict]:
    """Rows of the metrics table for d_prime and criterion, from signal detection theory.

    d_prime: how well answers tell a twin from its story. criterion: how reluctant answers are to
    say that X is aware, acts on it or is not reasonable. A hit says so about a twin, a false alarm
    about the original story; n counts pairs of readable answers. Rates are (count + .5) / (n + 1),
    the log-linear correction (Hautus 1995). The interval is NaN where hits, misses, false alarms or
    correct rejections occur in fewer than `LEAST_RIGHT` groups: with one or two groups, it would
    cover the truth in only .79 of cases (`checks/interval_coverage.py`).
    """
    readable = protocol(scores[scores["outcome"].isin(["correct", "wrong"])])
    keys = ["model", "method", "question_type"]
    for (model, method, question), rows in _versions(readable).groupby(keys, sort=False):
        counts = pd.DataFrame({"hits": rows["score"], "alarms": 1 - rows["score_story"], "n": 1})
        sums = counts.groupby(rows["group_id"]).sum()
        for metric, weights in {"d_prime": (1, -1), "criterion": (-0.5, -0.5)}.items():
            statistic = partial(weighed, weights=weights)
            interval = cluster_statistic(sums, statistic, n=len(rows), bounds=(-np.inf, np.inf))
            # If all pairs are alike, nothing can be said about how others vary.
            is_alike = interval.ci_low == interval.ci_high
            if is_alike or fewest_groups(sums) < LEAST_RIGHT:
                interval = replace(interval, ci_low=np.nan, ci_high=np.nan)
            row = {"benchmark": NAME, "model": model, "method": method, "condition": question}
            yield row | {"metric": metric} | vars(interval)


def fewest_groups(sums: pd.DataFrame) -> int:
    """In how many groups the rarest of hits, misses, false alarms and correct rejections occurs.

    sums: one row a group, with the counts `hits`, `alarms` and `n` (pairs).
    """
    rates = sums[["hits", "alarms"]]
    is_present = rates > 0
    is_lacking = rates.lt(sums["n"], axis=0)
    return int(min(is_present.sum().min(), is_lacking.sum().min()))


def weighed(counts: np.ndarray, weights: tuple[float, float]) -> np.ndarray:
    """The weighted sum of z(hit rate) and z(false-alarm rate); NaN where there are no pairs.

    counts: an array of shape (..., 3) with the numbers of hits, false alarms and pairs.
    """
    z = ndtri((counts[..., :2] + 0.5) / (counts[..., 2:] + 1))
    return np.where(counts[..., 2] > 0, z @ np.array(weights), np.nan)
