"""OmniToM's figures: Fig. 4, 5 and 8, and beyond the paper balanced scores.

Each public function is one figure. It takes the metrics table of a run (see `records.tidy`), or
what its docstring says, and returns it with its title, caption and notes, whose numbers are
computed. level: of prompts, see `_answered`. InputError: an unknown level, or metrics without what
is drawn. Source: Bawatneh et al. (2026), and `tables`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tomlab.benchmarks.omnitom import beside as numbers
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.benchmarks.omnitom.paper import PUBLICATION, WORDING
from tomlab.errors import InputError, refuse
from tomlab.papers.omnitom import tables
from tomlab.papers.omnitom.judge_tables import volume_of_paper
from tomlab.papers.omnitom.tables import DIMENSION_NAMES, WORDS
from tomlab.reporting import beside, charts, headings, labels, plotting, printed
from tomlab.reporting.drawn import Drawn
from tomlab.reporting.plotting import INK, Look
from tomlab.reporting.printed import PAPER, RUN

ORDERS, BEYOND = (plotting.described(WORDS["looks"][name]) for name in ("orders", "beyond"))
VOLUME = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
OF_LABELS = {"all": "All dimensions"} | DIMENSION_NAMES
# Where the labels of the distribution stand: two columns of about as many.
COLUMNS = (
    ("order", "truth_status", "knowledge_access", "representation", "context"),
    ("content_type", "mental_source"),
)
COPIED = "copies gold"  # said in a row, see `tables.of_run`
HALF = 0.5  # a label that more beliefs have is common
SAMPLED = Look("this run", INK)
ENDS = ["ci_low", "ci_high"]
# The columns of a figure's file, those that it has.
DATA = ["source", "model", "method", "metric", "condition", "subject", "bucket", "value", *ENDS]
DATA += ["n", "n_groups"]


def figure4(distribution: pd.DataFrame) -> Drawn:
    """Figure 4: how often each label was given to the gold beliefs of this run.

    `distribution`: as `records.label_distribution` has it: dimension, label, count, share.
    InputError: a label that is unknown, missing or there twice.
    """
    beside.demand_columns(distribution, ["dimension", "label", "count", "share"], "labels")
    times = Counter(zip(distribution["dimension"], distribution["label"], strict=True))
    known = Counter((name, label) for name, labels in DIMENSIONS.items() for label in labels)
    found = [(*key, times[key], known[key]) for key in known | times if times[key] != known[key]]
    told = [f"{name} {label!r}: found {n} times, expected {one}" for name, label, n, one in found]
    refuse(told, "labels")
    paper = PUBLICATION.read("order_distribution").set_index("order")["percent"] / 100
    common = distribution[distribution["share"] > HALF]
    common = [f"{row.label} ({printed.share(row.share)})" for row in common.itertuples()]
    words = WORDS["figure4"]
    with plotting.style():
        figure = Figure(figsize=(plotting.WIDTH, 4.6), layout="constrained")
        title = words["title"]["run" if common else "else"].format(
            common=headings.listed(common) if common else ""
        )
        plotting.entitle(figure, title)
        grid = figure.add_gridspec(1, len(COLUMNS))
        for place, dimensions in enumerate(COLUMNS):
            heights = [len(DIMENSIONS[dimension]) + 1 for dimension in dimensions]
            cells = grid[place].subgridspec(len(dimensions), 1, height_ratios=heights)
            for cell, dimension in zip(cells, dimensions, strict=True):
                own = distribution[distribution["dimension"] == dimension].set_index("label")
                axes = figure.add_subplot(cell)
                _label_shares(axes, dimension, own.loc[list(DIMENSIONS[dimension])])
                if dimension == "order":
                    _hollow(axes, paper.to_numpy(), np.arange(len(paper)))
                is_last = dimension == dimensions[-1]
                axes.set_xlabel("Share of beliefs" if is_last else "")
                axes.tick_params(labelbottom=is_last)
        handles = plotting.dot_handles({"": SAMPLED}) | {"paper": plotting.HOLLOW}
        plotting.legend_below(figure, handles, columns=2)
    orders = ", ".join(f"{order}: {printed.share(value)}" for order, value in paper.items())
    own = distribution[distribution["dimension"] == "order"]
    run = ", ".join(f"{row.label}: {printed.share(row.share)}" for row in own.itertuples())
    told = {"orders": orders, "source": PUBLICATION.source("order_distribution"), "run": run}
    said = {name: words[name].format(**told) for name in ("paper", "run", "not shown")}
    n = {"beliefs": own["count"].sum(), "labels": distribution["count"].sum()}
    printed_orders = {"dimension": "order", "label": paper.index, "share": paper, "source": PAPER}
    data = pd.concat([pd.DataFrame(printed_orders), distribution.assign(source=RUN)])
    return Drawn(figure, words["caption"].format(**n), [], said, data, figure4)


def figure5(metrics: pd.DataFrame, level: str | None = None) -> Drawn:
    """Figure 5: [a] F1 of extraction and [b] accuracy of labelling, by order of the belief.

    [b] has a part a model, a row a dimension; the paper's numbers there are of no model in
    particular.
    """
    extraction = _answered(metrics, "stage1", level).query("metric == 'f1'")
    labelling = _answered(metrics, "stage2", level).query("metric == 'accuracy'")
    points = pd.concat(
        [
            extraction.assign(bucket=extraction["subject"], part="a"),
            labelling.assign(bucket=labelling["within"], part="b"),
        ]
    )
    points = points[points["bucket"].isin(ORDERS)]
    if points.empty:
        raise InputError("metrics: no f1 or accuracy of benchmark 'omnitom' by belief order")
    paper = pd.DataFrame(WORDS["labelling_by_order"], columns=["subject", "bucket", "value"])
    paper = paper.assign(source=PAPER, model="text of Sec. 6", part="b", mark="", method="")
    own = dict(iter(points.groupby("part")))
    panels = {"[a] Extraction: F1": own["a"].assign(y=own["a"]["row"])} if "a" in own else {}
    for model, rows in own["b"].groupby("row", sort=False) if "b" in own else ():
        both = pd.concat([paper, rows])
        panels[f"[b] Labelling: accuracy, {model}"] = both.assign(y=both["subject"])
    title = _headline("figure5", extraction, "subject")
    figure = _by_order(panels, title)
    notes = tables.run_sentences(points, metrics, "outputs a point")
    both = pd.concat([paper, points])
    told = {"f1": "F1"} | {each: f"labelling ({name.lower()})" for each, name in OF_LABELS.items()}
    what = both["metric"].eq("f1").map({True: "f1"}).fillna(both["subject"]).map(told)
    both = both.assign(what=what + ", " + both["bucket"])
    in_words = both[both["source"].eq(PAPER) | both["part"].eq("a") | both["subject"].eq("all")]
    return _drawn(figure5, figure, points, notes, in_words, "outputs", both)


def figure8(metrics: pd.DataFrame, level: str | None = None) -> Drawn:
    """Figure 8: extracted beliefs a story against precision, recall and F1, by model."""
    wanted = [volume := "beliefs_per_story", *VOLUME]
    rows = _of_metrics(_answered(metrics, "stage1", level), wanted, ["all"])
    n = rows.groupby("row")[["n", "n_groups"]].apply(printed.counts)
    named, paper = rows.assign(name=rows["row"] + ", n = " + rows["row"].map(n)), volume_of_paper()
    wide = named.pivot(index="name", columns="metric", values=["value", *ENDS])
    few = set(named.loc[printed.is_few(named), "name"])
    # An interval of few stories reaches far beyond all points.
    farthest = max([*wide["value", volume], paper["volume"].max()])
    with plotting.style():
        figure = Figure(figsize=(plotting.WIDTH, 4.6), layout="constrained")
        plotting.entitle(figure, _headline("figure8", rows, "metric"))
        panels = figure.subplot_mosaic(
            [["f1", "f1"], ["precision", "recall"]], height_ratios=[3, 2]
        )
        for metric, axes in panels.items():
            axes.set(title=VOLUME[metric], xlim=(0, 1.2 * farthest), ylim=(-0.03, 1.03))
            axes.set(xlabel="Beliefs a story", ylabel="Share")
            axes.set_yticks([0, 0.25, 0.5, 0.75, 1], labels=["0", ".25", ".5", ".75", "1"])
            axes.tick_params(bottom=True, left=True, length=2.5)
            for name, row in wide.iterrows():
                look = Look(name, plotting.FEW if name in few else INK)
                _cross(axes, row.xs(volume, level=1), row.xs(metric, level=1), look)
        _hollow(panels["f1"], paper["volume"], paper["f1"])
        handles = {"this run, 95 % intervals": plotting.INTERVAL} if len(wide) else {}
        handles |= {"paper, computed (see notes)": plotting.HOLLOW}
        handles |= plotting.few_handle(rows, WORDING.groups) | plotting.count_handle(WORDING.groups)
        plotting.legend_below(figure, handles, 4)
        for metric, axes in panels.items():
            points = {name: (row[volume], row[metric]) for name, row in wide["value"].iterrows()}
            printed_f1 = paper.iterrows() if metric == "f1" else ()
            points |= {name: (row["volume"], row["f1"]) for name, row in printed_f1}
            labels.name_points(axes, points)
    notes = tables.run_sentences(rows, metrics, "outputs a point")
    computed = paper.reset_index().assign(source=PAPER, method="")
    data = computed.melt(["model", "source", "method"], ["volume", "f1"], "metric")
    data = data.replace({"metric": {"volume": volume}})
    in_words = rows.assign(what=rows["metric"].map(VOLUME)).dropna(subset="what")
    in_words = beside.in_order(in_words, "metric", VOLUME)
    return _drawn(figure8, figure, rows, notes, in_words, "outputs", pd.concat([data, rows]))


def beyond_accuracy(metrics: pd.DataFrame, level: str | None = None) -> Drawn:
    """Accuracy of labelling beside scores that weigh all labels alike (no figure of the paper)."""
    wanted = [*BEYOND, "majority_baseline"]
    rows = _of_metrics(_answered(metrics, "stage2", level), wanted, DIMENSIONS)
    positions = plotting.row_positions({"": list(rows["row"].unique())})
    rows = rows.assign(y=rows["row"].map(positions[""]))
    majority = rows[rows["metric"] == "majority_baseline"]
    # A longer name leaves no room for four panels beside it.
    columns = 4 if rows["row"].str.len().max() <= 28 else 3
    ends = majority.groupby("condition")["value"].agg(["min", "max"]).map(printed.share)
    spans = {name: "–".join(dict.fromkeys(ends.loc[name])) for name in DIMENSIONS}
    heads = {name: f"{DIMENSION_NAMES[name]}\n(commonest {span})" for name, span in spans.items()}

    def majority_lines(axes: Axes, own: pd.DataFrame) -> None:
        frequent = own[own["metric"] == "majority_baseline"].set_index("y")["value"]
        plotting.chance_in_rows(axes, frequent, "dashed")

    scores = rows.drop(majority.index)
    line = {WORDS["beyond_accuracy"]["line"]: plotting.line_handle("dashed")}
    figure = charts.dots(
        rows,
        positions,
        ("condition", heads),
        ("metric", BEYOND),
        "Share",
        WORDING.groups,
        also=majority_lines,
        legend=plotting.dot_handles(BEYOND) | line,
        title=_headline("beyond_accuracy", scores, "metric"),
        empty=COPIED,
        **_in_lines(DIMENSION_NAMES, positions, columns),
    )
    notes = tables.run_sentences(scores, metrics, "outputs or beliefs a point")
    clearest = majority.groupby("condition")["value"].mean().idxmax()
    told = scores[scores["condition"] == clearest]
    what = DIMENSION_NAMES[clearest] + ", " + told["metric"].map(_labels(BEYOND))
    told = beside.in_order(told.assign(what=what), "metric", BEYOND)
    return _drawn(beyond_accuracy, figure, scores, notes, told, "outputs or beliefs", rows)


# ---- the numbers ---------------------------------------------------------------------------------


def _answered(metrics: pd.DataFrame, stage: str, level: str | None) -> pd.DataFrame:
    """The rows of one stage at one prompt level, see `beside.answered`."""
    return numbers.answered(tables.of_run(metrics), stage, level, _unusable)


def _unusable(rows: pd.DataFrame) -> set[str]:
    """The models of which no output could be used."""
    return set(rows.query("metric == 'unusable' and condition == 'all' and value == 1")["model"])


def _of_metrics(rows: pd.DataFrame, metrics: list[str], conditions: Collection) -> pd.DataFrame:
    rows = rows[rows["metric"].isin(metrics) & rows["condition"].isin(conditions)]
    missing = [metric for metric in metrics if metric not in set(rows["metric"])]
    refuse([f"no rows of benchmark 'omnitom' with metric {each!r}" for each in missing], "metrics")
    return rows


# ---- drawing -------------------------------------------------------------------------------------


def _in_lines(panels: Collection, positions: pd.Series, columns: int) -> dict[str, float]:
    """The size of a figure with its panels in lines of `columns`."""
    rows = len(positions) * -(-len(panels) // columns)
    height = float(np.clip(6.3 / rows, 0.19, 0.34))  # many rows move closer, to stay on the page
    return {"row_height": height, "extra": 1.7, "columns": columns}


def _by_order(panels: Mapping[str, pd.DataFrame], title: str) -> Figure:
    """[a] across the page, below it the parts of [b], three in a line; y of points: their row."""
    parts = [name for name in panels if name.startswith("[b]")]
    columns = min(len(parts), 3) or 1
    lines = [list(panels)[:1]] if len(parts) < len(panels) else []
    lines += [parts[start : start + columns] for start in range(0, len(parts), columns)]
    rows = {line[0]: list(OF_LABELS) for line in lines}
    rows |= {
        name: list(points["y"].unique()) for name, points in panels.items() if name not in parts
    }
    height = float(np.clip(6 / sum(map(len, rows.values())), 0.15, 0.24))
    heights = [len(own) * height for own in rows.values()]
    with plotting.style():
        size = plotting.WIDTH, sum(heights) + plotting.LINE_GAP * len(lines) + 0.6
        figure = Figure(figsize=size, layout="constrained")
        plotting.entitle(figure, title)
        grid = figure.add_gridspec(len(lines), columns, height_ratios=heights)
        for number, line in enumerate(lines):
            positions = plotting.row_positions({"": rows[line[0]]})
            for place, name in enumerate(line):
                is_alone = name not in parts
                axes = figure.add_subplot(grid[number, :] if is_alone else grid[number, place])
                axes.set_title(name.replace(", ", "\n", 1), fontsize=8)
                plotting.rows(axes, positions, is_named=place == 0)
                if place:
                    axes.set_yticks([])
                elif not is_alone:
                    axes.set_yticklabels(list(OF_LABELS.values()))
                own = panels[name].assign(y=panels[name]["y"].map(positions[""]))
                _order_dots(axes, own, height)
                for y in positions[~positions.isin(own["y"][own["source"] == RUN])]:
                    plotting.say(axes, y, COPIED, 0.25)
                plotting.share_axis(axes, "Share" if number == len(lines) - 1 else "")
        points = pd.concat(panels.values())
        handles = plotting.dot_handles(ORDERS) | plotting.source_handles(points)
        handles |= plotting.few_handle(points, WORDING.groups) | plotting.count_handle(
            WORDING.groups
        )
        plotting.legend_below(figure, handles, 3)
    return figure


def _order_dots(axes: Axes, points: pd.DataFrame, row_height: float) -> None:
    for bucket, look in ORDERS.items():
        for own, drawn in plotting.coloured(points[points["bucket"] == bucket], look):
            plotting.interval_dots(axes, own, drawn)
    dodge = points["bucket"].map({bucket: look.dodge for bucket, look in ORDERS.items()})
    plotting.counts_beside(axes, points.assign(dodge=dodge), row_height)


def _label_shares(axes: Axes, dimension: str, rows: pd.DataFrame) -> None:
    """A dot at the end of a line from 0 a label, so that the rarest is seen, too."""
    y = np.arange(len(rows))
    axes.hlines(y, 0, rows["share"], SAMPLED.colour, linewidth=3, alpha=0.4)
    axes.plot(
        rows["share"],
        y,
        "o",
        color=SAMPLED.colour,
        ms=plotting.DOT,
        linestyle="none",
        clip_on=False,
        gid="shares",
    )
    for height, share, count in zip(y, rows["share"], rows["count"], strict=True):
        axes.text(1.05, height, f"{printed.share(share)} ({count:,})", va="center", fontsize=6.5)
    axes.set_title(f"{DIMENSION_NAMES[dimension]} (n = {rows['count'].sum():,})", loc="left")
    axes.set_yticks(y, labels=list(rows.index))
    axes.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5))
    axes.set_xticks(np.linspace(0, 1, 5), labels=["0", ".25", ".5", ".75", "1"])
    axes.tick_params(axis="y", length=0)


def _hollow(axes: Axes, x: pd.Series, y: pd.Series) -> None:
    face = {"mfc": "white", "mec": INK, "ms": plotting.DOT}
    axes.plot(x, y, "o", **face, linestyle="none", clip_on=False, zorder=3, gid="paper hollow")


def _cross(axes: Axes, across: pd.Series, up: pd.Series, look: Look) -> None:
    """A dot with its intervals in both directions."""
    axes.hlines(up["value"], *across[ENDS], look.colour, linewidth=1)
    axes.vlines(across["value"], *up[ENDS], look.colour, linewidth=1)
    plotting.dots(axes, [across["value"]], [up["value"]], look, look.label)


# ---- words ---------------------------------------------------------------------------------------


def _labels(looks: Mapping[str, Look]) -> dict[str, str]:
    return {name: look.label for name, look in looks.items()}


def _headline(figure: str, rows: pd.DataFrame, column: str) -> str:
    return headings.headline(rows, column, WORDS[figure]["title"])


def _drawn(
    draw: Callable,
    figure: Figure,
    points: pd.DataFrame,
    notes: list[str],
    said: pd.DataFrame,
    unit: str,
    data: pd.DataFrame,
) -> Drawn:
    """A figure with the words of its function.

    said: points that are told in words, with `what` they are; unit: what n counts; data: of the
    figure's file.
    """
    words = WORDS[draw.__name__]
    n = beside.n_from(points, unit, WORDING.groups)
    notes = [*words["notes"], *notes, *beside.grey(points, WORDING.groups)]
    below = headings.told(said, words, "Sec. 6")
    kept = data[[column for column in DATA if column in data]]
    return Drawn(figure, words["caption"].format(n=n), notes, below, kept, draw)
