"""What a budget buys of a choice among public candidates."""

import math
from fractions import Fraction
from typing import assert_never

from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.shapes import Ranked, Together
from confide.tables.schema import Dataset

_GRID = 2**20  # ε of a selection under zcdp is irrational: rounded down to this grid


def choosing(
    aggregate: Ranked, sensitivity: Sensitivity, *, amount: Fraction, dataset: Dataset
) -> SetSelection | Peeling | QuantileSet:
    """Return the choice that an amount buys.

    Args:
        aggregate: What is chosen among.
        sensitivity: Of its utilities.
        amount: In the measure's unit.
        dataset: Public facts.
    """
    measure, of = dataset.measure, aggregate.coordinates(dataset)
    if isinstance(aggregate, Together):
        return QuantileSet(
            epsilon=_epsilon(amount, measure=measure),
            reach=sensitivity.reach,
            at=aggregate.at,
            candidates=of,
            moves=aggregate.moves(dataset),
            groups=aggregate.groups,
        )
    return _of_sets(sensitivity, size=aggregate.size, of=of, amount=amount, measure=measure)


def _of_sets(
    sensitivity: Sensitivity, *, size: int, of: int, amount: Fraction, measure: Measure
) -> SetSelection | Peeling:
    """Return the choice with the steeper law: of a set at once, or of one candidate after another.

    Under ``pure`` a set has slope ε/R_k and a round (ε/k)/R_1, never more as R_k ≤ k·R_1.  Under
    ``zcdp`` they are √(8ρ)/R_k and √(8ρ/k)/R_1: a set is as steep as long as R_k² ≤ k·R_1².
    """
    match measure:
        case Measure.PURE:
            at_once = True
        case Measure.ZCDP:
            at_once = sensitivity.set_reach**2 <= size * sensitivity.reach**2
        case _:
            assert_never(measure)
    if at_once:
        epsilon = _epsilon(amount, measure=measure)
        return SetSelection(epsilon=epsilon, reach=sensitivity.set_reach, size=size, candidates=of)
    epsilon = _epsilon(amount / size, measure=measure)
    return Peeling(epsilon=epsilon, reach=sensitivity.reach, size=size, candidates=of)


def _epsilon(amount: Fraction, *, measure: Measure) -> Fraction:
    """Return ε of one choice: of ρ the greatest one on the grid with ε²/8 ≤ ρ."""
    match measure:
        case Measure.PURE:
            return amount
        case Measure.ZCDP:
            return greatest_root(8 * amount)
        case _:
            assert_never(measure)


def greatest_root(square: Fraction) -> Fraction:
    """Return the greatest number on the grid whose square is at most this."""
    return Fraction(math.isqrt(math.floor(square * _GRID**2)), _GRID)
