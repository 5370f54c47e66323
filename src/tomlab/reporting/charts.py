"""The two charts of the papers' figures: rows of dots, and rows of stacked bars, in panels."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from tomlab.reporting import plotting, printed
from tomlab.reporting.plotting import Look
from tomlab.reporting.printed import RUN

NOTHING = MappingProxyType({})


def dots(
    points: pd.DataFrame,
    positions: pd.Series,
    panels: tuple[str, Mapping],
    series: tuple[str, Mapping[str, Look]],
    axis: str,
    groups: str,
    *,
    is_difference: bool = False,
    lines: Mapping[str, tuple[float, str]] = NOTHING,
    lined: Collection | None = None,
    also: Callable[[Axes, pd.DataFrame], None] | None = None,
    empty: str = "",
    empty_x: float = 0.5,
    legend: Mapping[str, Artist] | None = None,
    legend_columns: int = 3,
    **size: float | str,
) -> Figure:
    """Dots with intervals on the rows of `positions`.

    points: those of `plotting.interval_dots`, and the columns named by `panels` (with the title of
    each level) and `series` (with the look of each), source, n and n_groups. axis: what is drawn,
    shares or their difference; groups: what n_groups counts. lines: value and name of chance lines
    by dash, in the panels `lined`, else in all. also: draws more of a panel's points. empty: said
    at `empty_x` in a panel's rows without any. legend: by default series, sources and lines. size:
    as `plotting.panels` has it, with the figure's title.
    """
    (column, titles), (key, looks) = panels, series
    drawn = points[points[key].isin(looks)]
    drawn = drawn.assign(dodge=[looks[value].dodge for value in drawn[key]])
    row_height = size.get("row_height", plotting.ROW_HEIGHT)
    with plotting.style():
        figure, all_axes = plotting.panels(list(titles.values()), positions, **size)
        for axes, level in zip(all_axes, titles, strict=True):
            shown = points[points[column] == level]
            if also:
                also(axes, shown)
            for value, look in looks.items():
                for own, drawn_as in plotting.coloured(shown[shown[key] == value], look):
                    plotting.interval_dots(axes, own, drawn_as)
            plotting.counts_beside(axes, drawn[drawn[column] == level], row_height)
            for dash, (value, _) in lines.items() if level in (lined or titles) else ():
                plotting.reference_line(axes, value, dash)
            for y in sorted(set(points["y"]) - set(shown["y"])) if empty else ():
                plotting.say(axes, y, empty, empty_x)
            plotting.share_axis(axes, "", is_difference)
        _name(axis, all_axes, size)
        if legend is None:
            named = {name: plotting.line_handle(dash) for dash, (_, name) in lines.items()}
            legend = plotting.dot_handles(looks) | plotting.source_handles(points) | named
        has_run = points["source"].eq(RUN).any()
        few = plotting.few_handle(drawn[drawn[column].isin(titles)], groups)
        legend = legend | few | (plotting.count_handle(groups) if has_run else {})
        # The name of what is grey is long.
        plotting.legend_below(figure, legend, min(legend_columns, 4) if few else legend_columns)
    return figure


def bars(
    shares: Mapping[str, pd.DataFrame],
    positions: pd.Series,
    looks: Mapping[str, Look],
    axis: str,
    n: Mapping[str, pd.Series],
    groups: str,
    *,
    grey: Mapping[str, Collection[float]] = NOTHING,
    least: float = 0.06,
    empty: str = "",
    **size: float | str,
) -> Figure:
    """Stacked bars on the rows of `positions`.

    shares: by the title of a panel, a frame indexed by y with a column each of `looks`; n: by
    title, n and `groups` of each bar, indexed by y; grey: by title the y of bars of too few groups
    for a finding (`grey_bars`), drawn in shades of grey; least: the smallest share that bears its
    number; empty: said in a panel's rows without a bar; size: as `plotting.panels` has it.
    """
    with plotting.style():
        figure, panels = plotting.panels(list(shares), positions, **size)
        for axes, (title, parts) in zip(panels, shares.items(), strict=True):
            plotting.stacked_bars(axes, parts, looks, least, grey.get(title, ()))
            for y, count in n[title].items():
                plotting.count_beside(axes, y, count)
            for y in sorted(set(positions) - set(parts.index)) if empty else ():
                plotting.say(axes, y, empty)
            plotting.share_axis(axes, "")
        _name(axis, panels, size)
        is_grey = [y in grey.get(title, ()) for title, parts in shares.items() for y in parts.index]
        handles = _bar_handles(looks, is_grey)
        if any(is_grey):
            handles[printed.few(groups)] = Patch(facecolor=plotting.FEW)
        handles |= plotting.count_handle(groups)
        # The name of what is grey is long.
        plotting.legend_below(figure, handles, -(-len(handles) // (2 if any(is_grey) else 1)))
    return figure


def _bar_handles(looks: Mapping[str, Look], is_grey: Collection[bool]) -> dict[str, tuple]:
    """Legend entries for the parts of bars, in colour, in grey or in both, as they are drawn."""
    kinds = [] if is_grey and all(is_grey) else [looks]
    kinds += [plotting.greyed(looks)] if any(is_grey) else []
    parts = {part: [plotting.bar_handle(kind[part]) for kind in kinds] for part in looks}
    return {looks[part].label: tuple(handles) for part, handles in parts.items()}


def grey_bars(rows: pd.DataFrame) -> dict[str, set[float]]:
    """By panel y of the bars that are `printed.is_few`; rows: also panel and y."""
    few = rows[printed.is_few(rows)]
    return {title: set(own["y"]) for title, own in few.groupby("panel")}


def _name(axis: str, panels: list[Axes], size: Mapping) -> None:
    """Name the axis under the lowest line of panels alone."""
    for axes in panels[-(size.get("columns") or len(panels)) :]:
        axes.set_xlabel(axis)
