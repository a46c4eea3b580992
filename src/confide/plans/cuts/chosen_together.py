"""What values that are chosen together are, and how far they may be off.

*Utility:* away from heaps ranks are off by e with the density ∝ exp(−η·max_w w·e) over the faces w
(:mod:`confide.privacy.ranks`); errors are those of its marginals, found by summing it over a grid.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np

from confide.errors import UnsupportedError
from confide.noise.choices.quantile_set import QuantileSet
from confide.plans.estimates import AT_BOUND, POINT_ONLY, Covers, Estimate
from confide.plans.typical_spread import TYPICAL_SPREAD
from confide.privacy.adjacency import Adjacency
from confide.privacy.ranks import faces
from confide.tables.aggregates.ranked.ranked_together import RankedTogether
from confide.tables.aggregates.ranked.ranked_value import middle_of_step
from confide.tables.schema import Domain

_FARTHEST, _PLACES = 14.0, 71  # of the grid of ranks, in rows for a loss of e


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianError:
    """How far a chosen median is off, in the unit of the column.

    Attributes:
        usual: With a chance of a half, under a normal law over a third of the range.
        wide: With the level that is asked for, under it.
        even: The same where values are even over the range.
    """

    usual: float
    wide: float
    even: float


def error_of_median(law: QuantileSet, *, of: Domain, rows: float, level: float) -> MedianError:
    """Return how far the value of the quantile nearest to a half is off, of so many rows."""
    half = float((of.upper - of.lower) * of.scale) / 2
    near = min(range(len(law.at)), key=lambda i: abs(law.at[i] - Fraction(1, 2)))
    normal = NormalDist(0, 2 * TYPICAL_SPREAD)
    usual, wide = (
        ranks / law.per_row / rows for ranks in _marginal(law.at, law.moves, near, (0.5, level))
    )

    def off(share: float) -> float:
        return min(1.0, normal.inv_cdf(0.5 + share)) if share < 0.5 else 1.0

    return MedianError(usual=half * off(usual), wide=half * off(wide), even=half * min(1, 2 * wide))


@cache
def _marginal(
    at: tuple[Fraction, ...], moves: Adjacency, index: int, levels: tuple[float, ...]
) -> tuple[float, ...]:
    """Return how many ranks one quantile is off with each chance, where a row loses a factor e."""
    places = np.linspace(-_FARTHEST, _FARTHEST, _PLACES)
    axes = np.meshgrid(*[places] * len(at), indexing="ij", sparse=True)
    worst = np.max(
        [
            sum((float(w) * axis for w, axis in zip(face, axes, strict=True)), np.zeros(()))
            for face in faces(at, adjacency=moves)
        ],
        axis=0,
    )
    others = tuple(i for i in range(len(at)) if i != index)
    mass = np.exp(-worst).sum(axis=others)
    middle = _PLACES // 2
    density = mass[middle:]
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return tuple(float(np.interp(level * below[-1], below, places[middle:])) for level in levels)


def ranks_off(law: QuantileSet, *, chance: float) -> int:
    """Return how many rows any value of a group is off at most, except with ``chance``."""
    rows = law.shortfall(chance) * float(law.slope) / law.per_row
    widest = max(max(q, 1 - q) for q in law.at) if law.moves is Adjacency.ADD_REMOVE else 1
    return math.ceil(rows * float(widest))


def chosen_values(asked: RankedTogether, places: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the values of each group, in canonical integers, quantile by quantile.

    Raises:
        UnsupportedError: If a place names none of the candidates.
    """
    if len(places) != asked.size or not all(0 <= place <= asked.steps for place in places):
        raise UnsupportedError("A choice names other candidates than there are.")
    edges, each = asked.edges, len(asked.at)
    found = [middle_of_step(edges, place) for place in places]
    return [tuple(found[start : start + each]) for start in range(0, len(found), each)]


def chosen_value(
    value: int,
    *,
    q: Fraction,
    statistic: str,
    key: tuple[str, ...],
    level: Fraction,
    of: Domain,
) -> Estimate:
    """Return a value without an interval."""
    bound = (AT_BOUND,) if value in (of.lower, of.upper) else ()
    return Estimate(
        statistic=statistic,
        quantity=f"quantile {float(q):g}",
        key=key,
        value=of.physical(value),
        standard_error=None,
        lower=None,
        upper=None,
        level=float(level),
        covers=Covers.NOISE,
        unit=of.unit,
        flags=(*bound, POINT_ONLY),
    )
