"""What is published, and what is expected before anything is spent.

An :class:`Estimate` is one number with its whole uncertainty; a :class:`Forecast` is the error that
a plan would have, from public facts only.
"""

import enum
import math
from dataclasses import dataclass

from confide.errors import ContractError

AT_BOUND = "at a bound: check the unit"
"""A number that lies where values are clipped to: beyond it nothing can be seen."""


def at_bound(place: float | None) -> tuple[str, ...]:
    """Return the flag of a number that lies at one of its bounds.

    Args:
        place: Between the bounds, 0 to 1; None when there is no number.
    """
    return () if place is None or 0 < place < 1 else (AT_BOUND,)


NEAR_ZERO = "not told from zero"
"""A number ≥ 0 that is cut there, or whose interval is."""


def near_zero(lower: float) -> tuple[str, ...]:
    """Return the flag of a number ≥ 0 whose interval begins at ``lower``."""
    return () if lower > 0 else (NEAR_ZERO,)


NOT_REACHED = "not reached"
"""A median of a group of which more than half are without the event at the horizon: no warning."""

PREDICTS_ONLY = "predicts only"
"""A coefficient of a model that is fitted to rank and to predict, by rounds that stop early."""

COUNTS = ("persons", "rows")
"""Units of numbers that only fall when a row or a patient is left out."""

MAY_BE_LOW = "patients may be left out: can be too low"
MAY_BE_OFF = "patients may be left out: can be too low or too high"
PATIENTS_LEFT_OUT = (MAY_BE_LOW, MAY_BE_OFF)
"""Of every estimate under a policy that leaves patients out, whether or not anybody was: counts
only fall by it, all others may rise."""

CUT = "rows beyond the bound are left out"
"""Of every estimate of a statistic whose bound may cut, whether or not it did."""

LIMITED = "counts per patient stop at a limit"
"""Of every estimate of a statistic that reads a count per patient whose limit may tell."""

POINT_ONLY = "no interval"
"""Of every estimate of a statistic that publishes values alone."""

OF_ALL = (*PATIENTS_LEFT_OUT, CUT, LIMITED, POINT_ONLY)
"""Flags that all numbers of a statistic have."""


class Covers(enum.Enum):
    """Which randomness an interval covers."""

    NOISE = "noise"  # the same patients, other noise
    SAMPLING_AND_NOISE = "sampling and noise"  # other patients of the same population, other noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One published number.

    Attributes:
        statistic: Id of the statistic.
        quantity: "count", "mean", "quantile 0.5".
        key: Labels of its cell; empty for a single number.
        value: In ``unit``; None when the noise leaves no usable value (a flag says why).
        standard_error: In ``unit``; of the randomness that the interval covers.
        lower: Lower end of the interval; None when it has none.
        upper: Upper end; None when it has none, as beyond a horizon (a flag says why).
        level: Coverage of the interval.
        covers: Which randomness it covers.
        unit: UCUM code, or "persons", "rows".
        flags: Short words: "denominator too small", "below threshold".

    Raises:
        ContractError: If a number is not finite.
    """

    statistic: str
    quantity: str
    key: tuple[str, ...]
    value: float | None
    standard_error: float | None
    lower: float | None
    upper: float | None
    level: float
    covers: Covers
    unit: str
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        numbers = (self.value, self.standard_error, self.lower, self.upper)
        if any(number is not None and not math.isfinite(number) for number in numbers):
            raise ContractError(
                f"An estimate of {self.quantity!r} is not a finite number.",
                hint="A number that cannot be given is None, with a flag that says why.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartForecast:
    """Expected error in a public part of the cells: a level of a spine, areas of a size.

    Attributes:
        name: Which cells.
        cells: How many.
        half_width: Half of the interval that covers the noise at the forecast's level.
        expected_error: Mean absolute error of the noise.
        share: Largest share of the statistic's loss that a unit in these cells has; 1 when all do.
    """

    name: str
    cells: int
    half_width: float
    expected_error: float
    share: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Expected quality of one statistic, from public facts only.

    Attributes:
        half_width: Half of the interval that covers the noise at ``level``, in ``unit``.
        median_error: Median absolute error of one number, in ``unit``.
        level: Coverage that ``half_width`` refers to.
        unit: As the estimates'.
        planning: Public planning value that relative errors refer to; None when there is none.
        notes: Sentences about false positives and negatives, chances, assumptions.
        parts: The same for public parts of the cells, where they differ.
    """

    half_width: float
    median_error: float
    level: float
    unit: str
    planning: float | None = None
    notes: tuple[str, ...] = ()
    parts: tuple[PartForecast, ...] = ()


def unit_after(unit: str) -> str:
    """Return how a unit follows a number in a note: nothing where it is 1.

    Example:
        >>> f"±3{unit_after('mm[Hg]')}", f"±3{unit_after('1')}"
        ('±3 mm[Hg]', '±3')
    """
    return "" if unit in ("", "1") else f" {unit}"
