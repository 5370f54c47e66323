"""SimpleToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording, origins

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("simpletom", "SimpleToM", "Gu et al., 2024", origins(_DATA["tables"]))

METHOD_NAMES = _DATA["methods"] | {name: name for name in TECHNIQUES}
WORDING = Wording("SimpleToM", METHOD_NAMES, groups="entity sets")

# What `dvc metrics` shows of each method: (metric, condition).
HEADLINES = {
    "mental-state": ("accuracy", "mental_state"),
    "behavior": ("accuracy", "behavior"),
    "judgment": ("accuracy", "judgment"),
}

# The methods that others are held against.
REFERENCES = ("none",)
