"""BigToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.records.published import COUNT, FRACTION, PERCENT, Origin, Paper, Wording

PUBLICATION = Paper(
    folder="bigtom",
    name="BigToM",
    authors_year="Gandhi et al., 2023",
    tables={
        "table7_models": Origin("Table 7", FRACTION),
        "table8_controls": Origin("Table 8", FRACTION),
        "table9_percept_to_belief": Origin("Table 9", FRACTION),
        "table10_claude_vs_gpt4": Origin("Table 10", FRACTION),
        "table11_bigtom_claude": Origin("Table 11", FRACTION),
        "table12_diversity": Origin("Table 12", COUNT),
        "table3_rating_contrasts": Origin("Table 3 and App. B.1", "rating scale points"),
        "table4_expert_sources": Origin("Table 4", "rating scale points"),
        "human_baseline": Origin("§4.1 and App. B.2", PERCENT),
        "circularity_regression": Origin("App. F", "logistic regression coefficient"),
        "dataset_counts": Origin("§3.3, §3.4, App. B.1 and App. F", COUNT),
    },
)

METHODS = {
    "0-shot": "0-shot",
    "0-shot-cot": "0-shot, chain of thought",
    "1-shot": "1-shot",
    "1-shot-cot": "1-shot, chain of thought",
    "perspective": "perspective taking",
    "perception": "perceptions first",
    "decomposition": "decomposition",
}
WORDING = Wording("BigToM", METHODS, groups="templates")

# What `dvc metrics` shows of each method: (metric, condition), both versions of a template right.
HEADLINES = {
    "forward-belief": ("tb_and_fb", "forward_belief/tb_and_fb/1"),
    "forward-action": ("tb_and_fb", "forward_action/tb_and_fb/1"),
    "backward-belief": ("tb_and_fb", "backward_belief/tb_and_fb/1"),
}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = ("tb_and_fb",)
REFERENCES = ("0-shot",)
