"""The two charts: what each panel holds, what rows without a number say, where axes are named."""

import pandas as pd

from tomlab.reporting import charts, plotting
from tomlab.reporting.plotting import COLOURS, Look

LOOKS = {"a": Look("series a", COLOURS["blue"]), "b": Look("series b", COLOURS["orange"])}
PANELS = {"left": "Left", "right": "Right"}
POSITIONS = plotting.row_positions({"": ["one", "two"]})


def drawn(**options):
    rows = [("left", "a", 0.0, 0.2), ("left", "b", 1.0, 0.4), ("right", "a", 0.0, 0.6)]
    points = pd.DataFrame(rows, columns=["panel", "series", "y", "value"])
    points = points.assign(ci_low=None, ci_high=None, mark="")
    panels, series = ("panel", PANELS), ("series", LOOKS)
    return charts.dots(points, POSITIONS, panels, series, "Share", **options)


def values(axes, gid):
    return [list(line.get_xdata()) for line in axes.lines if line.get_gid() == gid]


def test_dots_stand_in_their_panel_and_empty_rows_say_so():
    left, right = drawn(empty="no number").axes
    assert values(left, "series a hollow") == [[0.2]]
    assert values(left, "series b hollow") == [[0.4]]
    assert values(right, "series a hollow") == [[0.6]]
    assert [text.get_text() for text in right.texts] == ["no number"]
    assert not left.texts


def test_a_chance_line_is_drawn_in_its_panels_alone():
    left, right = drawn(lines={"dashed": (0.5, "chance")}, lined=["right"]).axes
    assert (values(left, "chance"), values(right, "chance")) == ([], [[0.5, 0.5]])


def test_the_axis_is_named_under_the_lowest_panels_alone():
    assert [axes.get_xlabel() for axes in drawn(columns=1).axes] == ["", "Share"]


def test_bars_bear_their_n_and_empty_rows_say_so():
    shares = {"one": pd.DataFrame({"a": [0.75], "b": [0.25]}, index=[0.0])}
    n = {"one": pd.Series({0.0: 12})}
    [axes] = charts.bars(shares, POSITIONS, LOOKS, "Share", n=n, empty="not asked").axes
    assert [text.get_text() for text in axes.texts] == [".75", ".25", "n = 12", "not asked"]
