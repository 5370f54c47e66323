"""FANToM's metrics: the twelve columns of Table 9 and the analyses of Sec. 4.2. Intervals cluster
on conversations, whose sets share their text.
"""

from collections.abc import Collection, Iterator
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
    scores = protocol(scores).assign(right=lambda table: table["outcome"] == "correct")
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        yield from ((model, method, one) for one in _series(by_unit(part), method))


def _series(part: pd.DataFrame, method: str) -> Iterator[Measure]:
    is_fact = part["question_type"] == "fact"
    facts, tom = part[is_fact], part[~is_fact]
    # These would count too few questions: BeliefQ[Dist.] takes an encoder, and by likelihood only
    # what has two options is asked.
    kinds = {*tom["question_type"]}
    lacking = [metric for metric, needed in CONJUNCTIONS.items() if not kinds.issuperset(needed)]
    lacking += ["all_characters"] if "all_star" in lacking else []
    lacking += ["consistency"] if "all" in lacking else []
    mixed = tom.loc[tom["scenario"] == INACCESSIBLE, "group_id"].unique()
    for scenario in SCENARIOS:
        own = part[part["scenario"] == scenario]
        left_out = () if scenario == INACCESSIBLE else mixed
        means = _means(own, scenario, method, left_out)
        means = [mean for mean in means if mean.metric not in lacking]
        yield from (mean for mean in means if len(mean.values))
        yield from _ratios(own, scenario)
        if len(facts) and len(own):
            yield _mean("fact_f1", scenario, facts, "score")
    for outcome in OUTCOMES:
        yield _mean("outcome_rate", outcome, tom.assign(right=tom["outcome"] == outcome))
    for (scenario, kind), cell in part.groupby(["scenario", "question_type"], sort=False):
        yield _mean("released_rule", f"{scenario}/{kind}", cell, "by_released_rule")
    for kind, cell in part.groupby("question_type", sort=False):
        yield _mean("doubtful", kind, cell, "doubtful")
    yield _mean("completion_tokens", "all", tom, "completion_tokens")._replace(bounds=COUNT)


def _mean(metric: str, of: str, cell: pd.DataFrame, column: str = "right") -> Series:
    return Series(metric, of, cell[column], cell["conversation_id"])


def _means(
    own: pd.DataFrame, scenario: str, method: str, mixed: Collection[str]
) -> Iterator[Series]:
    """The series behind each metric of a scenario that is a mean, some without a value. mixed: the
    sets that `OF_WHOLE_SETS` leave out.
    """
    for metric, kinds in CONJUNCTIONS.items():
        asked = own[own["question_type"].isin(kinds)]
        if metric in OF_WHOLE_SETS:
            asked = asked[~asked["group_id"].isin(mixed)]
        for name, unit in _LEVELS.items():
            # A conversation is no unit of its parts alone: the release asks for the full context.
            if name != "/conversation" or method.startswith("full"):
                keys = list(dict.fromkeys(["conversation_id", unit, "sample"]))
                right = asked.groupby(keys, sort=False)["right"].all().reset_index()
                yield _mean(metric, f"{scenario}{name}", by_unit(right, *keys))
    for kind in SHARES:
        yield _mean(kind, scenario, own[own["question_type"] == kind])
    beliefs = own[own["question_type"] == "belief_dist"]
    for order, cell in beliefs.groupby("tom_order", sort=False):
        yield _mean("belief_order", f"{scenario}/{order}", cell)
    decided = beliefs.dropna(subset="by_statement")
    stated = decided["by_statement"].eq(True)
    yield _mean("belief_statement", scenario, decided.assign(right=stated))
    second = beliefs[beliefs["tom_order"].str.startswith("second-order:")]
    yield _mean("belief_order", f"{scenario}/second-order", second)
    yield _mean("belief_f1", scenario, beliefs[beliefs["right"]], "word_overlap")
    for name, weights in PLAIN_MEANS.items():
        asked = beliefs[beliefs["tom_order"].isin(weights)]
        # Not defined unless every kind of belief was asked about.
        if asked["tom_order"].nunique() == len(weights):
            mean = _mean("belief_order", f"{scenario}/{name}", asked)
            yield mean._replace(kinds=asked["tom_order"], weights=weights)
    everyone = by_unit(by_character(own).reset_index(), "group_id", "sample", "character")
    yield _mean("all_characters", scenario, everyone, "all_right")
    known = everyone.dropna(subset="consistent").astype({"consistent": bool})
    yield _mean("consistency", scenario, known, "consistent")
    for family in FAMILIES:
        yield from _errors(own, scenario, family)


def _errors(own: pd.DataFrame, scenario: str, family: str) -> Iterator[Series]:
    lists, answers = (own[own["question_type"] == f"{family}_{kind}"] for kind in ("list", "yn"))
    excluded, included = (lists[n].astype(bool) for n in ("excluded_aware", "included_unaware"))
    of_lists = {"did_both": excluded & included, "excluded_aware": excluded & ~included}
    of_lists |= {"included_unaware": ~excluded & included}
    of_lists |= {"cut_off": ~excluded & ~included & ~lists["right"]}
    of_answers = {e: ~answers["right"] & (answers["yn"] == said) for e, said in _YN_ERRORS.items()}
    for metric, cell, made in (("list_error", lists, of_lists), ("yn_error", answers, of_answers)):
        for error, values in ({"any": ~cell["right"]} | made).items():
            yield _mean(metric, f"{scenario}/{family}/{error}", cell.assign(right=values))


def _ratios(own: pd.DataFrame, scenario: str) -> Iterator[Statistic]:
    """What is behind each metric of a scenario that is no mean of answers."""
    for family in FAMILIES:
        answers = own[own["question_type"] == f"{family}_yn"]
        if len(answers):
            of_right = {"right": lambda counts: counts[..., 0] + counts[..., 4]}  # yes-yes, no-no
            of = {"sums": _yes_and_no, "statistic": weighted_f1, "sizes": _answers_by_group}
            yield Statistic(f"{family}_yn", scenario, answers, **of, **of_right)


def _answers_by_group(counts: np.ndarray) -> np.ndarray:
    return counts.sum(axis=-1)


def _yes_and_no(answers: pd.DataFrame) -> pd.DataFrame:
    """As `weighted_f1` has them, by conversation."""
    cells = {
        (gold, said): (answers["is_yes"] == gold) & (answers["yn"] == said)
        for gold, said in product((True, False), (YES, NO, IRRELEVANT))
    }
    return pd.DataFrame(cells).groupby(answers["conversation_id"].to_numpy(), sort=False).sum()


def weighted_f1(counts: np.ndarray) -> np.ndarray:
    """F1 of yes and of no, weighted by how often each is right, as scikit-learn's "weighted".
    counts: (..., 6), of gold yes answered yes, no, neither, then of gold no answered the same.
    """
    counts = np.asarray(counts)
    counts = counts.reshape(*counts.shape[:-1], 2, 3)
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    gold, said = counts.sum(axis=-1), counts.sum(axis=-2)[..., :2]
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.nan_to_num(2 * right / (gold + said))
        return (gold * f1).sum(axis=-1) / gold.sum(axis=-1)


def by_character(own: pd.DataFrame) -> pd.DataFrame:
    """One row a character of a question set (and repeat): `all_right`, where a list is right that
    names them exactly if they know, and `consistent`: the yes/no answers and both lists say the
    same of them; missing where none was asked. own: of one model, method and scenario.
    """
    kind = own["question_type"].str
    own = own.assign(family=kind.split("_").str[0])
    answers, lists = own[kind.endswith("_yn")], own[kind.endswith("_list")]
    beliefs = own[kind.startswith("belief") & (own["character"] != "")]
    keys = ["conversation_id", "group_id", "sample"]
    named = lists[[*keys, "family", "named"]]
    told = answers.merge(named, on=[*keys, "family"], suffixes=("", "_list"))
    in_list = [c in names for c, names in zip(told["character"], told["named_list"], strict=True)]
    told = told.assign(yn=np.array(in_list, dtype=int), right=told["is_yes"] == in_list)
    who = [*keys, "character"]
    all_right = pd.concat([answers, beliefs, told]).groupby(who, sort=False)["right"].all()
    said = pd.concat([answers, told]).groupby(who, sort=False)["yn"].nunique()
    return pd.DataFrame({"all_right": all_right, "consistent": said == 1})
