"""OmniToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.published import COUNT, PERCENT, Origin, Paper, Standard, Wording

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

STAGES = ("stage1", "stage2")
LEVELS = ("L1", "L2", "L3", "L3-json", "L4")  # of prompts, by how much they say (App. C)
LINKED = "linked"  # the method that asks ToMBench's own questions
METHODS = (*(f"{stage}-{level}" for stage in STAGES for level in LEVELS), LINKED)
METHODS += tuple(f"{stage}-L3-{name}" for stage in STAGES for name in TECHNIQUES)
WORDING = Wording(
    "OmniToM",
    {method: method for method in METHODS},
    unit="output",
    groups="stories",
    kinds=(
        "usable = a table that has something right, though it need not be much: its score, at the "
        "end of the bar, is the mean over all outputs. Unusable are: unparsed = no row to read; "
        "truncated = cut off at the length limit without a row"
    ),
    notes={
        LINKED: (
            f"{LINKED}: the ToMBench questions of the stories, each try an output, usable if it "
            "names the right option."
        )
    },
    tells_unscored=True,
    credit="A usable table earns what is right in it",
    # An outcome `correct` says no more of a table than that its score is above 0.
    outcomes={"correct": "usable", "wrong": "usable, nothing right"},
    scores={"f1": "F1", "accuracy": "accuracy", "linked_accuracy": "accuracy"},
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
STANDARD = Standard("f1", "stage1-L3")
