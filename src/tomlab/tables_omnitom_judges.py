"""OmniToM's tables about prompts, calibration and judges: Tables 5, 6, 9 and 11, and App. B.4.

Each public function is one table, as in `tables_omnitom`, whose helpers it uses. The paper's labels
and judges were held against people's; this run's judges are held against alignments known by
construction. Source: Bawatneh et al. (2026), and `tomlab.published` for printed values.
"""

import pandas as pd

from tomlab import published, report
from tomlab import tables_omnitom as numbers
from tomlab.benchmarks.omnitom_metrics import MATCH_COUNTS
from tomlab.benchmarks.omnitom_records import DIMENSIONS
from tomlab.errors import report as refuse
from tomlab.report import ABSENT, PAPER, RUN
from tomlab.tables_omnitom import DIMENSION_NAMES, SCORES, STAGES, TOTAL

TASKS = {"stage1": STAGES["stage1"], "judge": "Judge: agreement", "stage2": STAGES["stage2"]}
HELD_AGAINST = {PAPER: "people's alignments", RUN: "known by construction"}
QUALITY = {
    "agreement": "Agreement",
    "precision": "Precision",
    "recall": "Recall",
    "kappa": "Kappa",
    "n": "n",
    "undefined": "Undefined",
    "n_groups": "Groups",
}
# App. B.4, text: decisions that two or more people took, and those of them that were alike.
DECIDED_BY_PEOPLE, ALIKE = 4451, 3955
_AGREEMENT = ["agreement", "ci_low", "ci_high", "n", "n_groups"]


def table5(metrics_of_candidates: pd.DataFrame | None = None) -> report.Table:
    """Table 5: which model should write the gold? Both stages on the calibration stories.

    `metrics_of_candidates`: the metrics table of this run's candidates, if it compared any.
    InputError: such metrics without OmniToM.
    """
    paper = numbers.of_paper("table5_calibration_models")
    stage = paper["metric"].replace({"stage1_f1": "stage1", "stage2_accuracy": "stage2"})
    frames, about = [paper.assign(stage=stage, level="L4")], []
    if metrics_of_candidates is not None:
        frames.append(numbers.percent(_main_scores(metrics_of_candidates)))
    cells, printed = numbers.by_stage(*frames)
    about = [*numbers.paper_sentence(cells), "This run compared no candidates."]
    if metrics_of_candidates is not None:
        about = numbers.notes(cells, metrics_of_candidates, "outputs")
    caption = (
        "OmniToM, Table 5: F1 of extraction (Stage 1) and accuracy of labelling (Stage 2) of the "
        "models that could write the gold, in percent, on the calibration stories."
    )
    return report.Table("table5", cells, printed, caption, about)


def table6(agreement: pd.DataFrame | None = None) -> report.Table:
    """Table 6: on how many labels all annotators agree, by dimension.

    `agreement`: of this run's annotation file, one row a dimension (a key of `DIMENSIONS`, or
    "overall"): dimension, n (labels), agree (labels given alike by all), agreement (a share).
    InputError: an unknown dimension or one that is there twice, or an agreement that is no share.
    """
    names = DIMENSION_NAMES | {"overall": "Overall"}
    paper = numbers.of_paper("table6_reliability")
    frames = [paper.assign(column=paper["statistic"])]
    about = "This run: no annotation file."
    if agreement is not None:
        frames.append(_of_annotators(agreement, list(names)))
        about = "This run: the annotators of its annotation file."
    cells = numbers.in_order(numbers.stack(["dimension"], *frames), "dimension", names)
    rows = ["dimension", "source"]
    wide = cells.pivot(index=rows, columns="column", values="value")
    wide = wide.reindex(pd.MultiIndex.from_frame(cells[rows]).unique())
    printed = pd.DataFrame(
        {
            "Dimension": wide.index.get_level_values("dimension").map(names),
            "N": wide["n"].map("{:,.0f}".format).to_list(),
            "Agree": wide["agree"].map("{:,.0f}".format).to_list(),
            "Agreement (%)": wide["agreement_percent"].map(report.one_decimal).to_list(),
            "Source": wide.index.get_level_values("source"),
        }
    )
    printed = report.once(printed, [["Dimension"]])
    caption = (
        "OmniToM, Table 6: labels on which all annotators agree exactly, by dimension. N: labels; "
        "Agree: labels given alike by all."
    )
    notes = [*numbers.paper_sentence(cells), "Paper: three people, calibration stories.", about]
    return report.Table("table6", cells, printed, caption, notes)


def table9(metrics: pd.DataFrame, judges: pd.DataFrame | None = None) -> report.Table:
    """Table 9: how much a prompt should say: scores of stages and judges by prompt level.

    `judges`: agreement of this run's judges that are language models, one row a judge and level
    (judge, level, agreement, ci_low, ci_high, n, n_groups; shares). InputError: metrics without
    OmniToM, or `judges` without a column, or with a judge and level twice.
    """
    scores = _main_scores(metrics)
    frames = [numbers.of_paper("table9_teler"), scores.assign(task=scores["stage"])]
    frames[1] = numbers.percent(frames[1])
    if judges is not None:
        numbers.demand_columns(judges, _AGREEMENT, "judges")
        numbers.demand_known(judges, {"judge": None, "level": None}, "judges")
        own = judges.rename(columns={"judge": "model", "agreement": "value"})
        frames.append(numbers.percent(own.assign(task="judge", source=RUN, mark="")))
    frames = [frame.assign(column=frame["level"]) for frame in frames]
    cells = numbers.stack(["task", "level", "model", "method"], *frames)
    cells = numbers.in_order(cells, "task", TASKS)
    heads = {level: level for level in numbers.in_level_order(cells["column"])}
    printed = numbers.layout(cells, {"task": "Task", "model": "Model"}, heads, n=True)
    printed["Task"] = printed["Task"].map(TASKS)
    printed = report.once(printed, [["Task"]])
    caption = "OmniToM, Table 9: scores in percent by level of detail of the prompt (TELeR)."
    levels = (
        "L1: the task; L2: with its terms; L3: in steps; L4: with criteria and an example. L3-json: "
        "as L3, answered in a schema. The paper: calibration stories."
    )
    held = "Judges: the paper's are held against people's alignments"
    held += ", this run's against alignments known by construction." * (judges is not None) or "."
    stages = cells[cells["task"] != "judge"]
    about = [levels, held, *numbers.notes(stages, metrics, "outputs")]
    return report.Table("table9", cells, printed, caption, about)


def table11(metrics: pd.DataFrame, level: str | None = None) -> report.Table:
    """Table 11: how many gold beliefs a predicted belief matches (MatchCount), shares and counts.

    `level`: of prompts, see `tables_omnitom.at_level`. InputError: metrics without OmniToM, or an
    unknown level.
    """
    run = numbers.at_level(numbers.of_run(metrics), "stage1", level)
    run = run.query("metric == 'matchcount'")
    run = numbers.percent(run.assign(column=run["condition"], statistic="percent"))
    cells = numbers.stack(["model", "method", "level", "statistic"], _match_counts(), run)
    shares = cells[cells["statistic"] == "percent"]
    heads = {count: f"MC = {count}".replace("= 3+", "≥ 3") for count in MATCH_COUNTS}
    printed = numbers.layout(shares, {"model": "Model"}, heads)
    counted = cells[cells["statistic"] == "count"].set_index(["model", "column"])["value"]
    for row in printed.index[printed["Source"] == PAPER]:
        own = counted[printed.loc[row, "Model"]]
        for column, head in heads.items():
            parts = [own[column]] if column in own else [own["3"], own["4"]]
            told = " + ".join(f"{part:,.0f}" for part in parts)
            printed.loc[row, head] += f" ({told})"
    totals = counted.xs(TOTAL, level="column")
    n = run.groupby("model")["n"].max()
    of = {PAPER: totals, RUN: n}
    pairs = zip(printed["Source"], printed["Model"], strict=True)
    beliefs = [f"{of[source][model]:,.0f}" for source, model in pairs]
    printed.insert(len(heads) + 1, "Beliefs", beliefs)
    printed["Model"] = printed["Model"].mask(printed["Model"].eq(TOTAL), "All models")
    caption = (
        "OmniToM, Table 11: predicted beliefs by how many gold beliefs they match (MatchCount, MC), "
        "in percent; in brackets the paper's counts (3 and 4 apart)."
    )
    about = [
        "The paper prints counts; its percentages are computed from them.",
        *numbers.notes(cells, metrics, "predicted beliefs"),
    ]
    return report.Table("table11", cells, printed, caption, about)


def judge_agreement(agreements: pd.DataFrame) -> report.Table:
    """App. B.4: how well judges of belief matches agree with what they are held against.

    `agreements`: one row a judge of this run, as `judging.report` has it: judge, agreement, ci_low,
    ci_high, precision, recall, kappa (each with <name>_low, <name>_high if known), n, undefined,
    n_groups. Held against alignments known by construction, never against people. InputError: a
    column that is missing, or a judge that is there twice.
    """
    numbers.demand_columns(agreements, ["judge", *QUALITY, "ci_low", "ci_high"], "judges")
    numbers.demand_known(agreements, {"judge": None}, "judges")
    paper = numbers.of_paper("judge_agreement", "agreement_percent").assign(column="agreement")
    frames = [paper.rename(columns={"model": "judge"}), *_by_quality(agreements)]
    cells = numbers.stack(["judge", "level"], *frames)
    heads = {name: head for name, head in QUALITY.items() if not head.islower()}
    shares = numbers.layout(cells[cells["column"] != "kappa"], {"judge": "Judge"}, heads)
    kappas = numbers.layout(cells, {"judge": "Judge"}, heads, form=report.signed)
    raise NotImplementedError


def _main_scores(metrics):
    raise NotImplementedError
