"""Exact chances of a choice of sets, from its law and not from draws.

*Privacy:* a claim below the log-ratio of two such chances is false; one far above it wastes budget.
"""

import math
from collections.abc import Sequence

from confide.noise.set_selection import SetSelection


def log_chance_of_set(
    choice: SetSelection, utilities: Sequence[int], chosen: Sequence[int]
) -> float:
    """Return ln P[chosen], by elementary symmetric polynomials of the weights.

    Example:
        >>> from fractions import Fraction
        >>> choice = SetSelection(epsilon=Fraction(1), reach=1, size=2, candidates=4)
        >>> round(math.exp(log_chance_of_set(choice, (3, 3, 3, 3), (0, 1))), 6)  # one of six
        0.166667
    """
    best, slope = max(utilities), float(choice.slope)
    sums = [1.0] + [0.0] * choice.size  # of products of 0, 1, … k of the weights
    for utility in utilities:
        weight = math.exp(slope * (utility - best))
        for k in range(choice.size, 0, -1):
            sums[k] += weight * sums[k - 1]
    own = slope * math.fsum(utilities[i] - best for i in chosen)
    return own - math.log(sums[choice.size])
