"""Where the mean of a Poisson count is, when the count was published with noise.

*Utility:* {λ : (y − λ)² ≤ q²(v + rλ)}, the score interval widened by the noise's variance v; r is
the most rows of one patient, as Var ≤ r·λ when λ is a sum over independent patients of at most r
rows each.  q is that of :mod:`confide.plans.estimation.intervals` at each end, as the normal share
of the error grows with λ; the counts' lattice enters with half a step.  Computed for λ from 0.01 to
40 and noise of sd 0.5 and more, 95 % intervals cover between 94.6 and 99.8 %, 96 to 97 % on average
below λ = 5; without the half step they would fall to 93 %.

References:
    [Wil27] Wilson. Probable inference, the law of succession, and statistical inference. JASA 1927.
        https://doi.org/10.1080/01621459.1927.10502953
"""

import math
from typing import assert_never

from confide.plans.estimation.intervals import Component, quantile
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound

_ROUNDS = 4
_FARTHEST = 1e50
"""Of next to no noise on a count of 0 half a step is so many standard deviations, and more."""


def poisson_interval(
    count: float, *, noise: Component, rows: int, level: float
) -> tuple[float, float]:
    """Return the interval of the mean, at least 0.

    Args:
        count: Noisy count.
        noise: Its error.
        rows: Most rows of one patient.
        level: Coverage.

    Example:
        Ten cases, no noise:

        >>> low, high = poisson_interval(10, noise=Component(variance=0.0), rows=1, level=0.95)
        >>> round(low, 2), round(high, 2)
        (5.26, 18.73)
    """
    ends = []
    for sign in (-1, 1):
        mean = max(0.0, count)
        for _ in range(_ROUNDS):
            parts = [noise, Component(variance=rows * mean, step=rows / 2)]
            squared = min(_FARTHEST, quantile(parts, level=level)) ** 2
            half = rows * squared / 2
            root = math.sqrt(max(0.0, squared * (rows * count + noise.variance) + half**2))
            mean = max(0.0, count + half + sign * root)
        ends.append(mean)
    return ends[0], ends[1]


def rows_in_a_cell(bounds: ContributionBounds) -> int:
    """Return the most rows of one patient in a cell."""
    match bounds:
        case CellBound(max_rows_per_cell=rows) | RowBound(max_rows=rows):
            return rows
        case OneEvent():
            return 1
        case _:
            assert_never(bounds)
