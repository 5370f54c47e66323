"""FANToM's figures: Fig. 2 to 5, and beyond the paper aggregation and the control task.

Each public function is one figure. It takes the metrics table of a run (see `tomlab.records.tidy`;
InputError: one without FANToM or without what is drawn) and returns the figure and its caption,
whose numbers are computed. Source: Kim et al. (2023), and `tables`.
"""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tomlab.benchmarks.fantom.paper import METHOD_NAMES, METRIC_NAMES, WORDING
from tomlab.papers.fantom import tables as numbers
from tomlab.papers.fantom.tables import PROMPTING, WORDS
from tomlab.reporting import beside, charts, plotting, printed
from tomlab.reporting.beside import NUMBERS, demand_metric
from tomlab.reporting.plotting import Look

CHANCE = WORDS["chance"]["belief_choice"]
BY_SOURCE = {"row_height": 0.24, "extra": 1.6}


def figure2(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 2: one kind of question against all of a set, short context, by model.

    The paper draws some models; all of its Table 9 are here.
    """
    kinds = ["belief_choice", "answerability_list", "infoaccess_list", "all"]
    points, positions = beside.in_rows(_short_scores(metrics, kinds))
    panels = ("column", {kind: METRIC_NAMES[kind].replace(" ", "\n") for kind in kinds})
    series = ("prompting", _looks("prompting", points["prompting"]))
    chance = {"dashed": (CHANCE, f"chance of two options ({printed.share(CHANCE)})")}
    options = {"lines": chance, "lined": kinds[:1]} | BY_SOURCE
    shown = panels, series, "Share correct", WORDING.groups
    figure = charts.dots(points, positions, *shown, **options)
    about = WORDS["figure2"].format(kinds=", ".join(METRIC_NAMES[kind] for kind in kinds[:-1]))
    line = WORDS["figure2_chance"].format(chance=printed.share(CHANCE))
    return figure, " ".join([about, *_sentences(points, metrics, kinds), line])


def figure3(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 3: token F1 on facts against accuracy on beliefs (Dist.), short context, by model."""
    looks = _looks("fact_and_belief")
    points = _short_scores(metrics, list(looks))
    points["row"] = points["model"] + points["prompting"].map({"ft": PROMPTING["ft"]}).fillna("")
    points["is_cot"] = points["prompting"] == "cot"
    points, positions = beside.in_rows(points, "row")
    panels, series = ("is_cot", {False: "without CoT", True: "with CoT"}), ("column", looks)
    shown = panels, series, "Token F1 or accuracy (shares)", WORDING.groups
    options = {"also": _connect, "empty": "no number"}
    figure = charts.dots(points, positions, *shown, **options, **BY_SOURCE)
    return figure, " ".join([WORDS["figure3"], *_sentences(points, metrics, looks)])


def figure4(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 4: errors on list questions, as shares of all of them, by model and method."""
    return _errors("figure4", metrics, "list", "Share of list questions")


def figure5(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 5: errors on yes/no questions, as shares of all of them, by model and method."""
    return _errors("figure5", metrics, "yn", "Share of yes/no questions")


def aggregation(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """All* and All when a set, a part or a conversation must be right (no figure of the paper)."""
    kinds = ["all_star", "all"]
    rows = pd.concat([_rows(metrics, kind) for kind in kinds])
    looks = _looks("part", rows["part"])
    figure = _method_dots(rows, kinds, ("part", looks), "Share of units right")
    about = WORDS["aggregation"].format(parts=", ".join(look.label for look in looks.values()))
    run = numbers.run_sentences(rows, metrics, "sets, parts or conversations a point")
    return figure, " ".join([about, *run, *beside.grey(rows, WORDING.groups)])


def scenarios(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Beliefs of who lacks the information and, as control, who has it (no figure of the paper)."""
    kinds = ["belief_choice", "belief_dist"]
    rows = numbers.of_run(metrics).query("metric in @kinds")
    rows = demand_metric(rows, "fantom", " or ".join(kinds))
    chance = printed.share(CHANCE)
    series, axis = ("scenario", _looks("scenario", rows["scenario"])), "Accuracy (share correct)"
    lines = {"dashed": (CHANCE, f"chance ({chance})")}
    figure = _method_dots(rows, kinds, series, axis, lines=lines, lined=kinds[:1])
    sentences = numbers.run_sentences(rows, metrics, "answers a point")
    line = WORDS["chance_alone"].format(chance=chance)
    return figure, " ".join(
        [WORDS["scenarios"], *sentences, line, *beside.grey(rows, WORDING.groups)]
    )


# ---- the numbers ---------------------------------------------------------------------------------


def _short_scores(metrics: pd.DataFrame, kinds: list[str]) -> pd.DataFrame:
    """Scores with the short context in shares, the paper's above this run's."""
    cells = numbers.scores(metrics).query("context == 'short' and column in @kinds")
    return cells.assign(**{name: cells[name] / 100 for name in NUMBERS}).reset_index(drop=True)


def _rows(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    """This run's rows of a metric in the inaccessible scenario. InputError: there are none."""
    rows = numbers.of_run(metrics).query("metric == @metric and scenario == 'inaccessible'")
    return demand_metric(rows, "fantom", metric)


def _looks(series: str, found: Iterable[str] | None = None) -> dict[str, Look]:
    """How the levels of a series are drawn: those that were found, by default all."""
    looks = plotting.described(WORDS["looks"][series])
    known = looks if found is None else set(found)
    return {level: look for level, look in looks.items() if level in known}


# ---- drawing -------------------------------------------------------------------------------------


def _in_method_rows(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Rows with their y, and the positions: a row a method below each model."""
    named = rows.assign(method=rows["method"].replace(METHOD_NAMES))
    groups = named.groupby("model", sort=False)["method"]
    known = METHOD_NAMES.values()
    positions = plotting.row_positions({m: beside.known_first(known, own) for m, own in groups})
    keys = zip(named["model"], named["method"], strict=True)
    return rows.assign(y=[positions[key] for key in keys]), positions


def _by_method(positions: pd.Series, row_height: float) -> dict[str, float]:
    """The size of a figure; many rows move closer, so that it stays on its page."""
    return {"row_height": min(row_height, max(8 / len(positions), 0.17)), "extra": 1.3}


def _errors(name: str, metrics: pd.DataFrame, kind: str, axis: str) -> tuple[Figure, str]:
    """Errors as stacked bars, a panel a family; what is no error counts as correct."""
    rows, positions = _in_method_rows(_rows(metrics, f"{kind}_error"))
    looks = _looks(f"{kind}_error")
    shares, n, grey = {}, {}, {}
    for family, own in rows.groupby("family", sort=False):
        parts = own.pivot(index=["model", "method", "y"], columns="error", values="value")
        parts = parts.droplevel([0, 1]).reindex(columns=list(looks)).fillna(0)
        parts["correct"] = (1 - parts.sum(axis=1)).clip(lower=0).round(6)
        title = METRIC_NAMES[f"{family}_{kind}"]
        shares[title] = parts
        n[title] = own.groupby("y")[["n", "n_groups"]].apply(printed.counts)
        grey[title] = set(own.loc[printed.is_few(own), "y"])
    drawn = {e: look for e, look in looks.items() if any(p[e].gt(0).any() for p in shares.values())}
    shares = {title: parts[list(drawn)] for title, parts in shares.items()}
    options = _by_method(positions, 0.24) | {"least": 0.1, "grey": grey}
    figure = charts.bars(shares, positions, drawn, axis, n, WORDING.groups, **options)
    told = numbers.run_sentences(rows, metrics, "questions a bar", "intervals that are not drawn")
    told += beside.grey(rows, WORDING.groups)
    return figure, " ".join([WORDS[name].format(unprinted=WORDS["unprinted"]), *told])


def _method_dots(
    rows: pd.DataFrame, kinds: list[str], series: tuple[str, dict], axis: str, **lines
) -> Figure:
    """A panel a kind of question with dots by method."""
    rows, positions = _in_method_rows(rows)
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


# ---- sentences -----------------------------------------------------------------------------------


def _sentences(points: pd.DataFrame, metrics: pd.DataFrame, kinds: Iterable[str]) -> list[str]:
    names = {kind: METRIC_NAMES[kind] for kind in kinds}
    told = numbers.notes(points, metrics, names, "sets or questions a point")
    return [WORDS["hollow"], *told, *beside.grey(points, WORDING.groups)]
