"""OmniToM's paper: where its published numbers are printed, and in which unit."""

from tomlab.records.published import COUNT, PERCENT, Origin, Paper

PUBLICATION = Paper(
    folder="omnitom",
    name="OmniToM",
    authors_year="Bawatneh et al., 2026",
    citation=(
        "Adam Bawatneh, Sagar Sapkota, Amrit Singh Bedi, Santu Karmaker, Mubarak Shah (2026). "
        "OmniToM: Benchmarking Theory of Mind in LLMs via Explicit Belief Modeling. "
        "arXiv:2605.26322."
    ),
    tables={
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
        "human_matchcount": Origin("App. B.4", "count or percent, by `statistic`"),
        "order_distribution": Origin("§4", PERCENT),
    },
)
