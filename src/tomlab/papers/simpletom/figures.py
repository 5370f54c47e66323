"""SimpleToM's figures: Fig. 3, 4 (with 11 and 12) and 13, and what the paper tells without one.

Beyond the paper's figures: the gap between explicit and applied theory of mind, the judgment
wordings of App. F and the interventions of Tables 3 to 5. Each public function is one figure. It
takes the metrics table of a run (see `tomlab.records.tidy`; InputError: one without SimpleToM) and
returns it with all that stands with it, computed. Source: Gu et al. (2024); `tables`.
"""

from collections.abc import Callable
from dataclasses import replace
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from tomlab.benchmarks.simpletom.paper import METHOD_NAMES, PUBLICATION, WORDING
from tomlab.papers.simpletom import tables as numbers
from tomlab.papers.simpletom.tables import PRIMARY, QUESTIONS, TOTAL, WORDS
from tomlab.reporting import beside, charts, headings, plotting, printed
from tomlab.reporting.beside import demand_level, demand_metric
from tomlab.reporting.plotting import Drawn

LOOKS, FAILURES = map(plotting.described, WORDS["looks"].values())
CHANCE = WORDS["chance"]["accuracy"]
CHANCE_BY_WORDING = {"three-way": 1 / 3}
# App. F: with the wordings that it tried, three models were "never exceeding 30% accuracy".
CEILING = 0.3
CEILING_MODELS = ["Llama-3.1-405B", "Claude-3.5-Sonnet", "GPT-4o"]
BY_MODEL = {"extra": 1.5, "columns": 3}  # of figures with a panel a model
WRAP = 24  # characters of a row's label
PAIRED = ("paper, printed numbers", "this run, paired 95 % interval")
EXPLICIT, APPLIED = PRIMARY[0], PRIMARY[1:]
TITLES, LIMITS = WORDS["titles"], WORDS["limits"]
# Where two questions share a row, one stands above the other.
DODGES = {False: dict.fromkeys(APPLIED, 0.0), True: dict(zip(APPLIED, (-0.18, 0.18), strict=True))}
DATA = ["source", "model", "method", "question_type", "part", "variant", "low", "high"]
DATA += ["value", "ci_low", "ci_high", "n", "n_groups", "mark"]
TABLE2 = PUBLICATION.source("table2_main")


def figure3(metrics: pd.DataFrame, method: str = "none") -> Drawn:
    """Figure 3: the first question of a story that fails, as shares of stories, by model.

    The paper prints no numbers of it; what its Table 2 leaves possible is drawn as bounds, see
    `bounds`. InputError: no first failures by `method`.
    """
    rows = _rows(metrics, "first_failure", method).query("part == ''")
    paper = bounds() if method == "none" else bounds().iloc[:0]
    points = pd.concat([paper, rows], ignore_index=True)
    points["what"] = points["question_type"].map({n: look.label for n, look in FAILURES.items()})
    placed, positions = beside.in_rows(points)
    parts = {name: fill(look.label, 15) for name, look in FAILURES.items()}
    box = {"paper, bounds by its Table 2": Patch(facecolor="white", edgecolor=plotting.INK)}
    legend = plotting.source_handles(rows) | (box if len(paper) else {})
    legend |= {"paper, exact": plotting.HOLLOW} if len(paper) else {}
    figure = charts.dots(
        *(placed, positions, ("question_type", parts), ("question_type", FAILURES)),
        *("Share of stories", WORDING.groups),
        also=_boxes,
        legend=legend,
        row_height=0.25,
        extra=1.5,
        title=_most(rows, "figure3"),
    )
    at_most = paper.query("question_type == 'none'")
    at_most = at_most.assign(value=at_most["high"], what=WORDS["at_most"])
    known = points[points["source"].ne(printed.PAPER) | points["value"].notna()]
    place = WORDS["bounds_place"].format(source=TABLE2)
    said = headings.said(pd.concat([known, at_most]), place, LIMITS["figure3"])
    told = WORDS["failures"].format(name="Figure 3", by="", method=METHOD_NAMES.get(method, method))
    return _drawn(
        figure,
        f"{told} {WORDS['boxes']}",
        points,
        metrics,
        said,
        figure3,
        "stories",
        method != "none",
    )


def figure13(metrics: pd.DataFrame, method: str = "none") -> Drawn:
    """Figure 13: the first question that fails by scenario, one panel a model.

    InputError: no first failures by `method`.
    """
    rows, positions, titles = _by_scenario(_rows(metrics, "first_failure", method))
    rows = rows.assign(panel=rows["model"].map(titles))
    wide = rows.pivot(index=["panel", "y"], columns="question_type", values="value")
    wide = wide.reindex(columns=list(FAILURES)).fillna(0)
    n = rows.groupby(["panel", "y"])[["n", "n_groups"]].apply(printed.counts)
    figure = charts.bars(
        {panel: wide.loc[panel] for panel in titles.values()},
        *(positions, FAILURES, "Share of stories"),
        *({panel: n.loc[panel] for panel in titles.values()}, WORDING.groups),
        grey=charts.grey_bars(rows),
        least=0.06 if len(titles) == 1 else 0.17,  # what has room for its number
        empty="not asked",
        row_height=0.3,
        title=_most(rows[rows["part"].ne(TOTAL)], "figure13"),
        **BY_MODEL,
    )
    right = rows[rows["question_type"].eq("none") & rows["part"].eq(TOTAL)]
    said = headings.said(
        right.assign(what=FAILURES["none"].label), WORDS["figure13_paper"], LIMITS["figure13"]
    )
    name, by = "Figure 13", " by scenario"
    told = WORDS["failures"].format(name=name, by=by, method=METHOD_NAMES.get(method, method))
    return _drawn(figure, told, rows, metrics, said, figure13, "stories", method != "none")


def figure4(metrics: pd.DataFrame, method: str = "none") -> Drawn:
    """Figures 4, 11 and 12: accuracy by scenario and question type, one panel a model.

    InputError: no accuracies by `method`.
    """
    rows = _rows(metrics, "accuracy", method).query("variant == ''")
    rows, positions, titles = _by_scenario(rows)
    looks = {name: look for name, look in LOOKS.items() if name in set(rows["question_type"])}
    rows["what"] = rows["question_type"].map(QUESTIONS)
    within = rows[rows["part"].ne(TOTAL)]
    within = within.assign(what=within["what"] + " (" + within["part"] + ")")
    shown = ("model", titles), ("question_type", looks), "Accuracy (share correct)", WORDING.groups
    chance = {"dashed": (CHANCE, f"chance ({printed.share(CHANCE)})")}
    how = {"lines": chance, "empty": "not asked", "legend_columns": 6, "row_height": 0.34}
    title = headings.title(within, CHANCE, TITLES["figure4"], "scenarios and questions")
    figure = charts.dots(rows, positions, *shown, **how, title=title, **BY_MODEL)
    total = pd.concat([_shares("table2_main", method), rows[rows["part"].eq(TOTAL)]])
    total["what"] = total["question_type"].map(QUESTIONS)
    said = headings.said(total, WORDS["all_stories"].format(source=TABLE2), LIMITS["figure4"])
    told = {"questions": ", ".join(look.label for look in looks.values())}
    about = WORDS["figure4"].format(**told, method=METHOD_NAMES.get(method, method))
    return _drawn(figure, about, rows, metrics, said, figure4, "answers")


def gap(metrics: pd.DataFrame) -> Drawn:
    """Explicit minus applied accuracy by model (no figure of the paper; Table 2's differences)."""
    cells = numbers.of_paper("table2_main")
    explicit = cells[cells["question_type"] == EXPLICIT]
    applied = cells[cells["question_type"].isin(APPLIED)]
    paper = _difference(applied, explicit, on="model")
    run = numbers.of_run(metrics).query("metric == 'gap' and method == 'none' and part == ''")
    points = pd.concat([paper.assign(value=-paper["value"]), run], ignore_index=True)
    points["what"] = points["question_type"].map(QUESTIONS)
    titles = {question: f"mental state − {question}" for question in APPLIED}
    shown = ("question_type", titles), "Difference of accuracies (shares)"
    return _differences("gap", metrics, ["table2_main"], points, *shown, gap, row_height=0.24)


def interventions(metrics: pd.DataFrame) -> Drawn:
    """What each intervention of Sec. 5.3 adds to the accuracy on behavior and judgment, by model.

    Tables 3 to 5 print the accuracies; their differences are drawn, a panel an intervention.
    """
    tables = ["table3_ms_remind", "table4_system_prompt", "table5_cot"]
    paper = pd.concat([_deltas_of_paper(table) for table in tables], ignore_index=True)
    run = numbers.of_run(metrics).query("metric == 'delta' and part == ''")
    run = run[run["question_type"].isin(APPLIED)]
    points = pd.concat([paper, run], ignore_index=True)
    methods = beside.known_first(METHOD_NAMES, points["method"])
    names = {method: METHOD_NAMES.get(method, method) for method in methods}
    points["what"] = points["question_type"] + " with " + points["method"].map(names)
    shown = ("method", names), "Change in accuracy (shares)"
    size = {"columns": 3, "row_height": 0.2, "extra": 1.5, "empty": "no number", "empty_x": 0.55}
    return _differences("interventions", metrics, tables, points, *shown, interventions, **size)


def wordings(metrics: pd.DataFrame) -> Drawn:
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
    rows["what"] = rows["variant"].map(labels)
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
    told = {"models": ", ".join(CEILING_MODELS), "ceiling": printed.share(CEILING)}
    title = headings.title(rows[rows["chance"].eq(CHANCE)], CHANCE, TITLES["wordings"], "wordings")
    figure = charts.dots(rows, positions, *shown, also=lines, row_height=0.3, title=title, **how)
    said = headings.said(rows, WORDS["wordings_paper"].format(**told), LIMITS["wordings"])
    about = WORDS["wordings_figure"]
    return _drawn(figure, about, rows, metrics, said, wordings, "answers")


def bounds() -> pd.DataFrame:
    """What the accuracies of Table 2 leave possible of first failures, by model: low, high, value.

    Of three questions right with the shares a, b, c: 1 − a of the stories fail at the first; the
    rest lies between what the least and the greatest overlap of right answers give (Fréchet).
    """
    cells = numbers.of_paper("table2_main").query("question_type in @PRIMARY")
    wide = cells.pivot(index="model", columns="question_type", values="value") / 100
    a, b, c = (wide.loc[cells["model"].unique(), name] for name in PRIMARY)
    ends = {
        "mental_state": (1 - a, 1 - a),
        "behavior": ((a - b).clip(lower=0), (1 - b).clip(upper=a)),
        "judgment": ((a + b - 1 - c).clip(lower=0), (1 - c).clip(upper=b.clip(upper=a))),
        "none": ((a + b + c - 2).clip(lower=0), c.clip(upper=b.clip(upper=a))),
    }
    frames = [
        pd.DataFrame({"low": low, "high": high}).round(3).reset_index().assign(question_type=part)
        for part, (low, high) in ends.items()
    ]
    rows = pd.concat(frames, ignore_index=True)
    value = rows["low"].where(rows["low"].eq(rows["high"]))
    stories = cells["n"].iloc[0]
    return rows.assign(
        value=value, source=printed.PAPER, ci_low=None, ci_high=None, mark="", n=stories
    )


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


def _shares(table: str, method: str) -> pd.DataFrame:
    """The paper's accuracies by a method in shares."""
    cells = numbers.of_paper(table).query("method == @method and question_type in @PRIMARY")
    return cells.assign(value=(cells["value"] / 100).round(3))


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


def _boxes(axes: Axes, points: pd.DataFrame) -> None:
    """The bounds of a panel's published shares as open boxes."""
    for row in points.dropna(subset=["low"]).query("low < high").itertuples():
        edge = {"edgecolor": FAILURES[row.question_type].colour, "facecolor": "white"}
        span = (row.low, row.y - 0.2), row.high - row.low, 0.4
        axes.add_patch(Rectangle(*span, **edge, linewidth=1, zorder=2, gid="bounds"))


def _differences(
    name: str,
    metrics: pd.DataFrame,
    tables: list[str],
    points: pd.DataFrame,
    panels: tuple[str, dict[str, str]],
    axis: str,
    by: Callable,
    **how,
) -> Drawn:
    """Differences of the paper's `tables` and of this run on the applied questions."""
    placed, positions = beside.in_rows(points)
    is_faceted = panels[0] != "question_type"
    looks = {each: replace(LOOKS[each], dodge=dodge) for each, dodge in DODGES[is_faceted].items()}
    legend = plotting.dot_handles(looks) if is_faceted else {}
    how["legend"] = legend | plotting.source_handles(points, *PAIRED)
    title = headings.title(points, 0.0, TITLES[name])
    series = "question_type", looks
    shown = panels, series, axis, WORDING.groups
    figure = charts.dots(placed, positions, *shown, is_difference=True, title=title, **how)
    last = points[points["question_type"].eq(APPLIED[-1])] if is_faceted else points
    place = ", ".join(PUBLICATION.tables[table].place for table in tables)
    said = headings.said(last, place, LIMITS[name], printed.signed)
    about = f"{WORDS[name]} {WORDS['differences']}"
    drawn = _drawn(figure, about, points, metrics, said, by, "pairs of answers")
    marked = numbers.failing(points, "rests on a number that fails a check")
    return drawn._replace(notes=[*drawn.notes, numbers.paper_sentence(tables), *marked])


def _most(rows: pd.DataFrame, name: str) -> str:
    """A title: at which question models of this run fail first most often, and in what share."""
    first = rows.query("question_type != 'none'")
    what = first["question_type"].map(QUESTIONS) + (
        "" if name == "figure3" else ", " + first["part"]
    )
    return headings.title(first.assign(what=what), 0.5, TITLES[name], "scenarios")


# ---- sentences -----------------------------------------------------------------------------------


def _drawn(
    figure: Figure,
    about: str,
    points: pd.DataFrame,
    metrics: pd.DataFrame,
    said: dict[str, str],
    by: Callable,
    unit: str,
    is_once: bool = False,
) -> Drawn:
    """A figure with caption, notes and data; unit: what n counts, a point."""
    notes = [WORDS["once"]] if is_once else []
    notes += numbers.run_sentences(points, metrics, f"{unit} a point")
    notes += beside.grey(points, WORDING.groups)
    caption = headings.counted(about, points, WORDING.groups)
    kept = [c for c in DATA if c in points]
    return Drawn(figure, caption, notes, said, points[kept], by)
