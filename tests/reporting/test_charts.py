"""The two charts: what each panel holds, what rows without a number say, where axes are named."""

import pandas as pd

from drawn import counts, legend, said
from tomlab.reporting import charts, plotting
from tomlab.reporting.plotting import COLOURS, INK, Look
from tomlab.reporting.printed import PAPER, RUN

LOOKS = {"a": Look("series a", COLOURS["blue"]), "b": Look("series b", COLOURS["orange"])}
PANELS = {"left": "Left", "right": "Right"}
POSITIONS = plotting.row_positions({"": ["one", "two"]})


def drawn(**options):
    rows = [("left", "a", 0.0, 0.2), ("left", "b", 1.0, 0.4), ("right", "a", 0.0, 0.6)]
    points = pd.DataFrame(rows, columns=["panel", "series", "y", "value"])
    points = points.assign(ci_low=None, ci_high=None, mark="", source=RUN, n=12, n_groups=4)
    panels, series = ("panel", PANELS), ("series", LOOKS)
    return charts.dots(points, POSITIONS, panels, series, "Share", "stories", **options)


def values(axes, gid):
    return [list(line.get_xdata()) for line in axes.lines if line.get_gid() == gid]


def test_dots_stand_in_their_panel_and_empty_rows_say_so():
    left, right = drawn(empty="no number").axes
    assert values(left, "series a hollow") == [[0.2]]
    assert values(left, "series b hollow") == [[0.4]]
    assert values(right, "series a hollow") == [[0.6]]
    assert said(right) == ["no number"]
    assert not said(left)


def test_a_chance_line_is_drawn_in_its_panels_alone():
    left, right = drawn(lines={"dashed": (0.5, "chance")}, lined=["right"]).axes
    assert (values(left, "chance"), values(right, "chance")) == ([], [[0.5, 0.5]])


def test_the_axis_is_named_under_the_lowest_panels_alone():
    assert [axes.get_xlabel() for axes in drawn(columns=1).axes] == ["", "Share"]


def of_one_row(**series):
    """n right of a row whose series differ in what is given."""
    look = {"a": Look("series a", COLOURS["blue"], dodge=-0.2), "b": Look("b", INK, dodge=0.2)}
    points = pd.DataFrame({"panel": "left", "series": ["a", "b"], "y": 0.0, "value": 0.5} | series)
    points = points.assign(ci_low=None, ci_high=None, mark="")
    shown = ("panel", {"left": "Left"}), ("series", look), "Share", "stories"
    figure = charts.dots(points, POSITIONS, *shown)
    assert legend(figure)[-1] == "n/stories"
    return counts(figure.axes[0])


def test_a_row_bears_its_n_and_groups_once_or_those_of_each_dot():
    assert of_one_row(source=RUN, n=[12, 12], n_groups=[4, 4]) == {0: "12/4"}
    assert of_one_row(source=RUN, n=[12, 9], n_groups=[4, 4]) == {-0.2: "12/4", 0.2: "9/4"}
    assert of_one_row(source=[RUN, PAPER], n=[12, 200], n_groups=[4, 200]) == {0: "12/4"}


def test_n_of_close_dots_is_small_enough_to_stand_apart():
    points = pd.DataFrame({"y": 0.0, "dodge": [0.0, 0.1], "source": RUN, "n": [12, 9]})
    axes = plotting.panels([""], POSITIONS)[1][0]
    plotting.counts_beside(axes, points.assign(n_groups=4), row_height=0.5)
    high, low = axes.texts
    assert high.get_fontsize() == low.get_fontsize() < plotting.COUNT_SIZE
    assert 0.75 * high.get_fontsize() < 0.1 * 0.5 * 72  # a digit, and the way to the next


def test_bars_bear_their_n_and_empty_rows_say_so():
    shares = {"one": pd.DataFrame({"a": [0.75], "b": [0.25]}, index=[0.0])}
    n = {"one": pd.Series({0.0: "12/4"})}
    shown = "Share", n, "stories"
    [axes] = charts.bars(shares, POSITIONS, LOOKS, *shown, empty="not asked").axes
    assert said(axes) == [".75", ".25", "not asked"]
    assert counts(axes) == {0: "12/4"}
