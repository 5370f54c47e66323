"""FANToM's Tables 1 to 4, 8 and 9 and the counts of Sec. 3.5, this run's beside the paper's.

Each public `table…` and `dataset_counts` is one table. It takes the metrics table of a run (see
`tomlab.records.tidy`; InputError: one without FANToM), or counts, and computes every number in its
caption and notes. Percentages have one decimal, as in the paper. Source: Kim et al. (2023), and
`tomlab.records.published` for printed values.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pandas as pd

from tomlab.asking.techniques import TECHNIQUES
from tomlab.benchmarks.fantom.items.sets import SCENARIOS
from tomlab.benchmarks.fantom.metrics import split_condition
from tomlab.benchmarks.fantom.paper import COPIED, METRIC_NAMES, PUBLICATION
from tomlab.errors import InputError
from tomlab.records.files import yaml_beside
from tomlab.reporting import beside, printed
from tomlab.reporting.beside import demand_level, in_order
from tomlab.reporting.printed import ABSENT, PAPER, RUN

PROMPTING = {"none": "", "cot": " + CoT", "ft": " + FT"}
PROMPTING |= {name: f" + {name}" for name in TECHNIQUES}
# What fits above one of twelve columns.
_SHORTER = {"AnswerabilityQ": "Answ.", "InfoAccessQ": "Access", "Q ": " ", r"token |\[|\]": ""}
_SHORT = pd.Series(METRIC_NAMES).replace(_SHORTER, regex=True)
# The plain mean that the paper prints as Dist., beside the pooled one of the released code.
_MEAN = {"orders:mean": "Belief Dist. mean"}
HEADS = _SHORT[:"belief_dist"].to_dict() | _MEAN | _SHORT["belief_f1":].to_dict()
WORDS = yaml_beside(__file__, "words.yaml")
STATISTICS = WORDS["statistics"]
ITEMS = WORDS["items"] | METRIC_NAMES
_NAMES = METRIC_NAMES | WORDS["characters"] | WORDS["orders"]
# Tables 3 and 4 do not state their context.
_CONTEXT = {"table1_headline": "short", "table2_yn": "short"}
_TIDY = ["source", "context", "model", "prompting", "column", *printed.TIDY_COLUMNS[1:]]
_TIDY += ["ci_method", "reason", "printed_in"]
_COUNTS = "counts of FANToM's sets"


def table1(metrics: pd.DataFrame) -> printed.Table:
    """Table 1: All and the All of both list-and-y/n questions, short context."""
    columns = ["all", "answerability_all", "infoaccess_all"]
    return _short("table1_headline", metrics, columns, "question sets")


def table2(metrics: pd.DataFrame) -> printed.Table:
    """Table 2: weighted F1 on yes/no questions, short context."""
    return _short("table2_yn", metrics, ["answerability_yn", "infoaccess_yn"], "questions")


def table3(metrics: pd.DataFrame) -> printed.Table:
    """Table 3: accuracy and consistency of the answers about a character."""
    return _short("table3_characters", metrics, WORDS["characters"], "characters of question sets")


def table4(metrics: pd.DataFrame) -> printed.Table:
    """Table 4: accuracy on BeliefQ [Dist.] by order of belief.

    The second order twice: as the paper's plain mean of its two kinds, and with questions pooled.
    """
    table = _short("table4_order", metrics, WORDS["orders"], "questions")
    checks = [("table4_order", "second_order_overall"), ("table9_all", "belief_dist_from_orders")]
    checked = [f"Checked: {PUBLICATION.checked(*check)}" for check in checks]
    return replace(table, notes=[*table.notes, WORDS["means"], *checked])


def table9(metrics: pd.DataFrame, scenario: str = "inaccessible") -> printed.Table:
    """Table 9: all twelve scores by context; the paper's rows above this run's in each.

    Beside this run's Dist., which pools questions, stands the plain mean that the paper prints.
    `scenario` accessible is the control task, of which the paper prints nothing. InputError: an
    unknown scenario, or the control task where the run lacks it.
    """
    cells = scores(metrics, scenario)
    labels = {"context": "Context", "model": "Model"}
    shown = beside.layout(_named(cells), labels, HEADS, is_wide=True)
    shown = printed.once(shown, [["Source", "Context"]])
    name = "table9" if scenario == SCENARIOS[0] else "table9_accessible"
    about = notes(cells, metrics, METRIC_NAMES, "sets or questions")
    told = [WORDS["columns"]]
    if scenario == SCENARIOS[0]:
        told.append(f"Checked: {PUBLICATION.checked('table9_all', 'belief_dist_from_orders')}")
    about = [*told, *about]
    return printed.Table(name, cells, shown, WORDS[name], about)


def table8(statistics: pd.DataFrame) -> printed.Table:
    """Table 8: sizes and lengths of ToMi and FANToM, and of the sets of this run.

    `statistics`: a row a number of this run's sets, with columns statistic (see `STATISTICS`),
    value (counts and means) and n (of contexts or turns, of a mean). InputError: a statistic that
    is unknown or there twice.
    """
    beside.demand_known(statistics, {"statistic": list(STATISTICS)}, _COUNTS)
    paper = PUBLICATION.read("table8_statistics").assign(source=PAPER)
    run = statistics.assign(source=RUN, dataset="FANToM, sets of this run")
    forms = run["statistic"].map({"total_questions": "{:,.0f}"}).fillna("{:.1f}\nn = {}")
    text = [form.format(*of) for form, *of in zip(forms, run["value"], run["n"], strict=True)]
    rows = pd.concat([paper, run.assign(value_as_printed=text)]).dropna(subset="value")
    keys = ["dataset", "source"]
    wide = rows.pivot(index=keys, columns="statistic", values="value_as_printed")
    wide = wide.reindex(pd.MultiIndex.from_frame(rows[keys]).unique(), columns=list(STATISTICS))
    names = {"dataset": "Dataset"} | STATISTICS | {"source": "Source"}
    shown = wide.fillna(ABSENT).reset_index()[list(names)].rename(columns=names)
    note = WORDS["thousands"].format(source=PUBLICATION.source("table8_statistics"))
    cells = rows.assign(mark="").reindex(columns=["dataset", "statistic", *printed.TIDY_COLUMNS])
    return printed.Table("table8", cells, shown, WORDS["table8"], [note])


def dataset_counts(counts: pd.DataFrame) -> printed.Table:
    """Sec. 3.5: how many conversations and questions of each kind there are.

    `counts`: a row an item (see `ITEMS`; others keep their name), with columns item, count (this
    run's sets), paper and release; empty where there is none. InputError: an item there twice.
    """
    beside.demand_known(counts, {"item": None}, _COUNTS)
    known = PUBLICATION.read("dataset_counts").set_index("item")
    sources = {"paper": PAPER, "release": "release", "count": RUN}
    shown = pd.DataFrame({"Item": counts["item"].replace(ITEMS)})
    for column, source in sources.items():
        shown[source.capitalize()] = [ABSENT if pd.isna(n) else f"{n:,.0f}" for n in counts[column]]
    is_known = counts["paper"] == counts["item"].map(known["count"])
    as_printed = counts["item"].map(known["count_as_printed"])
    shown["Paper"] = as_printed.where(is_known, shown["Paper"])  # 10K stays 10K
    cells = counts.rename(columns=sources).melt("item", list(sources.values()), "source")
    cells = cells.dropna(subset="value").assign(mark="")
    source = PUBLICATION.source("dataset_counts")
    checked = PUBLICATION.checked("dataset_counts", "all_questions")
    note = [WORDS["released"].format(source=source), WORDS["checked"].format(checked=checked)]
    cells = cells.reindex(columns=["item", *printed.TIDY_COLUMNS])
    return printed.Table("dataset_counts", cells, shown, WORDS["dataset_counts"], note)


# ---- the numbers ---------------------------------------------------------------------------------


def of_run(metrics: pd.DataFrame) -> pd.DataFrame:
    """FANToM's rows of a metrics table, shares as shares, with methods and conditions taken apart.

    Columns added: context and prompting (of the method), those of `metrics.split_condition`, column
    (what names the number in a table), source, mark, reason, printed_in. Without what baselines
    copy, see `beside.without_copies`.
    """
    rows = beside.of_run(metrics, "fantom")
    rows = beside.without_copies(rows, rows["metric"].isin(COPIED)).reset_index(drop=True)
    rows = rows.join(split_condition(rows["condition"]))
    method = rows["method"].str.partition("-")
    return rows.assign(
        context=method[0],
        prompting=method[2].replace("", "none"),
        column=rows["metric"].mask(rows["metric"] == "belief_order", rows["part"]),
    )


def of_paper(table: str) -> pd.DataFrame:
    """A published table in percent; a cell that fails a check has mark and reason."""
    rows = beside.of_paper(PUBLICATION, table)
    rows = rows.rename(columns={"metric": "column", "order": "column"})
    return rows.assign(
        context=rows.get("context", _CONTEXT.get(table, "")),
        column=rows["column"].replace(WORDS["printed_as"]),
        n=rows["model"].map({"Human": _sets_of_people()}),
    )


def scores(metrics: pd.DataFrame, scenario: str = "inaccessible") -> pd.DataFrame:
    """The columns of `HEADS` in percent, by context the paper's above this run's.

    The paper prints the inaccessible scenario alone. InputError: an unknown scenario, or one of
    which neither has a number.
    """
    demand_level("scenario", scenario, SCENARIOS)
    paper = of_paper("table9_all") if scenario == SCENARIOS[0] else of_paper("table9_all").head(0)
    both = beside.stack(_TIDY, paper, _percent(of_run(metrics), list(HEADS), scenario))
    if both.empty:
        raise InputError(f"metrics: no scores of benchmark 'fantom' in scenario {scenario!r}")
    return in_order(both, "context", ["short", "full"])


def _percent(run: pd.DataFrame, columns: list[str], scenario: str) -> pd.DataFrame:
    """This run's numbers of some columns in percent."""
    whole = run["part"].eq("") | run["metric"].eq("belief_order")
    rows = run[run["column"].isin(columns) & run["scenario"].eq(scenario) & whole]
    return beside.percent(rows)


def _sets_of_people() -> int:
    counts = PUBLICATION.read("dataset_counts").set_index("item")["count"]
    return int(counts["human_sets"])


# ---- printed cells -------------------------------------------------------------------------------


def _short(table: str, metrics: pd.DataFrame, columns: Iterable[str], unit: str) -> printed.Table:
    """The layout of Tables 1 to 4: the paper's rows, then this run's with the short context.

    `table` is the published one, `unit` says in words what n counts.
    """
    name, heads = table.partition("_")[0], {column: _NAMES[column] for column in columns}
    run = _percent(of_run(metrics), list(heads), SCENARIOS[0]).query("context == 'short'")
    cells = beside.stack(_TIDY, of_paper(table), run)
    shown = beside.layout(_named(cells), {"model": "Model"}, heads)
    about = notes(cells, metrics, heads, unit)
    about += [] if table in _CONTEXT else [WORDS["no_context"]]
    return printed.Table(name, cells, shown, WORDS[name], about)


def _named(cells: pd.DataFrame) -> pd.DataFrame:
    """The model named with how it was prompted, as in print."""
    return cells.assign(model=cells["model"] + cells["prompting"].replace(PROMPTING))


# ---- sentences -----------------------------------------------------------------------------------


def notes(
    cells: pd.DataFrame, metrics: pd.DataFrame, names: dict[str, str], unit: str
) -> list[str]:
    """Where published numbers are from, what was run, and which numbers fail a check.

    `names` are those of the columns; n counts each `unit`.
    """
    paper = cells[cells["source"] == PAPER]
    about = "The paper prints no numbers of this task."
    if len(paper):
        human = WORDS["human"].format(sets=_sets_of_people())
        human = human if "Human" in set(paper["model"]) else ""
        places = ", ".join(paper["printed_in"].unique())
        about = WORDS["paper"].format(places=places, human=human)
    return [about, *run_sentences(cells, metrics, unit), *_failing(cells, names)]


def run_sentences(
    rows: pd.DataFrame, metrics: pd.DataFrame, unit: str, interval: str = "intervals"
) -> list[str]:
    """Who was run, on how much, with which interval, and how much could not be scored.

    `rows` are of this run, others are left out; n counts each `unit`.
    """
    run, method = rows[rows["source"] == RUN], ["context", "prompting"]
    rates = of_run(metrics).query("metric == 'outcome_rate'")
    rates = rates.merge(run[method].drop_duplicates())
    told = beside.counted(run, unit, "conversations")
    return [
        *beside.run_sentences(run, rates, told, interval, by="conversation"),
        *beside.copied(beside.of_run(metrics, "fantom"), of_run(metrics), WORDS["copied"]),
    ]


def _failing(cells: pd.DataFrame, names: dict[str, str]) -> list[str]:
    """Which published numbers are marked and why; a row marked in all columns is told once."""

    def where(found: pd.DataFrame) -> Iterator[str]:
        rows = found.groupby(["model", "prompting", "context"], sort=False)["column"]
        for (model, prompting, context), own in rows:
            columns = "all columns" if len(own) == len(names) else ", ".join(own.map(names))
            yield f"{model}{PROMPTING[prompting]}{context and f', {context}'} ({columns})"

    reasons = cells.assign(reason=cells["reason"].str.split("; ")).explode("reason")
    return beside.failing(reasons, where)
