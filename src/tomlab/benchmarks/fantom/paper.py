"""FANToM's paper: where its numbers are printed, in which unit; how it names methods."""

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.published import COUNT, PERCENT, Origin, Paper, Standard, Wording

PUBLICATION = Paper(
    folder="fantom",
    name="FANToM",
    authors_year="Kim et al., 2023",
    tables={
        "table9_all": Origin("Table 9", PERCENT),
        "table1_headline": Origin("Table 1", PERCENT),
        "table2_yn": Origin("Table 2", PERCENT),
        "table3_characters": Origin("Table 3", PERCENT),
        "table4_order": Origin("Table 4", PERCENT),
        "table8_statistics": Origin("Table 8", COUNT),
        "dataset_counts": Origin("§1, §3.5 and §4", COUNT),
    },
)

METHOD_NAMES = {"short": "short", "short-cot": "short + CoT"}
METHOD_NAMES |= {"full": "full", "full-cot": "full + CoT"}
METHOD_NAMES |= {f"short-{name}": f"short + {name}" for name in TECHNIQUES}
METRIC_NAMES = {  # the twelve columns of Table 9, in its order
    "all_star": "All*",
    "all": "All",
    "belief_choice": "BeliefQ [Choice]",
    "belief_dist": "BeliefQ [Dist.]",
    "belief_f1": "BeliefQ [token F1]",
    "answerability_all": "AnswerabilityQ [All]",
    "answerability_list": "AnswerabilityQ [List]",
    "answerability_yn": "AnswerabilityQ [Y/N]",
    "infoaccess_all": "InfoAccessQ [All]",
    "infoaccess_list": "InfoAccessQ [List]",
    "infoaccess_yn": "InfoAccessQ [Y/N]",
    "fact_f1": "FactQ [token F1]",
}
# Scores by words, which baselines copy from the reference answers.
COPIED = ("belief_f1", "fact_f1")
WORDING = Wording(
    "FANToM",
    METHOD_NAMES,
    groups="conversations",
    notes={"": "Questions about facts, which earn a token F1 and no verdict, are left out."},
)

# What `dvc metrics` shows of each method: (metric, condition).
HEADLINES = {
    "all-star": ("all_star", "inaccessible"),
    "all": ("all", "inaccessible"),
    "belief-choice": ("belief_choice", "inaccessible"),
}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = ("all_star", "all", "answerability_all", "infoaccess_all")
SET_LEVEL = (*SET_LEVEL, "all_characters", "consistency")
REFERENCES = ("short",)
_PEOPLE = "context == 'short' and model == 'Human' and column == 'all'"
STANDARD = Standard(
    "all", "short", None, ("table9_all", "value", _PEOPLE, "on other question sets than these")
)
