"""OmniToM's figures: Fig. 4, 5 and 8, and beyond the paper judges and balanced scores.

Each public function is one figure. It takes the metrics table of a run (see `records.tidy`), or
what its docstring says, and returns the figure and its caption, whose numbers are computed. level:
of prompts, see `beside.at_level`. InputError: an unknown level, or metrics without what is drawn.
Source: Bawatneh et al. (2026), and `tables`.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.benchmarks.omnitom.paper import PUBLICATION, WORDING
from tomlab.errors import InputError, refuse
from tomlab.papers.omnitom import tables
from tomlab.papers.omnitom.judge_tables import volume_of_paper
from tomlab.papers.omnitom.tables import DIMENSION_NAMES, WORDS
from tomlab.reporting import beside, charts, plotting, printed
from tomlab.reporting.plotting import COLOURS, INK, Look
from tomlab.reporting.printed import PAPER

ORDERS, BEYOND = (plotting.described(WORDS["looks"][name]) for name in ("orders", "beyond"))
PANELS = {"extraction": "[a] Extraction, F1", "all": "[b] All dimensions"} | {
    dimension: f"[b] {name}" for dimension, name in DIMENSION_NAMES.items()
}
VOLUME = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
MAJORITY = "accuracy of always the commonest gold label"
# Where the bars of the label distribution stand: two columns of about as many labels.
COLUMNS = (
    ("order", "truth_status", "knowledge_access", "representation", "context"),
    ("content_type", "mental_source"),
)
BAR = Look("this run", COLOURS["sky"])
ENDS = ["ci_low", "ci_high"]


def figure4(distribution: pd.DataFrame) -> tuple[Figure, str]:
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
    with plotting.style():
        figure = Figure(figsize=(plotting.WIDTH, 4.6), layout="constrained")
        grid = figure.add_gridspec(1, len(COLUMNS))
        for place, dimensions in enumerate(COLUMNS):
            heights = [len(DIMENSIONS[dimension]) + 1 for dimension in dimensions]
            cells = grid[place].subgridspec(len(dimensions), 1, height_ratios=heights)
            for cell, dimension in zip(cells, dimensions, strict=True):
                own = distribution[distribution["dimension"] == dimension].set_index("label")
                axes = figure.add_subplot(cell)
                _label_bars(axes, dimension, own.loc[list(DIMENSIONS[dimension])])
                if dimension == "order":
                    _hollow(axes, paper.to_numpy(), np.arange(len(paper)))
                if dimension == dimensions[-1]:
                    plotting.share_axis(axes, "Share of beliefs")
        handles = {BAR.label: plotting.bar_handle(BAR), "paper": plotting.HOLLOW}
        plotting.legend_below(figure, handles, columns=2)
    beliefs = distribution.groupby("dimension")["count"].sum().max()
    orders = ", ".join(f"{order}: {printed.share(value)}" for order, value in paper.items())
    labels, source = distribution["count"].sum(), PUBLICATION.source("order_distribution")
    told = {"beliefs": beliefs, "labels": labels, "orders": orders, "source": source}
    return figure, WORDS["figure4"].format(**told)


def figure5(metrics: pd.DataFrame, level: str | None = None) -> tuple[Figure, str]:
    """Figure 5: F1 of extraction and accuracy of labelling, by order of the belief and model."""
    points, positions = beside.in_rows(_by_order(metrics, level))
    panels = {panel: name for panel, name in PANELS.items() if panel in set(points["panel"])}
    shown = ("panel", panels), ("bucket", ORDERS), "Share", WORDING.groups
    size = _in_lines(panels, positions, columns=3)
    figure = charts.dots(points, positions, *shown, empty="no number", **size)
    names = DIMENSION_NAMES | {"all": "all dimensions"}
    numbers = WORDS["labelling_by_order"]
    told = [f"{names[panel]}, {order}: {printed.share(value)}" for panel, order, value in numbers]
    run = tables.run_sentences(points, metrics, "outputs a point")
    run += beside.grey(points, WORDING.groups)
    return figure, " ".join([WORDS["figure5"].format(told="; ".join(told)), *run])


def figure8(metrics: pd.DataFrame, level: str | None = None) -> tuple[Figure, str]:
    """Figure 8: extracted beliefs a story against precision, recall and F1, by model."""
    wanted = [volume := "beliefs_per_story", *VOLUME]
    rows = _of_metrics(tables.of_stage(metrics, "stage1", level), wanted, ["all"])
    wide = rows.pivot(index="model", columns="metric", values=["value", *ENDS])
    n = rows.groupby("model", sort=False)[["n", "n_groups"]].apply(printed.counts)
    wide, paper = wide.loc[n.index], volume_of_paper()
    wide.index = [f"{model}, n = {count}" for model, count in n.items()]
    looks = plotting.looks(wide.index)
    few = rows[printed.is_few(rows)]["model"].unique()
    few = {name for name, model in zip(wide.index, n.index, strict=True) if model in few}
    looks |= {name: replace(looks[name], colour=plotting.FEW) for name in few}
    with plotting.style():
        columns = plotting.fitting(looks)
        height = 2.8 + 0.17 * (len(looks) // columns + 1)
        figure = Figure(figsize=(plotting.WIDTH, height), layout="constrained")
        panels = figure.subplots(1, len(VOLUME), sharey=True, sharex=True)
        for axes, (metric, title) in zip(panels, VOLUME.items(), strict=True):
            for model, row in wide.iterrows():
                _cross(axes, row.xs(volume, level=1), row.xs(metric, level=1), looks[model])
            axes.set(title=title, xlabel="Beliefs a story", ylim=(-0.03, 1.03))
            axes.set_yticks([0, 0.25, 0.5, 0.75, 1], labels=["0", ".25", ".5", ".75", "1"])
            axes.tick_params(bottom=True, left=True, length=2.5)
        _hollow(panels[-1], paper["volume"], paper["f1"])
        most = max(wide["ci_high", volume].max(), paper["volume"].max())
        panels[0].set(xlim=(-0.03 * most, 1.05 * most), ylabel="Share")
        handles = plotting.dot_handles(looks) | {"paper, computed (see caption)": plotting.HOLLOW}
        handles |= plotting.few_handle(rows, WORDING.groups)
        handles |= plotting.count_handle(WORDING.groups)
        plotting.legend_below(figure, handles, columns)
    told = [f"{row.Index} {row.volume:.1f}, {printed.share(row.f1)}" for row in paper.itertuples()]
    run = tables.run_sentences(rows, metrics, "outputs a point")
    run += beside.grey(rows, WORDING.groups)
    return figure, " ".join([WORDS["figure8"].format(told="; ".join(told)), *run])


def beyond_accuracy(metrics: pd.DataFrame, level: str | None = None) -> tuple[Figure, str]:
    """Accuracy of labelling beside scores that weigh all labels alike (no figure of the paper)."""
    wanted = [*BEYOND, "majority_baseline"]
    rows = _of_metrics(tables.of_stage(metrics, "stage2", level), wanted, DIMENSIONS)
    positions = plotting.row_positions({"": list(rows["model"].unique())})
    rows = rows.assign(y=rows["model"].map(positions[""]))
    majority = rows[rows["metric"] == "majority_baseline"]
    # A longer name leaves no room for four panels beside it.
    columns = 4 if rows["model"].str.len().max() <= 28 else 3

    def majority_lines(axes: Axes, own: pd.DataFrame) -> None:
        frequent = own[own["metric"] == "majority_baseline"].set_index("y")["value"]
        plotting.chance_in_rows(axes, frequent, "dashed")

    figure = charts.dots(
        rows,
        positions,
        ("condition", DIMENSION_NAMES),
        ("metric", BEYOND),
        "Share",
        WORDING.groups,
        also=majority_lines,
        legend=plotting.dot_handles(BEYOND) | {MAJORITY: plotting.line_handle("dashed")},
        **_in_lines(DIMENSION_NAMES, positions, columns),
    )
    ends = majority.groupby("condition")["value"].agg(["min", "max"]).map(printed.share)
    told = [f"{DIMENSION_NAMES[d]} {'–'.join(dict.fromkeys(ends.loc[d]))}" for d in DIMENSIONS]
    about = WORDS["beyond_accuracy"].format(majority=MAJORITY, told=", ".join(told))
    run = tables.run_sentences(rows.drop(majority.index), metrics, "outputs or beliefs a point")
    return figure, " ".join([about, *run, *beside.grey(rows, WORDING.groups)])


# ---- the numbers ---------------------------------------------------------------------------------


def _by_order(metrics: pd.DataFrame, level: str | None) -> pd.DataFrame:
    """Scores by belief order, the paper's first; panel and bucket say where a point stands."""
    extraction = tables.of_stage(metrics, "stage1", level).query("metric == 'f1'")
    extraction = extraction.assign(panel="extraction", bucket=extraction["subject"])
    labelling = tables.of_stage(metrics, "stage2", level).query("metric == 'accuracy'")
    labelling = labelling.assign(panel=labelling["subject"], bucket=labelling["within"])
    rows = pd.concat([extraction, labelling])
    rows = rows[rows["bucket"].isin(ORDERS)]
    if rows.empty:
        raise InputError("metrics: no f1 or accuracy of benchmark 'omnitom' by belief order")
    paper = pd.DataFrame(WORDS["labelling_by_order"], columns=["panel", "bucket", "value"])
    paper = paper.assign(model="text of Sec. 6", source=PAPER)
    paper = paper[paper["panel"].isin(rows["panel"])]
    both = pd.concat([paper, rows], ignore_index=True)
    return both.fillna({"mark": "", "method": "", "ci_method": ""})


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
    return {"row_height": height, "extra": 1.5, "columns": columns}


def _label_bars(axes: Axes, dimension: str, rows: pd.DataFrame) -> None:
    y = np.arange(len(rows))
    axes.barh(y, rows["share"], 0.7, color=BAR.colour, zorder=2)
    for height, share, count in zip(y, rows["share"], rows["count"], strict=True):
        axes.text(1.05, height, f"{printed.share(share)} ({count:,})", va="center", fontsize=6.5)
    axes.set_title(f"{DIMENSION_NAMES[dimension]} (n = {rows['count'].sum():,})", loc="left")
    axes.set_yticks(y, labels=list(rows.index))
    axes.set(xlim=(-0.03, 1.03), xticks=[], ylim=(len(rows) - 0.5, -0.5))
    axes.tick_params(axis="y", length=0)


def _hollow(axes: Axes, x: pd.Series, y: pd.Series) -> None:
    face = {"mfc": "white", "mec": INK, "ms": plotting.DOT}
    axes.plot(x, y, "o", **face, linestyle="none", clip_on=False, zorder=3, gid="paper hollow")


def _cross(axes: Axes, across: pd.Series, up: pd.Series, look: Look) -> None:
    """A dot with its intervals in both directions."""
    axes.hlines(up["value"], *across[ENDS], look.colour, linewidth=1)
    axes.vlines(across["value"], *up[ENDS], look.colour, linewidth=1)
    plotting.dots(axes, [across["value"]], [up["value"]], look, look.label)
