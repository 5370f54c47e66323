"""The style of the figures: seaborn's, in colours that are read and mean one thing."""

from importlib import import_module

import matplotlib
import pytest
import seaborn

from tomlab.reporting import plotting
from tomlab.reporting.printed import WORDS

WHITE = seaborn.axes_style("white")
# Set otherwise on purpose, or (the colour map) not used.
OWN = {"axes.edgecolor", "axes.spines.right", "axes.spines.top", "font.sans-serif", "image.cmap"}
# Unscored outcomes, and answers of no kind, are tints.
UNNAMED = {"unparsed", "truncated", "refused", "error", "irrelevant"}


@pytest.mark.parametrize("colour", plotting.COLOURS)
def test_a_hollow_dot_has_three_times_the_contrast_to_white(colour):
    luminance = plotting.luminance(plotting.COLOURS[colour])
    assert 1.05 / (luminance + 0.05) >= 3


def looks(words):
    """The names and the colour of every level of a series in a `words.yaml`."""
    for level, one in words.items():
        if isinstance(one, dict) and "colour" in one and "label" in one:
            yield {level, one["label"]}, one["colour"]
        elif isinstance(one, dict):
            yield from looks(one)


@pytest.mark.parametrize("benchmark", ["", "bigtom", "fantom", "omnitom", "simpletom"])
def test_a_colour_means_one_thing(benchmark):
    words = import_module(f"tomlab.papers.{benchmark}.tables").WORDS if benchmark else WORDS
    series = {key: value for key, value in words.items() if key != "few"}
    found = [(names, colour) for names, colour in looks(series) if not names & UNNAMED]
    assert found
    for names, colour in found:
        assert names & set(WORDS["meanings"][colour]["levels"]), (names, colour)


def test_no_level_has_two_colours():
    levels = [level for one in WORDS["meanings"].values() for level in one["levels"]]
    assert len(levels) == len(set(levels))
    assert set(WORDS["meanings"]) == {*plotting.COLOURS, "ink"}


@pytest.mark.parametrize("name", sorted(set(WHITE) - OWN))
def test_value_is_that_of_seaborns_white_style(name):
    with matplotlib.rc_context(WHITE):
        seaborns = matplotlib.rcParams[name]
    with plotting.style():
        assert matplotlib.rcParams[name] == seaborns
