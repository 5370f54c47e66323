"""The one style of all figures, and the few drawing helpers that every benchmark's figures share.

Figures are plain matplotlib `Figure`s, outside pyplot's list of open figures, so that a notebook
shows each once. A colour means one thing in all of them (`meanings` of `words.yaml`); shape or
hatch repeats what it says. One typeface, which matplotlib ships, so that every machine draws the
same picture.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from textwrap import wrap

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tomlab.reporting.drawn import Drawn, draw, save, show, style  # noqa: F401  callers find all here
from tomlab.reporting.printed import RUN, WORDS, few, is_few, n_of, share

COLOURS, TINTS = WORDS["colours"], WORDS["tints"]
INK = TINTS["ink"]
FEW = COLOURS[WORDS["few"]["colour"]]
DOT = 4.2  # points
WIDTH = 7.0  # inches: the text width of a page
ROW_HEIGHT = 0.32  # inches
COUNT_SIZE = 6  # points: of n beside a panel
LINE_GAP = 0.6  # inches between two lines of panels, for the upper's x axis and the lower's title
TITLE_LINE = 0.2  # inches
TITLE_WIDTH = 82  # characters
MARK = "*"

_CENTRED = {"ha": "center", "va": "center"}


@dataclass(frozen=True)
class Look:
    """How one series is drawn: `marker` for points, `hatch` for bars, `dodge` in rows."""

    label: str
    colour: str
    marker: str = "o"
    hatch: str = ""
    dodge: float = 0.0


def described(levels: Mapping[str, Mapping]) -> dict[str, Look]:
    """The looks of a `words.yaml` by level: the fields of `Look`, colours by their names."""
    looks, hues = {level: Look(**fields) for level, fields in levels.items()}, COLOURS | TINTS
    return {level: replace(look, colour=hues[look.colour]) for level, look in looks.items()}


def row_positions(blocks: dict[str, list[str]]) -> pd.Series:
    """y of each row, counted downwards, indexed by (block, row).

    Each block begins with a row for its heading, whose row name is empty. An empty block and one
    without a name have none.
    """
    heading = {block: [""] if block and rows else [] for block, rows in blocks.items()}
    keys = [(block, row) for block, rows in blocks.items() for row in [*heading[block], *rows]]
    index = pd.MultiIndex.from_tuples(keys, names=["block", "row"])
    return pd.Series(np.arange(float(len(keys))), index=index)


def panels(
    titles: list[str],
    positions: pd.Series,
    row_height: float = ROW_HEIGHT,
    extra: float = 1.4,
    columns: int | None = None,
    title: str = "",
) -> tuple[Figure, list[Axes]]:
    """A figure with one panel a title on shared rows (from `row_positions`).

    The panels stand side by side, or in lines of at most `columns`. Headings are bold, every other
    row lies on a pale band, and a thin line parts the blocks. `extra` inches are kept for titles,
    the x axis and a legend; title: `entitle`s the figure.
    """
    columns = min(columns or len(titles), len(titles))
    lines = -(-len(titles) // columns)
    height = extra + lines * row_height * len(positions) + (lines - 1) * LINE_GAP
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    entitle(figure, title)
    all_axes = list(figure.subplots(lines, columns, sharey=True, squeeze=False).flat)
    while len(all_axes) > len(titles):
        all_axes.pop().remove()
    for k, (axes, name) in enumerate(zip(all_axes, titles, strict=True)):
        axes.set_title(name)
        rows(axes, positions, is_named=k == 0)
    for axes in all_axes[::columns]:  # the others have no labels
        for (_, row), tick in zip(positions.index, axes.get_yticklabels(), strict=True):
            tick.set_fontweight("normal" if row else "bold")
    return figure, all_axes


def rows(axes: Axes, positions: pd.Series, is_named: bool) -> None:
    """The rows of a panel (from `row_positions`): bands, lines between blocks, and their names."""
    names = positions.index.get_level_values("row")
    for y in positions[names != ""].iloc[::2]:
        axes.axhspan(y - 0.5, y + 0.5, color=TINTS["band"], linewidth=0, zorder=0)
    for y in positions[names == ""].iloc[1:]:
        axes.axhline(y - 0.5, color=INK, linewidth=0.6, zorder=1, gid="block line")
    axes.set_ylim(len(positions) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    if is_named:
        axes.set_yticks(positions, labels=[row or block for block, row in positions.index])


def entitle(figure: Figure, title: str) -> None:
    """Write what the figure finds above it, in lines of like length, and make it higher by them."""
    if title:
        count = len(_lines(title, TITLE_WIDTH))
        widths = range(len(title) // count, TITLE_WIDTH + 1)
        lines = next(lines for w in widths if len(lines := _lines(title, w)) == count)
        figure.set_figheight(figure.get_figheight() + TITLE_LINE * (count + 0.4))
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=9.5, fontweight="bold")


def interval_dots(axes: Axes, points: pd.DataFrame, look: Look) -> None:
    """One series as dots: filled on a bar from ci_low to ci_high, hollow where these are unknown.

    `points` has y, value, ci_low, ci_high and mark, and one row a dot. A mark is written beside
    its dot or its interval, above its end near the right edge. The artists' `gid`s begin with
    the look's label.
    """
    with_bar = points[points["ci_low"].notna()]
    hollow = points[points["ci_low"].isna()]
    y, gid = with_bar["y"] + look.dodge, f"{look.label} intervals"
    axes.hlines(y, with_bar["ci_low"], with_bar["ci_high"], look.colour, linewidth=1.2, gid=gid)
    for part, face, kind in ((with_bar, look.colour, "filled"), (hollow, "white", "hollow")):
        dot = {"ms": DOT, "mfc": face, "mec": look.colour, "linestyle": "none", "zorder": 3}
        dot |= {"clip_on": False, "gid": f"{look.label} {kind}"}
        # Without points it would count as one in the page's corner.
        dot["in_layout"] = not part.empty
        axes.plot(part["value"], part["y"] + look.dodge, look.marker, **dot)
    for point in points[points["mark"] != ""].itertuples():
        end = point.value if pd.isna(point.ci_high) else point.ci_high
        at, beside = (end, point.y + look.dodge), (-3, 5.5) if 0.9 < end <= 1 else (6, -1.5)
        text = {"fontsize": 10, "color": INK, "gid": f"{look.label} mark"}
        axes.annotate(point.mark, at, beside, textcoords="offset points", **text, **_CENTRED)


def coloured(points: pd.DataFrame, look: Look) -> list[tuple[pd.DataFrame, Look]]:
    """Points with how they are drawn: grey in the same shape what is of too few groups."""
    grey = replace(look, colour=FEW)
    return [(own, grey if few else look) for few, own in points.groupby(is_few(points))]


def count_beside(axes: Axes, y: float, text: str, size: float = COUNT_SIZE) -> None:
    """n and groups in small print, right of a panel."""
    where = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
    text = {"fontsize": size, "color": TINTS["pale ink"], "text": text, "gid": "n"}
    axes.annotate(xy=(1, y), xytext=(4, 0), annotation_clip=False, **where, **text)


def counts_beside(axes: Axes, points: pd.DataFrame, row_height: float = ROW_HEIGHT) -> None:
    """n and groups of this run's points right of a panel: once a row, where they differ one a dot.

    `points` has y, dodge, source, n, n_groups; row_height: in inches, for print that fits between.
    """
    run = points[points["source"] == RUN]
    run = run.assign(text=list(map(n_of, run["n"], run["n_groups"])))
    gap = np.diff(np.unique(points["dodge"])).min(initial=1)
    for y, row in run.groupby("y"):
        if row["text"].nunique() == 1:
            count_beside(axes, y, row["text"].iloc[0])
        else:
            size = min(COUNT_SIZE, 1.1 * 72 * row_height * gap)  # a digit is 3/4 of its size high
            for point in row.itertuples():
                count_beside(axes, y + point.dodge, point.text, size)


def reference_line(axes: Axes, value: float, dash: str, gid: str = "chance") -> None:
    """A thin vertical line to hold points against; `gid` says what it stands for."""
    axes.axvline(value, color=COLOURS["grey"], linestyle=dash, linewidth=1, zorder=1, gid=gid)


def chance_in_rows(axes: Axes, chances: pd.Series, dash: str) -> None:
    """Chance levels that differ by row: a line across each row. `chances` is indexed by y."""
    y, line = chances.index.to_numpy(), {"color": COLOURS["grey"], "linestyle": dash}
    axes.vlines(chances, y - 0.5, y + 0.5, **line, linewidth=1, zorder=1, gid="chance")


def share_axis(axes: Axes, name: str, is_difference: bool = False) -> None:
    """An x axis from 0 to 1 (differences: -1 to 1, with a line at 0), with room at its ends."""
    least, room = (-1, 0.06) if is_difference else (0, 0.03)
    labels = ["−1", "−.5", "0", ".5", "1"] if is_difference else ["0", ".25", ".5", ".75", "1"]
    axes.set(xlim=(least - room, 1 + room), xlabel=name)
    axes.set_xticks(np.linspace(least, 1, 5), labels=labels)
    axes.tick_params(axis="x", bottom=True, length=2.5)
    if is_difference:
        reference_line(axes, 0, "solid", "zero")


def greyed(looks: Mapping[str, Look]) -> dict[str, Look]:
    """The parts of bars of too few groups: shades of grey, so that they stay apart."""
    shades = zip(looks.items(), np.linspace(0.55, 0.86, len(looks)), strict=True)
    return {part: replace(look, colour=to_hex([shade] * 3)) for (part, look), shade in shades}


def stacked_bars(
    axes: Axes,
    shares: pd.DataFrame,
    looks: dict[str, Look],
    least: float,
    grey: Collection[float] = (),
) -> None:
    """A stacked bar for each row of `shares`, indexed by y; a part for each column of `looks`.

    A part of `least` or more has room for its number. Bars at the heights `grey` are `greyed`.
    """
    y, left, greys = shares.index.to_numpy(), np.zeros(len(shares)), greyed(looks)
    for part, widths in shares.items():
        look = looks[part]
        edge = {"edgecolor": INK if look.hatch else "white", "linewidth": 0.4 * (widths > 0)}
        fill = {"color": look.colour, "hatch": look.hatch, "zorder": 2, "label": part}
        bars = axes.barh(y, widths, 0.8, left, **fill, **edge)
        is_dark = luminance(look.colour) < 0.18 and not look.hatch  # white on it is read better
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8} if look.hatch else None
        text = {"fontsize": 6.5, "color": "white" if is_dark else "black", "bbox": box}
        numbers = [share(width) if width >= least else "" for width in widths]
        labels = axes.bar_label(bars, numbers, label_type="center", **text)
        for height, bar, label in zip(y, bars, labels, strict=True):
            if height in grey:
                bar.set_facecolor(greys[part].colour)
                label.set_color("black")
        left += widths.to_numpy()


def luminance(colour: str) -> float:
    """Relative luminance of a colour, from 0 (black) to 1 (WCAG 2.1)."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


def dot_handles(looks: dict[str, Look]) -> dict[str, Line2D]:
    """Legend entries for series of dots."""
    return {
        look.label: _handle(color=look.colour, marker=look.marker, linestyle="none")
        for look in looks.values()
    }


def line_handle(dash: str) -> Line2D:
    """A legend entry for a chance line."""
    return _handle(color=COLOURS["grey"], linestyle=dash, linewidth=1)


def bar_handle(look: Look) -> Patch:
    """A legend entry for one part of stacked bars."""
    return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=INK if look.hatch else "white")


def _handle(**properties) -> Line2D:
    return Line2D([], [], markersize=DOT, **properties)


HOLLOW = _handle(color=INK, marker="o", linestyle="none", markerfacecolor="white")
INTERVAL = _handle(color=INK, marker="o", linewidth=1.2)
MARKED = _handle(color=INK, marker=f"${MARK}$", linestyle="none")
COUNTED = _handle(color=TINTS["pale ink"], marker="$n$", linestyle="none", markeredgewidth=0)


def source_handles(
    points: pd.DataFrame,
    paper: str = "paper, no interval printed",
    run: str = "this run, 95 % interval",
) -> dict[str, Line2D]:
    """Legend entries for what is drawn of `points`: hollow, with an interval, marked."""
    is_hollow, is_marked = points["ci_low"].isna(), points["mark"].eq(MARK)
    present = [(paper, HOLLOW, is_hollow), (run, INTERVAL, ~is_hollow)]
    present += [("fails a check, see notes", MARKED, is_marked)]
    return {name: handle for name, handle, is_drawn in present if is_drawn.any()}


def count_handle(groups: str) -> dict[str, Line2D]:
    """The legend entry for what stands right of the panels; groups: on which intervals cluster."""
    return {f"n/{groups}": COUNTED}


def few_handle(points: pd.DataFrame, groups: str) -> dict[str, Line2D]:
    """The legend entry for what is drawn grey, if anything is."""
    handle = _handle(color=FEW, marker="o", linewidth=1.2)
    return {few(groups): handle} if is_few(points).any() else {}


def say(axes: Axes, y: float, what: str, x: float = 0.5) -> None:
    """A word in a row that has no point."""
    axes.text(x, y, what, **_CENTRED, color=TINTS["pale ink"], fontsize=7)


# What has no meaning of its own (methods, models): told apart by its marker most of all.
_PLAIN = (INK, COLOURS["purple"])
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">")  # an odd number


def looks(names: Sequence[str], spread: float = 0.0) -> dict[str, Look]:
    """A look a name, in rows from `spread` above the middle to as much below."""
    dodges = np.linspace(-spread, spread, len(names)) if len(names) > 1 else [0.0]
    kinds = zip(names, cycle(_PLAIN), cycle(_MARKERS), dodges, strict=False)
    return {n: Look(n, colour, marker, dodge=float(d)) for n, colour, marker, d in kinds}


def dots(axes: Axes, x: pd.Series, y: pd.Series, look: Look, gid: str) -> None:
    """Dots without intervals."""
    axes.plot(x, y, look.marker, color=look.colour, ms=DOT, linestyle="none", gid=gid)


def fitting(names: Iterable[str]) -> int:
    """How many columns of a legend fit on the page, at most three."""
    return max(1, min(3, 105 // (max(map(len, names)) + 8)))


def legend_below(figure: Figure, handles: dict[str, Artist | tuple], columns: int) -> None:
    """A legend under all panels, outside them, so that it hides nothing; handles of one label stand
    side by side.
    """
    place = {"loc": "outside lower center", "ncols": columns}
    beside = {tuple: HandlerTuple(ndivide=None)}
    figure.legend(list(handles.values()), list(handles), handler_map=beside, **place)


def _lines(text: str, width: int) -> list[str]:
    return wrap(text, width, break_on_hyphens=False)
