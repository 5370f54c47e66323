"""FANToM's paper: where its numbers are printed, the names of methods and metrics, and what its
people were asked.
"""

import pandas as pd

from tomlab.asking.techniques import TECHNIQUES
from tomlab.benchmarks.fantom.metrics import metrics
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording
from tomlab.scoring.stats import cluster_interval

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("fantom", "FANToM", "Kim et al., 2023", _DATA["tables"])

METHOD_NAMES = _DATA["methods"] | {f"short-{name}": f"short + {name}" for name in TECHNIQUES}
METRIC_NAMES = yaml_beside(__file__, "items/names.yaml")["table9"]  # in the order of its columns
WORDING = Wording("FANToM", METHOD_NAMES, groups="conversations")

# From the names that the published tables use to the names of a run's metrics, where they differ.
PRINTED_AS = _DATA["printed as"]

# The numbers that `dvc metrics` shows for each method, as (metric, condition).
_SHOWN = ("all_star", "all", "belief_choice")
HEADLINES = {metric.replace("_", "-"): (metric, "inaccessible") for metric in _SHOWN}

# Metrics that are compared in pairs besides the headlines, and the methods that all others are
# compared with.
SET_LEVEL = (
    "all_star",
    "all",
    "answerability_all",
    "infoaccess_all",
    "all_characters",
    "consistency",
)
REFERENCES = ("short",)
# What the paper asked people (Sec. 4).
PEOPLE_ASKED = ("belief_choice", "answerability_list", "infoaccess_list")


def share_right(f1: pd.Series) -> tuple[pd.Series, pd.Series]:
    """The least and the greatest share of right answers that a weighted F1 of yes and no allows.

    F1 of a label is at most 2r / (1 + r) at a recall r, a concave function, so that the mean recall
    is at least F / (2 - F). It is greatest where all but a vanishing rest of the questions have one
    label: F = 2a² / (1 + a).
    """
    return f1 / (2 - f1), (f1 + (f1**2 + 8 * f1) ** 0.5) / 4


def people(scored: pd.DataFrame, items: pd.DataFrame, context: str) -> pd.DataFrame:
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
