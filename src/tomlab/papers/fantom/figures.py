"""FANToM's figures: Fig. 2 to 5, and beyond the paper aggregation and the control task.

Each public function is one figure. It takes the metrics table of a run (see `tomlab.records.tidy`;
InputError: one without FANToM or without what is drawn) and returns it with its title, caption and
notes, whose numbers are computed. Source: Kim et al. (2023), and `tables`.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tomlab.asking.techniques import TECHNIQUES
from tomlab.benchmarks.fantom.items.compose import FAMILIES
from tomlab.benchmarks.fantom.paper import METHOD_NAMES, METRIC_NAMES, PUBLICATION, WORDING
from tomlab.papers.fantom import tables as numbers
from tomlab.papers.fantom.tables import PROMPTING, WORDS
from tomlab.reporting import beside, charts, headings, plotting, printed
from tomlab.reporting.beside import NUMBERS, demand_metric
from tomlab.reporting.charts import NOTHING
from tomlab.reporting.drawn import Drawn
from tomlab.reporting.plotting import INK, Look
from tomlab.reporting.printed import PAPER, RUN

CHANCE = WORDS["chance"]["belief_choice"]
BY_SOURCE = {"row_height": 0.24, "extra": 1.6}
# The columns of a figure's file, those that it has.
DATA = ["source", "model", "context", "prompting", "scenario", "column", "part", "family", "error"]
DATA += [*NUMBERS, "least", "most", "n", "n_groups", "mark"]
APART = {"none": -0.17, "cot": 0.17}  # how the paper's rows keep two numbers apart


def figure2(metrics: pd.DataFrame) -> Drawn:
    """Figure 2: one kind of question against all of a set, short context, by model.

    The paper draws some models; all of its Table 9 are here.
    """
    kinds = ["belief_choice", "answerability_list", "infoaccess_list", "all"]
    points = beside.in_order(_short_scores(metrics, kinds), "column", kinds)
    points, positions = beside.in_rows(points, "row")
    panels = ("column", {kind: METRIC_NAMES[kind].replace(" ", "\n") for kind in kinds})
    series = ("asked", _looks("prompting", points["asked"]))
    chance = {"dashed": (CHANCE, f"chance of two options ({printed.share(CHANCE)})")}
    options = {"lines": chance, "lined": kinds[:1]} | BY_SOURCE
    shown = panels, series, "Share correct", WORDING.groups
    plain = points.query("prompting == 'none'")
    title = headings.headline(plain, "column", WORDS["figure2"]["title"])
    figure = charts.dots(points, positions, *shown, **options, title=title)
    told = {"chance": printed.share(CHANCE)}
    names = {kind: METRIC_NAMES[kind] for kind in kinds}
    notes = numbers.notes(points, metrics, names, "sets or questions a point")
    said = plain.assign(what=plain["column"].map(names))
    return _drawn(figure2, figure, points, notes, said, "sets or questions", told)


def figure3(metrics: pd.DataFrame) -> Drawn:
    """Figure 3: token F1 on facts against accuracy on beliefs (Dist.), short context, by model."""
    looks = _looks("fact_and_belief")
    points = _short_scores(metrics, list(looks))
    points["row"] += points["prompting"].map({"ft": PROMPTING["ft"]}).fillna("")
    points["is_cot"] = points["prompting"] == "cot"
    # A row joins two numbers; of a baseline there may be one alone, see `tables.of_run`.
    both = points.groupby(["source", "row", "is_cot"])["column"].transform("nunique")
    points, positions = beside.in_rows(points[both == len(looks)], "row")
    panels, series = ("is_cot", {False: "without CoT", True: "with CoT"}), ("column", looks)
    shown = panels, series, "Token F1 or accuracy (shares)", WORDING.groups
    plain = points[~points["is_cot"]]
    title = headings.headline(plain, "column", WORDS["figure3"]["title"])
    options = {"also": _connect, "empty": "no number", "title": title}
    figure = charts.dots(points, positions, *shown, **options, **BY_SOURCE)
    names = {kind: METRIC_NAMES[kind] for kind in looks}
    notes = numbers.notes(points, metrics, names, "questions a point")
    said = plain.assign(what=plain["column"].map(names))
    return _drawn(figure3, figure, points, notes, said, "questions")


def figure4(metrics: pd.DataFrame) -> Drawn:
    """Figure 4: errors on list questions, as shares of all of them, by model and method."""
    return _errors(figure4, metrics, "list", "Share of list questions")


def figure5(metrics: pd.DataFrame) -> Drawn:
    """Figure 5: errors on yes/no questions, as shares of all of them, by model and method."""
    return _errors(figure5, metrics, "yn", "Share of yes/no questions")


def aggregation(metrics: pd.DataFrame) -> Drawn | None:
    """All* and All when a set, a part or a conversation must be right (no figure of the paper).

    None where nobody has a set right as a whole: nothing falls from 0.
    """
    kinds = ["all_star", "all"]
    rows = pd.concat([_rows(metrics, kind) for kind in kinds])
    if not rows["value"].any():
        return None
    looks = _looks("part", rows["part"])
    rows["level"] = rows["metric"] + "_" + rows["part"].replace("", "set")
    title = headings.headline(rows, "level", WORDS["aggregation"]["title"])
    figure = _method_dots(rows, kinds, ("part", looks), "Share of units right", title=title)
    own = rows.query("metric == 'all' and method == 'full'")
    run = numbers.run_sentences(rows, metrics, "sets, parts or conversations a point")
    said = own.assign(what="All, " + own["part"].map(_labels(looks)))
    return _drawn(aggregation, figure, rows, run, said, "sets, parts or conversations")


def nothing_whole(metrics: pd.DataFrame) -> str:
    """Why there is no `aggregation`, and of how many sets that is so."""
    n = beside.n_from(_rows(metrics, "all").query("part == ''"), "sets", WORDING.groups)
    return WORDS["aggregation"]["none"].format(n=n)


def scenarios(metrics: pd.DataFrame) -> Drawn:
    """Beliefs of who lacks the information and, as control, who has it (no figure of the paper)."""
    kinds = ["belief_choice", "belief_dist"]
    rows = numbers.of_run(metrics).query("metric in @kinds")
    rows = demand_metric(rows, "fantom", " or ".join(kinds))
    chance = printed.share(CHANCE)
    looks = _looks("scenario", rows["scenario"])
    series, axis = ("scenario", looks), "Accuracy (share correct)"
    choices = rows.query("metric == 'belief_choice' and method == 'short'")
    title = headings.headline(choices, "scenario", WORDS["scenarios"]["title"])
    lines = {"dashed": (CHANCE, f"chance ({chance})")}
    figure = _method_dots(rows, kinds, series, axis, lines=lines, lined=kinds[:1], title=title)
    run = numbers.run_sentences(rows, metrics, "answers a point")
    said = choices.assign(what=choices["scenario"].map(_labels(looks)))
    return _drawn(scenarios, figure, rows, run, said, "answers", {"chance": chance})


# ---- the numbers ---------------------------------------------------------------------------------


def _short_scores(metrics: pd.DataFrame, kinds: list[str]) -> pd.DataFrame:
    """Scores with the short context in shares, the paper's above this run's. row: the model, with
    the method where that is none of the paper's, which is `asked` plainly within it.
    """
    cells = numbers.scores(metrics).query("context == 'short' and column in @kinds")
    ours, shares = _is_ours(cells), {name: cells[name] / 100 for name in NUMBERS}
    row = cells["model"] + cells["prompting"].map(PROMPTING).where(ours, "")
    asked = cells["prompting"].mask(ours, "none")
    return cells.assign(row=row, asked=asked, **shares).reset_index(drop=True)


def _is_ours(rows: pd.DataFrame) -> pd.Series:
    """Whether a row is by a method that the paper does not have."""
    return rows["prompting"].isin(TECHNIQUES)


def _rows(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    """This run's rows of a metric in the inaccessible scenario. InputError: there are none."""
    rows = numbers.of_run(metrics).query("metric == @metric and scenario == 'inaccessible'")
    return demand_metric(rows, "fantom", metric)


def printed_errors(kind: str) -> pd.DataFrame:
    """What the paper's Table 9 (short context) says of the share of wrong answers: least, most.

    kind: list or yn. Lists: 1 less the accuracy. Yes and no: the limits that a weighted F1 sets,
    see `share_right`. Of the models of Sec. 4.2, which Table 3 names; family: of the question.
    """
    columns = {f"{family}_{kind}": family for family in FAMILIES}
    analysed = numbers.of_paper("table3_characters")["model"]
    cells = numbers.of_paper("table9_all").query("context == 'short' and column in @columns")
    cells = cells[cells["model"].isin(analysed) & cells["prompting"].ne("ft")]
    score = cells["value"] / 100
    least, most = (score, score) if kind == "list" else share_right(score)
    rows = beside.in_order(cells.assign(least=1 - most, most=1 - least), "model", analysed)
    return rows.assign(family=rows["column"].map(columns))


def share_right(weighted_f1: pd.Series) -> tuple[pd.Series, pd.Series]:
    """The least and the greatest share of right answers that a weighted F1 of yes and no allows.

    F1 of a label is at most 2r / (1 + r) at a recall r, a concave function, so that the mean recall
    is at least F / (2 - F). It is greatest where all questions have one label but for a vanishing
    rest: then F = 2a² / (1 + a).
    """
    root = np.sqrt(weighted_f1**2 + 8 * weighted_f1)
    return weighted_f1 / (2 - weighted_f1), (weighted_f1 + root) / 4


def _looks(series: str, found: Iterable[str] | None = None) -> dict[str, Look]:
    """How the levels of a series are drawn: those that were found, by default all."""
    looks = plotting.described(WORDS["looks"][series])
    known = looks if found is None else set(found)
    return {level: look for level, look in looks.items() if level in known}


# ---- drawing -------------------------------------------------------------------------------------


def _in_method_rows(rows: pd.DataFrame, above: Mapping) -> tuple[pd.DataFrame, pd.Series]:
    """Rows with their y, and the positions: a row a method below each model, below blocks above."""
    named = rows.assign(method=rows["method"].replace(METHOD_NAMES))
    groups = named.groupby("model", sort=False)["method"]
    blocks = {model: beside.known_first(METHOD_NAMES.values(), own) for model, own in groups}
    positions = plotting.row_positions({**above, **blocks})
    keys = zip(named["model"], named["method"], strict=True)
    return rows.assign(y=[positions[key] for key in keys]), positions


def _by_method(positions: pd.Series, row_height: float) -> dict[str, float]:
    """The size of a figure; many rows move closer, so that it stays on its page."""
    return {"row_height": min(row_height, max(8 / len(positions), 0.125)), "extra": 1.3}


def _errors(draw: Callable, metrics: pd.DataFrame, kind: str, axis: str) -> Drawn:
    """Shares of wrong answers, in any way and by error, a panel a family."""
    paper = printed_errors(kind)
    above = {PAPER: list(paper["model"].unique())}
    rows, positions = _in_method_rows(_rows(metrics, f"{kind}_error"), above)
    paper["y"] = [positions[PAPER, model] for model in paper["model"]]
    asked = rows["prompting"].mask(_is_ours(rows), "ours")
    series = rows["error"].mask(rows["error"] == "any", asked)
    rows = rows.assign(series=series, panel=rows["family"])
    made = set(rows.loc[rows["value"] > 0, "error"])
    looks = _looks("wrong", {*APART, *asked}) | _looks(f"{kind}_error", made)
    panels = {family: METRIC_NAMES[f"{family}_{kind}"] for family in FAMILIES}
    words, short = WORDS[draw.__name__], rows.query("method == 'short'")
    legend = plotting.dot_handles(looks) | {words["hollow"]: _limits_handle(kind)}
    legend |= {WORDS["interval"]: plotting.INTERVAL, WORDS["marked"]: plotting.MARKED}
    options = _by_method(positions, 0.3) | {"also": partial(_limits, paper), "legend": legend}
    options |= {"title": headings.headline(short, "error", words["title"])}
    shown = ("panel", panels), ("series", looks), axis, WORDING.groups
    figure = charts.dots(rows, positions, *shown, **options)
    names = {f"{family}_{kind}": title for family, title in panels.items()}
    notes = numbers.notes(pd.concat([paper, rows]), metrics, names, "questions a point")
    what = short["family"].map(panels) + ", " + short["series"].map(_labels(looks))
    data = pd.concat([paper.assign(error="any", value=np.nan), rows])
    return _drawn(draw, figure, rows, notes, short.assign(what=what), "questions", data=data)


def _limits(paper: pd.DataFrame, axes: Axes, own: pd.DataFrame) -> None:
    """The paper's share of wrong answers, hollow; where it is not known, between its limits."""
    for prompting, look in _looks("wrong", APART).items():
        rows = paper[paper["prompting"].eq(prompting) & paper["family"].isin(own["family"])]
        y, dot = (
            rows["y"] + APART[prompting],
            {"mfc": "white", "mec": look.colour, "ms": plotting.DOT},
        )
        axes.hlines(y, rows["least"], rows["most"], look.colour, linewidth=0.8, gid="paper limits")
        for end in ("least", "most"):
            axes.plot(rows[end], y, look.marker, **dot, linestyle="none", gid=f"{prompting} {end}")
        for row in rows[rows["mark"] != ""].itertuples():
            at = {"xytext": (6, -1.5), "textcoords": "offset points", "va": "center"}
            axes.annotate(row.mark, (row.most, row.y + APART[prompting]), **at, gid="paper mark")


def _limits_handle(kind: str) -> Line2D | tuple:
    """The legend entry for `_limits`: two dots on a line where there are limits."""
    line = Line2D([], [], color=INK, linewidth=0.8)
    return plotting.HOLLOW if kind == "list" else (plotting.HOLLOW, line, plotting.HOLLOW)


def _method_dots(
    rows: pd.DataFrame, kinds: list[str], series: tuple[str, dict], axis: str, **lines
) -> Figure:
    """A panel a kind of question with dots by method."""
    rows, positions = _in_method_rows(rows, {})
    panels = ("metric", {kind: METRIC_NAMES[kind] for kind in kinds})
    size = _by_method(positions, 0.3)
    shown = panels, series, axis, WORDING.groups
    return charts.dots(rows, positions, *shown, **lines, **size)


def _connect(axes: Axes, points: pd.DataFrame) -> None:
    """A thin line between the two dots of each row of one panel."""
    looks = _looks("fact_and_belief")
    ends = points.pivot(index="y", columns="column", values="value").dropna()
    for y, values in ends.iterrows():
        heights = [y + look.dodge for look in looks.values()]
        axes.plot(values[list(looks)], heights, color="#c8c8c8", linewidth=0.9, gid="pair")


# ---- words ---------------------------------------------------------------------------------------


def _labels(looks: Mapping[str, Look]) -> dict[str, str]:
    return {level: look.label for level, look in looks.items()}


def _drawn(
    draw: Callable,
    figure: Figure,
    points: pd.DataFrame,
    notes: list[str],
    said: pd.DataFrame,
    unit: str,
    told: Mapping[str, str] = NOTHING,
    data: pd.DataFrame | None = None,
) -> Drawn:
    """A figure with the words of its function.

    said: points that are told in words, with `what` they are; unit: what n counts; told: what else
    the caption names; data: of the figure's file, by default points.
    """
    words, drawn = WORDS[draw.__name__], points if data is None else data
    n = beside.n_from(points[points["source"] == RUN], unit, WORDING.groups)
    notes = [*words["notes"], *notes, *beside.grey(points, WORDING.groups)]
    below = headings.told(said, words, PUBLICATION.source("table9_all"))
    kept = drawn[[column for column in DATA if column in drawn]]
    return Drawn(figure, words["caption"].format(n=n, **told), notes, below, kept, draw)
