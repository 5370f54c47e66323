"""Parts of all figures: one theme, dots with intervals for seaborn's grids, a legend, saving.

Each figure is made in a notebook cell, which chooses rows and passes them to seaborn. A colour has
the same meaning in all figures (see `COLOURS`), and marker shapes repeat what colours say.
"""

import math
import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import PIL.Image
import seaborn as sns
from fontTools import subset
from IPython.display import HTML, Image, display
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from tomlab import paths
from tomlab.reporting.numbers import few, number

# Each has a contrast of at least 3:1 to white. Colours that share a figure can be told apart by
# colour-blind readers too.
COLOURS = {
    "blue": "#0173b2",  # who knows, or a belief that is true
    "orange": "#c17a00",  # who does not know, or a belief that is false
    "green": "#029e73",  # right
    "red": "#c8420a",  # wrong
    "sky": "#2f95dc",  # the first of three steps: mental state, order 0
    "pink": "#b8539f",  # the second step: behavior, order 1
    "brown": "#6e3f14",  # the third step: judgment, order 2 and above
    "purple": "#8a4fbf",  # asked in a variant
    "ink": "#333333",  # no meaning of its own
    "grey": "#949494",  # fewer groups than a finding requires; reference lines
}
# What became of an answer, in the order in which bars are stacked.
OUTCOMES = {
    "right": COLOURS["green"],
    "wrong": COLOURS["red"],
    "unreadable": "#b5b5b5",
    "cut off": "#f0a8dc",
    "refused": "#cabde6",
    "request failed": "#6b6b6b",
}
MARKERS = "osD^vPX<>"
WIDTH = 7.0  # inches: the text width of a page
PRINT = 200  # dots per inch of a picture
TITLE_LINE = 0.18  # inches: the height of a line of a title
MARK = "§"  # beside a model that does not pass the gate
FAILS = "did not pass the gate, or was not put to it: no finding"
LEGEND_LINE = 105  # characters: how many fit in a line of a legend
SCREEN = 784  # pixels: how wide a notebook shows the picture
# seaborn's grids compute a layout at each step, which is slow; `_picture` computes one at the end.
sns.FacetGrid.tight_layout = lambda grid, *_, **__: grid
# Without dates and versions, a figure always gives the same file.
_NO_DATES = {"CreationDate": None, "Creator": None, "Producer": None}
# Font tables for ligatures and kerning: PDFs do not need them, and they are slow to read.
subset.Options._drop_tables_default += ["GSUB", "GPOS", "GDEF", "kern"]

sns.set_theme(context="paper", style="ticks")
plt.style.use(Path(__file__).with_suffix(".mplstyle"))


def grid(data: pd.DataFrame, rows: int, *, lines: int = 1, **facets) -> sns.FacetGrid:
    """A `seaborn.FacetGrid` of the page's width, high enough for its rows.
    rows: number of labels on each y axis; lines: number of dots below one another at a label;
    facets: as seaborn takes them.
    """
    columns = 1
    if "col_wrap" in facets:
        columns = facets["col_wrap"]
    elif "col" in facets:
        columns = data[facets["col"]].nunique()
    height = 0.75 + rows * max(0.2, 0.1 * lines + 0.06)
    options = {
        "height": height,
        "aspect": WIDTH / columns / height,
        "sharex": True,
        "sharey": True,
        "margin_titles": "row" in facets and "col" in facets,
        **facets,
    }
    return sns.FacetGrid(data, **options)


def dots(
    data: pd.DataFrame,
    rows: str = "model",
    hue: str = "",
    palette: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
    dodge: float = 0.3,
    **_,
) -> None:
    """Draw numbers as dots with their intervals, for `FacetGrid.map_dataframe`.

    data: a row for each number, with value, the column `rows`, ci_low, ci_high, n_groups, source.
    order: the values of `rows` from the top down. hue: a column with the keys of `palette`; its
    dots are spread from `dodge` above a row's middle to as much below. Hollow dots have no
    interval; grey ones are of this run and from too few groups.
    """
    axes = plt.gca()
    palette = palette or {"": COLOURS["ink"]}
    heights = {name: height for height, name in enumerate(order or data[rows].unique())}
    # A panel without numbers gets rows whose columns are empty.
    data = data[data["value"].notna() & data[rows].isin(heights)]
    data = data.assign(is_few=few(data), height=data[rows].map(heights))
    gaps = np.linspace(-dodge, dodge, len(palette)) if len(palette) > 1 else [0.0]
    for (level, colour), gap, marker in zip(palette.items(), gaps, MARKERS * 9, strict=False):
        numbers = data[data[hue] == level] if hue else data
        for row in numbers.itertuples():
            _dot(axes, row, row.height + gap, COLOURS["grey"] if row.is_few else colour, marker)
    axes.set_yticks(list(heights.values()), [str(name) for name in heights])
    axes.set_ylim(len(heights) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda tick, _: _tick(tick))
    for height in range(0, len(heights), 2):
        axes.axhspan(height - 0.5, height + 0.5, color="#f4f4f4", linewidth=0, zorder=0)


def _dot(axes: Axes, row: Any, height: float, colour: str, marker: str) -> None:
    """Draw one number with its interval and mark; the dot is hollow if there is no interval."""
    has_interval = pd.notna(getattr(row, "ci_low", np.nan))
    if has_interval:
        axes.hlines(height, row.ci_low, row.ci_high, colour, linewidth=1.2)
    face = colour if has_interval else "white"
    axes.plot(row.value, height, marker, mec=colour, mfc=face, ms=4.2, clip_on=False, zorder=3)
    mark = getattr(row, "mark", "")
    if mark:
        end = row.ci_high if has_interval else row.value
        axes.annotate(mark, (end, height), (4, -3), textcoords="offset points")


def share_axis(axes: Axes, low: float = 0.0, high: float = 1.0) -> None:
    """Make the x axis one of shares, written .25, with room for a dot at either end."""
    room = 0.03 * (high - low)
    ticks = np.linspace(low, high, 5)
    axes.set_xlim(low - room, high + room)
    axes.set_xticks(ticks, map(_tick, ticks.tolist()))
    axes.tick_params(axis="x", length=2.5)


def _tick(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("0.", ".").replace("-", "−")


def reference(axes: Axes, value: float, dash: str = "--") -> None:
    """Draw a thin vertical line, such as at the share that guessing gives."""
    axes.axvline(value, color=COLOURS["grey"], linestyle=dash, linewidth=1, zorder=1)


def stacked(data: pd.DataFrame, rows: str, part: str, palette: Mapping[str, str], **_) -> None:
    """Draw stacked bars of shares, for `FacetGrid.map_dataframe`.

    data: a row for each part of a bar, with `value` (its share) and the columns named by `rows`
    (the bar) and `part`. Parts go from left to right in the order of `palette`; those from .08 on
    show their number.
    """
    axes = plt.gca()
    bars = pd.Categorical(data[rows], list(dict.fromkeys(data[rows])))
    data = data.assign(**{rows: bars, "value": data["value"].fillna(0)})
    look = {"palette": dict(palette), "hue_order": list(palette)[::-1], "alpha": 1, "legend": False}
    look |= {"multiple": "stack", "discrete": True, "shrink": 0.75, "linewidth": 0.4}
    sns.histplot(data, y=rows, weights="value", hue=part, ax=axes, **look)
    for bar in axes.patches:
        if isinstance(bar, Rectangle) and bar.get_width() >= 0.08:
            x, y = bar.get_center()
            text = axes.annotate(number(bar.get_width()), (x, y), fontsize=6.5)
            text.set_color(_readable_on(bar.get_facecolor()))
            # Numbers lie within bars, so the layout can ignore them and is computed much faster.
            text.set(ha="center", va="center", in_layout=False)
    share_axis(axes)
    axes.set_ylim(len(bars.categories) - 0.45, -0.55)
    axes.set_ylabel("")
    axes.tick_params(axis="y", length=0)


def _readable_on(colour: Any) -> str:
    """White if its contrast to `colour` is at least 4.5:1 (WCAG 2.1, 1.4.3), or else black."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return "white" if 1.05 / (luminance + 0.05) >= 4.5 else "black"


def legend(
    figure: Figure | sns.FacetGrid,
    palette: Mapping[str, str],
    lines: Mapping[str, str] | None = None,
    *,
    bars: bool = False,
    hollow: str = "",
    grey: str = "",
) -> None:
    """Draw a legend below all panels. palette: colour by label, shown as dots or, with `bars`, as
    bars; lines: dash style by label, for reference lines; hollow, grey: labels of such dots. If a
    label or a dot that was drawn before has a §, the legend says what that means.
    """
    handles: list[Patch | Line2D] = []
    for (label, colour), marker in zip(palette.items(), MARKERS * 3, strict=False):
        if bars:
            handles.append(Patch(facecolor=colour, label=label))
        else:
            handles.append(_legend_dot(label, colour, marker=marker, ls="none"))
    if hollow:
        handles.append(_legend_dot(hollow, COLOURS["ink"], mfc="white", ls="none"))
        handles.append(_legend_dot("this run, 95 % interval", COLOURS["ink"]))
    if grey:
        handles.append(_legend_dot(grey, COLOURS["grey"]))
    for label, dash in (lines or {}).items():
        handles.append(Line2D([], [], color=COLOURS["grey"], ls=dash, label=label))
    drawing = figure.figure
    if _gate_marks(drawing):
        handles.append(_legend_dot(FAILS, COLOURS["ink"], marker=f"${MARK}$", ms=6.5, ls="none"))
    longest = max((len(str(handle.get_label())) for handle in handles), default=1)
    # A handle takes as much room as 7 characters.
    columns = max(1, min(len(handles), 4, LEGEND_LINE // (longest + 7)))
    n_lines = math.ceil(len(handles) / columns)
    drawing.set_figheight(drawing.get_figheight() + 0.1 + 0.2 * n_lines)
    drawing.legend(handles=handles, loc="outside lower center", ncols=columns)


def _legend_dot(label: str, colour: str, marker: str = "o", **look: Any) -> Line2D:
    return Line2D([], [], color=colour, label=label, marker=marker, **{"ms": 4.2, **look})


def _gate_marks(figure: Figure) -> list[Text]:
    """The texts of a figure that end with the mark of a model that does not pass the gate."""
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    return [text for text in texts if text.get_text().endswith(MARK)]


def _without_mark(text: Text) -> str:
    return text.get_text().removesuffix(MARK).rstrip()


def _explains_the_mark(artist: Artist) -> bool:
    """Whether an artist is the legend's entry for the mark of the gate, or its text."""
    if isinstance(artist, Text):
        return artist.get_text() == FAILS
    return artist.get_label() == FAILS


def save(
    figure: Figure | sns.FacetGrid,
    name: str | Path,
    title: str,
    caption: str,
    data: pd.DataFrame | None = None,
) -> None:
    """Show a figure in the notebook with its caption, and save it as `results/figures/<name>.png`,
    `.pdf`, `.csv` (`data`) and `.caption.txt`. name: such as "bigtom/figure3", or a whole path.
    The PDF is for papers: it has neither the title nor the marks of the gate (§).
    """
    path = paths.writable(paths.RESULTS / "figures" / name)
    files = {kind: path.with_suffix(f".{kind}") for kind in ("png", "pdf")}
    picture = _picture(figure.figure, title)
    files["png"].write_bytes(picture)
    _save_for_papers(figure.figure, files["pdf"])
    if data is not None:
        files["csv"] = path.with_suffix(".csv")
        data.to_csv(files["csv"], index=False)
    path.with_suffix(".caption.txt").write_text(f"{title}\n\n{caption}\n", encoding="utf-8")
    plt.close(figure.figure)
    _display(picture, title, caption, _links(files))


def saved(name: str | Path) -> None:
    """Show a figure that another notebook saved as `name`, with its caption and its files."""
    path = paths.RESULTS / "figures" / name
    picture = path.with_suffix(".png").read_bytes()
    text = path.with_suffix(".caption.txt").read_text(encoding="utf-8")
    title, caption = text.split("\n", maxsplit=1)
    files = {kind: path.with_suffix(f".{kind}") for kind in ("png", "pdf", "csv")}
    files = {kind: file for kind, file in files.items() if file.exists()}
    _display(picture, title, caption.strip(), _links(files))


def _links(files: Mapping[str, Path]) -> str:
    """Links to files of a figure, as HTML, relative to the folder of the executed notebook."""
    page = (paths.RESULTS if paths.stage() else paths.ROOT) / "notebooks"
    page /= "" if paths.stage().startswith("notebooks/") else "stage"
    links = []
    for kind, file in files.items():
        address = Path(os.path.relpath(file, page)).as_posix()
        links.append(f'<a href="{address}">{kind.upper()}</a>')
    return " · ".join(links)


def _save_for_papers(figure: Figure, path: Path) -> None:
    """Save a figure that `_picture` has drawn as a PDF without its title and marks of the gate."""
    # Computing a layout takes as long as drawing, so the PDF keeps that of the picture.
    figure.set_layout_engine("none")
    for text in _gate_marks(figure):
        text.set_text(_without_mark(text))
    # Axes write the labels of their ticks anew whenever they are drawn.
    for axes in figure.axes:
        if any(text.get_text().endswith(MARK) for text in axes.get_yticklabels()):
            axes.set_yticks(axes.get_yticks(), map(_without_mark, axes.get_yticklabels()))
    for artist in figure.findobj(_explains_the_mark):
        artist.set_visible(False)
    width, height = figure.get_size_inches()
    if figure.get_suptitle():
        height -= TITLE_LINE * (figure.get_suptitle().count("\n") + 1)
        figure.suptitle("")
    part = Bbox([[0, 0], [width, height]])
    FigureCanvasPdf(figure).print_figure(path, bbox_inches=part, metadata=_NO_DATES)


def show(figure: Figure | sns.FacetGrid, title: str, caption: str = "") -> None:
    """Show a figure in a notebook without saving it to a file."""
    picture = _picture(figure.figure, title)
    plt.close(figure.figure)
    _display(picture, title, caption)


def _picture(figure: Figure, title: str) -> bytes:
    """The figure with its title above it, as the bytes of a PNG."""
    lines = fill(title, 80)
    if title:
        figure.set_figheight(figure.get_figheight() + TITLE_LINE * (lines.count("\n") + 1))
    figure.suptitle(lines, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
    figure.set_layout_engine("constrained")
    figure.set_dpi(PRINT)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = PIL.Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    # A palette of 256 colours looks the same in a third of the bytes; this one keeps rare colours.
    small = pixels.quantize(
        256, method=PIL.Image.Quantize.MAXCOVERAGE, dither=PIL.Image.Dither.NONE
    )
    png = BytesIO()
    small.save(png, "png", dpi=(PRINT, PRINT))
    return png.getvalue()


def _display(picture: bytes, title: str, caption: str, links: str = "") -> None:
    """Show a picture and, below it, a caption and links, both given as HTML."""
    display(Image(picture, width=SCREEN, alt=" ".join(filter(None, [title, caption]))))
    below = "".join(f"<p>{text}</p>\n" for text in (caption, links) if text)
    if below:
        display(HTML(f'<div class="tomlab-caption">\n{below}</div>'))
