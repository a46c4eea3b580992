"""A regression in physical units, as it is published."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.arrays import Floats
from confide.plans.estimates import Covers, Estimate, near_zero
from confide.plans.estimation.intervals import Component, variance
from confide.plans.estimation.student import student_width
from confide.statistics.regression.determination import determination
from confide.statistics.regression.least_squares import NOISY_FROM, Fit, relative_noise
from confide.tables.relation import centre
from confide.tables.schema import Domain

RIDGE = "drawn to the centre"
TOO_FEW = "denominator too small"
NOISY = "noisy moments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """What the terms of a regression are in physical units.

    Attributes:
        outcome: Domain of the outcome.
        numbers: Name and domain of each number, without the outcome.
        categories: Name and domain of each category.
    """

    outcome: Domain
    numbers: tuple[tuple[str, Domain], ...]
    categories: tuple[tuple[str, Domain], ...]

    def terms(self) -> list[tuple[str, str, float, str]]:
        """Return quantity, key, physical size of one unit of β, and unit, of each term."""
        one = float(self.outcome.scale) * centre(self.outcome)[1]
        unit = self.outcome.unit
        found = [("intercept", self._centres(), one, unit)]
        for name, of in self.numbers:
            step = float(of.scale) * centre(of)[1]
            found.append(("coefficient", name, one / step, _over(unit, of.unit)))
        for name, of in self.categories:
            found += [
                ("coefficient", f"{name}: {key} vs {of.keys[0]}", one, unit) for key in of.keys[1:]
            ]
        return found

    def _centres(self) -> str:
        """Return where all covariates are at their public centre or reference."""
        parts = [f"{name} {of.physical(centre(of)[0]):g}" for name, of in self.numbers]
        return ", ".join((*parts, *(f"{name} {of.keys[0]}" for name, of in self.categories)))


def _over(unit: str, per: str) -> str:
    above = unit or "1"
    return above if per in ("", "1") else f"{above}/({per})"


def published(
    found: Fit,
    *,
    statistic: str,
    noises: Sequence[Component],
    scales: Scales,
    level: float,
) -> tuple[Estimate, ...]:
    """Return coefficients, residual standard deviation, R² and number of rows.

    Args:
        found: The regression.
        statistic: Its id.
        noises: Error of each released number, in the units of ``found``.
        scales: Physical units.
        level: Coverage of each interval.
    """
    withheld = not found.usable or found.ridge > 0
    flags = _flags(found)
    degrees = max(found.rows - len(found.coefficients), 1.0)
    estimates = []
    for place, (quantity, key, size, unit) in enumerate(scales.terms()):
        loads = found.noise[place]
        parts = [Component(variance=float(found.sampling[place])), *_parts(loads, noises)]
        width = size * student_width(parts, degrees=degrees, level=level)
        start = scales.outcome.physical(centre(scales.outcome)[0]) * (quantity == "intercept")
        value = start + size * float(found.coefficients[place])
        estimates.append(
            Estimate(
                statistic=statistic,
                quantity=quantity,
                key=(key,),
                value=value if found.usable else None,
                standard_error=None if withheld else size * math.sqrt(variance(parts)),
                lower=None if withheld else value - width,
                upper=None if withheld else value + width,
                level=level,
                covers=Covers.SAMPLING_AND_NOISE,
                unit=unit,
                flags=flags,
            )
        )
    return (
        *estimates,
        *_whole(found, statistic=statistic, noises=noises, scales=scales, level=level),
    )


def _flags(found: Fit) -> tuple[str, ...]:
    if not found.usable:
        return (TOO_FEW,)
    if found.ridge:
        return (RIDGE,)
    return (NOISY,) if relative_noise(found.moments, ridge=0.0) > NOISY_FROM else ()


def _parts(loads: Floats, noises: Sequence[Component]) -> list[Component]:
    """Return the errors that the released numbers bring, of those that bring any."""
    return [noise.times(float(load)) for load, noise in zip(loads, noises, strict=True) if load]


def _whole(
    found: Fit, *, statistic: str, noises: Sequence[Component], scales: Scales, level: float
) -> tuple[Estimate, Estimate, Estimate]:
    """Return residual standard deviation, R² and rows, with the intervals of their noise."""
    size = float(scales.outcome.scale) * centre(scales.outcome)[1]
    freedom = max(found.rows - len(found.coefficients), 1.0)
    known = found.usable and not found.ridge and found.total > 0
    parts = [*_parts(found.residual_noise, noises), Component(variance=found.residual_bend)]
    width = student_width(parts, degrees=1e9, level=level)
    low, high = (max(found.residual + d, 0.0) for d in (-width, width))
    share = determination(found, noises=noises, level=level) if known else (0.0, 0.0, 1.0)

    def estimate(quantity: str, ends: tuple[float, float, float], *, unit: str) -> Estimate:
        value, lower, upper = ends
        flags: tuple[str, ...] = () if known else (RIDGE,) if found.ridge else (TOO_FEW,)
        if known and quantity == "residual sd":
            flags = near_zero(lower)
        return Estimate(
            statistic=statistic,
            quantity=quantity,
            key=("all",),
            value=value if known else None,
            standard_error=None,
            lower=min(lower, value) if known else None,
            upper=max(upper, value) if known else None,
            level=level,
            covers=Covers.NOISE,
            unit=unit,
            flags=flags,
        )

    def spread_of(square: float) -> float:
        return size * math.sqrt(max(square, 0.0) / freedom)

    return (
        estimate(
            "residual sd",
            (spread_of(found.residual), spread_of(low), spread_of(high)),
            unit=scales.outcome.unit,
        ),
        estimate("r-squared", share, unit="1"),
        _rows(found, statistic=statistic, noises=noises, level=level),
    )


def _rows(found: Fit, *, statistic: str, noises: Sequence[Component], level: float) -> Estimate:
    width = student_width(_parts(found.rows_noise, noises), degrees=1e9, level=level)
    return Estimate(
        statistic=statistic,
        quantity="count",
        key=("all",),
        value=max(found.rows, 0.0),
        standard_error=None,
        lower=max(found.rows - width, 0.0),
        upper=max(found.rows + width, 0.0),
        level=level,
        covers=Covers.NOISE,
        unit="rows",
        flags=() if found.usable else (TOO_FEW,),
    )
