"""BigToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("bigtom", "BigToM", "Gandhi et al., 2023", _DATA["tables"])

WORDING = Wording("BigToM", _DATA["methods"], groups="templates")

# What `dvc metrics` shows of each method: (metric, condition), both versions of a template right.
_ASKED = ("forward_belief", "forward_action", "backward_belief")
HEADLINES = {kind.replace("_", "-"): ("tb_and_fb", f"{kind}/tb_and_fb/1") for kind in _ASKED}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = ("tb_and_fb",)
REFERENCES = ("0-shot",)
