"""SimpleToM's figures: Fig. 3, 4 (with 11 and 12) and 13, and what the paper tells without one.

Beyond the paper's figures: the gap between explicit and applied theory of mind, the judgment
wordings of App. F and the interventions of Tables 3 to 5. Each public function
is one figure. It takes the metrics table of a run (see `tomlab.records.tables`) and returns the figure and
its caption, whose numbers are computed. Source: Gu et al. (2024), and `tables`.
"""

from itertools import cycle
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tomlab.benchmarks.simpletom.paper import METHOD_NAMES
from tomlab.papers.simpletom import tables as numbers
from tomlab.papers.simpletom.tables import PRIMARY, QUESTIONS, TOTAL
from tomlab.reporting import beside, plotting, printed
from tomlab.reporting.beside import demand_level, demand_metric
from tomlab.reporting.plotting import COLOURS, INK, Look

LOOKS = {
    "mental_state": Look("mental state", COLOURS["blue"], "o", dodge=-0.26),
    "behavior": Look("behavior", COLOURS["orange"], "s"),
    "judgment": Look("judgment", COLOURS["pink"], "D", dodge=0.26),
}
FAILURES = {
    "mental_state": Look("fails at mental state", COLOURS["blue"]),
    "behavior": Look("fails at behavior", COLOURS["orange"], hatch="////"),
    "judgment": Look("fails at judgment", COLOURS["pink"], hatch="...."),
    "none": Look("all three right", COLOURS["green"]),
}
INTERVENTIONS = {
    "ms-remind": ("o", COLOURS["blue"]),
    "sysp": ("v", COLOURS["sky"]),
    "sysp-star": ("^", COLOURS["green"]),
    "cot": ("s", COLOURS["orange"]),
    "cot-star": ("D", COLOURS["red"]),
    "cot-star-ms": ("P", INK),
}
SPARE = [
    ("X", COLOURS["pink"]),
    ("<", COLOURS["brown"]),
    (">", COLOURS["grey"]),
]  # a user's methods
WORDINGS = {
    "": "main wording",
    "generated": "generated option",
    "three-way": "three options",
    "wrong": "“wrong?”",
    "reasonable": "“reasonable?”",
    "wrong-or-reasonable": "“wrong or reasonable?”",
    "next-wrong-or-reasonable": "“Next … wrong or reasonable?”",
}
CHANCE = 0.5  # of two options (Sec. 5.1)
CHANCE_BY_WORDING = {"three-way": 1 / 3}
# App. F: with the wordings that it tried, three models were "never exceeding 30% accuracy".
CEILING = 0.3
CEILING_MODELS = ["Llama-3.1-405B", "Claude-3.5-Sonnet", "GPT-4o"]
COLUMNS = 3  # panels in a line
WRAP = 24  # characters of a row's label
ALONE = "The paper prints no numbers of its figure, so that this run stands alone."
DIFFERENCES = (
    "Hollow points are differences of the paper's numbers, filled ones this run's on the same "
    "stories."
)
PAIRED = ("paper, printed numbers", "this run, paired 95 % interval")
EXPLICIT, APPLIED = PRIMARY[0], PRIMARY[1:]


def figure3(metrics: pd.DataFrame, method: str = "none") -> tuple[Figure, str]:
    """Figure 3: the first question of a story that fails, as shares of stories, by model.

    InputError: metrics without SimpleToM, or without first failures by `method`.
    """
    rows = _rows(metrics, "first_failure", method).query("part == ''")
    shares = rows.pivot(index="model", columns="question_type", values="value")
    models = list(rows["model"].unique())
    shares = shares.reindex(index=models, columns=list(FAILURES)).fillna(0)
    with plotting.style():
        positions = plotting.row_positions({"": models})
        figure, [axes] = plotting.panels([""], positions, row_height=0.26, extra=1.0)
        y = positions[""][models].to_numpy()
        plotting.stacked_bars(axes, shares, y, FAILURES)
        for model, height in zip(models, y, strict=True):
            n = printed.span(rows.loc[rows["model"] == model, "n"])
            axes.text(1.04, height, f"n = {n}", va="center", fontsize=7)
        plotting.share_axis(axes, "Share of stories")
        plotting.bars_legend(figure, FAILURES)
    about = "first failure in the sequence mental state, behavior, judgment"
    return figure, _failure_caption("Figure 3", about, rows, metrics, method)


def figure13(metrics: pd.DataFrame, method: str = "none") -> tuple[Figure, str]:
    """Figure 13: the first question that fails by scenario, one panel a model.

    InputError: metrics without SimpleToM, or without first failures by `method`.
    """
    rows = _by_scenario(_rows(metrics, "first_failure", method))
    scenarios = numbers.in_scenario_order(rows["part"])
    with plotting.style():
        labels = dict(zip(scenarios, scenarios, strict=True))
        figure, panels = _model_panels(rows, "part", labels, 0.3, "Share of stories")
        least = 0.06 if len(panels) == 1 else 0.17  # what has room for its number
        for axes, own in panels:
            shares = own.pivot(index="y", columns="question_type", values="value")
            shares = shares.reindex(columns=list(FAILURES)).fillna(0)
            plotting.stacked_bars(axes, shares, shares.index.to_numpy(), FAILURES, least)
        plotting.bars_legend(figure, FAILURES)
    about = "first failure in the sequence mental state, behavior, judgment by scenario"
    return figure, _failure_caption("Figure 13", about, rows, metrics, method)


def figure4(metrics: pd.DataFrame, method: str = "none") -> tuple[Figure, str]:
    """Figures 4, 11 and 12: accuracy by scenario and question type, one panel a model.

    InputError: metrics without SimpleToM, or without accuracies by `method`.
    """
    rows = _by_scenario(_rows(metrics, "accuracy", method).query("variant == ''"))
    scenarios = numbers.in_scenario_order(rows["part"])
    looks = {name: look for name, look in LOOKS.items() if name in set(rows["question_type"])}
    with plotting.style():
        labels = dict(zip(scenarios, scenarios, strict=True))
        figure, panels = _model_panels(rows, "part", labels, 0.34, "Accuracy (share correct)")
        for axes, own in panels:
            for question, look in looks.items():
                plotting.interval_dots(axes, own[own["question_type"] == question], look)
            plotting.reference_line(axes, CHANCE, "dashed")
        chance = {f"chance ({printed.share(CHANCE)})": plotting.line_handle("dashed")}
        plotting.dots_legend(figure, looks, plotting.source_handles(rows) | chance, columns=5)
    questions = ", ".join(look.label for look in looks.values())
    about = (
        f"SimpleToM, Figures 4, 11 and 12: accuracy by scenario and question type ({questions}), "
        f"method {METHOD_NAMES.get(method, method)}. {ALONE}"
    )
    run = numbers.run_sentences(rows, metrics, "answers a point")
    return figure, " ".join([about, *run, f"Dashed line: chance ({printed.share(CHANCE)})."])


def gap(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Explicit minus applied accuracy by model (no figure of the paper; Table 2's differences).

    InputError: metrics without SimpleToM.
    """
    cells = numbers.accuracies_of_paper("table2_main")
    explicit = cells[cells["question_type"] == EXPLICIT]
    applied = cells[cells["question_type"].isin(APPLIED)]
    paper = _difference(applied, explicit, on="model")
    run = numbers.of_run(metrics).query("metric == 'gap' and method == 'none' and part == ''")
    points = pd.concat([paper.assign(value=-paper["value"]), run], ignore_index=True)
    with plotting.style():
        points, positions = beside.in_rows(points)
        titles = [f"mental state − {question}" for question in APPLIED]
        figure, panels = plotting.panels(titles, positions, 0.24)
        for axes, question in zip(panels, APPLIED, strict=True):
            look = Look(question, LOOKS[question].colour, LOOKS[question].marker)
            plotting.interval_dots(axes, points[points["question_type"] == question], look)
            plotting.difference_axis(axes, "Difference of accuracies (shares)")
        plotting.legend_below(figure, plotting.source_handles(points, *PAIRED), columns=3)
    about = (
        "SimpleToM: the gap between explicit and applied theory of mind, as accuracy on mental "
        f"state minus accuracy on {' and on '.join(APPLIED)}, without intervention (no figure of "
        "the paper). Right of the line (no gap), the explicit question is answered better. "
        f"{DIFFERENCES}"
    )
    return figure, " ".join([about, *_sentences(points, metrics, ["table2_main"])])


def wordings(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """App. F: judgment accuracy by wording of the question and its options, one panel a model.

    InputError: metrics without SimpleToM, or without judgment accuracies without intervention.
    """
    rows = _rows(metrics, "accuracy").query("question_type == 'judgment' and part == ''")
    rows = rows[rows["variant"].ne("") | rows["method"].eq("none")]
    demand_metric(rows, "simpletom", "accuracy on judgment")
    chance = rows["variant"].map(lambda variant: CHANCE_BY_WORDING.get(variant, CHANCE))
    found = dict.fromkeys([*WORDINGS, *rows["variant"]])
    labels = {v: WORDINGS.get(v, v) for v in found if v in set(rows["variant"])}
    levels = " or ".join(printed.share(level) for level in sorted(chance.unique()))
    look = Look("judgment", LOOKS["judgment"].colour, LOOKS["judgment"].marker)
    with plotting.style():
        rows = rows.assign(chance=chance)
        figure, panels = _model_panels(rows, "variant", labels, 0.3, "Judgment accuracy")
        for axes, own in panels:
            plotting.interval_dots(axes, own, look)
            plotting.chance_in_rows(axes, own.set_index("y")["chance"], "dashed")
            plotting.reference_line(axes, CEILING, "dotted", "ceiling")
        ceiling = f"paper: {len(CEILING_MODELS)} models, never above {printed.share(CEILING)}"
        handles = plotting.source_handles(rows)
        handles |= {f"chance ({levels})": plotting.line_handle("dashed")}
        handles |= {ceiling: plotting.line_handle("dotted")}
        plotting.legend_below(figure, handles, columns=3)
    about = f"SimpleToM, App. F: accuracy on judgment by wording ({', '.join(labels.values())})."
    run = numbers.run_sentences(rows, metrics, "answers a point")
    lines = (
        f"Dashed: chance ({levels}, by the number of options). Dotted: the paper states, without "
        f"numbers for single wordings, that {', '.join(CEILING_MODELS)} never exceeded "
        f"{100 * CEILING:.0f} % (App. F)."
    )
    return figure, " ".join([about, *run, lines])


def interventions(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """What each intervention of Sec. 5.3 adds to the accuracy on behavior and judgment, by model.

    Tables 3 to 5 print the accuracies; their differences are drawn. InputError: metrics without
    SimpleToM.
    """
    tables = [table for table in numbers.TABLES if table != "table2_main"]
    paper = pd.concat([_deltas_of_paper(table) for table in tables], ignore_index=True)
    run = numbers.of_run(metrics).query(
        "metric == 'delta' and question_type in @APPLIED and part == ''"
    )
    points = pd.concat([paper, run], ignore_index=True)
    looks = _intervention_looks(beside.known_first(METHOD_NAMES, points["method"]))
    with plotting.style():
        points, positions = beside.in_rows(points)
        titles = [QUESTIONS[question] for question in APPLIED]
        figure, panels = plotting.panels(titles, positions, 0.07 * len(looks), 1.8)
        for axes, question in zip(panels, APPLIED, strict=True):
            shown = points[points["question_type"] == question]
            for method, look in looks.items():
                plotting.interval_dots(axes, shown[shown["method"] == method], look)
            plotting.difference_axis(axes, "Change in accuracy (shares)")
        plotting.dots_legend(figure, looks, plotting.source_handles(points, *PAIRED))
    about = (
        "SimpleToM, Tables 3 to 5: what an intervention adds to accuracy on "
        f"{' and on '.join(APPLIED)}, against the same questions without intervention. Right of "
        f"the line (no change), it helps. {DIFFERENCES}"
    )
    return figure, " ".join([about, *_sentences(points, metrics, tables)])


# ---- the numbers ---------------------------------------------------------------------------------


def _rows(metrics: pd.DataFrame, metric: str, method: str | None = None) -> pd.DataFrame:
    """This run's rows of a metric, by all methods or by one."""
    rows = numbers.of_run(metrics)
    rows = demand_metric(rows[rows["metric"] == metric], "simpletom", metric)
    if method is None:
        return rows
    demand_level("method", method, rows["method"])
    return rows[rows["method"] == method]


def _by_scenario(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows by scenario, and those of all stories under that name; severities are left out."""
    rows = rows.assign(part=rows["part"].replace("", TOTAL))
    return rows[~rows["part"].str.startswith("severity ")]


def _difference(cells: pd.DataFrame, base: pd.DataFrame, on: str | list[str]) -> pd.DataFrame:
    """Published `cells` minus `base`, in shares; marked where either number is."""
    both = cells.merge(base, on=on, suffixes=("", "_base"))
    reason = both["reason"].where(both["reason"] != "", both["reason_base"])
    mark = both["mark"].where(both["mark"] != "", both["mark_base"])
    value = ((both["value"] - both["value_base"]) / 100).round(3)  # printed with three digits
    kept = both.assign(value=value, mark=mark, reason=reason, ci_low=None, ci_high=None)
    return kept[[name for name in kept if not name.endswith("_base")]]


def _deltas_of_paper(table: str) -> pd.DataFrame:
    cells = numbers.accuracies_of_paper(table).query("question_type in @APPLIED")
    base = cells[cells["method"] == "none"]
    return _difference(cells.drop(base.index), base, on=["model", "question_type"])


# ---- drawing -------------------------------------------------------------------------------------


def _model_panels(
    rows: pd.DataFrame, level: str, labels: dict[str, str], row_height: float, axis: str
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """A panel a model, in lines of `COLUMNS`, each with the model's rows, which get their y.

    `labels` names the levels of the column `level` from top to bottom; `axis` the shares drawn.
    """
    positions = plotting.row_positions({"": [fill(label, WRAP) for label in labels.values()]})
    y = pd.Series(positions.to_numpy(), index=list(labels))
    models = list(rows["model"].unique())
    titles = [fill(model, WRAP) for model in models]
    figure, panels = plotting.panels(titles, positions, row_height, extra=1.5, columns=COLUMNS)
    drawn = []
    for place, (axes, model) in enumerate(zip(panels, models, strict=True)):
        is_lowest = place + COLUMNS >= len(panels)
        plotting.share_axis(axes, axis if is_lowest else "")
        own = rows[rows["model"] == model]
        for height in y.drop(own[level].unique()):
            plotting.say(axes, height, "not asked")
        drawn.append((axes, own.assign(y=own[level].map(y))))
    return figure, drawn


def _intervention_looks(methods: list[str]) -> dict[str, Look]:
    """Marker and colour of each method; dodged so that all stand within one row."""
    spare = cycle(SPARE)
    step = 0.84 / len(methods)
    looks = {}
    for place, method in enumerate(methods):
        marker, colour = INTERVENTIONS.get(method) or next(spare)
        dodge = (place - (len(methods) - 1) / 2) * step
        looks[method] = Look(METHOD_NAMES.get(method, method), colour, marker, dodge=dodge)
    return looks


# ---- sentences -----------------------------------------------------------------------------------


def _failure_caption(
    name: str, about: str, rows: pd.DataFrame, metrics: pd.DataFrame, method: str
) -> str:
    """Caption of a figure of first failures, whose intervals no stacked bar can show."""
    once = "The mental state question is asked without intervention, and that answer counts."
    caption = [
        f"SimpleToM, {name}: {about}, method {METHOD_NAMES.get(method, method)}. {ALONE}",
        *([] if method == "none" else [once]),
        *numbers.run_sentences(rows, metrics, "stories a bar", "intervals that are not drawn"),
    ]
    return " ".join(caption)


def _sentences(points: pd.DataFrame, metrics: pd.DataFrame, tables: list[str]) -> list[str]:
    return [
        *numbers.run_sentences(points, metrics, "pairs of answers a point", "paired intervals"),
        numbers.paper_sentence(tables),
        *numbers.failing(points, "rests on a number that fails a check"),
    ]
