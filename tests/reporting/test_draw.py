"""Figures by seaborn: the data that is drawn, which is read back from the axes, and the files."""

import re
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import PIL.Image
import pytest
from matplotlib.colors import to_hex, to_rgb

from tomlab import paths
from tomlab.reporting import draw
from tomlab.reporting.draw import COLOURS

BELIEFS = {"true": COLOURS["blue"], "false": COLOURS["orange"]}


def numbers() -> pd.DataFrame:
    """Two models of the paper, without intervals, and two of this run, one with few groups."""
    rows = [
        ("paper", "GPT-4", "true", 0.9, np.nan, np.nan, 200),
        ("paper", "GPT-4", "false", 0.4, np.nan, np.nan, 200),
        ("this run", "mine", "true", 0.6, 0.5, 0.7, 100),
        ("this run", "mine", "false", 0.5, 0.3, 0.8, 4),
    ]
    columns = ["source", "model", "belief", "value", "ci_low", "ci_high", "n_groups"]
    return pd.DataFrame(rows, columns=columns).assign(mark="", panel="a")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def dots(axes) -> dict[tuple[float, float], str]:
    """The colour of each dot by its place, "hollow" of what is not filled."""
    colours_by_place = {}
    for line in axes.lines:
        if line.get_linestyle() in ("None", "-") and line.get_marker() not in ("None", None, ""):
            [x], [y] = line.get_xdata(), line.get_ydata()
            is_hollow = line.get_markerfacecolor() == "white"
            colours_by_place[round(x, 3), round(y, 3)] = (
                "hollow" if is_hollow else line.get_markeredgecolor()
            )
    return colours_by_place


def test_dots_stand_at_their_values_hollow_without_interval_and_grey_of_few_groups():
    panels = draw.grid(numbers(), 2, col="panel")
    panels.map_dataframe(draw.dots, hue="belief", palette=BELIEFS, order=["GPT-4", "mine"])
    assert dots(panels.axes[0, 0]) == {
        (0.9, -0.3): "hollow",
        (0.4, 0.3): "hollow",
        (0.6, 0.7): COLOURS["blue"],
        (0.5, 1.3): COLOURS["grey"],
    }
    labels = [label.get_text() for label in panels.axes[0, 0].get_yticklabels()]
    assert labels == ["GPT-4", "mine"]
    segments = []
    for lines in panels.axes[0, 0].collections:
        segments += [segment[:, 0].round(3).tolist() for segment in lines.get_segments()]
    assert segments == [[0.5, 0.7], [0.3, 0.8]]


def test_stacked_bars_have_a_part_for_each_share_from_the_left():
    shares = pd.DataFrame(
        {
            "method": ["plain"] * 3,
            "outcome": ["right", "wrong", "refused"],
            "value": [0.5, 0.3, 0.2],
        }
    )
    panels = draw.grid(shares, 1)
    panels.map_dataframe(draw.stacked, rows="method", part="outcome", palette=draw.OUTCOMES)
    bars = {
        to_hex(bar.get_facecolor()): (round(bar.get_x(), 3), round(bar.get_width(), 3))
        for bar in panels.axes[0, 0].patches
        if bar.get_width()
    }
    assert bars[draw.OUTCOMES["right"]] == (0.0, 0.5)
    assert bars[draw.OUTCOMES["wrong"]] == (0.5, 0.3)
    assert bars[draw.OUTCOMES["refused"]] == (0.8, 0.2)


def test_saved_files_hold_the_numbers_are_linked_and_are_the_same_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    written, shown = [], []
    monkeypatch.setattr(draw, "display", shown.append)
    for name in ("toy/one", "toy/two"):
        panels = draw.grid(numbers(), 2, col="panel")
        panels.map_dataframe(draw.dots, hue="belief", palette=BELIEFS)
        draw.legend(panels, BELIEFS, {"guessing": "--"}, hollow="paper", grey="few groups")
        draw.save(panels, name, "A title?", "A caption.", numbers())
        stem = tmp_path / "figures" / name
        kinds = ("png", "pdf", "csv", "caption.txt")
        written.append([stem.with_suffix(f".{kind}").read_bytes() for kind in kinds])
    assert written[0] == written[1]
    assert pd.read_csv(stem.with_suffix(".csv"))["value"].tolist() == numbers()["value"].tolist()
    assert not plt.get_fignums()
    assert shown[0].data == stem.with_suffix(".png").read_bytes()
    lines = [
        re.sub("<a [^>]*>|</a>", "", line) for line in re.findall("<p>(.*)</p>", shown[1].data)
    ]
    assert lines == ["A caption.", "PNG · PDF · CSV"]


def test_a_long_title_breaks_before_the_edge(monkeypatch):
    shown = []
    monkeypatch.setattr(draw, "display", shown.append)
    draw.show(plt.figure(figsize=(draw.WIDTH, 2)), "What became of each answer? " * 4)
    pixels = np.asarray(PIL.Image.open(BytesIO(shown[0].data)).convert("L"))
    assert pixels.min() < 255
    assert pixels[:, -2:].min() == 255


def test_a_picture_keeps_the_colour_of_each_dot(monkeypatch):
    shown = []
    monkeypatch.setattr(draw, "display", shown.append)
    figure, axes = plt.subplots(figsize=(draw.WIDTH, 4))
    axes.imshow(np.linspace(0, 1, 10_000).reshape(100, 100))
    for place, colour in enumerate(COLOURS.values()):
        axes.plot(place * 10, 50, "o", color=colour, markersize=4.2)
    draw.show(figure, "Dots")
    counts = PIL.Image.open(BytesIO(shown[0].data)).convert("RGB").getcolors(10**6)
    pixels = np.array([colour for _, colour in counts])
    for colour in COLOURS.values():
        wished = 255 * np.array(to_rgb(colour))
        assert np.abs(pixels - wished).max(axis=1).min() <= 16
