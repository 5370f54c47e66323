"""FANToM's paper: where its numbers are printed, and the names of methods and metrics."""

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
