"""What one step of a measurement is worth, and how far one unit or the noise moves it.

*Privacy:* reads the plan, which is public.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.drawing.numbers import clean, significant
from confide.drawing.words import Words
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import Mechanism
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.plan import Measurement
from confide.tables.aggregates.factorized import STEPS
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What one step of a measurement is worth.

    Attributes:
        step: Physical value of one step.
        units: Codes of the units that are multiplied.
    """

    step: Fraction
    units: tuple[str, ...]

    def text(self, canonical: float, *, words: Words) -> str:
        """Return a number of steps as a physical amount.

        Example:
            >>> from confide.drawing.words import load_words
            >>> Grid(step=Fraction(1, 10), units=("kg", "kg", "mm[Hg]")).text(
            ...     25, words=load_words("en")
            ... )
            '2.5 (kg)²·mmHg'
        """
        number = significant(float(self.step) * canonical)
        known = [code for code in self.units if words.unit(code)]
        if len(known) < 2:
            return words.amount(number, known[0] if known else "1")
        shown = []
        for code in dict.fromkeys(known):
            unit = clean(words.unit(code))
            match known.count(code):
                case 1:
                    shown.append(unit)
                case 2:
                    shown.append(words.say("bounded.squared", unit=unit))
                case power:
                    shown.append(f"({unit})^{power}")
        return words.say("amount", value=number, unit="·".join(shown))


def grid_of(measurement: Measurement, *, dataset: Dataset) -> Grid:
    """Return what one step of a measurement is worth."""
    step = measurement.aggregate.step(dataset)
    counted = (measurement.sensitivity.unit.removeprefix(STEPS),)
    return Grid(step=step.size, units=counted if step.units is None else step.units)


def moved_text(measurement: Measurement, *, grid: Grid, words: Words) -> str:
    """Return how far one unit moves what is noised, or one choice over another."""
    moved = measurement.sensitivity
    match measurement.mechanism:
        case SetSelection():
            return grid.text(moved.set_reach, words=words)
        case Peeling() | QuantileSet():
            return grid.text(moved.reach, words=words)
        case _:
            return grid.text(moved.l1, words=words)


def error_at(mechanism: Mechanism, level: float) -> float:
    """Return how wide the noise is, or the lead that is enough to be chosen, at this chance.

    Example:
        >>> error_at(DiscreteLaplace(scale=Fraction(2)), 0.95)
        6
    """
    match mechanism:
        case SetSelection() | Peeling() | QuantileSet():
            return mechanism.lead(level)
        case KeyThreshold():
            return mechanism.noise().half_width(level)
        case DiscreteLaplace() | DiscreteGaussian() | PolyaDifference():
            return mechanism.half_width(level)
        case _:
            assert_never(mechanism)
