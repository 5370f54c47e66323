"""How many groups a paired comparison needs, and which difference a number of groups can show.

McNemar's test as Connor (1987, Biometrics 43) plans it: with a share p of discordant groups, n
groups show a difference d with a power of 80 % where
sqrt(n) d = z(.975) sqrt(p) + z(.80) sqrt(p - d^2). Groups of several answers differ by shares; the
mean square of their differences is then in the place of p, with which it is one for a yes or no.
One comparison is planned for, without a correction for several.
"""

import numpy as np
from scipy.special import ndtri

POWER, LEVEL = 0.8, 0.05
_ALPHA, _BETA = ndtri(1 - LEVEL / 2), ndtri(POWER)


def detectable(n_groups: int, discordance: float, mean_square: float) -> float:
    """The least difference that so many groups show with 80 %; nan where they can show none.

    discordance, mean_square: of the groups' differences, as `paired.differences` has them; no
    difference can be greater than the first.
    """
    room = n_groups - _ALPHA**2 + _BETA**2
    if not room > 0:
        return np.nan
    both = _ALPHA * np.sqrt(n_groups) + _BETA * np.sqrt(room)
    least = float(np.sqrt(mean_square) * both / (n_groups + _BETA**2))
    return least if 0 < least <= discordance else np.nan


def groups_needed(difference: float, discordance: float, mean_square: float) -> float:
    """How many groups show a difference with 80 %; nan where no group differs.

    discordance, mean_square: as in `detectable`. Where more than these is wished for, as many more
    groups are taken to differ.
    """
    if not discordance > 0:
        return np.nan
    square = mean_square * max(1.0, difference / discordance)
    needed = _ALPHA * np.sqrt(square) + _BETA * np.sqrt(max(square - difference**2, 0.0))
    return float(np.ceil((needed / difference) ** 2))
