"""SimpleToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.published import COUNT, PERCENT, Origin, Paper, Standard, Wording

PUBLICATION = Paper(
    folder="simpletom",
    name="SimpleToM",
    authors_year="Gu et al., 2024",
    tables={
        "table2_main": Origin("Table 2", PERCENT),
        "table3_ms_remind": Origin("Table 3", PERCENT),
        "table4_system_prompt": Origin("Table 4", PERCENT),
        "table5_cot": Origin("Table 5", PERCENT),
        "table8_statistics": Origin("Table 8", COUNT),
        "tokens": Origin("App. H", COUNT),
        "models": Origin("Table 6", "names"),
    },
)

METHOD_NAMES = {
    "none": "none",
    "ms-remind": "MS remind",
    "sysp": "SysP",
    "sysp-star": "SysP*",
    "cot": "CoT",
    "cot-star": "CoT*",
    "cot-star-ms": "CoT* with MS",
    "wordings": "other wordings",  # App. F, asked like `none`
    **{name: name for name in TECHNIQUES},
}
WORDING = Wording("SimpleToM", METHOD_NAMES, groups="entity sets")

# What `dvc metrics` shows of each method: (metric, condition).
HEADLINES = {
    "mental-state": ("accuracy", "mental_state"),
    "behavior": ("accuracy", "behavior"),
    "judgment": ("accuracy", "judgment"),
}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = ("average", "gap", ("first_failure", "none"))
REFERENCES = ("none",)
STANDARD = Standard("judgment", "none", 0.5)
