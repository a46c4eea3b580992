"""Noisy sums: numbers made by adding up noisy cells that were published before, and their errors.

A sum of n cells of one vector has n times the noise variance of a cell; several independent answers
to the same question are averaged with weights inverse to their variances, which gives the least
variance that an unbiased average can have [Ait35].  Under zCDP with Gaussian noise nothing is lost
by that: 1/σ² is proportional to ρ, so two answers at ρ₁ and ρ₂ average to the noise of one answer
at ρ₁ + ρ₂ ("measure, look, top up").

*Privacy:* a function of published numbers; the weights are functions of the mechanisms alone.
*Utility:* unbiased.  Intervals use variance and kurtosis of the sum (:mod:`intervals`), not its
exact law.  They hold for a number of answers that was not chosen by looking at them.

References:
    [Ait35] Aitken. On least squares and linear combination of observations. Proc. R. Soc.
        Edinburgh 55, 1935. https://doi.org/10.1017/S0370164600014346
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from confide.plans.estimates import Estimate, Forecast
from confide.plans.estimation.intervals import Component, quantile, together
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisySum:
    """One number with its error.

    Attributes:
        value: Unbiased; not whole when it is an average.
        error: Of the noise; without variance where no row can be in it, so that it is exactly 0.
    """

    value: float
    error: Component

    def width(self, *, level: float) -> float:
        """Return half the width of the interval that covers the noise at ``level``."""
        return quantile([self.error], level=level) * math.sqrt(self.error.variance)

    def ends(self, *, level: float) -> tuple[int, int]:
        """Return the least and the greatest whole number in the interval.

        Example:
            >>> NoisySum(value=10.0, error=Component(variance=4.0)).ends(level=0.95)
            (7, 13)
        """
        width = self.width(level=level)
        return math.ceil(self.value - width), math.floor(self.value + width)


def averaged(sums: Sequence[NoisySum]) -> NoisySum:
    """Return the average of independent answers to one question, weighted by 1/variance.

    Example:
        >>> both = [NoisySum(value=v, error=Component(variance=4.0)) for v in (10.0, 14.0)]
        >>> averaged(both).value, averaged(both).error.variance
        (12.0, 2.0)
    """
    if len(sums) == 1 or any(each.error.variance <= 0 for each in sums):
        return min(sums, key=lambda each: each.error.variance)
    precision = [1 / each.error.variance for each in sums]
    weights = [each / sum(precision) for each in precision]
    # the first and what is added to it: answers that agree are what they say, to the last digit
    first = sums[0].value
    return NoisySum(
        value=first + math.fsum(w * (s.value - first) for w, s in zip(weights, sums, strict=True)),
        error=together(each.error.times(w) for w, each in zip(weights, sums, strict=True)),
    )


def repeated(error: Component, *, times: int) -> Component:
    """Return the error of a sum of that many independent cells."""
    return Component(
        variance=times * error.variance,
        excess_kurtosis=error.excess_kurtosis / max(1, times),
        step=error.step if times else 0.0,
    )


def rounding_variance(value: float, *, to: int = 1) -> float:
    """Return the variance that rounding to a multiple of ``to`` adds, as if evenly spread."""
    lattice = 1 if float(value).is_integer() else 0
    return (to**2 - lattice) / 12


@runtime_checkable
class Summable(Protocol):
    """A statistic of one vector of counts, which can be made from sums of published cells."""

    def estimate_sums(self, sums: Sequence[NoisySum], *, dataset: Dataset) -> tuple[Estimate, ...]:
        """Return the published numbers from its counts, each with an error of its own."""

    def forecast_sums(
        self, errors: Sequence[Component], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error that it has when its counts have these, from public facts only."""
