"""FANToM's tables: Tables 1 to 4, 8 and 9 and the counts of Sec. 3.5, this run's beside the paper's.

Each public `table…` and `dataset_counts` is one table. It takes the metrics table of a run (see
`tomlab.tables`), or counts, and computes every number in its caption and notes. Percentages have
one decimal, as in the paper. Source: Kim et al. (2023), and `tomlab.records.published` for printed values.
"""

import pandas as pd

from tomlab.benchmarks.fantom.paper import PUBLICATION
from tomlab.benchmarks.fantom.sets import SCENARIOS
from tomlab.errors import InputError, refuse
from tomlab.papers.fantom import audit as own_audit
from tomlab.reporting import audit
from tomlab.reporting import printed as report
from tomlab.reporting.plotting import MARK
from tomlab.reporting.printed import ABSENT, PAPER, RUN

CONTEXTS = ("short", "full")
METHODS = {"short": "short", "short-cot": "short + CoT", "full": "full", "full-cot": "full + CoT"}
PROMPTING = {"none": "", "cot": " + CoT", "ft": " + FT"}
# The twelve columns of Table 9, in its order.
NAMES = {
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
# What fits above one of twelve columns.
_SHORTER = {"AnswerabilityQ": "Answ.", "InfoAccessQ": "Access", "Q ": " ", r"token |\[|\]": ""}
HEADS = pd.Series(NAMES).replace(_SHORTER, regex=True).to_dict()
CHARACTERS = {"all_characters": "All for each character", "consistency": "Answer consistency"}
ORDERS = {
    "first-order": "First order",
    "second-order": "Second order",
    "second-order:cyclic": "cyclic",
    "second-order:acyclic": "acyclic",
}
STATISTICS = {
    "total_questions": "Questions",
    "avg_questions_per_context": "Questions a context",
    "avg_turns_partial": "Turns, short context",
    "avg_turns_full": "Turns, full context",
    "avg_turn_length": "Words a turn",
}
ITEMS = {
    "conversations": "Conversations",
    "sets": "Question sets",
    **NAMES,
    "fact": "FactQ",
    "identical_fact_answers": "FactQ, right and wrong answer alike",
    "all_questions": "All questions",
    "human_sets": "Sets that people solved",
}
# What the published tables call otherwise than the metrics of a run.
_PRINTED_AS = {
    "belief_token_f1": "belief_f1",
    "fact_token_f1": "fact_f1",
    "all_for_each_character": "all_characters",
    "answer_consistency": "consistency",
    "first": "first-order",
    "second_overall": "second-order",
    "second_cyclic": "second-order:cyclic",
    "second_acyclic": "second-order:acyclic",
}
# Tables 3 and 4 do not state their context.
_CONTEXT = {"table1_headline": "short", "table2_yn": "short"}
_KEYS = ["source", "context", "model", "prompting"]
_TIDY = [*_KEYS, "column", *report.TIDY_COLUMNS[1:], "ci_method", "reason", "printed_in"]
_BESIDE = "The paper's numbers are on its own question sets, this run's on the sets it asked."


def table1(metrics: pd.DataFrame) -> report.Table:
    """Table 1: All and the All of both list-and-y/n questions, short context.

    InputError: metrics without FANToM.
    """
    what = "percent of question sets that are right as a whole, short context"
    columns = ["all", "answerability_all", "infoaccess_all"]
    heads = {column: NAMES[column] for column in columns}
    return _short("table1", metrics, "table1_headline", heads, what, "question sets")


def table2(metrics: pd.DataFrame) -> report.Table:
    """Table 2: weighted F1 on yes/no questions, short context. InputError: as `table1`."""
    what = "weighted F1 in percent on the yes/no questions, short context"
    heads = {column: NAMES[column] for column in ("answerability_yn", "infoaccess_yn")}
    return _short("table2", metrics, "table2_yn", heads, what, "questions")


def table3(metrics: pd.DataFrame) -> report.Table:
    """Table 3: accuracy and consistency of the answers about a character. InputError: as `table1`."""
    what = "accuracy and consistency in percent of the answers about each character"
    unit = "characters of question sets"
    return _short("table3", metrics, "table3_characters", CHARACTERS, what, unit)


def table4(metrics: pd.DataFrame) -> report.Table:
    """Table 4: accuracy on BeliefQ [Dist.] by order of belief. InputError: as `table1`."""
    what = "accuracy in percent on BeliefQ [Dist.] by order of belief"
    table = _short("table4", metrics, "table4_order", ORDERS, what, "questions")
    test = own_audit.belief_dist_from_orders
    tables = (PUBLICATION.read(name) for name in ("table9_all", "table4_order"))
    table.notes.append(f"Checked: {test.__doc__} {test(*tables).finding}.")
    return table


def table9(metrics: pd.DataFrame, scenario: str = "inaccessible") -> report.Table:
    """Table 9: all twelve scores by context; the paper's rows above this run's in each.

    `scenario` accessible is the control task, of which the paper prints nothing. InputError:
    metrics without FANToM, an unknown scenario, or the control task where the run lacks it.
    """
    cells = scores(metrics, scenario)
    labels = {"context": "Context", "model": "Model"}
    printed = report.once(_printed(cells, HEADS, labels, is_wide=True), [["Source", "Context"]])
    is_control = scenario != SCENARIOS[0]
    task = "has the information (control task)" if is_control else "lacks the information"
    caption = f"FANToM, Table 9: scores in percent where person X {task}, by context."
    columns = (
        "Answ. = AnswerabilityQ, Access = InfoAccessQ. Choice, Dist. and List: accuracy. Y/N: "
        "weighted F1. F1: token F1, of beliefs over the answers that are right by distance. All of "
        "a kind: sets with all its questions right. All*: sets with all six kinds right. All: with "
        "all but Belief Dist."
    )
    about = [columns, *notes(cells, metrics, NAMES, "sets or questions"), *_n_by_column(cells)]
    name = "table9_accessible" if is_control else "table9"
    return report.Table(name, cells, printed, caption, about)


def table8(statistics: pd.DataFrame) -> report.Table:
    """Table 8: sizes and lengths of ToMi and FANToM, and of the sets of this run.

    `statistics`: a row a number of this run's sets, with columns statistic (see `STATISTICS`) and
    value (counts and means). InputError: a statistic that is unknown or there twice.
    """
    _demand_unique(statistics, "statistic", list(STATISTICS))
    paper = PUBLICATION.read("table8_statistics").assign(source=PAPER)
    run = statistics.assign(source=RUN, dataset="FANToM, sets of this run")
    form = {"total_questions": "{:,.0f}"}
    text = [form.get(row.statistic, "{:.1f}").format(row.value) for row in run.itertuples()]
    rows = pd.concat([paper, run.assign(value_as_printed=text)], ignore_index=True)
    rows = rows.dropna(subset="value")
    wide = rows.pivot(index=["dataset", "source"], columns="statistic", values="value_as_printed")
    wide = wide.reindex(index=pd.MultiIndex.from_frame(rows[["dataset", "source"]]).unique())
    wide = wide.reindex(columns=list(STATISTICS)).fillna(ABSENT)
    printed = {"Dataset": wide.index.get_level_values("dataset")}
    printed |= {STATISTICS[name]: list(wide[name]) for name in wide}
    printed = pd.DataFrame(printed | {"Source": wide.index.get_level_values("source")})
    caption = "FANToM, Table 8: number of questions, and mean lengths of conversations."
    source = PUBLICATION.source("table8_statistics")
    note = f"Paper: {source}, which prints totals in thousands (K)."
    cells = rows.assign(mark="").reindex(columns=["dataset", "statistic", *report.TIDY_COLUMNS])
    return report.Table("table8", cells, printed, caption, [note])


def dataset_counts(counts: pd.DataFrame) -> report.Table:
    """Sec. 3.5: how many conversations and questions of each kind there are.

    `counts`: a row an item (see `ITEMS`; others keep their name), with columns item, count (this
    run's sets), paper and release; empty where there is none. InputError: an item there twice.
    """
    _demand_unique(counts, "item")
    known = PUBLICATION.read("dataset_counts").set_index("item")
    sources = {"paper": PAPER, "release": "release", "count": RUN}
    printed = pd.DataFrame({"Item": counts["item"].replace(ITEMS)})
    for column, source in sources.items():
        printed[source.capitalize()] = [
            ABSENT if pd.isna(n) else f"{n:,.0f}" for n in counts[column]
        ]
    is_known = counts["paper"] == counts["item"].map(known["count"])
    as_printed = counts["item"].map(known["count_as_printed"])
    printed["Paper"] = as_printed.where(is_known, printed["Paper"])  # 10K stays 10K
    cells = counts.rename(columns=sources).melt("item", list(sources.values()), "source")
    cells = cells.dropna(subset="value").assign(mark="")
    test = own_audit.all_questions
    tables = (PUBLICATION.read(name) for name in ("dataset_counts", "table8_statistics"))
    source = PUBLICATION.source("dataset_counts")
    note = [
        f"Paper: {source}. Release: counted in the released file.",
        f"Checked of the paper's counts: {test.__doc__} {test(*tables).finding}.",
    ]
    cells = cells.reindex(columns=["item", *report.TIDY_COLUMNS])
    caption = "FANToM, Sec. 3.5: conversations, question sets and questions of each kind."
    return report.Table("dataset_counts", cells, printed, caption, note)


# ---- the numbers ---------------------------------------------------------------------------------


def of_run(metrics: pd.DataFrame) -> pd.DataFrame:
    """FANToM's rows of a metrics table, shares as shares, with methods and conditions taken apart.

    Columns added: context and prompting (of the method), scenario, part (of the condition, "" for
    a scenario as a whole), column (what names the number in a table), source, mark, reason.
    """
    rows = report.of_benchmark(metrics, "fantom")
    method, condition = rows["method"].str.partition("-"), rows["condition"].str.partition("/")
    return rows.assign(
        context=method[0],
        prompting=method[2].replace("", "none"),
        scenario=condition[0],
        part=condition[2],
        column=rows["metric"].mask(rows["metric"] == "belief_order", condition[2]),
        source=RUN,
        mark="",
        reason="",
    )


def of_paper(table: str) -> pd.DataFrame:
    """A published table in percent; a cell that fails a check has mark and reason."""
    rows = PUBLICATION.read(table).rename(columns={"metric": "column", "order": "column"})
    reason = audit.suspicious("fantom", table)["reason"].reindex(rows.index).fillna("").astype(str)
    return rows.assign(
        source=PAPER,
        context=rows.get("context", _CONTEXT.get(table, "")),
        column=rows["column"].replace(_PRINTED_AS),
        n=rows["model"].map({"Human": _published_count("human_sets")}),
        mark=reason.ne("").map({True: MARK, False: ""}),
        reason=reason,
        printed_in=PUBLICATION.source(table),
    )


def scores(metrics: pd.DataFrame, scenario: str = "inaccessible") -> pd.DataFrame:
    """The twelve scores of Table 9 in percent, by context the paper's above this run's.

    The paper prints the inaccessible scenario alone. InputError: an unknown scenario, or one of
    which neither has a number.
    """
    if scenario not in SCENARIOS:
        raise InputError(f"scenario: found {scenario!r}, expected one of: {', '.join(SCENARIOS)}")
    paper = of_paper("table9_all") if scenario == SCENARIOS[0] else of_paper("table9_all").head(0)
    both = _stack(paper, _percent(of_run(metrics), list(NAMES), scenario))
    if both.empty:
        raise InputError(f"metrics: no scores of benchmark 'fantom' in scenario {scenario!r}")
    rank = both["context"].map({context: place for place, context in enumerate(CONTEXTS)})
    return both.iloc[rank.argsort(kind="stable")].reset_index(drop=True)


def _percent(run: pd.DataFrame, columns: list[str], scenario: str) -> pd.DataFrame:
    """This run's numbers of some columns in percent."""
    whole = run["part"].eq("") | run["metric"].eq("belief_order")
    rows = run[run["column"].isin(columns) & run["scenario"].eq(scenario) & whole]
    numbers = ("value", "ci_low", "ci_high")
    return rows.assign(**{name: (100 * rows[name]).round(6) for name in numbers})


def _stack(*frames: pd.DataFrame) -> pd.DataFrame:
    cells = pd.concat([frame.reindex(columns=_TIDY) for frame in frames], ignore_index=True)
    return cells.astype({"n": "Int64", "n_groups": "Int64"})


def _published_count(item: str) -> int:
    return int(PUBLICATION.read("dataset_counts").set_index("item").loc[item, "count"])


def _demand_unique(rows: pd.DataFrame, column: str, known: list[str] | None = None) -> None:
    twice = rows.loc[rows[column].duplicated(), column]
    other = rows.loc[~rows[column].isin(known), column] if known else []
    problems = [f"{column} {name!r} is there twice" for name in twice]
    problems += [f"{column}: found {name!r}, expected one of: {', '.join(known)}" for name in other]
    refuse(problems, "counts of FANToM's sets")


# ---- printed cells -------------------------------------------------------------------------------


def _short(
    name: str, metrics: pd.DataFrame, table: str, heads: dict[str, str], what: str, unit: str
) -> report.Table:
    """The layout of Tables 1 to 4: the paper's rows, then this run's with the short context.

    `heads` names the columns, `what` and `unit` say in words what the numbers are and what n counts.
    """
    run = _percent(of_run(metrics), list(heads), SCENARIOS[0]).query("context == 'short'")
    cells = _stack(of_paper(table), run)
    printed = _printed(cells, heads, {"model": "Model"})
    caption = f"FANToM, Table {name.removeprefix('table')}: {what}."
    about = notes(cells, metrics, heads, unit)
    if table not in _CONTEXT:
        about.append("The paper does not name the context of this table; this run's is short.")
    return report.Table(name, cells, printed, caption, about)


def _printed(
    cells: pd.DataFrame, heads: dict[str, str], labels: dict[str, str], is_wide: bool = False
) -> pd.DataFrame:
    """Rows as they come by `labels`; a column each of `heads`; n and source last.

    Wide tables have each interval below its number, and no n.
    """
    text = [
        report.cell(cell.value, cell.ci_low, cell.ci_high, cell.mark, report.one_decimal)
        for cell in cells.itertuples()
    ]
    text = [cell.replace(" [", "\n[") for cell in text] if is_wide else text
    rows = pd.MultiIndex.from_frame(cells[_KEYS]).unique()
    wide = cells.assign(text=text).pivot(index=_KEYS, columns="column", values="text")
    wide = wide.reindex(index=rows, columns=list(heads)).fillna(ABSENT)
    keys = rows.to_frame(index=False)
    keys["model"] += keys["prompting"].replace(PROMPTING)
    printed = {label: keys[key] for key, label in labels.items()}
    printed |= {head: list(wide[column]) for column, head in heads.items()}
    if not is_wide:
        printed["n"] = list(cells.groupby(_KEYS)["n"].apply(report.span).reindex(rows))
    return pd.DataFrame(printed | {"Source": keys["source"]})


# ---- sentences -----------------------------------------------------------------------------------


def notes(
    cells: pd.DataFrame, metrics: pd.DataFrame, names: dict[str, str], unit: str
) -> list[str]:
    """Where published numbers are from, what was run, and which numbers fail a check.

    `names` are those of the columns; n counts each `unit`.
    """
    return [paper_sentence(cells), *run_sentences(cells, metrics, unit), *failing(cells, names)]


def paper_sentence(cells: pd.DataFrame) -> str:
    """Where published numbers are from, who the people are, and that no interval is known."""
    paper = cells[cells["source"] == PAPER]
    if paper.empty:
        return "The paper prints no numbers of this task."
    human = f"; Human: student volunteers, {_published_count('human_sets')} sets (§4)"
    return (
        f"Paper: {', '.join(paper['printed_in'].unique())}, which prints no intervals and no n"
        f"{human if 'Human' in set(paper['model']) else ''}. {_BESIDE}"
    )


def run_sentences(
    rows: pd.DataFrame, metrics: pd.DataFrame, unit: str, interval: str = "intervals"
) -> list[str]:
    """Who was run, on how much, with which interval, and how much could not be scored.

    `rows` are of this run, others are left out; n counts each `unit`.
    """
    run = rows[rows["source"] == RUN]
    if run.empty:
        return ["This run has no such answers."]
    models, how = ", ".join(run["model"].unique()), ", ".join(run["ci_method"].unique())
    rates = of_run(metrics).query("metric == 'outcome_rate'")
    asked = pd.MultiIndex.from_frame(run[["context", "prompting"]])
    rates = rates[pd.MultiIndex.from_frame(rates[["context", "prompting"]]).isin(asked)]
    about = (
        f"This run: {models}; n = {report.span(run['n'])} {unit} from "
        f"{report.span(run['n_groups'])} conversations; 95 % {interval} ({how}, by conversation)."
    )
    return [about, *report.unscored(rates)]


def failing(cells: pd.DataFrame, names: dict[str, str]) -> list[str]:
    """One sentence a reason why published numbers are marked, and which they are.

    `names` are those of the columns; a row marked in all of them is told once.
    """
    marked = cells[cells["mark"] != ""]
    marked = marked.assign(reason=marked["reason"].str.split("; ")).explode("reason")
    return [
        f"{MARK} fails a check of the published table ({reason}): "
        + "; ".join(
            _where(key, [names[column] for column in row["column"]], len(names))
            for key, row in found.groupby(["model", "prompting", "context"], sort=False)
        )
        + "."
        for reason, found in marked.groupby("reason", sort=False)
    ]


def _where(row: tuple[str, str, str], columns: list[str], most: int) -> str:
    model, prompting, context = row
    name = f"{model}{PROMPTING[prompting]}" + (f", {context}" if context else "")
    return f"{name} ({'all columns' if len(columns) == most else ', '.join(columns)})"


def _n_by_column(cells: pd.DataFrame) -> list[str]:
    """A sentence a context: n of this run, which differs by column and may differ by model."""
    sentences = []
    for context, run in cells[cells["source"] == RUN].groupby("context", sort=False):
        by_n = run.groupby("column", sort=False)["n"].apply(report.span)
        columns = [column for column in NAMES if column in by_n]
        told = [
            f"{', '.join(HEADS[c] for c in columns if by_n[c] == n)} {n}"
            for n in by_n[columns].unique()
        ]
        sentences.append(f"n of this run, {context} context: {'; '.join(told)}.")
    return sentences
