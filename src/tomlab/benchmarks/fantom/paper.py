"""FANToM's paper: where its numbers are printed, and the names of methods and metrics."""

import pandas as pd

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording

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


def share_right(f1: pd.Series) -> tuple[pd.Series, pd.Series]:
    """The least and the greatest share of right answers that a weighted F1 of yes and no allows.

    F1 of a label is at most 2r / (1 + r) at a recall r, a concave function, so that the mean recall
    is at least F / (2 - F). It is greatest where all but a vanishing rest of the questions have one
    label: F = 2a² / (1 + a).
    """
    return f1 / (2 - f1), (f1 + (f1**2 + 8 * f1) ** 0.5) / 4
