"""FANToM's paper: where its numbers are printed, how it names things."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("fantom", "FANToM", "Kim et al., 2023", _DATA["tables"])

METHOD_NAMES = _DATA["methods"] | {f"short-{name}": f"short + {name}" for name in TECHNIQUES}
METRIC_NAMES = yaml_beside(__file__, "items/names.yaml")["table9"]  # in the order of its columns
WORDING = Wording("FANToM", METHOD_NAMES, groups="conversations")

# What the published tables call otherwise than the metrics of a run.
PRINTED_AS = _DATA["printed as"]

# What `dvc metrics` shows of each method: (metric, condition).
_SHOWN = ("all_star", "all", "belief_choice")
HEADLINES = {metric.replace("_", "-"): (metric, "inaccessible") for metric in _SHOWN}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = (
    "all_star",
    "all",
    "answerability_all",
    "infoaccess_all",
    "all_characters",
    "consistency",
)
REFERENCES = ("short",)
