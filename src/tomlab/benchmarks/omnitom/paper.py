"""OmniToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("omnitom", "OmniToM", "Bawatneh et al., 2026", _DATA["tables"])

STAGES = {"stage1": "extraction", "stage2": "labelling"}
LEVELS = ("L1", "L2", "L3", "L3-json", "L4")  # of prompts, by how much they say (App. C)
LINKED = "linked"  # the method that asks ToMBench's own questions
_PROMPTS = [*LEVELS, *(f"L3-{name}" for name in TECHNIQUES)]
METHODS = {
    f"{stage}-{prompt}": f"{name}, {prompt.replace('-json', ' JSON').replace('-', ', ')}"
    for stage, name in STAGES.items()
    for prompt in _PROMPTS
}
METHODS[LINKED] = "ToMBench's questions"
METHODS["stage2-likelihood"] = "labelling, by likelihood"
WORDING = Wording(
    "OmniToM",
    METHODS,
    unit="output",
    groups="stories",
    # An outcome `correct` says no more of a table than that its score is above 0.
    outcomes={"correct": "something right", "wrong": "nothing right"},
)

# What `dvc metrics` shows of each method: (metric, condition).
HEADLINES = {metric: (metric, "all") for metric in ("f1", "accuracy", "unusable")}
HEADLINES["linked"] = ("linked_accuracy", "all")

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = (("precision", "all"), ("recall", "all"))
REFERENCES = ("stage1-L3", "stage2-L3")
