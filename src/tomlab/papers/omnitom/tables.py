"""OmniToM's tables: Tables 3, 4 and 10, this run's numbers beside the paper's.

Each public `table…` is one table. It takes the metrics table of a run (see `tomlab.tables`), or
counts, and computes every number in its caption and notes. Percentages have the two decimals of the
paper, or one beside an interval. `tables_omnitom_judges` has the tables of prompts, judges and
audits. Source: Bawatneh et al. (2026), and `tomlab.records.published` for printed values.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from tomlab.benchmarks.omnitom.labels import DIMENSION_NAMES
from tomlab.benchmarks.omnitom.metrics import NAME
from tomlab.benchmarks.omnitom.paper import PUBLICATION
from tomlab.benchmarks.omnitom.records import CATEGORIES, DIMENSIONS
from tomlab.errors import InputError, refuse
from tomlab.papers.omnitom import audit as own_audit
from tomlab.reporting import audit
from tomlab.reporting import printed as report
from tomlab.reporting.plotting import MARK
from tomlab.reporting.printed import ABSENT, PAPER, RUN

STAGES = {"stage1": "Stage 1: extraction, F1", "stage2": "Stage 2: labelling, accuracy"}
SCORES = {"stage1": "f1", "stage2": "accuracy"}
LEVELS = ("L1", "L2", "L3", "L3-json", "L4")
PREFERRED = ("L3", "L3-json", *LEVELS)  # the paper's main results are L3's (Sec. 6)
OVERALL = {"all": "Over stories", "categories": "Over categories"}
JUDGED = {"all judged": "Stories, judge", "categories judged": "Categories, judge"}
AS_ZERO, LEFT_OUT, NOT_SAID = "as 0", "left out", "not said"
COMPUTED = "†"
STATISTICS = {
    "stories": "Stories",
    "beliefs": "Beliefs",
    "beliefs_per_story": "Beliefs a story",
    "order_0": "Order 0",
    "order_1": "Order 1",
    "order_2_plus": "Order 2+",
}
TOTAL = "total"
_TIDY = ["column", *report.TIDY_COLUMNS[1:], "ci_method", "reason", "printed_in"]
_NUMBERS = ["value", "ci_low", "ci_high"]


def table3(
    metrics: pd.DataFrame, judged: pd.DataFrame | None = None, level: str | None = None
) -> report.Table:
    """Table 3: F1 of extraction by category, and below it accuracy of labelling by dimension.

    Overall is given as the mean over stories (Sec. 5) and as the mean of the categories (what the
    paper prints for Stage 1); unusable outputs as 0 and left out. `judged`: rows of metric
    f1_with_judge_error (model, method, condition, value, ci_low, ci_high), whose columns are then
    added. `level`: of prompts, see `at_level`. InputError: metrics without OmniToM, an unknown
    level, or `judged` without such rows.
    """
    run = of_run(metrics)
    columns = {code: code for code in CATEGORIES} | OVERALL
    first = [_printed_extraction(), _both_ways(at_level(run, "stage1", level), columns)]
    if judged is not None:
        first.append(_with_judge_error(judged, set(first[-1]["method"])))
        columns |= {key: JUDGED[key] for key in JUDGED if key in set(first[-1]["column"])}
    labels = DIMENSION_NAMES | OVERALL
    second = [_printed_labelling(), _both_ways(at_level(run, "stage2", level), labels)]
    cells = stack(["stage", "level", "model", "method", "unusable"], *first, *second)
    printed = _two_panels(cells, columns, labels)
    caption = (
        "OmniToM, Table 3: F1 of belief extraction by story category, and accuracy of belief "
        "labelling by dimension, in percent."
    )
    about = _about_overall() + notes(cells, metrics, "outputs")
    if judged is not None:
        about.append(
            "Stories, judge and Categories, judge: the same with an interval that also covers the "
            "errors of the judge of matches, and so need not hold F1 as judged."
        )
    return report.Table("table3", cells, printed, caption, about)


def table4(statistics: pd.DataFrame) -> report.Table:
    """Table 4: stories and beliefs by category, the paper's gold and the gold of this run.

    `statistics`: of this run's gold, one row a category as `records.statistics` has it, or
    one row a number: category (a code or "total"), statistic (see `STATISTICS`) and value.
    InputError: a category or statistic that is unknown, or a number that is there twice.
    """
    names = CATEGORIES | {TOTAL: "Total"}
    if "code" in statistics:
        wide = statistics.drop(columns="category").rename(columns={"code": "category"})
        statistics = wide.melt("category", var_name="statistic")
    demand_known(statistics, {"category": list(names), "statistic": list(STATISTICS)}, "statistics")
    rows = statistics.assign(source=RUN, printed_in="")
    frames = [of_paper("table4_categories"), rows]
    cells = stack(["category"], *(frame.assign(column=frame["statistic"]) for frame in frames))
    cells = in_order(cells, "category", names)
    forms = dict.fromkeys(STATISTICS, count) | {"beliefs_per_story": "{:.2f}".format}
    printed = layout(cells, {"category": "Category"}, STATISTICS, forms=forms)
    printed["Category"] = printed["Category"].map(names)
    printed = report.once(printed, [["Category"]])
    caption = "OmniToM, Table 4: stories, gold beliefs and their orders by category."
    gold = "This run: the gold that it is scored against."
    return report.Table("table4", cells, printed, caption, [*paper_sentence(cells), gold])


def table10(metrics: pd.DataFrame, level: str | None = None) -> report.Table:
    """Table 10: accuracy of labelling by dimension and category.

    `level`: of prompts, see `at_level`. InputError: metrics without OmniToM, or an unknown level.
    """
    run = at_level(of_run(metrics), "stage2", level).query("metric == 'accuracy'")
    parts = halves(run["condition"], "/")
    run = run.assign(dimension=parts[0], column=parts[1])
    run = run[run["dimension"].isin(DIMENSIONS) & run["column"].isin(CATEGORIES)]
    paper = of_paper("table10_stage2_by_category", "accuracy")
    paper = paper.assign(column=paper["category"], level="L3")
    cells = stack(["dimension", "level", "model", "method"], paper, percent(run))
    cells = in_order(cells, "dimension", DIMENSIONS)
    labels = {"dimension": "Dimension", "model": "Model"}
    printed = layout(cells, labels, {code: code for code in CATEGORIES}, is_wide=True)
    printed["Dimension"] = printed["Dimension"].map(DIMENSION_NAMES)
    printed = report.once(printed, [["Dimension"]])
    caption = (
        "OmniToM, Table 10: accuracy of belief labelling in percent by dimension and category."
    )
    about = [_codes(), *notes(cells, metrics, "outputs")]
    return report.Table("table10", cells, printed, caption, about)


# ---- the numbers ---------------------------------------------------------------------------------


def of_run(metrics: pd.DataFrame) -> pd.DataFrame:
    """OmniToM's rows of a metrics table, shares as shares.

    Columns added: stage and level (see `with_level`), source, mark, reason, printed_in.
    """
    texts = {"source": RUN, "mark": "", "reason": "", "printed_in": ""}
    return with_level(report.of_benchmark(metrics, NAME)).assign(**texts)


def with_level(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with stage (stage1, stage2; linked) and level (L1 to L4, L3-json) of their method."""
    method = halves(rows["method"], "-")
    return rows.assign(stage=method[0], level=method[1])


def halves(texts: pd.Series, mark: str) -> pd.DataFrame:
    """What stands before the first mark, and after it; two columns even of no texts."""
    return texts.str.extract(f"^([^{mark}]*){mark}?(.*)$")


def at_level(run: pd.DataFrame, stage: str, level: str | None = None) -> pd.DataFrame:
    """The rows of one stage at one prompt level, of rows `with_level`.

    By default that is L3, as in the paper's main results; where a stage was not asked so, L3-json
    or else the least detailed one. Without an answer of that stage, no rows. InputError: a level
    that the run has for no stage.
    """
    there = in_level_order(run.loc[run["stage"].isin(STAGES), "level"])
    if level is not None and level not in there:
        raise InputError(f"level: found {level!r}, expected one of: {', '.join(there)}")
    rows = run[run["stage"] == stage]
    asked = set(rows["level"])
    chosen = level or next((each for each in (*PREFERRED, *there) if each in asked), "")
    return rows[rows["level"] == chosen]


def main_scores(run: pd.DataFrame) -> pd.DataFrame:
    """The score of each stage over all stories, unusable outputs as 0."""
    return run[run["condition"].eq("all") & run["metric"].eq(run["stage"].map(SCORES))]


def in_level_order(levels: Iterable[str]) -> list[str]:
    """The distinct levels, those of the paper first."""
    found = dict.fromkeys(levels)
    return [each for each in dict.fromkeys([*LEVELS, *found]) if each in found]


def of_paper(table: str, value: str = "value") -> pd.DataFrame:
    """A published table as printed; a cell that fails a check has mark and reason."""
    rows = PUBLICATION.read(table).rename(columns={value: "value"})
    reason = audit.suspicious("omnitom", table)["reason"].reindex(rows.index).fillna("").astype(str)
    mark = reason.ne("").map({True: MARK, False: ""})
    source = PUBLICATION.source(table)
    return rows.assign(source=PAPER, mark=mark, reason=reason, printed_in=source)


def percent(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares as percentages."""
    return rows.assign(**{name: (100 * rows[name].astype(float)).round(6) for name in _NUMBERS})


def stack(keys: list[str], *frames: pd.DataFrame) -> pd.DataFrame:
    """A `report.Table`'s tidy frame: `keys` say what a number is of, `column` where it stands."""
    columns = ["source", *keys, *_TIDY]
    cells = pd.concat([frame.reindex(columns=columns) for frame in frames], ignore_index=True)
    texts = [*keys, "column", "mark", "ci_method", "reason", "printed_in"]
    cells = cells.astype(dict.fromkeys(texts, "str") | {"n": "Int64", "n_groups": "Int64"})
    return cells.fillna(dict.fromkeys(texts, ""))


def in_order(cells: pd.DataFrame, column: str, levels: Iterable[str]) -> pd.DataFrame:
    """Rows by the given levels of a column, else as they come."""
    rank = cells[column].map({level: place for place, level in enumerate(levels)})
    return cells.iloc[rank.argsort(kind="stable")].reset_index(drop=True)


def _printed_extraction() -> pd.DataFrame:
    """Table 3, left: its Overall is the mean of the categories; that over stories is computed."""
    rows = of_paper("table3_stage1", "f1")
    stories = PUBLICATION.read("table4_categories")
    printed = PUBLICATION.read("table3_stage1")
    mean = own_audit.story_weighted(printed, "f1", ["model"], stories).round(6)
    over_stories = pd.DataFrame({"model": mean.index, "value": mean.to_numpy(), "category": "all"})
    place = f"{rows['printed_in'].iloc[0]} and Table 4, computed"
    texts = {"source": PAPER, "mark": COMPUTED, "reason": "", "printed_in": place}
    both = pd.concat([rows, over_stories.assign(**texts)], ignore_index=True)
    column = both["category"].replace({"overall": "categories"})
    return both.assign(column=column, stage="stage1", level="L3", unusable=NOT_SAID)


def _printed_labelling() -> pd.DataFrame:
    rows = of_paper("table3_stage2", "accuracy")
    column = rows["dimension"].replace({"overall": "all"})
    return rows.assign(column=column, stage="stage2", level="L3", unusable=NOT_SAID)


def _both_ways(rows: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """This run's score by condition, with unusable outputs as 0 and left out."""
    rows = rows[rows["metric"] == rows["stage"].map(SCORES)]
    left_out = rows["condition"].str.endswith("/usable")
    column = rows["condition"].str.removesuffix("/usable")
    rows = rows.assign(column=column, unusable=left_out.map({True: LEFT_OUT, False: AS_ZERO}))
    return percent(rows[column.isin(list(columns))])


def _with_judge_error(judged: pd.DataFrame, methods: set[str]) -> pd.DataFrame:
    demand_columns(judged, ["metric", "model", "method", "condition", *_NUMBERS], "judged")
    rows = judged[judged["metric"].eq("f1_with_judge_error") & judged["method"].isin(methods)]
    rows = rows[rows["condition"].isin(OVERALL)]
    if rows.empty:
        found = ", ".join(judged["method"].unique()) or "none"
        raise InputError(
            f"judged: no rows of metric 'f1_with_judge_error' with condition all or categories and "
            f"method {', '.join(methods) or 'of Stage 1'}; methods there: {found}"
        )
    demand_known(rows, dict.fromkeys(["model", "method", "condition"]), "judged")
    texts = {"source": RUN, "unusable": AS_ZERO, "mark": "", "reason": ""}
    return percent(with_level(rows).assign(column=rows["condition"] + " judged", **texts))


def demand_columns(rows: pd.DataFrame, needed: Sequence[str], where: str) -> None:
    """InputError that names the columns that are missing."""
    refuse([f"column {name!r} is missing" for name in needed if name not in rows], where)


def demand_known(rows: pd.DataFrame, levels: dict[str, list[str] | None], where: str) -> None:
    """InputError for a level that is not in its column's list, if any, and for keys there twice."""
    demand_columns(rows, list(levels), where)
    problems = [
        f"{column}: found {level!r}, expected one of: {', '.join(known)}"
        for column, known in levels.items()
        if known is not None
        for level in rows.loc[~rows[column].isin(known), column].unique()
    ]
    twice = rows.loc[rows.duplicated(list(levels)), list(levels)]
    problems += [f"{', '.join(map(str, key))} is there twice" for key in twice.to_numpy()]
    refuse(problems, where)


# ---- printed cells -------------------------------------------------------------------------------


def layout(
    cells: pd.DataFrame,
    labels: dict[str, str],
    heads: dict[str, str],
    *,
    forms: Mapping[str, Callable[[float], str]] = MappingProxyType({}),
    is_wide: bool = False,
    n: bool = False,
) -> pd.DataFrame:
    """Printed rows by the key columns `labels`, a column each of `heads`; then n if asked, source.

    `forms` print the numbers of a column, by default as percentages. Wide tables have each interval
    below its number.
    """
    keys = ["source", *labels]
    usual = {PAPER: "{:.2f}".format, RUN: report.one_decimal}
    text = [
        report.cell(c.value, c.ci_low, c.ci_high, c.mark, forms.get(c.column, usual[c.source]))
        for c in cells.itertuples()
    ]
    text = [each.replace(" [", "\n[") for each in text] if is_wide else text
    rows = pd.MultiIndex.from_frame(cells[keys]).unique()
    wide = cells.assign(text=text).pivot(index=keys, columns="column", values="text")
    wide = wide.reindex(index=rows, columns=list(heads)).fillna(ABSENT)
    by_row = rows.to_frame(index=False)
    printed = {label: by_row[key] for key, label in labels.items()}
    printed |= {head: list(wide[column]) for column, head in heads.items()}
    if n:
        printed["n"] = list(cells.groupby(keys)["n"].apply(report.span).reindex(rows))
    return pd.DataFrame(printed | {"Source": by_row["source"]})


def count(value: float) -> str:
    """A count as the paper prints it: 22,343."""
    return f"{value:,.0f}"


def _two_panels(
    cells: pd.DataFrame, columns: dict[str, str], labels: dict[str, str]
) -> pd.DataFrame:
    """Stage 1 under the table's heads; then a line with the heads of Stage 2, and Stage 2."""
    keys = {"model": "Model", "unusable": "Unusable"}
    upper, lower = (
        layout(cells[cells["stage"] == stage], keys, heads, is_wide=True)
        for stage, heads in zip(STAGES, (columns, labels), strict=True)
    )
    place = dict(zip(labels.values(), columns.values(), strict=False))
    line = pd.DataFrame([{place[head]: head for head in labels.values()}])
    printed = pd.concat([upper, line, lower.rename(columns=place)], ignore_index=True).fillna("")
    names = [name.replace(": ", ":\n") for name in STAGES.values()]
    starts = dict(zip((0, len(upper)), names, strict=True))
    printed.insert(0, "Stage", [starts.get(row, "") for row in range(len(printed))])
    return printed


# ---- sentences -----------------------------------------------------------------------------------


def notes(cells: pd.DataFrame, metrics: pd.DataFrame, unit: str) -> list[str]:
    """Where published numbers are from, what was run, which fail a check; n counts each `unit`."""
    return [*paper_sentence(cells), *run_sentences(cells, metrics, unit), *failing(cells)]


def paper_sentence(cells: pd.DataFrame) -> list[str]:
    """Where published numbers are from, and that no interval is known."""
    paper = cells[(cells["source"] == PAPER) & (cells["mark"] != COMPUTED)]
    places = "; ".join(dict.fromkeys(paper["printed_in"]))
    return [f"Paper: {places}. It prints no intervals. Its stories and gold are its own."]


def run_sentences(
    cells: pd.DataFrame, metrics: pd.DataFrame, unit: str, interval: str = "intervals"
) -> list[str]:
    """Who was run, how, on how much, with which interval, and how much could not be scored.

    Rows that are not of this run, or of no method, are left out; n counts each `unit`.
    """
    run = cells[(cells["source"] == RUN) & cells["method"].ne("")]
    run = run[run["n"].notna()]
    if run.empty:
        return ["This run has no such answers."]
    models = ", ".join(run["model"].unique())
    methods = ", ".join(run["method"].unique())
    how = ", ".join(each for each in run["ci_method"].unique() if each)
    about = (
        f"This run: {models}; {methods}; n = {report.span(run['n'])} {unit} from "
        f"{report.span(run['n_groups'])} stories; 95 % {interval} ({how}, by story)."
    )
    rates = of_run(metrics).query("metric == 'outcome_rate'")
    lacking = [model for model in rates["model"].unique() if model not in set(run["model"])]
    without = [f"Without such a number: {', '.join(lacking)}."] if lacking else []
    return [about, *without, *report.unscored(rates[rates["method"].isin(run["method"])])]


def failing(cells: pd.DataFrame) -> list[str]:
    """One sentence that names the published numbers that are marked, and why they are."""
    marked = cells[cells["mark"] == MARK]
    told = [f"{row.model} ({row.reason})" for row in marked.itertuples()]
    return [f"{MARK} fails a check of the published table: {'; '.join(told)}."] if told else []


def _about_overall() -> list[str]:
    """What the columns and marks of Table 3 mean, and what is known of the paper's."""
    test = own_audit.stage2_by_story
    names = ("table3_stage2", "table10_stage2_by_category", "table4_categories")
    finding = test(*(PUBLICATION.read(name) for name in names)).finding
    columns = (
        "Over stories: the mean over stories, in Stage 2 of the mean of the seven dimensions. "
        "Over categories: the mean of the category means. Unusable: whether outputs without a "
        f"usable row count as 0 or are left out. {_codes()}"
    )
    computed = (
        f"{COMPUTED} computed from the paper's category scores, weighted with its numbers of "
        "stories (Table 4): what it prints as Overall is the mean of the categories in Stage 1, "
        "the mean over stories in Stage 2."
    )
    unusable = (
        "The paper does not say how unusable outputs count. Checked of its Stage 2: "
        f"{test.__doc__} {finding}."
    )
    return [columns, computed, unusable]


def _codes() -> str:
    return " ".join(f"{code}: {name}." for code, name in CATEGORIES.items())
