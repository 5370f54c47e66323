"""OmniToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.published import COUNT, PERCENT, Origin, Paper, Wording

PUBLICATION = Paper(
    folder="omnitom",
    name="OmniToM",
    authors_year="Bawatneh et al., 2026",
    tables={
        "table2_alignment": Origin("Table 2", COUNT),
        "table3_stage1": Origin("Table 3, left", PERCENT),
        "table3_stage2": Origin("Table 3, right", PERCENT),
        "table4_categories": Origin("Table 4", COUNT),
        "table5_calibration_models": Origin("Table 5", PERCENT),
        "table6_reliability": Origin("Table 6", "count or percent, by `statistic`"),
        "table9_teler": Origin("Table 9", PERCENT),
        "table10_stage2_by_category": Origin("Table 10", PERCENT),
        "table11_matchcount": Origin("Table 11", COUNT),
        "table12_unusable": Origin("Table 12", PERCENT),
        "judge_agreement": Origin("App. B.4", PERCENT),
        "release_judge_agreement": Origin(
            "Additional Experiments in the README of the public release (camera-ready version)",
            PERCENT,
        ),
        "human_matchcount": Origin("App. B.4", "count or percent, by `statistic`"),
        "order_distribution": Origin("§4", PERCENT),
    },
)

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
WORDING = Wording(
    "OmniToM",
    METHODS,
    unit="output",
    groups="stories",
    # An outcome `correct` says no more of a table than that its score is above 0.
    outcomes={"correct": "something right", "wrong": "nothing right"},
)

# What `dvc metrics` shows of each method: (metric, condition).
HEADLINES = {
    "f1": ("f1", "all"),
    "accuracy": ("accuracy", "all"),
    "unusable": ("unusable", "all"),
    "linked": ("linked_accuracy", "all"),
}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = (("precision", "all"), ("recall", "all"))
REFERENCES = ("stage1-L3", "stage2-L3")
