"""SimpleToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("simpletom", "SimpleToM", "Gu et al., 2024", _DATA["tables"])

METHOD_NAMES = _DATA["methods"] | {name: name for name in TECHNIQUES}
WORDING = Wording("SimpleToM", METHOD_NAMES, groups="entity sets")

# What `dvc metrics` shows of each method: (metric, condition).
_ASKED = ("mental_state", "behavior", "judgment")
HEADLINES = {kind.replace("_", "-"): ("accuracy", kind) for kind in _ASKED}

# The methods that others are held against.
REFERENCES = ("none",)
