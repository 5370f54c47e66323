"""The two charts: what each panel holds, what rows without a number say, where axes are named."""

import pandas as pd
from matplotlib.colors import to_rgb

from drawn import colours, counts, legend, said
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


def of_groups(*n_groups, source=RUN):
    """Dots of one series with their intervals, and the figure's legend."""
    points = pd.DataFrame({"n_groups": n_groups, "panel": "left", "series": "a", "y": 0.0})
    points = points.assign(value=0.5, ci_low=0.3, ci_high=0.7, mark="", source=source, n=40)
    shown = ("panel", {"left": "Left"}), ("series", {"a": LOOKS["a"]}), "Share", "stories"
    figure = charts.dots(points, POSITIONS, *shown)
    return colours(figure.axes[0], "series a filled"), legend(figure)


def test_what_is_of_nine_groups_is_grey_and_of_ten_is_not():
    drawn, named = of_groups(9, 10)
    assert drawn == [COLOURS["blue"], COLOURS["grey"]]
    assert "fewer than 10 stories, no finding" in named
    drawn, named = of_groups(10, 11)
    assert drawn == [COLOURS["blue"]] * 2
    assert not any("no finding" in name for name in named)


def test_published_numbers_keep_their_colour_however_few_their_groups():
    drawn, named = of_groups(3, source=PAPER)
    assert drawn == [COLOURS["blue"]]
    assert not any("no finding" in name for name in named)


def test_bars_of_few_groups_are_in_shades_of_grey_that_stay_apart():
    rows = pd.DataFrame({"panel": "one", "y": [0.0, 1.0], "source": RUN, "n_groups": [9, 10]})
    shares = {"one": pd.DataFrame({"a": [0.75, 0.75], "b": [0.25, 0.25]}, index=[0.0, 1.0])}
    n = {"one": pd.Series({0.0: "40/9", 1.0: "40/10"})}
    grey = charts.grey_bars(rows)
    figure = charts.bars(shares, POSITIONS, LOOKS, "Share", n, "stories", grey=grey)
    [axes] = figure.axes
    assert "fewer than 10 stories, no finding" in legend(figure)
    faces = [[bar.get_facecolor()[:3] for bar in part] for part in axes.containers]
    assert [len(set(first)) for first, _ in faces] == [1, 1]
    assert faces[0][0] != faces[1][0]
    assert [second for _, second in faces] == [to_rgb(LOOKS[name].colour) for name in "ab"]


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
