"""OmniToM's tables: Tables 3, 4 and 10, this run's numbers beside the paper's.

Each public `table…` is one table. It takes the metrics table of a run (see `records.tidy`), or
counts, and computes every number in its caption and notes. Percentages have the two decimals of the
paper, or one beside an interval. level: of prompts, see `beside.at_level`. InputError: metrics
without OmniToM, or an unknown level. `judge_tables` has the tables of prompts, judges and audits.
Source: Bawatneh et al. (2026), and `tomlab.records.published` for printed values.
"""

from collections.abc import Iterable, Mapping
from functools import partial

import pandas as pd

from tomlab.benchmarks.omnitom import beside as numbers
from tomlab.benchmarks.omnitom.beside import COMPUTED
from tomlab.benchmarks.omnitom.items.labels import DIMENSION_NAMES
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, DIMENSIONS
from tomlab.benchmarks.omnitom.metrics import NAME, split_condition
from tomlab.benchmarks.omnitom.paper import PUBLICATION, WORDING
from tomlab.errors import InputError
from tomlab.records import tidy
from tomlab.records.files import yaml_beside
from tomlab.reporting import beside, printed
from tomlab.reporting.plotting import MARK
from tomlab.reporting.printed import PAPER, RUN

WORDS = yaml_beside(__file__, "words.yaml")
STAGES, STATISTICS = WORDS["stages"], WORDS["statistics"]
SCORES = {"stage1": "f1", "stage2": "accuracy"}
OVERALL = {"all": "Over stories", "categories": "Over categories"}
# Claims about the judge's error (of `judges.with_error`), each with columns of its own.
CLAIMS = {"f1_by_labels": "corrected by labels", "f1_as_on_edits": "if as on constructed edits"}
JUDGED = {
    f"{condition} {metric}": f"{name}, {claim}"
    for metric, claim in CLAIMS.items()
    for condition, name in OVERALL.items()
}
UNCORRECTED = " uncorrected"  # for the judge's errors
AS_ZERO, LEFT_OUT, NOT_SAID = "as 0", "left out", "not said"
TOTAL = "total"
# What no baseline can copy: of all numbers, and of a gold label by `omniscient`.
COUNTED = ("unusable", "outcome_rate", "completion_tokens")
ITS_OWN = ("truth_status", "knowledge_access")
BY_CATEGORY = {code: code for code in CATEGORIES}
CODES = " ".join(f"{code}: {name}." for code, name in CATEGORIES.items())


def table3(
    metrics: pd.DataFrame, judged: pd.DataFrame | None = None, level: str | None = None
) -> printed.Table:
    """Table 3: F1 of extraction by category, and below it accuracy of labelling by dimension.

    Overall is given as the mean over stories (Sec. 5) and as the mean of the categories (what the
    paper prints for Stage 1); unusable outputs as 0 and left out. This run's F1 is marked as
    uncorrected for the judge's errors. `judged`: of `judges.with_error`, whose claims about these
    (see `CLAIMS`) have columns of their own. InputError: `judged` without such rows.
    """
    columns, labels = BY_CATEGORY | OVERALL, DIMENSION_NAMES | OVERALL
    run = _both_ways(of_stage(metrics, "stage1", level), columns)
    run = run.assign(mark=run["column"].isin(OVERALL).map({True: UNCORRECTED, False: ""}))
    first, refused = [_printed_extraction(), run], []
    if judged is not None:
        claims = _claims(judged, set(run["method"]))
        first, refused = [*first, claims], _refused(claims)
        columns |= {key: JUDGED[key] for key in JUDGED if key in set(claims["column"])}
    second = of_paper("table3_stage2", "accuracy")
    second = second.assign(column=second["dimension"].replace({"overall": "all"}), stage="stage2")
    second = second.assign(level="L3", unusable=NOT_SAID)
    run = _both_ways(of_stage(metrics, "stage2", level), labels)
    cells = numbers.stack(["stage", "level", "model", "method", "unusable"], *first, second, run)
    checked = PUBLICATION.checked("table3_stage2", "stage2_by_story")
    told = {"codes": CODES, "mark": COMPUTED, "checked": checked}
    names = ("table3_columns", "table3_computed", "table3_unusable")
    about = [WORDS[name].format(**told) for name in names] + notes(cells, metrics, "outputs")
    about += [WORDS["table3_judged"], *refused] if judged is not None else []
    shown = _two_panels(cells, columns, labels)
    return printed.Table("table3", cells, shown, WORDS["table3"], about)


def table4(statistics: pd.DataFrame) -> printed.Table:
    """Table 4: stories and beliefs by category, the paper's gold and the gold of this run.

    `statistics`: of this run's gold, one row a category as `records.statistics` has it, or
    one row a number: category (a code or "total"), statistic (see `STATISTICS`) and value.
    InputError: a category or statistic that is unknown, or a number that is there twice.
    """
    names = CATEGORIES | {TOTAL: "Total"}
    if "code" in statistics:
        wide = statistics.drop(columns="category").rename(columns={"code": "category"})
        statistics = wide.melt("category", var_name="statistic")
    known = {"category": list(names), "statistic": list(STATISTICS)}
    beside.demand_known(statistics, known, "statistics")
    frames = [of_paper("table4_categories"), statistics.assign(source=RUN)]
    frames = [frame.rename(columns={"statistic": "column"}) for frame in frames]
    cells = numbers.stack(["category"], *frames)
    forms = dict.fromkeys(STATISTICS, numbers.count) | {"beliefs_per_story": "{:.2f}".format}
    cells, shown = in_blocks(cells, "category", names, STATISTICS, {}, forms=forms)
    about = [*numbers.paper_sentence(cells), WORDS["gold"]]
    return printed.Table("table4", cells, shown, WORDS["table4"], about)


def table10(metrics: pd.DataFrame, level: str | None = None) -> printed.Table:
    """Table 10: accuracy of labelling by dimension and category."""
    run = of_stage(metrics, "stage2", level).query("metric == 'accuracy'")
    run = run[run["subject"].isin(DIMENSIONS) & run["within"].isin(CATEGORIES)]
    run = run.assign(dimension=run["subject"], column=run["within"])
    paper = of_paper("table10_stage2_by_category", "accuracy")
    paper = paper.assign(column=paper["category"], level="L3")
    keys, labels = ["dimension", "level", "model", "method"], {"model": "Model"}
    cells = numbers.stack(keys, paper, beside.percent(run))
    blocks = ("dimension", DIMENSION_NAMES)
    cells, shown = in_blocks(cells, *blocks, BY_CATEGORY, labels, is_wide=True)
    about = [CODES, *notes(cells, metrics, "outputs")]
    return printed.Table("table10", cells, shown, WORDS["table10"], about)


# ---- the numbers ---------------------------------------------------------------------------------


def of_run(metrics: pd.DataFrame) -> pd.DataFrame:
    """OmniToM's rows of a metrics table, shares as shares, with stage and level (see `with_level`),
    the columns of `metrics.split_condition`, source, mark, reason, printed_in. Without what
    baselines copy from gold, see `items.compose.reference` and `beside.without_copies`.
    """
    rows = numbers.with_level(beside.of_run(metrics, NAME))
    rows = rows.join(split_condition(rows["condition"]))
    is_found = rows["stage"].eq("stage1")
    is_label = rows["stage"].eq("stage2") & ~rows["subject"].isin(ITS_OWN)
    copied = is_found | is_label & rows["model"].eq("omniscient")
    copied &= ~rows["metric"].isin(COUNTED)
    return beside.without_copies(rows, copied).reset_index(drop=True)


def own_words(metrics: pd.DataFrame) -> pd.DataFrame:
    """A metrics table without the numbers that baselines copy, see `of_run`."""
    kept = of_run(metrics)[list(tidy.METRICS.columns)]
    return pd.concat([metrics[metrics["benchmark"] != NAME], kept], ignore_index=True)


def comparable(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores without those of baselines whose mean over a table is copied, see `of_run`."""
    stage = scores["stage"]
    copied = stage.eq(1) | stage.eq(2) & scores["model"].eq("omniscient")
    return beside.without_copies(scores, copied)


def of_stage(metrics: pd.DataFrame, stage: str, level: str | None) -> pd.DataFrame:
    """Those of one stage at one prompt level, see `beside.at_level`."""
    return numbers.at_level(of_run(metrics), stage, level)


def main_scores(run: pd.DataFrame) -> pd.DataFrame:
    """The score of each stage over all stories, unusable outputs as 0."""
    return run[run["condition"].eq("all") & run["metric"].eq(run["stage"].map(SCORES))]


# A published table as printed; a cell that fails a check has mark and reason.
of_paper = partial(beside.of_paper, PUBLICATION)


def _printed_extraction() -> pd.DataFrame:
    """Table 3, left: its Overall is the mean of the categories; that over stories is computed."""
    rows = of_paper("table3_stage1", "f1")
    counts = PUBLICATION.read("table4_categories").query("statistic == 'stories'")
    stories = counts.set_index("category")["value"].drop("total")
    by_category = rows.pivot(index="model", columns="category", values="value")
    mean = ((by_category * stories).sum(axis=1) / stories.sum()).round(6)
    place = f"{rows['printed_in'].iloc[0]} and Table 4, computed"
    texts = {"source": PAPER, "mark": COMPUTED, "category": "all", "printed_in": place}
    both = pd.concat([rows, mean.rename("value").reset_index().assign(**texts)])
    column = both["category"].replace({"overall": "categories"})
    return both.assign(column=column, stage="stage1", level="L3", unusable=NOT_SAID)


def _both_ways(rows: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """This run's score by condition, with unusable outputs as 0 and left out."""
    rows = rows[rows["metric"].eq(rows["stage"].map(SCORES)) & rows["within"].eq("")]
    unusable = rows["is_usable"].map({True: LEFT_OUT, False: AS_ZERO})
    rows = rows.assign(column=rows["subject"], unusable=unusable)
    return beside.percent(rows[rows["column"].isin(list(columns))])


def _claims(judged: pd.DataFrame, methods: set[str]) -> pd.DataFrame:
    """The claims of `CLAIMS` that were made or refused; corrections alone that there are."""
    needed = ["metric", "model", "method", "condition", *beside.NUMBERS, "reason"]
    beside.demand_columns(judged, needed, "judged")
    judged = beside.without_copies(judged, pd.Series(True, judged.index))
    rows = judged[judged["metric"].isin(CLAIMS) & judged["method"].isin(methods)]
    rows = rows[rows["condition"].isin(OVERALL)]
    if rows.empty:
        found = ", ".join(judged["method"].unique()) or "none"
        raise InputError(
            f"judged: no rows of metric {' or '.join(CLAIMS)} with condition all or categories and "
            f"method {', '.join(methods) or 'of Stage 1'}; methods there: {found}"
        )
    keys = ["model", "method", "condition", "metric"]
    beside.demand_known(rows, dict.fromkeys(keys), "judged")
    rows = rows[rows["metric"].eq("f1_as_on_edits") | rows["value"].notna()]
    column = rows["condition"] + " " + rows["metric"]
    rows = rows.assign(column=column, source=RUN, unusable=AS_ZERO, mark="")
    return beside.percent(numbers.with_level(rows))


def _refused(claims: pd.DataFrame) -> list[str]:
    """Why the judge's calibration allows no claim, by model."""
    empty = claims[claims["value"].isna()]
    told = empty.groupby(["model", "reason"], sort=False)["condition"].first()
    reasons = {}
    for model, reason in told.index:
        reasons.setdefault(reason, []).append(model)
    texts = [f"{', '.join(models)}: {reason}" for reason, models in reasons.items()]
    return [WORDS["table3_refused"].format(told="; ".join(texts))] if texts else []


# ---- printed cells and sentences -----------------------------------------------------------------


def in_blocks(
    cells: pd.DataFrame, block: str, names: Mapping, heads: Mapping, labels: Mapping, **how
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tidy and printed, as `layout` has it: a block of rows a level of the column `block`, in the
    order of `names` and named once.
    """
    cells, head = beside.in_order(cells, block, names), block.capitalize()
    shown = numbers.layout(cells, {block: head, **labels}, heads, **how)
    return cells, printed.once(shown.assign(**{head: shown[head].map(names)}), [[head]])


def _two_panels(cells: pd.DataFrame, columns: Mapping, labels: Mapping) -> pd.DataFrame:
    """Stage 1 under the table's heads; then a line with the heads of Stage 2, and Stage 2."""
    keys = {"model": "Model", "unusable": "Unusable"}
    upper, lower = (
        numbers.layout(cells[cells["stage"] == stage], keys, heads, is_wide=True)
        for stage, heads in zip(STAGES, (columns, labels), strict=True)
    )
    own = upper["Source"].eq(RUN) & upper["Unusable"].eq(AS_ZERO)
    for head in [head for head in upper if head.endswith(CLAIMS["f1_as_on_edits"])]:
        upper.loc[own, head] = upper.loc[own, head].replace(printed.ABSENT, "no claim")
    place = dict(zip(labels.values(), columns.values(), strict=False))
    line = pd.DataFrame([{under: head for head, under in place.items()}])
    both = pd.concat([upper, line, lower.rename(columns=place)], ignore_index=True).fillna("")
    both.insert(0, "Stage", "")
    both.loc[[0, len(upper)], "Stage"] = [name.replace(": ", ":\n") for name in STAGES.values()]
    return both


def notes(cells: pd.DataFrame, metrics: pd.DataFrame, unit: str) -> list[str]:
    """Where published numbers are from, what was run, which fail a check; n counts each `unit`."""
    marked = cells[cells["mark"] == MARK]
    told = "; ".join(f"{row.model} ({row.reason})" for row in marked.itertuples())
    failing = [f"{MARK} fails a check of the published table: {told}."] if told else []
    return [*numbers.paper_sentence(cells), *run_sentences(cells, metrics, unit), *failing]


def run_sentences(cells: pd.DataFrame, metrics: pd.DataFrame, unit: str) -> list[str]:
    """Who was run, how, on how much, with which interval, and how much could not be scored; rows
    that are not of this run, or of no method, are left out.
    """
    run = cells[cells["source"].eq(RUN) & cells["method"].ne("") & cells["n"].notna()]
    rates = of_run(metrics).query("metric == 'outcome_rate'")
    told = f"{', '.join(run['method'].unique())}; {beside.counted(run, unit, 'stories')}"
    own = rates[rates["method"].isin(run["method"])]
    about, *unscored = beside.run_sentences(run, own, told, by="story", credit=WORDING.credit)
    lacking = [model for model in rates["model"].unique() if model not in set(run["model"])]
    without = [f"Without such a number: {', '.join(lacking)}."] if len(run) and lacking else []
    left = beside.copied(beside.of_run(metrics, NAME), of_run(metrics), WORDS["copied"])
    return [about, *without, *left, *unscored]
