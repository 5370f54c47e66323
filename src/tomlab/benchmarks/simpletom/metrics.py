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

    accuracy: by question, also by `<question>/<scenario>` and `<question>/severity <n>`, and by
    `judgment:<wording>`; average: the mean of the three questions; first_failure: shares of stories
    by the first question that failed, or `none`, also by scenario; gap: mental state minus applied
    question on the same stories; delta: what an intervention adds to `none` on the same answers;
    completion_tokens: the mean by question; outcome_rate, released_rule: over all answers. The
    mental-state answers of an intervention that asks for none are those of `none`, as in Tables 3
    to 5. Of `aware`, by question: both_right, of a story and its twin; both_gap, that less the same
    of a later question; d_prime and criterion, see `_detection`.
    """
    told = [table(NAME, series(scores)), pd.DataFrame(_detection(scores))]
    return check(pd.concat(told, ignore_index=True), "metrics", "simpletom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """What each number of `metrics` is made of; a unit is an answer, or a story where answers to
    its questions are compared. scores: with those of `none` for the interventions.
    """
    for model, own in protocol(scores).groupby("model", sort=False):
        plain = by_unit(own[own["method"] == "none"])
        for method, part in own.groupby("method", sort=False):
            yield from ((model, method, one) for one in _series(method, by_unit(part), plain))


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
    if MAIN in METHODS[method].variants:
        yield from _paired(method, part, plain)
    if AWARE in METHODS[method].variants:
        has_both = MAIN in METHODS[method].variants
        yield from _both_versions(part if has_both else pd.concat([part, plain]))
    yield from over_all(part)


def _paired(method: str, part: pd.DataFrame, plain: pd.DataFrame) -> Iterator[Series]:
    """What compares answers on the same story: average, first failure, gap and delta."""
    told = pd.concat([part, plain[plain["question_type"] == "mental_state"]])
    main = told[told["variant"] == MAIN].drop_duplicates(["item_id", "sample"])
    keys = ["story_id", "group_id", "scenario", "severity", "sample"]
    # A row a story and repeat that was asked all three questions, a column of scores each.
    wide = main.pivot(index=keys, columns="question_type", values="score")
    wide = wide.reindex(columns=list(QUESTIONS)).dropna().reset_index()
    triads = by_unit(wide, "story_id", "sample")
    if not triads.empty:
        groups, right = triads["group_id"], triads[list(QUESTIONS)] == 1
        yield Series("average", "all", triads[list(QUESTIONS)].mean(axis=1), groups)
        failed = right.idxmin(axis=1).where(~right.all(axis=1), "none")  # in the order of Fig. 3
        for level in (*QUESTIONS, "none"):
            hit = failed == level
            yield Series("first_failure", level, hit, groups)
            for scenario, own in triads.groupby("scenario", sort=False):
                part_of = f"{level}/{scenario}"
                yield Series("first_failure", part_of, hit[own.index], own["group_id"])
        for kind in QUESTIONS[1:]:
            yield Series("gap", kind, triads["mental_state"] - triads[kind], groups, DIFFERENCE)
    if method == "none" or is_weighed(method):
        return
    both = by_unit(part.merge(plain, on=["item_id", "sample"], suffixes=("", "_none")))
    for kind, cell in both.groupby("question_type", sort=False):
        change = cell["score"] - cell["score_none"]
        yield Series("delta", kind, change, cell["group_id"], DIFFERENCE)


def _versions(scores: pd.DataFrame) -> pd.DataFrame:
    """Each answer on a twin, with that on its story (`_story`) to `none` or the twin's method."""
    scores = scores.assign(way=scores["method"].where(scores["method"].map(is_weighed), "none"))
    twins = scores[scores["variant"] == AWARE]
    plain = scores[scores["variant"].eq(MAIN) & scores["method"].eq(scores["way"])]
    keys = ["model", "way", "story_id", "question_type", "sample"]
    return twins.merge(plain, on=keys, suffixes=("", "_story"))


def _both_versions(scores: pd.DataFrame) -> Iterator[Series]:
    """What takes a story and its twin together: both right, and the gap between two questions."""
    both = _versions(scores).assign(right=lambda rows: rows["score"] * rows["score_story"])
    both = {kind: by_unit(own, "story_id", "sample") for kind, own in both.groupby("question_type")}
    for kind, own in both.items():
        yield Series("both_right", kind, own["right"], own["group_id"])
    for a, b in combinations([kind for kind in QUESTIONS if kind in both], 2):
        gap = (both[a]["right"] - both[b]["right"]).dropna()
        if len(gap):
            yield Series("both_gap", f"{a}/{b}", gap, both[a]["group_id"][gap.index], DIFFERENCE)


def _detection(scores: pd.DataFrame) -> Iterator[dict]:
    """d_prime: how well answers tell a twin from its story. criterion: how unready they are to say
    that X is aware, acts on it or is not reasonable. Hits say so of twins, false alarms of stories,
    n pairs of readable answers. Rates: (count + .5) / (n + 1), log-linear (Hautus 1995). Without an
    interval where hits, misses, false alarms or their absence are in too few groups: with one or
    two, it would hold the truth in .79 of cases (`checks/interval_coverage.py`).
    """
    read = _versions(protocol(scores[scores["outcome"].isin(["correct", "wrong"])]))
    for whose, rows in read.groupby(["model", "method", "question_type"], sort=False):
        counts = pd.DataFrame({"hits": rows["score"], "alarms": 1 - rows["score_story"], "n": 1})
        sums = counts.groupby(rows["group_id"]).sum()
        is_told = fewest_groups(sums) >= LEAST_RIGHT
        for metric, weights in {"d_prime": (1, -1), "criterion": (-0.5, -0.5)}.items():
            of = partial(weighed, weights=weights)
            found = cluster_statistic(sums, of, n=len(rows), bounds=(-np.inf, np.inf))
            is_alike = found.ci_low == found.ci_high
            if is_alike or not is_told:  # pairs that are all alike tell nothing of others
                found = replace(found, ci_low=np.nan, ci_high=np.nan)
            told = dict(zip(("model", "method", "condition"), whose, strict=True))
            yield {"benchmark": NAME, **told, "metric": metric, **vars(found)}


def fewest_groups(sums: pd.DataFrame) -> int:
    """In how many groups the rarest is of hits, misses, false alarms and what is neither."""
    rates = sums[["hits", "alarms"]]
    there = (rates > 0).sum()
    lacking = rates.lt(sums["n"], axis=0).sum()
    return int(min(there.min(), lacking.min()))


def weighed(counts: np.ndarray, weights: tuple[float, float]) -> np.ndarray:
    """The weighed sum of z(hits) and z(false alarms), of counts (..., 3) with the pairs as last."""
    z = ndtri((counts[..., :2] + 0.5) / (counts[..., 2:] + 1))
    return np.where(counts[..., 2] > 0, z @ np.array(weights), np.nan)
