"""SimpleToM's numbers: accuracy, first failure, gap and what interventions add (Sec. 4 and 5)."""

from collections.abc import Iterator

import pandas as pd

from tomlab.benchmarks.simpletom.items.compose import MAIN, METHODS, NAME, QUESTIONS
from tomlab.records.tidy import check
from tomlab.scoring.series import Series, Told, by_unit, over_all, table
from tomlab.scoring.stats import COUNT, DIFFERENCE
from tomlab.scoring.variants import protocol


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models; intervals cluster on sets of entities.

    accuracy: by question, also by `<question>/<scenario>` and `<question>/severity <n>`, and by
    `judgment:<wording>`; average: the mean of the three questions; first_failure: shares of stories
    by the first question that failed, or `none`, also by scenario; gap: mental state minus applied
    question on the same stories; delta: what an intervention adds to `none` on the same answers;
    completion_tokens: the mean by question; outcome_rate, released_rule: over all answers. The
    mental-state answers of an intervention that asks for none are those of `none`, as in Tables 3
    to 5.
    """
    return check(table(NAME, series(scores)), "metrics", "simpletom metrics")


def series(scores: pd.DataFrame) -> Told:
    """What each number of `metrics` is made of; a unit is an answer, or a story where answers to
    its questions are compared. scores: with those of `none` for the interventions.
    """
    for model, own in protocol(scores).groupby("model", sort=False):
        plain = by_unit(own[own["method"] == "none"])
        for method, part in own.groupby("method", sort=False):
            for one in _series(method, by_unit(part), plain):
                yield model, method, one


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
    if not METHODS[method].wordings:
        yield from _paired(method, part, plain)
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
    if method == "none":
        return
    both = by_unit(part.merge(plain, on=["item_id", "sample"], suffixes=("", "_none")))
    for kind, cell in both.groupby("question_type", sort=False):
        change = cell["score"] - cell["score_none"]
        yield Series("delta", kind, change, cell["group_id"], DIFFERENCE)
