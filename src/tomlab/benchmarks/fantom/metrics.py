"""FANToM's metrics: the twelve columns of Table 9 and the analyses of Sec. 4.2. Intervals cluster
on conversations, because the question sets of one conversation share its text.
"""

from collections.abc import Iterator
from itertools import chain, product

import numpy as np
import pandas as pd

from tomlab.benchmarks.fantom.items.compose import FAMILIES, INACCESSIBLE, NAME
from tomlab.benchmarks.fantom.items.sets import SCENARIOS
from tomlab.benchmarks.fantom.scoring import IRRELEVANT, NO, YES
from tomlab.records.tidy import OUTCOMES, check
from tomlab.scoring.series import Measure, Measures, Series, Statistic, by_unit, table
from tomlab.scoring.stats import COUNT, cluster_interval
from tomlab.scoring.variants import protocol

_BOTH = {f"{family}_all": (f"{family}_list", f"{family}_yn") for family in FAMILIES}
_ALL = ("belief_choice", *chain(*_BOTH.values()))
# For each metric, the question types that must all be right: six for ALL*, five for ALL (without
# BeliefQ[Dist.], which people were not asked), and for a family its list and yes/no questions.
CONJUNCTIONS = {"all_star": ("belief_dist", *_ALL), "all": _ALL, **_BOTH}
# The metrics that, in the accessible scenario, leave out sets with inaccessible questions, too.
OF_WHOLE_SETS = ("all_star", "all")
SHARES = ("belief_choice", "belief_dist", "answerability_list", "infoaccess_list")
# The paper's means weight kinds of belief by these shares, not by their numbers of questions. That
# holds for 14 of 14 rows of Table 4 (second order) and for 11 of 14 of Table 9 (Dist.). The
# released code pools all questions.
_SECOND = ("second-order:cyclic", "second-order:acyclic")
PLAIN_MEANS = {
    "second-order:mean": dict.fromkeys(_SECOND, 1 / 2),
    "orders:mean": {"first-order": 1 / 2} | dict.fromkeys(_SECOND, 1 / 4),
}
_LEVELS = {"": "group_id", "/part": "part_id", "/conversation": "conversation_id"}
_YN_ERRORS = {"false_positive": YES, "false_negative": NO, "irrelevant": IRRELEVANT}


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models. Most conditions begin with a scenario; the level of
    a conjunction, the order of belief, or an error's family and kind follow where there are any,
    as in "inaccessible/part". A failed request counts as a wrong answer.

    all_star, all, answerability_all, infoaccess_all: the share of units (sets, parts or
        conversations) in which every question of the types in `CONJUNCTIONS` is right. In the
        accessible scenario (the control task), all_star and all use only sets in which every
        question is accessible, as the release does since its commit 7ebd11d of 19 May 2024.
        Earlier, it counted the accessible questions of a mixed set as a set.
    belief_choice, belief_dist, *_list: accuracy.
    belief_statement: accuracy of belief_dist by its second reading, where that can decide.
    belief_f1: token F1 of the answers that are right by distance.
    *_yn: the F1 scores of yes and of no, weighted by how often each is right; answers that are
        neither form a third label.
    fact_f1: token F1, the same in both scenarios.
    all_characters, consistency: Table 3.
    belief_order: Table 4, pooled and by `PLAIN_MEANS`.
    list_error, yn_error: Fig. 4-5, as shares of all questions of the kind (any: wrong in any way).
    outcome_rate, completion_tokens: over all but the fact questions.
    doubtful, released_rule (what the release credits): by question type.
    """
    return check(table(NAME, series(scores)), "metrics", "fantom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """Yields (model, method, measure) for each number of `metrics`. A measure holds the values that
    the number summarises: one for each answer, or for each set, part or conversation.
    """
    scores = protocol(scores)
    scores = scores.assign(right=scores["outcome"] == "correct")
    for (model, method), answers in scores.groupby(["model", "method"], sort=False):
        for measure in _measures(by_unit(answers), method):
            yield model, method, measure


def _measures(answers: pd.DataFrame, method: str) -> Iterator[Measure]:
    is_fact = answers["question_type"] == "fact"
    facts = answers[is_fact]
    tom = answers[~is_fact]
    unmeasured = _unmeasured(set(tom["question_type"]))
    mixed_sets = tom.loc[tom["scenario"] == INACCESSIBLE, "group_id"]
    for scenario in SCENARIOS:
        cell = answers[answers["scenario"] == scenario]
        if cell.empty:
            continue
        whole_sets = cell
        if scenario != INACCESSIBLE:
            whole_sets = cell[~cell["group_id"].isin(mixed_sets)]
        for measure in _of_scenario(cell, whole_sets, scenario, method):
            if measure.metric not in unmeasured:
                yield measure
        if len(facts):
            yield _mean("fact_f1", scenario, facts, "score")
    for outcome in OUTCOMES:
        yield _mean("outcome_rate", outcome, tom.assign(right=tom["outcome"] == outcome))
    for (scenario, kind), cell in answers.groupby(["scenario", "question_type"], sort=False):
        yield _mean("released_rule", f"{scenario}/{kind}", cell, "by_released_rule")
    for kind, cell in answers.groupby("question_type", sort=False):
        yield _mean("doubtful", kind, cell, "doubtful")
    yield _mean("completion_tokens", "all", tom, "completion_tokens")._replace(bounds=COUNT)


def _of_scenario(
    cell: pd.DataFrame, whole_sets: pd.DataFrame, scenario: str, method: str
) -> Iterator[Measure]:
    """The measures of one scenario. cell: its answers; whole_sets: those that the metrics in
    `OF_WHOLE_SETS` use.
    """
    means = chain(
        _conjunctions(cell, whole_sets, scenario, method),
        _shares(cell, scenario),
        _characters(cell, scenario),
        *[_errors(cell, scenario, family) for family in FAMILIES],
    )
    for mean in means:
        if len(mean.values):
            yield mean
    for family in FAMILIES:
        questions = cell[cell["question_type"] == f"{family}_yn"]
        if len(questions):
            yield _weighted_f1_of(questions, f"{family}_yn", scenario)


def _unmeasured(kinds: set[str]) -> set[str]:
    """The metrics that need question types other than `kinds`, those that were asked. Types may be
    missing because BeliefQ[Dist.] needs an encoder, and because the likelihood method asks only
    questions with two options.
    """
    metrics = {name for name, needed in CONJUNCTIONS.items() if not kinds.issuperset(needed)}
    if "all_star" in metrics:
        metrics.add("all_characters")
    if "all" in metrics:
        metrics.add("consistency")
    return metrics


def _mean(metric: str, condition: str, cell: pd.DataFrame, column: str = "right") -> Series:
    return Series(metric, condition, cell[column], cell["conversation_id"])


def _conjunctions(
    cell: pd.DataFrame, whole_sets: pd.DataFrame, scenario: str, method: str
) -> Iterator[Series]:
    for metric, kinds in CONJUNCTIONS.items():
        answers = whole_sets if metric in OF_WHOLE_SETS else cell
        answers = answers[answers["question_type"].isin(kinds)]
        for level, unit in _LEVELS.items():
            # As in the release, conversations are units only if prompts show the full context.
            if level == "/conversation" and not method.startswith("full"):
                continue
            keys = list(dict.fromkeys(["conversation_id", unit, "sample"]))
            units = answers.groupby(keys, sort=False)["right"].all().reset_index()
            yield _mean(metric, f"{scenario}{level}", by_unit(units, *keys))


def _shares(cell: pd.DataFrame, scenario: str) -> Iterator[Series]:
    """Accuracy by question type; for free beliefs also by order and second reading, and F1."""
    for kind in SHARES:
        yield _mean(kind, scenario, cell[cell["question_type"] == kind])
    beliefs = cell[cell["question_type"] == "belief_dist"]
    for order, answers in beliefs.groupby("tom_order", sort=False):
        yield _mean("belief_order", f"{scenario}/{order}", answers)
    decided = beliefs.dropna(subset="by_statement")
    is_right = decided["by_statement"].eq(True)
    yield _mean("belief_statement", scenario, decided.assign(right=is_right))
    second = beliefs[beliefs["tom_order"].str.startswith("second-order:")]
    yield _mean("belief_order", f"{scenario}/second-order", second)
    yield _mean("belief_f1", scenario, beliefs[beliefs["right"]], "word_overlap")
    for name, weights in PLAIN_MEANS.items():
        answers = beliefs[beliefs["tom_order"].isin(weights)]
        # The weighted mean is defined only if every kind of belief in it was asked about.
        if answers["tom_order"].nunique() == len(weights):
            mean = _mean("belief_order", f"{scenario}/{name}", answers)
            yield mean._replace(kinds=answers["tom_order"], weights=weights)


def _characters(cell: pd.DataFrame, scenario: str) -> Iterator[Series]:
    characters = by_unit(by_character(cell).reset_index(), "group_id", "sample", "character")
    yield _mean("all_characters", scenario, characters, "all_right")
    compared = characters.dropna(subset="consistent").astype({"consistent": bool})
    yield _mean("consistency", scenario, compared, "consistent")


def _errors(cell: pd.DataFrame, scenario: str, family: str) -> Iterator[Series]:
    lists = cell[cell["question_type"] == f"{family}_list"]
    lacks_aware = lists["excluded_aware"].astype(bool)
    has_unaware = lists["included_unaware"].astype(bool)
    errors = {
        "any": ~lists["right"],
        "did_both": lacks_aware & has_unaware,
        "excluded_aware": lacks_aware & ~has_unaware,
        "included_unaware": ~lacks_aware & has_unaware,
        "cut_off": ~lacks_aware & ~has_unaware & ~lists["right"],
    }
    for error, is_made in errors.items():
        yield _mean("list_error", f"{scenario}/{family}/{error}", lists.assign(right=is_made))
    answers = cell[cell["question_type"] == f"{family}_yn"]
    errors = {"any": ~answers["right"]}
    for error, reading in _YN_ERRORS.items():
        errors[error] = ~answers["right"] & (answers["yn"] == reading)
    for error, is_made in errors.items():
        yield _mean("yn_error", f"{scenario}/{family}/{error}", answers.assign(right=is_made))


def _weighted_f1_of(answers: pd.DataFrame, metric: str, scenario: str) -> Statistic:
    return Statistic(
        metric,
        scenario,
        answers,
        sums=_yes_and_no,
        statistic=weighted_f1,
        right=lambda counts: counts[..., 0] + counts[..., 4],  # yes to yes, no to no
        sizes=lambda counts: counts.sum(axis=-1),
    )


def _yes_and_no(answers: pd.DataFrame) -> pd.DataFrame:
    """The six counts that `weighted_f1` takes, a row for each conversation."""
    cells = {}
    for gold, reading in product((True, False), (YES, NO, IRRELEVANT)):
        cells[gold, reading] = (answers["is_yes"] == gold) & (answers["yn"] == reading)
    return pd.DataFrame(cells).groupby(answers["conversation_id"].to_numpy(), sort=False).sum()


def weighted_f1(counts: np.ndarray) -> np.ndarray:
    """The mean of the F1 scores of yes and of no, weighted by how often each is the right answer
    (in scikit-learn, "weighted").

    counts: shape (..., 6); how often a question whose right answer is yes was answered yes, no, and
    neither, then the same for no. Returns an array of shape (...); nan if all counts are 0.
    """
    counts = np.asarray(counts)
    counts = counts.reshape(*counts.shape[:-1], 2, 3)
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    gold = counts.sum(axis=-1)
    readings = counts.sum(axis=-2)[..., :2]
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.nan_to_num(2 * right / (gold + readings))
        return (gold * f1).sum(axis=-1) / gold.sum(axis=-1)


def by_character(cell: pd.DataFrame) -> pd.DataFrame:
    """One row for each character of a question set and sample. `all_right`: whether every answer is
    right about the character; a list is if it names them and they know, or neither.
    `consistent`: whether the yes/no answers and the lists agree on whether the character knows;
    missing if no such question was asked. cell: answers of one model, method and scenario.
    """
    set_keys = ["conversation_id", "group_id", "sample"]
    kind = cell["question_type"].str
    cell = cell.assign(family=kind.split("_").str[0])
    answers = cell[kind.endswith("_yn")].drop(columns="named")
    beliefs = cell[kind.startswith("belief") & (cell["character"] != "")]
    lists = cell.loc[kind.endswith("_list"), [*set_keys, "family", "named"]]
    # What the lists say of each character, as if they answered the yes/no questions.
    in_lists = answers.merge(lists, on=[*set_keys, "family"])
    pairs = zip(in_lists["character"], in_lists["named"], strict=True)
    is_named = [character in names for character, names in pairs]
    in_lists["right"] = in_lists["is_yes"] == is_named
    in_lists["yn"] = np.array(is_named, dtype=int)
    keys = [*set_keys, "character"]
    all_right = pd.concat([answers, beliefs, in_lists]).groupby(keys, sort=False)["right"].all()
    readings = pd.concat([answers, in_lists]).groupby(keys, sort=False)["yn"].nunique()
    return pd.DataFrame({"all_right": all_right, "consistent": readings == 1})


# What the paper asked people (Sec. 4).
PEOPLE_ASKED = ("belief_choice", "answerability_list", "infoaccess_list")


def of_people(scored: pd.DataFrame, items: pd.DataFrame, context: str) -> pd.DataFrame:
    """Columns of Table 9 for people who answered this run's choices and lists about what somebody
    missed, as the paper's people did: a row for each `metric` and each kind of interval, which
    `over` names: "people" or "conversations".

    scored: their scores, with the person as `sample`; context: the part of a conversation that they
    read, "short" or "full". Unless they were asked yes/no questions, All of a kind is its list, and
    All counts the sets of which one person answered all choices and lists.
    """
    whole_sets = _whole_sets(scored, items, context)
    tables = []
    for over, column in {"people": "sample", "conversations": "conversation_id"}.items():
        # Intervals cluster on conversations, whose place people take.
        rows = metrics(scored.assign(conversation_id=scored[column]))
        rows = rows.query("condition == 'inaccessible'")
        if "all" not in set(rows["metric"]):
            lists = rows[rows["metric"].str.endswith("_list")]
            lists = lists.assign(metric=lists["metric"].str[:-4] + "all")
            interval = cluster_interval(whole_sets["min"], whole_sets[column])
            of_sets = pd.DataFrame([vars(interval)]).assign(metric="all")
            rows = pd.concat([rows, lists, of_sets]).drop_duplicates("metric")
        tables.append(rows.assign(over=over))
    return pd.concat(tables, ignore_index=True)


def _whole_sets(scored: pd.DataFrame, items: pd.DataFrame, context: str) -> pd.DataFrame:
    """The sets of which a person answered all choices and lists; `min` is 1 if all are right."""
    scenario = "full_scenario" if context == "full" else "scenario"
    asked = items[items["question_type"].isin(PEOPLE_ASKED) & items[scenario].eq("inaccessible")]
    answered = scored[scored["item_id"].isin(asked["item_id"])]
    sets = answered.groupby(["conversation_id", "group_id", "sample"])["score"]
    sets = sets.agg(["min", "size"]).reset_index()
    return sets[sets["size"] == sets["group_id"].map(asked["group_id"].value_counts())]
