"""Up to three quantiles without intervals, chosen together, in one choice.

*Lemma:* of the reach in :mod:`confide.tables.aggregates.ranked.ranked_together`.
*Privacy:* the exponential mechanism over tuples (:mod:`confide.noise.choices.quantile_set`).
*Utility:* except with chance β all values of a group are at most max(q, 1 − q)·(R/ε)·ln(T/β) ranks
from their quantiles, whatever the rows, T being how many tuples there are [DR14, thm. 3.11].  Away
from heaps ranks are off by e with the density ∝ exp(−η·max_w w·e) over the faces w: the plan tells
the errors of its marginals, found by summing it over a grid.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.4.
        https://doi.org/10.1561/0400000042
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np

from confide.errors import UnsupportedError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.mechanism import Mechanism
from confide.plans.estimates import AT_BOUND, POINT_ONLY, Covers, Estimate, Forecast
from confide.plans.mechanisms import quantile_set, vector
from confide.plans.plan import Noisy
from confide.plans.typical_spread import TYPICAL_SPREAD, median_note
from confide.privacy.adjacency import Adjacency
from confide.privacy.ranks import faces
from confide.tables.aggregates.ranked.ranked_together import RankedTogether
from confide.tables.aggregates.ranked.ranked_value import middle_of_step
from confide.tables.schema import Domain

NAME = "quantiles"
"""Name of the one question."""

_FARTHEST, _PLACES = 14.0, 71  # of the grid of ranks, in rows for a loss of e


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsTogether:
    """Quantiles of one group, and the question that asks for all of them.

    Attributes:
        asked: Candidates and quantiles, of one group.
    """

    asked: RankedTogether

    def rank_error(self, mechanisms: Mapping[str, Mechanism], *, chance: float) -> int:
        """Return how many rows any value of a group is off at most, except with ``chance``."""
        return ranks_off(quantile_set(mechanisms[NAME]), chance=chance)

    def estimates(
        self,
        noisy: Mapping[str, Noisy],
        *,
        at: Sequence[Fraction],
        statistic: str,
        level: Fraction,
        of: Domain,
    ) -> tuple[Estimate, ...]:
        """Return each value, without an interval."""
        (values,) = chosen_values(self.asked, vector(noisy[NAME]))
        return tuple(
            Estimate(
                statistic=statistic,
                quantity=f"quantile {float(q):g}",
                key=(),
                value=of.physical(values[self.asked.at.index(q)]),
                standard_error=None,
                lower=None,
                upper=None,
                level=float(level),
                covers=Covers.NOISE,
                unit=of.unit,
                flags=flags_of(values[self.asked.at.index(q)], of=of),
            )
            for q in at
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, of: Domain, rows: Fraction, level: float
    ) -> Forecast:
        """Return the error of a median under a normal law.

        Args:
            mechanisms: By the name of the question.
            of: Bounds of the number.
            rows: Public planning number of rows of a group.
            level: Of the error that is forecast.
        """
        law = quantile_set(mechanisms[NAME])
        error = error_of_median(law, of=of, rows=float(rows), level=level)
        steps = self.asked.steps
        reach = float((of.upper - of.lower) * of.scale)
        step = 0.0 if steps == of.upper - of.lower else reach / steps
        ranks = ranks_off(law, chance=1 - level)
        notes = [
            f"for {float(rows):.6g} rows; values alone: nothing is said of gaps between them",
            f"except with a chance of {1 - level:.3g}, all are at most {ranks:,} ranks off",
            median_note(of=of, even=error.even + step / 2),
        ]
        if step:
            notes.append(
                f"chosen among {steps:,} even steps, each of {step:.4g} {of.unit}".rstrip()
            )
        return Forecast(
            half_width=error.wide + step / 2,
            median_error=error.usual + step / 4,
            level=level,
            unit=of.unit,
            planning=float((of.upper + of.lower) * of.scale) / 2,
            notes=tuple(notes),
        )


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


def flags_of(value: int, *, of: Domain) -> tuple[str, ...]:
    """Return what is said of a value without an interval."""
    return (AT_BOUND, POINT_ONLY) if value in (of.lower, of.upper) else (POINT_ONLY,)
