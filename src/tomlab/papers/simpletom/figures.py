"""SimpleToM's figures: Fig. 3, 4 (with 11 and 12) and 13, and what the paper tells without one.

Beyond the paper's figures: the gap between explicit and applied theory of mind, the judgment
wordings of App. F and the interventions of Tables 3 to 5. Each public function is one figure. It
takes the metrics table of a run (see `tomlab.records.tidy`; InputError: one without SimpleToM) and
returns the figure and its caption, whose numbers are computed. Source: Gu et al. (2024); `tables`.
"""

from dataclasses import replace
from itertools import cycle
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tomlab.benchmarks.simpletom.paper import METHOD_NAMES, WORDING
from tomlab.papers.simpletom import tables as numbers
from tomlab.papers.simpletom.tables import PRIMARY, QUESTIONS, TOTAL, WORDS
from tomlab.reporting import beside, charts, plotting, printed
from tomlab.reporting.beside import demand_level, demand_metric
from tomlab.reporting.plotting import Look

LOOKS, FAILURES, INTERVENTIONS = map(plotting.described, WORDS["looks"].values())
CHANCE = WORDS["chance"]["accuracy"]
CHANCE_BY_WORDING = {"three-way": 1 / 3}
# App. F: with the wordings that it tried, three models were "never exceeding 30% accuracy".
CEILING = 0.3
CEILING_MODELS = ["Llama-3.1-405B", "Claude-3.5-Sonnet", "GPT-4o"]
BY_MODEL = {"extra": 1.5, "columns": 3}  # of figures with a panel a model
WRAP = 24  # characters of a row's label
PAIRED = ("paper, printed numbers", "this run, paired 95 % interval")
EXPLICIT, APPLIED = PRIMARY[0], PRIMARY[1:]


def figure3(metrics: pd.DataFrame, method: str = "none") -> tuple[Figure, str]:
    """Figure 3: the first question of a story that fails, as shares of stories, by model.

    InputError: no first failures by `method`.
    """
    rows = _rows(metrics, "first_failure", method).query("part == ''")
    positions = plotting.row_positions({"": list(rows["model"].unique())})
    rows = rows.assign(y=rows["model"].map(positions[""]), panel="")
    size = {"row_height": 0.26, "extra": 1.0}
    told = {"name": "Figure 3", "by": ""}
    return _failures(rows, positions, metrics, method, told, **size)


def figure13(metrics: pd.DataFrame, method: str = "none") -> tuple[Figure, str]:
    """Figure 13: the first question that fails by scenario, one panel a model.

    InputError: no first failures by `method`.
    """
    rows, positions, titles = _by_scenario(_rows(metrics, "first_failure", method))
    rows = rows.assign(panel=rows["model"].map(titles))
    least = 0.06 if len(titles) == 1 else 0.17  # what has room for its number
    size = {"least": least, "empty": "not asked", "row_height": 0.3, **BY_MODEL}
    told = {"name": "Figure 13", "by": " by scenario"}
    return _failures(rows, positions, metrics, method, told, **size)


def figure4(metrics: pd.DataFrame, method: str = "none") -> tuple[Figure, str]:
    """Figures 4, 11 and 12: accuracy by scenario and question type, one panel a model.

    InputError: no accuracies by `method`.
    """
    rows = _rows(metrics, "accuracy", method).query("variant == ''")
    rows, positions, titles = _by_scenario(rows)
    looks = {name: look for name, look in LOOKS.items() if name in set(rows["question_type"])}
    shown = ("model", titles), ("question_type", looks), "Accuracy (share correct)", WORDING.groups
    chance = f"chance ({printed.share(CHANCE)})"
    how = {"lines": {"dashed": (CHANCE, chance)}, "empty": "not asked", "legend_columns": 6}
    figure = charts.dots(rows, positions, *shown, **how, row_height=0.34, **BY_MODEL)
    told = {"questions": ", ".join(look.label for look in looks.values())}
    about = WORDS["figure4"].format(**told, method=METHOD_NAMES.get(method, method))
    run = numbers.run_sentences(rows, metrics, "answers a point")
    grey = beside.grey(rows, WORDING.groups)
    return figure, " ".join([about, *run, f"Dashed line: {chance}.", *grey])


def gap(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Explicit minus applied accuracy by model (no figure of the paper; Table 2's differences)."""
    cells = numbers.of_paper("table2_main")
    explicit = cells[cells["question_type"] == EXPLICIT]
    applied = cells[cells["question_type"].isin(APPLIED)]
    paper = _difference(applied, explicit, on="model")
    run = numbers.of_run(metrics).query("metric == 'gap' and method == 'none' and part == ''")
    points = pd.concat([paper.assign(value=-paper["value"]), run], ignore_index=True)
    titles = {question: f"mental state − {question}" for question in APPLIED}
    looks = {question: replace(LOOKS[question], dodge=0) for question in APPLIED}
    series, axis = ("question_type", looks), "Difference of accuracies (shares)"
    how = {"legend": {}, "row_height": 0.24}
    return _differences("gap", metrics, ["table2_main"], points, titles, series, axis, **how)


def wordings(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """App. F: judgment accuracy by wording of the question and its options, one panel a model.

    InputError: no judgment accuracies without intervention.
    """
    rows = _rows(metrics, "accuracy").query("question_type == 'judgment' and part == ''")
    rows = rows[rows["variant"].ne("") | rows["method"].eq("none")]
    demand_metric(rows, "simpletom", "accuracy on judgment")
    rows = rows.assign(chance=rows["variant"].map(CHANCE_BY_WORDING).fillna(CHANCE))
    found = beside.known_first(WORDS["wordings"], rows["variant"])
    labels = {variant: WORDS["wordings"].get(variant, variant) for variant in found}
    rows, positions, titles = _in_model_panels(rows, "variant", labels)
    levels = " or ".join(printed.share(level) for level in sorted(rows["chance"].unique()))
    ceiling = f"paper: {len(CEILING_MODELS)} models, never above {printed.share(CEILING)}"

    def lines(axes: Axes, own: pd.DataFrame) -> None:
        plotting.chance_in_rows(axes, own.set_index("y")["chance"], "dashed")
        plotting.reference_line(axes, CEILING, "dotted", "ceiling")

    named = {f"chance ({levels})": "dashed", ceiling: "dotted"}
    named = {name: plotting.line_handle(dash) for name, dash in named.items()}
    how = {"empty": "not asked", "legend": plotting.source_handles(rows) | named, **BY_MODEL}
    look = {"judgment": replace(LOOKS["judgment"], dodge=0)}
    shown = ("model", titles), ("question_type", look), "Judgment accuracy", WORDING.groups
    figure = charts.dots(rows, positions, *shown, also=lines, row_height=0.3, **how)
    run = numbers.run_sentences(rows, metrics, "answers a point")
    told = {"levels": levels, "models": ", ".join(CEILING_MODELS), "ceiling": 100 * CEILING}
    about = WORDS["wordings_figure"].format(wordings=", ".join(labels.values()))
    grey = beside.grey(rows, WORDING.groups)
    return figure, " ".join([about, *run, WORDS["wordings_lines"].format(**told), *grey])


def interventions(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """What each intervention of Sec. 5.3 adds to the accuracy on behavior and judgment, by model.

    Tables 3 to 5 print the accuracies; their differences are drawn.
    """
    tables = ["table3_ms_remind", "table4_system_prompt", "table5_cot"]
    paper = pd.concat([_deltas_of_paper(table) for table in tables], ignore_index=True)
    run = numbers.of_run(metrics).query("metric == 'delta' and part == ''")
    run = run[run["question_type"].isin(APPLIED)]
    points = pd.concat([paper, run], ignore_index=True)
    looks = _intervention_looks(beside.known_first(METHOD_NAMES, points["method"]))
    titles = {question: QUESTIONS[question] for question in APPLIED}
    series, axis = ("method", looks), "Change in accuracy (shares)"
    how = {"legend": plotting.dot_handles(looks), "row_height": 0.07 * len(looks), "extra": 1.8}
    return _differences("interventions", metrics, tables, points, titles, series, axis, **how)


# ---- the numbers ---------------------------------------------------------------------------------


def _rows(metrics: pd.DataFrame, metric: str, method: str | None = None) -> pd.DataFrame:
    """This run's rows of a metric, by all methods or by one."""
    rows = numbers.of_run(metrics)
    rows = demand_metric(rows[rows["metric"] == metric], "simpletom", metric)
    if method is None:
        return rows
    demand_level("method", method, rows["method"])
    return rows[rows["method"] == method]


def _difference(cells: pd.DataFrame, base: pd.DataFrame, on: str | list[str]) -> pd.DataFrame:
    """Published `cells` minus `base`, in shares; marked where either number is."""
    both = cells.merge(base, on=on, suffixes=("", "_base"))
    reason = both["reason"].where(both["reason"] != "", both["reason_base"])
    mark = both["mark"].where(both["mark"] != "", both["mark_base"])
    value = ((both["value"] - both["value_base"]) / 100).round(3)  # printed with three digits
    kept = both.assign(value=value, mark=mark, reason=reason, ci_low=None, ci_high=None)
    return kept[[name for name in kept if not name.endswith("_base")]]


def _deltas_of_paper(table: str) -> pd.DataFrame:
    cells = numbers.of_paper(table).query("question_type in @APPLIED")
    base = cells[cells["method"] == "none"]
    return _difference(cells.drop(base.index), base, on=["model", "question_type"])


# ---- drawing -------------------------------------------------------------------------------------


def _by_scenario(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series, dict[str, str]]:
    """As `_in_model_panels`, by scenario and for all stories; severities are left out."""
    rows = rows.assign(part=rows["part"].replace("", TOTAL))
    rows = rows[~rows["part"].str.startswith("severity ")]
    scenarios = numbers.in_scenario_order(rows["part"])
    return _in_model_panels(rows, "part", dict(zip(scenarios, scenarios, strict=True)))


def _in_model_panels(
    rows: pd.DataFrame, level: str, labels: dict[str, str]
) -> tuple[pd.DataFrame, pd.Series, dict[str, str]]:
    """Rows with the y of their `level`, the positions, and a panel's title by model."""
    positions = plotting.row_positions({"": [fill(label, WRAP) for label in labels.values()]})
    y = dict(zip(labels, positions, strict=True))
    titles = {model: fill(model, WRAP) for model in rows["model"].unique()}
    return rows.assign(y=rows[level].map(y)), positions, titles


def _failures(
    rows: pd.DataFrame, positions: pd.Series, metrics: pd.DataFrame, method: str, told: dict, **size
) -> tuple[Figure, str]:
    """First failures as stacked bars, which can't show intervals; `rows` have their y and panel."""
    wide = rows.pivot(index=["panel", "y"], columns="question_type", values="value")
    wide = wide.reindex(columns=list(FAILURES)).fillna(0)
    shares = {panel: wide.loc[panel] for panel in rows["panel"].unique()}
    n = rows.groupby(["panel", "y"])[["n", "n_groups"]].apply(printed.counts)
    n = {panel: n.loc[panel] for panel in shares}
    shown = "Share of stories", n, WORDING.groups
    grey = charts.grey_bars(rows)
    figure = charts.bars(shares, positions, FAILURES, *shown, grey=grey, **size)
    about = WORDS["failures"].format(**told, method=METHOD_NAMES.get(method, method))
    run = numbers.run_sentences(rows, metrics, "stories a bar", "intervals that are not drawn")
    once = [] if method == "none" else [WORDS["once"]]
    return figure, " ".join([about, *once, *run, *beside.grey(rows, WORDING.groups)])


def _differences(
    name: str, metrics: pd.DataFrame, tables: list[str], points: pd.DataFrame, titles, *how, **named
) -> tuple[Figure, str]:
    """Differences of the paper's `tables` and of this run, with a panel an applied question.

    `how` and `named`: the series, the axis and more of `charts.dots`.
    """
    points, positions = beside.in_rows(points)
    named["legend"] |= plotting.source_handles(points, *PAIRED)
    shown = ("question_type", titles), *how, WORDING.groups
    figure = charts.dots(points, positions, *shown, is_difference=True, **named)
    about = [WORDS[name].format(applied=" and on ".join(APPLIED)), WORDS["differences"]]
    unit, interval = "pairs of answers a point", "paired intervals"
    run = numbers.run_sentences(points, metrics, unit, interval)
    marked = numbers.failing(points, "rests on a number that fails a check")
    marked += beside.grey(points, WORDING.groups)
    return figure, " ".join([*about, *run, numbers.paper_sentence(tables), *marked])


def _intervention_looks(methods: list[str]) -> dict[str, Look]:
    """Marker and colour of each method; dodged so that all stand within one row."""
    spare = cycle(look for name, look in INTERVENTIONS.items() if name not in METHOD_NAMES)
    looks = {}
    for place, method in enumerate(methods):
        look = INTERVENTIONS.get(method) or next(spare)
        dodge = (place - (len(methods) - 1) / 2) * (0.84 / len(methods))
        looks[method] = replace(look, label=METHOD_NAMES.get(method, method), dodge=dodge)
    return looks
