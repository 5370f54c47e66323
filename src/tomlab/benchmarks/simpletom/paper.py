"""SimpleToM's paper: where it prints its numbers, their unit, and its names for methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("simpletom", "SimpleToM", "Gu et al., 2024", _DATA["tables"])

METHOD_NAMES = _DATA["methods"] | {name: name for name in TECHNIQUES}
WORDING = Wording("SimpleToM", METHOD_NAMES, groups="entity sets")

# The numbers that `dvc metrics` shows for each method: name to (metric, condition).
_ASKED = ("mental_state", "behavior", "judgment")
HEADLINES = {kind.replace("_", "-"): ("accuracy", kind) for kind in _ASKED}

# The methods with which other methods are compared.
REFERENCES = ("none",)
