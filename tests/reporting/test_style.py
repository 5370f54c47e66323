"""The style of the figures: written out in `plotting`, it is still seaborn's."""

import matplotlib
import pytest
import seaborn

from tomlab.reporting import plotting

WHITE = seaborn.axes_style("white")
# Set otherwise on purpose, or (the colour map) not used.
OWN = {"axes.edgecolor", "axes.spines.right", "axes.spines.top", "font.sans-serif", "image.cmap"}


def test_colours_are_seaborns_colour_blind_safe_palette():
    assert list(plotting.COLOURS.values()) == seaborn.color_palette("colorblind").as_hex()


@pytest.mark.parametrize("name", sorted(set(WHITE) - OWN))
def test_value_is_that_of_seaborns_white_style(name):
    with matplotlib.rc_context(WHITE):
        seaborns = matplotlib.rcParams[name]
    with plotting.style():
        assert matplotlib.rcParams[name] == seaborns
