"""FANToM's metrics: the twelve columns of Table 9 and the analyses of Sec. 4.2. Intervals cluster
on conversations, whose sets share their text.
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
from tomlab.scoring.stats import COUNT
from tomlab.scoring.variants import protocol

_BOTH = {f"{family}_all": (f"{family}_list", f"{family}_yn") for family in FAMILIES}
_ALL = ("belief_choice", *chain(*_BOTH.values()))
# Which question types must all be right, by metric: ALL* (six types), ALL (without BeliefQ[Dist.],
# which people were not asked), and both kinds of one family.
CONJUNCTIONS = {"all_star": ("belief_dist", *_ALL), "all": _ALL, **_BOTH}
# Which of them leave out mixed sets in the control task.
OF_WHOLE_SETS = ("all_star", "all")
SHARES = ("belief_choice", "belief_dist", "answerability_list", "infoaccess_list")
# The paper's means give each kind of belief its weight, however many questions are of that kind:
# Table 4's second order in 14 of 14 rows, Table 9's Dist. in 11 of 14. The released code pools.
_SECOND = ("second-order:cyclic", "second-order:acyclic")
PLAIN_MEANS = {
    "second-order:mean": dict.fromkeys(_SECOND, 1 / 2),
    "orders:mean": {"first-order": 1 / 2} | dict.fromkeys(_SECOND, 1 / 4),
}
_LEVELS = {"": "group_id", "/part": "part_id", "/conversation": "conversation_id"}
_YN_ERRORS = {"false_positive": YES, "false_negative": NO, "irrelevant": IRRELEVANT}


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models. A condition is a scenario, then the level of a
    conjunction, the order of belief, or family and kind of an error: "inaccessible/part".

    all_star, all, answerability_all, infoaccess_all: shares of units with every question of those
    types right. all_star and all of the accessible scenario (the control task) are of sets in which
    every question is accessible, as in the release since its commit 7ebd11d of 19 May 2024; before,
    the accessible questions of a mixed set counted as a set. belief_choice, belief_dist, *_list:
    accuracy; belief_statement: the second reading of belief_dist, without those it cannot decide;
    belief_f1: token F1 over answers right by distance; *_yn: F1 of yes and no
    weighted by their counts, an answer that is neither being a third label; fact_f1: token F1, the
    same in both scenarios. all_characters, consistency: Table 3; belief_order: Table 4, pooled and
    as `PLAIN_MEANS`; list_error, yn_error: Fig. 4-5, shares of all such questions (any: wrong in
    any way). outcome_rate and completion_tokens leave out fact questions; doubtful and
    released_rule, what the release credits, are by kind of question. A failed answer is wrong.
    """
    return check(table(NAME, series(scores)), "metrics", "fantom metrics")


def series(scores: pd.DataFrame) -> Measures:
    """What each number of `metrics` is made of, by unit: answers, or what a conjunction is of."""
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
    """The measures of a scenario's answers. whole_sets: those that `OF_WHOLE_SETS` count."""
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
    """What would count too few questions: BeliefQ[Dist.] takes an encoder, and by likelihood only
    what has two options is asked.
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
            # A conversation is no unit of its parts alone: the release asks for the full context.
            if level == "/conversation" and not method.startswith("full"):
                continue
            keys = list(dict.fromkeys(["conversation_id", unit, "sample"]))
            units = answers.groupby(keys, sort=False)["right"].all().reset_index()
            yield _mean(metric, f"{scenario}{level}", by_unit(units, *keys))


def _shares(cell: pd.DataFrame, scenario: str) -> Iterator[Series]:
    """Each kind of question alone; beliefs also by order and by their second reading."""
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
        # Not defined unless every kind of belief was asked about.
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
    """As `weighted_f1` has them, by conversation."""
    cells = {}
    for gold, reading in product((True, False), (YES, NO, IRRELEVANT)):
        cells[gold, reading] = (answers["is_yes"] == gold) & (answers["yn"] == reading)
    return pd.DataFrame(cells).groupby(answers["conversation_id"].to_numpy(), sort=False).sum()


def weighted_f1(counts: np.ndarray) -> np.ndarray:
    """F1 of yes and of no, weighted by how often each is right, as scikit-learn's "weighted".
    counts: (..., 6), of gold yes answered yes, no, neither, then of gold no answered the same.
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
    """One row a character of a question set (and repeat): `all_right`, where a list is right that
    names them exactly if they know, and `consistent`: the yes/no answers and both lists say the
    same of them; missing where none was asked. cell: of one model, method and scenario.
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
