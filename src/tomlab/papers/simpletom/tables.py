"""SimpleToM's tables: Tables 2 to 5 and 8 and App. H, this run's numbers beside the paper's.

Each public `table…` and `tokens` is one table. It takes the metrics table of a run (see
`tomlab.records.tidy`; InputError: one without SimpleToM) and computes every number in its caption
and notes. Percentages are printed as in the paper, with one decimal. Source: Gu et al. (2024).
"""

import pandas as pd

from tomlab.benchmarks.simpletom.metrics import split_condition
from tomlab.benchmarks.simpletom.paper import METHOD_NAMES, PUBLICATION
from tomlab.records.files import yaml_beside
from tomlab.reporting import beside, printed
from tomlab.reporting.beside import Form, in_order, known_first
from tomlab.reporting.printed import PAPER, RUN

PRIMARY = ["mental_state", "behavior", "judgment"]  # the order in which they build on each other
QUESTIONS = {name: name.replace("_", " ") for name in [*PRIMARY, "average"]}
TOTAL = "All stories"
WORDS = yaml_beside(__file__, "words.yaml")
_HEADS = {"question_type": "Question", "method": "Method"}
_NAMES = {"question_type": QUESTIONS, "method": METHOD_NAMES}
_TIDY = ["model", "method", "question_type", *printed.TIDY_COLUMNS, "ci_method", "reason"]


def table2(metrics: pd.DataFrame) -> printed.Table:
    """Table 2: accuracy on the three question types and their average, without intervention."""
    cells = _accuracies(metrics, "table2_main")
    shown = _printed(cells, [], "question_type")
    models = PUBLICATION.read("models").query("partially_evaluated == 1")["model"]
    told = {"models": ", ".join(models), "source": PUBLICATION.source("models")}
    about = [*notes(cells, metrics, ["table2_main"]), WORDS["partly"].format(**told)]
    return printed.Table("table2", cells, shown, WORDS["table2"], about)


def table3(metrics: pd.DataFrame) -> printed.Table:
    """Table 3: accuracy when models are reminded of their own answer about the mental state."""
    table = _by_method("table3", metrics, "table3_ms_remind")
    # The caption of the printed table fails this check; its cells are in order.
    checked = PUBLICATION.checked("table3_ms_remind", "beyond_random")
    table.notes.append(f"Checked of the paper's caption: {checked}")
    return table


def table4(metrics: pd.DataFrame) -> printed.Table:
    """Table 4: accuracy under two system prompts."""
    return _by_method("table4", metrics, "table4_system_prompt")


def table5(metrics: pd.DataFrame) -> printed.Table:
    """Table 5: accuracy with chain of thought."""
    return _by_method("table5", metrics, "table5_cot")


def tokens(metrics: pd.DataFrame) -> printed.Table:
    """App. H: mean output tokens of an answer by method and question type."""
    run = of_run(metrics).query("metric == 'completion_tokens'")
    cells = beside.stack(_TIDY, of_paper("tokens", "output_tokens"), run)
    named = cells[cells["question_type"].isin(PRIMARY)]
    shown = _printed(named, ["method"], "question_type", "{:.0f}".format)
    rough = PUBLICATION.read("tokens").query("approximate == 1")["output_tokens"]
    about = [WORDS["tokens_roughly"].format(value=value) for value in rough]
    about = [*notes(named, metrics, ["tokens"]), *about]
    return printed.Table("tokens", cells, shown, WORDS["tokens"], about)


def table8(counts: pd.DataFrame) -> printed.Table:
    """Table 8: stories and unique entities by scenario, the paper's beside those of this run.

    `counts`: a row a scenario of this run's items, with columns scenario, stories, unique_x,
    unique_z and unique_y (persons X, objects, persons or actions Z, persons Y).
    """
    paper, statistics = PUBLICATION.read("table8_statistics"), WORDS["statistics"]
    rows = pd.concat([paper.assign(source=PAPER), counts.assign(source=RUN)], ignore_index=True)
    rows = in_order(rows, "scenario", in_scenario_order(rows["scenario"]))
    shown = pd.DataFrame({"Scenario": rows["scenario"]})
    for statistic, title in statistics.items():
        shown[title] = [printed.span(pd.Series([count])) for count in rows[statistic]]
    shown = printed.once(shown.assign(Source=rows["source"]), [["Scenario"]])
    cells = rows.melt(["scenario", "source"], list(statistics), "statistic").dropna(subset="value")
    cells = cells.astype({"value": int}).assign(mark="")
    cells = cells.reindex(columns=["scenario", "statistic", *printed.TIDY_COLUMNS])
    note = WORDS["entities"].format(source=PUBLICATION.source("table8_statistics"), total=TOTAL)
    return printed.Table("table8", cells, shown, WORDS["table8"], [note])


# ---- the numbers ---------------------------------------------------------------------------------


def of_run(metrics: pd.DataFrame) -> pd.DataFrame:
    """SimpleToM's rows of a metrics table, shares as shares, with their conditions taken apart.

    Columns added: those of `metrics.split_condition`, source, mark, reason, printed_in.
    """
    rows = beside.of_run(metrics, "simpletom")
    return rows.join(split_condition(rows["condition"]))


def of_paper(table: str, value: str = "accuracy") -> pd.DataFrame:
    """The numbers of a table, shares in percent; a cell that fails a check has mark and reason."""
    own = ["reminder", "system_prompt", "method"]  # what the intervention is called
    rows = beside.of_paper(PUBLICATION, table, value).rename(columns=dict.fromkeys(own, "method"))
    method = rows.get("method", pd.Series("none", rows.index)).replace("ms", "ms-remind")
    return rows.assign(method=method.str.replace("_", "-"), n=_stories_of_paper())


def in_scenario_order(found: pd.Series) -> list[str]:
    """Scenarios in the order of Table 8, then whatever else there is; all stories last."""
    order = PUBLICATION.read("table8_statistics")["scenario"]
    return sorted(known_first(order, found), key=lambda name: name == TOTAL)


def _stories_of_paper() -> int:
    return PUBLICATION.read("table8_statistics").set_index("scenario").loc[TOTAL, "stories"]


def _accuracies(metrics: pd.DataFrame, table: str) -> pd.DataFrame:
    """Accuracies and averages in percent: the paper's, and this run's with the same methods."""
    paper = of_paper(table)
    run = of_run(metrics).query("metric in ['accuracy', 'average']")
    run = run[run["variant"].eq("") & run["part"].eq("") & run["method"].isin(paper["method"])]
    kind = run["question_type"].mask(run["metric"] == "average", "average")
    return beside.stack(_TIDY, paper, beside.percent(run.assign(question_type=kind)))


# ---- printed cells -------------------------------------------------------------------------------


def _by_method(name: str, metrics: pd.DataFrame, table: str) -> printed.Table:
    """The layout of Tables 3 to 5, turned for width: a row a question, a column a method."""
    cells = _accuracies(metrics, table)
    shown = printed.once(_printed(cells, ["question_type"], "method"), [["Source", "Model"]])
    run = set(cells.loc[cells["source"] == RUN, "method"])
    absent = [METHOD_NAMES[m] for m in METHOD_NAMES if m in set(cells["method"]) - run]
    about = notes(cells, metrics, [table])
    if absent:
        about.append(f"This run asked nothing with {', '.join(absent)}.")
    return printed.Table(name, cells, shown, WORDS[name], [*about, WORDS["averages"]])


def _printed(
    cells: pd.DataFrame, by: list[str], across: str, paper: Form = printed.one_decimal
) -> pd.DataFrame:
    """Rows by source, model and `by`; a column a level of `across`; source last.

    `paper` prints the paper's numbers; this run's have one decimal.
    """
    orders = {key: list(_NAMES[key]) for key in by} | {"model": cells["model"]}
    for column, levels in (orders | {"source": [PAPER, RUN]}).items():
        cells = in_order(cells, column, levels)
    labels = {"model": "Model"} | {key: _HEADS[key] for key in by}
    levels = known_first(_NAMES[across], cells[across])
    heads = {level: _NAMES[across].get(level, level) for level in levels}
    shown = beside.layout(cells, labels, heads, across=across, paper=paper)
    return shown.assign(**{_HEADS[key]: shown[_HEADS[key]].replace(_NAMES[key]) for key in by})


# ---- sentences -----------------------------------------------------------------------------------


def notes(cells: pd.DataFrame, metrics: pd.DataFrame, tables: list[str]) -> list[str]:
    """Where the published numbers are from, what was run, and which numbers fail a check."""
    return [paper_sentence(tables), *run_sentences(cells, metrics), *failing(cells)]


def paper_sentence(tables: list[str]) -> str:
    """The tables that numbers are from, and that they have no intervals."""
    places = ", ".join(PUBLICATION.tables[table].place for table in tables)
    told = {"places": places, "place": PUBLICATION.tables["table8_statistics"].place}
    return WORDS["paper"].format(paper=PUBLICATION, stories=_stories_of_paper(), **told)


def run_sentences(
    cells: pd.DataFrame, metrics: pd.DataFrame, unit: str = "answers", interval: str = "intervals"
) -> list[str]:
    """Who was run, on how much, with which interval, and how much could not be scored.

    `cells` are rows of `of_run`, others are left out; n counts each `unit`.
    """
    run = cells[cells["source"] == RUN]
    single = run[run["question_type"] != "average"]
    rates = beside.rates(metrics, "simpletom", run["method"])
    told = beside.counted(run if single.empty else single, unit, "entity sets")
    return beside.run_sentences(run, rates, told, interval)


def failing(cells: pd.DataFrame, how: str = "fails a check") -> list[str]:
    """One sentence a reason why published numbers are marked, and which they are."""

    def where(number) -> str:
        return f"{number.model}, {QUESTIONS[number.question_type]}, {METHOD_NAMES[number.method]}"

    return beside.failing(cells, lambda rows: map(where, rows.itertuples()), how)
