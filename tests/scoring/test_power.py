"""How many groups a comparison needs: held against the test's own power, counted out."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from tomlab.scoring.power import detectable, groups_needed


def counted_power(n, difference, discordance):
    """The power of McNemar's test at .05, over all counts of gains and losses."""
    discordant = np.arange(n + 1)
    gains = np.arange(n + 1)[:, None]
    one_sided = (discordance + difference) / 2 / discordance
    chance = binom.pmf(discordant, n, discordance) * binom.pmf(gains, discordant, one_sided)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.abs(2 * gains - discordant) / np.sqrt(discordant)
    return chance[z > norm.ppf(0.975)].sum()


@pytest.mark.parametrize(
    ("difference", "discordance"), [(0.1, 0.2), (0.2, 0.3), (0.3, 0.6), (0.1, 0.5)]
)
def test_as_many_groups_as_planned_have_a_power_of_80_percent(difference, discordance):
    n = int(groups_needed(difference, discordance, discordance))
    assert counted_power(n, difference, discordance) == pytest.approx(0.8, abs=0.04)


def test_by_hand():
    # (1.95996 sqrt(.2) + .84162 sqrt(.2 - .01))^2 / .01 = (.87652 + .36685)^2 / .01 = 154.6
    assert groups_needed(0.1, 0.2, 0.2) == 155


@pytest.mark.parametrize("n", [20, 60, 400])
def test_least_difference_needs_just_these_groups(n):
    least = detectable(n, 0.5, 0.5)
    assert groups_needed(least + 1e-6, 0.5, 0.5) in (n - 1, n)


def test_no_difference_is_shown_that_exceeds_the_discordance():
    assert np.isnan(detectable(3, 0.3, 0.3))
    assert np.isnan(detectable(30, 0.0, 0.0))
    assert np.isnan(groups_needed(0.1, 0.0, 0.0))


def test_wish_above_the_discordance_takes_as_many_more_groups_to_differ():
    assert groups_needed(0.4, 0.1, 0.1) == groups_needed(0.4, 0.4, 0.4)
