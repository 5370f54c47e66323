"""SimpleToM's tables: Tables 2 to 5 and 8 and App. H, this run's numbers beside the paper's.

Each public `table…` and `tokens` is one table. It takes the metrics table of a run (see
`tomlab.tables`) and computes every number in its caption and notes. Percentages are printed as in
the paper, with one decimal. Source: Gu et al. (2024), and `tomlab.records.published` for printed values.
"""

from collections.abc import Callable

import pandas as pd

from tomlab.benchmarks.simpletom.paper import PUBLICATION
from tomlab.reporting import printed as report
from tomlab.reporting.plotting import MARK
from tomlab.reporting.printed import PAPER, RUN

PRIMARY = ["mental_state", "behavior", "judgment"]  # the order in which they build on each other
QUESTIONS = {name: name.replace("_", " ") for name in [*PRIMARY, "average"]}
METHODS = {
    "none": "none",
    "ms-remind": "MS remind",
    "sysp": "SysP",
    "sysp-star": "SysP*",
    "cot": "CoT",
    "cot-star": "CoT*",
    "cot-star-ms": "CoT* with MS",
    "wordings": "other wordings",  # App. F, asked like `none`
}
TABLES = {
    "table2_main": "Table 2",
    "table3_ms_remind": "Table 3",
    "table4_system_prompt": "Table 4",
    "table5_cot": "Table 5",
}
TOTAL = "All stories"
STATISTICS = {
    "stories": "Stories",
    "unique_x": "Unique X",
    "unique_z": "Unique Z",
    "unique_y": "Unique Y",
}
_ORDER = {"question_type": list(QUESTIONS), "method": list(METHODS)}
_LABELS = {"question_type": QUESTIONS, "method": METHODS}
_HEADS = {"question_type": "Question", "method": "Method"}
_KEYS = ["model", "method", "question_type"]
_TIDY = [*_KEYS, *report.TIDY_COLUMNS, "ci_method", "reason"]
_NUMBERS = ["value", "ci_low", "ci_high"]


def table2(metrics: pd.DataFrame) -> report.Table:
    """Table 2: accuracy on the three question types and their average, without intervention.

    InputError: metrics without SimpleToM.
    """
    cells = _accuracies(metrics, "table2_main")
    printed = _printed(cells, [], "question_type")
    caption = (
        "SimpleToM, Table 2: accuracy in percent on the three question types, and their average."
    )
    models = PUBLICATION.read("models").query("partially_evaluated == 1")["model"]
    partly = (
        f"{', '.join(models)} were evaluated under other conditions than the paper's other models "
        f"({PUBLICATION.source('models')})."
    )
    return report.Table(
        "table2", cells, printed, caption, [*notes(cells, metrics, ["table2_main"]), partly]
    )


def table3(metrics: pd.DataFrame) -> report.Table:
    """Table 3: accuracy when models are reminded of their own answer about the mental state.

    InputError: metrics without SimpleToM.
    """
    what = "when models are reminded of their answer to the mental state question (MS)"
    table = _by_method("table3", metrics, "table3_ms_remind", what)
    # The caption of the printed table fails this check; its cells are in order.
    checked = PUBLICATION.checked("table3_ms_remind", "beyond_random")
    table.notes.append(f"Checked of the paper's caption: {checked}")
    return table


def table4(metrics: pd.DataFrame) -> report.Table:
    """Table 4: accuracy under two system prompts. InputError: metrics without SimpleToM."""
    return _by_method("table4", metrics, "table4_system_prompt", "with custom system prompts")


def table5(metrics: pd.DataFrame) -> report.Table:
    """Table 5: accuracy with chain of thought. InputError: metrics without SimpleToM."""
    return _by_method("table5", metrics, "table5_cot", "with chain of thought prompting")


def tokens(metrics: pd.DataFrame) -> report.Table:
    """App. H: mean output tokens of an answer by method and question type.

    InputError: metrics without SimpleToM.
    """
    rows = PUBLICATION.read("tokens").rename(columns={"output_tokens": "value"})
    rough = rows[rows["approximate"] == 1]
    cells = _stack(
        _from_paper(rows, "tokens"), of_run(metrics).query("metric == 'completion_tokens'")
    )
    named = cells[cells["question_type"].isin(PRIMARY)]
    caption = "SimpleToM, App. H: mean number of output tokens of an answer."
    about = [
        f"The paper also says, of no model in particular, that an answer label alone takes about "
        f"{value} tokens."
        for value in rough["value"]
    ]
    printed = _printed(named, ["method"], "question_type", "{:.0f}".format)
    return report.Table(
        "tokens", cells, printed, caption, [*notes(named, metrics, ["tokens"]), *about]
    )


def table8(counts: pd.DataFrame) -> report.Table:
    """Table 8: stories and unique entities by scenario, the paper's beside those of this run.

    `counts`: a row a scenario of this run's items, with columns scenario, stories, unique_x,
    unique_z and unique_y (persons X, objects, persons or actions Z, persons Y).
    """
    paper = PUBLICATION.read("table8_statistics")
    rows = pd.concat([paper.assign(source=PAPER), counts.assign(source=RUN)], ignore_index=True)
    place = {name: rank for rank, name in enumerate(in_scenario_order(rows["scenario"]))}
    rows = rows.sort_values("scenario", key=lambda names: names.map(place), kind="stable")
    printed = pd.DataFrame({"Scenario": rows["scenario"]})
    for statistic, title in STATISTICS.items():
        printed[title] = [report.span(pd.Series([count])) for count in rows[statistic]]
    printed = report.once(printed.assign(Source=rows["source"]), [["Scenario"]])
    cells = rows.melt(["scenario", "source"], list(STATISTICS), "statistic").dropna(subset="value")
    cells = cells.astype({"value": int}).assign(mark="")
    cells = cells.reindex(columns=["scenario", "statistic", *report.TIDY_COLUMNS])
    caption = (
        "SimpleToM, Table 8: stories and unique entities by scenario (persons X and Y; object, "
        "person or action Z)."
    )
    note = (
        f"Paper: {PUBLICATION.source('table8_statistics')}. An entity may stand in "
        f"several scenarios, so that {TOTAL} may have fewer than the sum."
    )
    return report.Table("table8", cells, printed, caption, [note])


# ---- the numbers ---------------------------------------------------------------------------------


def of_run(metrics: pd.DataFrame) -> pd.DataFrame:
    """SimpleToM's rows of a metrics table, shares as shares, with their conditions taken apart.

    Columns added: question_type (or the level of another metric), variant (a wording of App. F or
    ""), part (a scenario, "severity 1" and so on, or "" for all stories), source, mark, reason.
    """
    rows = report.of_benchmark(metrics, "simpletom")
    levels = r"^(?P<question_type>\w+)(?::(?P<variant>[^/]+))?(?:/(?P<part>.+))?$"
    levels = rows["condition"].str.extract(levels).fillna("")
    return rows.join(levels).assign(source=RUN, mark="", reason="")


def accuracies_of_paper(table: str) -> pd.DataFrame:
    """Accuracies of one of `TABLES` in percent; a cell that fails a check has mark and reason."""
    own = ["reminder", "system_prompt", "method"]  # what the intervention is called
    rows = PUBLICATION.read(table).rename(columns=dict.fromkeys(own, "method"))
    return _from_paper(rows.rename(columns={"accuracy": "value"}), table)


def in_scenario_order(found: pd.Series) -> list[str]:
    """Scenarios in the order of Table 8, then whatever else there is; all stories last."""
    order = [*PUBLICATION.read("table8_statistics")["scenario"], *found.unique()]
    there = [name for name in dict.fromkeys(order) if name in set(found)]
    return sorted(there, key=lambda name: name == TOTAL)


def _from_paper(rows: pd.DataFrame, table: str) -> pd.DataFrame:
    method = rows.get("method", pd.Series("none", rows.index)).replace("ms", "ms-remind")
    reason = PUBLICATION.reasons(table)
    statistics = PUBLICATION.read("table8_statistics").set_index("scenario")
    return rows.assign(
        source=PAPER,
        method=method.str.replace("_", "-"),
        n=statistics.loc[TOTAL, "stories"],
        mark=reason.ne("").map({True: MARK, False: ""}),
        reason=reason,
    )


def _accuracies(metrics: pd.DataFrame, table: str) -> pd.DataFrame:
    """Accuracies and averages in percent: the paper's, and this run's with the same methods."""
    paper = accuracies_of_paper(table)
    run = of_run(metrics).query(
        "metric in ['accuracy', 'average'] and variant == '' and part == ''"
    )
    run = run[run["method"].isin(paper["method"])]
    kind = run["question_type"].mask(run["metric"] == "average", "average")
    percent = {name: (100 * run[name]).round(6) for name in _NUMBERS}
    return _stack(paper, run.assign(question_type=kind, **percent))


def _stack(*frames: pd.DataFrame) -> pd.DataFrame:
    cells = pd.concat([frame.reindex(columns=_TIDY) for frame in frames], ignore_index=True)
    return cells.astype({"n": "Int64", "n_groups": "Int64"})


# ---- printed cells -------------------------------------------------------------------------------


def _by_method(name: str, metrics: pd.DataFrame, table: str, what: str) -> report.Table:
    """The layout of Tables 3 to 5, turned for width: a row a question, a column a method."""
    cells = _accuracies(metrics, table)
    printed = report.once(_printed(cells, ["question_type"], "method"), [["Source", "Model"]])
    caption = f"SimpleToM, {TABLES[table]}: accuracy in percent {what}."
    run = set(cells.loc[cells["source"] == RUN, "method"])
    absent = [METHODS[m] for m in METHODS if m in set(cells["method"]) - run]
    about = [
        *notes(cells, metrics, [table]),
        *([f"This run asked nothing with {', '.join(absent)}."] if absent else []),
        "The mental state question is asked without intervention; averages count that answer.",
    ]
    return report.Table(name, cells, printed, caption, about)


def _printed(
    cells: pd.DataFrame,
    by: list[str],
    across: str,
    form: Callable[[float], str] = report.one_decimal,
) -> pd.DataFrame:
    """Rows by source, model and `by`; a column a level of `across`; n and source last.

    n is that of the questions, not of their average, where a row holds both. `form` prints the
    paper's numbers; this run's have one decimal.
    """
    keys = ["source", "model", *by]
    cells = _in_order(cells.assign(text=[_text(number, form) for number in cells.itertuples()]))
    wide = cells.pivot(index=keys, columns=across, values="text").fillna(report.ABSENT)
    single = cells if "question_type" in by else cells[cells["question_type"] != "average"]
    n = single.groupby(keys, observed=True)["n"].apply(report.span)
    rows = wide.index.to_frame(index=False).astype(str)
    printed = {"Model": rows["model"]}
    printed |= {_HEADS[key]: rows[key].replace(_LABELS[key]) for key in by}
    printed |= {_LABELS[across].get(level, level): list(wide[level]) for level in wide}
    printed["n"] = list(n.reindex(wide.index, fill_value=report.ABSENT))
    return pd.DataFrame(printed | {"Source": rows["source"]})


def _in_order(cells: pd.DataFrame) -> pd.DataFrame:
    """Labels as categories: in the paper's order, models as they come, the paper first."""
    known = {"source": [PAPER, RUN], "model": [], **_ORDER}
    for column, order in known.items():
        levels = dict.fromkeys([*order, *cells[column]])
        there = [level for level in levels if level in set(cells[column])]
        cells = cells.assign(**{column: pd.Categorical(cells[column], there, ordered=True)})
    return cells


def _text(number, form: Callable[[float], str]) -> str:
    form = report.one_decimal if number.source == RUN else form
    return report.cell(number.value, number.ci_low, number.ci_high, number.mark, form)


# ---- sentences -----------------------------------------------------------------------------------


def notes(cells: pd.DataFrame, metrics: pd.DataFrame, tables: list[str]) -> list[str]:
    """Where the published numbers are from, what was run, and which numbers fail a check."""
    return [paper_sentence(tables), *run_sentences(cells, metrics), *failing(cells)]


def paper_sentence(tables: list[str]) -> str:
    """The tables that numbers are from, and that they have no intervals."""
    paper = PUBLICATION
    places = ", ".join(paper.tables[table].place for table in tables)
    statistics = PUBLICATION.read("table8_statistics").set_index("scenario")
    stories, place = statistics.loc[TOTAL, "stories"], paper.tables["table8_statistics"].place
    return (
        f"Paper: {paper.name} ({paper.authors_year}), {places}. It prints no intervals and no n; n "
        f"is taken to be its {stories} stories ({place})."
    )


def run_sentences(
    cells: pd.DataFrame, metrics: pd.DataFrame, unit: str = "answers", interval: str = "intervals"
) -> list[str]:
    """Who was run, on how much, with which interval, and how much could not be scored.

    `cells` are rows of `of_run`, others are left out; n counts each `unit`.
    """
    run = cells[cells["source"] == RUN]
    if run.empty:
        return ["This run has no such answers."]
    single = run[run["question_type"] != "average"]
    single = run if single.empty else single
    n, groups = report.span(single["n"]), report.span(single["n_groups"])
    models, how = ", ".join(run["model"].unique()), ", ".join(run["ci_method"].unique())
    rates = of_run(metrics).query("metric == 'outcome_rate'")
    rates = rates[rates["method"].isin(run["method"])]
    about = (
        f"This run: {models}; n = {n} {unit} from {groups} entity sets; 95 % {interval} ({how})."
    )
    return [about, *report.unscored(rates)]


def failing(cells: pd.DataFrame, how: str = "fails a check") -> list[str]:
    """One sentence a reason why published numbers are marked, and which they are."""
    marked = cells[cells["mark"] != ""]
    return [
        f"{MARK} {how} of the published table ({reason}): "
        + "; ".join(_where(number) for number in numbers.itertuples())
        + "."
        for reason, numbers in marked.groupby("reason", sort=False)
    ]


def _where(number) -> str:
    return f"{number.model}, {QUESTIONS[number.question_type]}, {METHODS[number.method]}"
