"""BigToM's tables: Tables 2 and 7 to 11 and App. F, this run's numbers beside the paper's.

Each public `table…` is one table. It takes the metrics table of a run (see `tomlab.records.tidy`;
InputError: one without BigToM), sets the paper's published numbers beside it, and computes every
number in its caption and notes. `item_tables` has the tables of what is asked. Source: Gandhi et
al. (2023); `tomlab.records.published` reads it.
"""

import re
from itertools import product

import pandas as pd

from tomlab.benchmarks.bigtom.items.compose import METHODS
from tomlab.benchmarks.bigtom.metrics import split_condition
from tomlab.benchmarks.bigtom.paper import PUBLICATION
from tomlab.records.files import yaml_beside
from tomlab.reporting import beside, plotting, printed
from tomlab.reporting.beside import known_first
from tomlab.reporting.printed import PAPER, RUN

WORDS = yaml_beside(__file__, "words.yaml")
VARIABLES = WORDS["variables"]
LOOKS = plotting.described(WORDS["looks"])
CONTROLS = dict(zip(["true_control", "false_control", "control_tb_and_fb"], LOOKS, strict=True))
BELIEF_MARKS, BELIEF_WORDS = "†‡", WORDS["beliefs"]  # without, with
TIDY = ["model", "variable", "contingency", "initial_belief", "method"]
TIDY += [*printed.TIDY_COLUMNS, "ci_method", "reason"]


def table2(metrics: pd.DataFrame) -> printed.Table:
    """Table 2: gpt-4 for each method, and this run's models in the same layout."""
    cells = answered(metrics).query("source == @RUN or model == 'gpt-4'")
    return _by_condition("table2", cells, metrics)


def table7(metrics: pd.DataFrame) -> printed.Table:
    """Table 7: the paper's six models for each method, and this run's in the same layout."""
    return _by_condition("table7", answered(metrics), metrics)


def table8(metrics: pd.DataFrame) -> printed.Table:
    """Table 8: 0-shot controls, where a random event leaves the state as it was."""
    controls = _run(metrics).query("contingency in @CONTROLS and method == '0-shot'")
    controls = controls.assign(contingency=controls["contingency"].map(CONTROLS))
    cells = beside.stack(TIDY, _published("table8_controls"), controls)
    return _by_condition("table8", cells, metrics, "table8_controls")


def table9(metrics: pd.DataFrame) -> printed.Table:
    """Table 9: initial percept to initial belief, 0-shot."""
    published = "table9_percept_to_belief"
    levels = {"variable": "percept_to_belief", "contingency": "true_belief", "initial_belief": 0}
    run = _run(metrics).query("variable == 'percept_to_belief' and method == '0-shot'")
    cells = beside.stack(TIDY, _published(published).assign(**levels), run)
    shown = pd.DataFrame({"Model": cells["model"]})
    shown["0-shot"] = [beside.text_of(number) for number in cells.itertuples()]
    shown["Source"] = cells["source"]
    return printed.Table("table9", cells, shown, WORDS["table9"], _notes(cells, metrics, published))


def table10(by_source: pd.DataFrame, metrics: pd.DataFrame) -> printed.Table:
    """Table 10: is a model better on items of one data source? Accuracy by who wrote the items.

    `by_source`: this run's, as `benchmarks.bigtom.by_source` has it: rows of a metrics table whose
    condition is the data source.
    """
    name = "table10_claude_vs_gpt4"
    run = by_source.assign(data_source=by_source["condition"], source=RUN, mark="", reason="")
    keys = ["model", "data_source", *printed.TIDY_COLUMNS, "ci_method", "reason"]
    cells = beside.stack(keys, beside.of_paper(PUBLICATION, name, "accuracy"), run)
    heads = {level: level for level in cells["data_source"].unique()}
    forms = dict.fromkeys(by_source["condition"], printed.share)
    shown = beside.layout(
        cells, {"model": "Model"}, heads, across="data_source", paper=three_decimals, forms=forms
    )
    checks = [PUBLICATION.checked(name, f"means_on_bigtom_{each}") for each in ("claude", "gpt4")]
    counted = beside.counted(run, "answers to items", "templates")
    rates = beside.rates(metrics, "bigtom", ["0-shot"])
    notes = [WORDS["no_n"].format(source=PUBLICATION.source(name)), *checks]
    notes += beside.run_sentences(run, rates, counted)
    notes += beside.failing(cells, lambda rows: rows["model"] + ", " + rows["data_source"])
    return printed.Table("table10", cells, shown, WORDS["table10"], notes)


def table11(metrics_of_written: pd.DataFrame | None = None) -> printed.Table:
    """Table 11: each method on items that another model wrote, claude-2 in the paper.

    `metrics_of_written`: the metrics table of this run's answers to items that a model wrote, if
    it has such items.
    """
    name = "table11_bigtom_claude"
    cells = answered(metrics_of_written, name)
    return _by_condition("table11", cells, metrics_of_written, name)


def table_circularity(regression: pd.DataFrame | str) -> printed.Table:
    """App. F: does the model that wrote the items have an advantage? Paper beside this run.

    `regression`: one row a term, as `benchmarks.bigtom.circularity` returns it: term, b and se
    (log odds), p, n (answers), n_groups (templates); or the reason why this run has none.
    """
    paper = PUBLICATION.read("circularity_regression").assign(source=PAPER)
    frames, note = [paper], f"This run: no regression; {regression}."
    if not isinstance(regression, str):
        frames.append(regression.assign(source=RUN))
        n, groups = printed.span(regression["n"]), printed.span(regression["n_groups"])
        note = WORDS["circularity_run"].format(n=n, groups=groups)
    columns = ["source", "term", "b", "se", "p_relation", "p", "n", "n_groups"]
    rows = pd.concat(frames, ignore_index=True).reindex(columns=columns)
    rows["kind"], rows["level"] = zip(*rows["term"].map(_term), strict=True)
    rows = beside.in_order(rows, "kind", WORDS["terms"])
    bounds = rows["p_relation"] == "<"
    shown = rows[["kind", "level"]].set_axis(["Term", "Level"], axis=1)
    shown["b"], shown["SE"] = rows["b"].map(printed.signed), rows["se"].map(printed.signed)
    shown["p"] = list(map(printed.p_value, rows["p"], bounds))
    counts = map(printed.n_of, rows["n"], rows["n_groups"])
    shown["n"] = [count or printed.ABSENT for count in counts]
    shown = printed.once(shown.assign(Source=rows["source"]), [["Term"]])
    source = PUBLICATION.source("circularity_regression")
    notes = [WORDS["circularity_paper"].format(source=source), note]
    tidy = _tidy(rows)
    return printed.Table("circularity", tidy, shown, WORDS["circularity"], notes)


# ---- the numbers ---------------------------------------------------------------------------------


def answered(metrics: pd.DataFrame | None, table: str = "table7_models") -> pd.DataFrame:
    """All TB, FB and TB ∧ FB numbers of the three inferences: a published table's and this run's,
    if it has any.
    """
    frames = [_published(table)]
    if metrics is not None:
        frames.append(_run(metrics).query("variable in @VARIABLES and contingency in @LOOKS"))
    return beside.stack(TIDY, *frames)


def _run(metrics: pd.DataFrame) -> pd.DataFrame:
    """This run's numbers by condition, keyed as the published tables are."""
    rows = beside.of_run(metrics, "bigtom").query("metric in ['accuracy', 'tb_and_fb']")
    rows = rows.join(split_condition(rows["condition"])).dropna(subset="variable")
    return rows.astype({"initial_belief": int})


def _published(table: str) -> pd.DataFrame:
    rows, n = beside.of_paper(PUBLICATION, table, "accuracy"), _templates(table)["count"]
    return rows.assign(n=n, n_groups=n)


def _templates(table: str) -> pd.Series:
    """How many templates (count) a published table is of, and the place that says so. There is one
    item of each condition a template, so that is n of each of its numbers.
    """
    counts = PUBLICATION.read("dataset_counts").query("unit == 'templates'").set_index("dataset")
    return counts.loc["BigToM-Claude" if table == "table11_bigtom_claude" else "BigToM-gpt4"]


def _tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each b of a regression, with its 95 % Wald interval, and one for each p."""
    half = 1.96 * rows["se"]
    b = rows.drop(columns="p_relation").assign(statistic="b", value=rows["b"])
    b = b.assign(ci_low=rows["b"] - half, ci_high=rows["b"] + half)
    both = pd.concat([b, rows.assign(statistic="p", value=rows["p"])]).assign(mark="")
    return beside.stack(["term", "statistic", "p_relation", *printed.TIDY_COLUMNS], both)


# ---- printed cells -------------------------------------------------------------------------------


def _by_condition(
    name: str, cells: pd.DataFrame, metrics: pd.DataFrame | None, table: str = "table7_models"
) -> printed.Table:
    """The layout of Tables 2, 7, 8, 11: rows model, condition, contingency; a column a method."""
    methods = known_first(METHODS, cells["method"])
    rows = []
    for (source, model), of_model in cells.groupby(["source", "model"], sort=False):
        for variable, contingency in product(VARIABLES, LOOKS):
            row = of_model.query("variable == @variable and contingency == @contingency")
            if row.empty:
                continue
            labels = {"Model": model, "Condition": VARIABLES[variable][1]}
            labels["Contingency"] = LOOKS[contingency].label
            pairs = {method: _pair(row[row["method"] == method]) for method in methods}
            rows.append({**labels, **pairs, "Source": source})
    shown = printed.once(pd.DataFrame(rows), [["Source", "Model"], ["Condition"]])
    caption = WORDS[name].format(legend=WORDS["legend"])
    return printed.Table(name, cells, shown, caption, _notes(cells, metrics, table))


def three_decimals(value: float) -> str:
    """A number as Tables 3 and 10 print it: "0.675", "−0.254"."""
    return f"{value:.3f}".replace("-", "−")


def _pair(numbers: pd.DataFrame) -> str:
    """A cell: a number without (†) and with (‡) initial belief; in lines where there is more."""
    marks = numbers["mark"] + numbers["initial_belief"].map(dict(enumerate(BELIEF_MARKS)))
    ordered = numbers.assign(mark=marks).sort_values("initial_belief").itertuples()
    texts = [beside.text_of(each) for each in ordered]
    if len({text.partition("\n")[2] for text in texts}) == 1:  # the same n, said once
        texts[:-1] = [text.partition("\n")[0] for text in texts[:-1]]
    gap = "\n" if numbers["ci_low"].notna().any() else " "
    return gap.join(texts) or printed.ABSENT


def _term(term: str) -> tuple[str, str]:
    """A term's name in App. F's words and its levels, from "model[T.gpt-4]:source[T.authored]"."""
    level = r"\[T\.(.*?)\](?=:|$)"  # a level may hold a colon itself
    bare = re.sub(level, "", term)
    intercept, source, model, both = WORDS["terms"]
    names = {(True, False): source, (False, True): model, (True, True): both}
    kind = names.get(("source" in bare, "model" in bare), intercept)
    return kind, " × ".join(re.findall(level, term)) or printed.ABSENT


# ---- sentences -----------------------------------------------------------------------------------


def _notes(cells: pd.DataFrame, metrics: pd.DataFrame | None, table: str) -> list[str]:
    run = [WORDS["none_written"]] if metrics is None else run_sentences(cells, metrics)
    return [paper_sentence(cells, table), *run, *failing(cells)]


def paper_sentence(cells: pd.DataFrame, table: str) -> str:
    """Where published numbers are from, and that no interval and no n is known."""
    source = PUBLICATION.source(table)
    if not cells["source"].eq(PAPER).any():
        return f"{source}, has no such numbers."
    known = _templates(table)
    return WORDS["paper"].format(source=source, n=known["count"], place=known["place"])


def run_sentences(cells: pd.DataFrame, metrics: pd.DataFrame) -> list[str]:
    """Who was run, on how much, with which interval, and how much could not be scored."""
    run = cells[cells["source"] == RUN]
    both = run[run["contingency"] == "tb_and_fb"]
    single = run.drop(both.index)
    parts = [beside.counted(single, "answers to items", "templates")] if len(single) else []
    parts += [f"for TB ∧ FB n = {printed.span(both['n'])} pairs"] if len(both) else []
    rates = beside.rates(metrics, "bigtom", run["method"])
    return beside.run_sentences(run, rates, ", ".join(parts))


def failing(cells: pd.DataFrame) -> list[str]:
    """One sentence a reason why published numbers are marked, and which they are."""

    def where(number) -> str:
        condition, contingency = VARIABLES[number.variable][1], LOOKS[number.contingency].label
        belief = BELIEF_WORDS[number.initial_belief]
        return f"{number.model}, {condition}, {contingency}, {number.method}, {belief}"

    return beside.failing(cells, lambda rows: map(where, rows.itertuples()))
