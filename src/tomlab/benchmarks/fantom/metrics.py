"""FANToM's metrics: the twelve columns of Table 9 and the analyses of Sec. 4.2.

The units of a conjunction are question sets, or all sets on a part or in a conversation; intervals
resample whole conversations, whose sets share their text.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tomlab.benchmarks.fantom.items import FAMILIES, NAME
from tomlab.benchmarks.fantom.reading import IRRELEVANT, NO, YES
from tomlab.benchmarks.fantom.sets import SCENARIOS
from tomlab.records.tables import OUTCOMES, check
from tomlab.scoring.stats import Interval, cluster_interval, cluster_statistic, ratio

# Which question types must all be right, by metric: ALL* (six types), ALL (without BeliefQ[Dist.],
# which people were not asked), and both kinds of one family.
CONJUNCTIONS = {
    "all_star": (
        "belief_dist",
        "belief_choice",
        *(f"{f}_{k}" for f in FAMILIES for k in ("list", "yn")),
    ),
    "all": ("belief_choice", *(f"{f}_{k}" for f in FAMILIES for k in ("list", "yn"))),
    "answerability_all": ("answerability_list", "answerability_yn"),
    "infoaccess_all": ("infoaccess_list", "infoaccess_yn"),
}
SHARES = ("belief_choice", "belief_dist", "answerability_list", "infoaccess_list")
_LEVELS = {"": "group_id", "/part": "part_id", "/conversation": "conversation_id"}
_LIST_ERRORS = ("did_both", "excluded_aware", "included_unaware")
_YN_ERRORS = {"false_positive": YES, "false_negative": NO, "irrelevant": IRRELEVANT}


def metrics(scores: pd.DataFrame, *, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """The metrics table of one or more models, for both scenarios.

    all_star, all, answerability_all, infoaccess_all: shares of units with every question of those
    types right, by set, `/part` and (full context) `/conversation`. belief_choice, belief_dist,
    *_list: accuracy; belief_f1: token F1 over answers right by distance, no row without any; *_yn: F1
    of yes and no weighted by their counts, an answer that is neither being a third label; fact_f1:
    token F1, the same in both scenarios. all_characters, consistency: Table 3; belief_order: Table
    4, accuracy by distance; list_error, yn_error: Fig. 4-5, shares of all such questions.
    outcome_rate and completion_tokens leave out fact questions, doubtful is by question type. A
    failed answer counts as wrong.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        keys = {"benchmark": NAME, "model": model, "method": method}
        for metric, condition, interval in _rows(part, method, resamples, seed):
            rows.append(keys | {"metric": metric, "condition": condition} | vars(interval))
    return check(pd.DataFrame(rows), "metrics", "fantom metrics")


def _rows(
    part: pd.DataFrame, method: str, resamples: int, seed: int
) -> Iterator[tuple[str, str, Interval]]:
    options = {"resamples": resamples, "seed": seed}
    part = part.assign(right=part["outcome"] == "correct")
    facts = part[part["question_type"] == "fact"]
    for scenario in SCENARIOS:
        own = part[part["scenario"] == scenario]
        for metric, condition, values in _means(own, scenario, method):
            if len(values):
                yield metric, condition, _interval(values, **options)
        for metric, sums, statistic, n in _ratios(own):
            yield metric, scenario, cluster_statistic(sums, statistic, n=n, **options)
        if len(own) and len(facts):
            overlap = facts.set_index("conversation_id")["score"]
            yield "fact_f1", scenario, _interval(overlap, **options)
    tom = part[part["question_type"] != "fact"].set_index("conversation_id")
    for outcome in OUTCOMES:
        yield "outcome_rate", outcome, _interval(tom["outcome"] == outcome, **options)
    for kind, cell in part.set_index("conversation_id").groupby("question_type", sort=False):
        yield "doubtful", kind, _interval(cell["doubtful"], **options)
    yield "completion_tokens", "all", _interval(tom["completion_tokens"], bounds=None, **options)


def _interval(values: pd.Series, **options) -> Interval:
    """The mean of values with `conversation_id` in their index, resampling conversations."""
    groups = values.index.get_level_values("conversation_id").to_series()
    return cluster_interval(values, groups, **options)


def _means(own: pd.DataFrame, scenario: str, method: str) -> Iterator[tuple[str, str, pd.Series]]:
    """The values behind each metric that is a mean, with `conversation_id` in their index."""
    for metric, kinds in CONJUNCTIONS.items():
        asked = own[own["question_type"].isin(kinds)]
        for name, unit in _LEVELS.items():
            # A conversation is no unit of its parts alone: the release asks for the full context.
            if name != "/conversation" or method.startswith("full"):
                yield metric, scenario + name, _all_right(asked, unit)
    for kind in SHARES:
        cell = own[own["question_type"] == kind]
        yield kind, scenario, cell.set_index("conversation_id")["right"]
    beliefs = own[own["question_type"] == "belief_dist"].set_index("conversation_id")
    for order in dict.fromkeys(beliefs["tom_order"]):
        yield (
            "belief_order",
            f"{scenario}/{order}",
            beliefs.loc[beliefs["tom_order"] == order, "right"],
        )
    second = beliefs["tom_order"].str.startswith("second-order:")
    if second.any():
        yield "belief_order", f"{scenario}/second-order", beliefs.loc[second, "right"]
    everyone = by_character(own)
    yield "all_characters", scenario, everyone["all_right"]
    yield "consistency", scenario, everyone["consistent"].dropna().astype(bool)
    for family in FAMILIES:
        yield from _errors(own, scenario, family)


def _all_right(asked: pd.DataFrame, unit: str) -> pd.Series:
    keys = list(dict.fromkeys(["conversation_id", unit, "sample"]))
    return asked.groupby(keys, sort=False)["right"].all()


def _errors(own: pd.DataFrame, scenario: str, family: str) -> Iterator[tuple[str, str, pd.Series]]:
    own = own.set_index("conversation_id")
    lists, answers = (own[own["question_type"] == f"{family}_{kind}"] for kind in ("list", "yn"))
    excluded, included = (lists[n].astype(bool) for n in ("excluded_aware", "included_unaware"))
    kinds = (excluded & included, excluded & ~included, ~excluded & included)
    for name, values in zip(_LIST_ERRORS, kinds, strict=True):
        yield "list_error", f"{scenario}/{family}/{name}", values
    for name, said in _YN_ERRORS.items():
        values = ~answers["right"] & (answers["yn"] == said)
        yield "yn_error", f"{scenario}/{family}/{name}", values


def _ratios(own: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, object, int]]:
    """The counts by conversation behind each metric that is a ratio or an F1 of counts."""
    beliefs = own[own["question_type"] == "belief_dist"]
    if beliefs["right"].any():
        shared = beliefs["word_overlap"].where(beliefs["right"], 0.0)
        counts = pd.DataFrame({"shared": shared, "right": beliefs["right"].astype(float)})
        sums = counts.groupby(beliefs["conversation_id"], sort=False).sum()
        yield "belief_f1", sums, ratio, int(beliefs["right"].sum())
    for family in FAMILIES:
        answers = own[own["question_type"] == f"{family}_yn"]
        if len(answers):
            cells = {
                (gold, said): (answers["is_yes"] == gold) & (answers["yn"] == said)
                for gold in (True, False)
                for said in (YES, NO, IRRELEVANT)
            }
            sums = pd.DataFrame(cells).groupby(answers["conversation_id"], sort=False).sum()
            yield f"{family}_yn", sums, weighted_f1, len(answers)


def weighted_f1(counts: np.ndarray) -> np.ndarray:
    """F1 of yes and of no, weighted by how often each is right, as scikit-learn's "weighted".

    counts: (..., 6), of gold yes answered yes, no, neither, then of gold no answered the same.
    """
    yes_yes, yes_no, yes_other, no_yes, no_no, no_other = np.moveaxis(np.asarray(counts), -1, 0)
    yeses, nos = yes_yes + yes_no + yes_other, no_yes + no_no + no_other
    with np.errstate(invalid="ignore", divide="ignore"):
        f1_yes = np.nan_to_num(2 * yes_yes / (yeses + yes_yes + no_yes))
        f1_no = np.nan_to_num(2 * no_no / (nos + no_no + yes_no))
        return (yeses * f1_yes + nos * f1_no) / (yeses + nos)


def by_character(own: pd.DataFrame) -> pd.DataFrame:
    """One row a character of a question set (and repeat): `all_right`, and `consistent`.

    own: the scores of one model, method and scenario. A list counts for a character as right where
    it names them exactly if they know. consistent: the yes/no answers and both lists say the same
    of the character; missing where none of these was asked about them.
    """
    answers = own[own["question_type"].isin([f"{f}_yn" for f in FAMILIES])]
    lists = own[own["question_type"].isin([f"{f}_list" for f in FAMILIES])]
    keys = ["conversation_id", "group_id", "sample"]
    family = {"family": lambda table: table["question_type"].str.split("_").str[0]}
    told = answers.assign(**family).merge(
        lists.assign(**family)[[*keys, "family", "named"]],
        on=[*keys, "family"],
        suffixes=("", "_list"),
    )
    in_list = [c in names for c, names in zip(told["character"], told["named_list"], strict=True)]
    told = told.assign(said=np.array(in_list, dtype=int), right=told["is_yes"] == in_list)
    beliefs = own[own["question_type"].str.startswith("belief") & (own["character"] != "")]
    who = [*keys, "character"]
    every = pd.concat([answers[[*who, "right"]], beliefs[[*who, "right"]], told[[*who, "right"]]])
    said = pd.concat([answers.assign(said=answers["yn"])[[*who, "said"]], told[[*who, "said"]]])
    return pd.DataFrame(
        {
            "all_right": every.groupby(who, sort=False)["right"].all(),
            "consistent": said.groupby(who, sort=False)["said"].nunique() == 1,
        }
    )


def split_condition(conditions: pd.Series) -> pd.DataFrame:
    """Conditions as scenario and part ("" for a scenario as a whole), of errors family and error."""
    levels = r"^(?P<scenario>[^/]*)/?(?P<part>(?P<family>[^/]*)/?(?P<error>.*))$"
    return conditions.str.extract(levels)
