"""What a plan measures, and how well each statistic will be known; with a ledger or without."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from confide.drawing.grid import grid_of, moved_text
from confide.drawing.numbers import significant
from confide.drawing.words import Words, load_words
from confide.plans.estimates import Forecast, PartForecast
from confide.plans.plan import Measurement, Plan
from confide.plans.pricing.both_noises import cost_shares
from confide.report.wording.bounding import law_text, measured_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSensitivity:
    """How far one person moves a measurement.

    Attributes:
        l1: In 1-norm.
        l2: In 2-norm.
        unit: Of both.
        text: For people.
        because: Why.
    """

    l1: str
    l2: str
    unit: str
    text: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A measurement of a plan.

    Attributes:
        statistic: For which.
        name: Of the measurement.
        measured: What it is, in words.
        sensitivity: How far one person moves it.
        noise: Its law, in words.
        cost_share: Of the plan's loss.
        delta: Its own δ.
    """

    statistic: str
    name: str
    measured: str
    sensitivity: ToldSensitivity
    noise: str
    cost_share: str
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPart:
    """The error of a part of the cells, such as one level of areas.

    Attributes:
        name: Of the part.
        cells: How many.
        expected_error: Root mean square.
        expected_text: The same, for people.
        plus_minus: Half width of the interval.
        text: The same, for people.
        loss_share: Of a patient's loss.
    """

    name: str
    cells: str
    expected_error: str
    expected_text: str
    plus_minus: str
    text: str
    loss_share: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The error of a statistic, from public facts.

    Attributes:
        id: Of the statistic.
        plus_minus: Half width of the interval.
        text: The same, for people.
        level: Of the interval.
        unit: Of the half width.
        notes: What to know of it.
        parts: Of the cells, where their errors differ.
    """

    id: str
    plus_minus: str
    text: str
    level: str
    unit: str
    notes: tuple[str, ...]
    parts: tuple[ExpectedPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotForetold:
    """A statistic whose error depends on what only the data tell.

    Attributes:
        id: Of the statistic.
        unknown: Why.
    """

    id: str
    unknown: str


Outlook: TypeAlias = Expected | NotForetold


def measured_by(planned: Plan) -> tuple[Measured, ...]:
    """Return what a plan measures, at what share of its cost."""
    shares = zip(planned.measurements, cost_shares(planned), strict=True)
    return tuple(_measured(each, planned=planned, share=share) for each, share in shares)


def _measured(each: Measurement, *, planned: Plan, share: float) -> Measured:
    """Return what is measured, how far one person moves it, and its noise."""
    words = load_words("en")
    sensitivity = each.sensitivity
    grid = grid_of(each, dataset=planned.dataset)
    return Measured(
        statistic=each.statistic,
        name=each.name,
        measured=measured_text(each, words=words),
        sensitivity=ToldSensitivity(
            l1=str(sensitivity.l1),
            l2=f"{math.sqrt(sensitivity.l2_squared):.6g}",
            unit=sensitivity.unit,
            text=moved_text(each, grid=grid, words=words),
            because=sensitivity.because,
        ),
        noise=law_text(each.mechanism, grid=grid, words=words),
        cost_share=f"{share:.4f}",
        delta=f"{each.atto / 10**18:g}",
    )


def outlooks(forecasts: Mapping[str, Forecast | str]) -> tuple[Outlook, ...]:
    """Return what each statistic will be like, or why that cannot be said."""
    words = load_words("en")
    return tuple(_outlook(name, forecast, words=words) for name, forecast in forecasts.items())


def _outlook(name: str, forecast: Forecast | str, *, words: Words) -> Outlook:
    if isinstance(forecast, str):
        return NotForetold(id=name, unknown=forecast)
    return Expected(
        id=name,
        plus_minus=f"{forecast.half_width:.6g}",
        text=words.amount(significant(forecast.half_width), forecast.unit),
        level=f"{forecast.level:g}",
        unit=forecast.unit,
        notes=tuple(forecast.notes),
        parts=tuple(_part(part, unit=forecast.unit, words=words) for part in forecast.parts),
    )


def _part(part: PartForecast, *, unit: str, words: Words) -> ExpectedPart:
    def amount(value: float) -> str:
        return words.amount(significant(value, digits=3), unit)

    return ExpectedPart(
        name=part.name,
        cells=str(part.cells),
        expected_error=f"{part.expected_error:.6g}",
        expected_text=amount(part.expected_error),
        plus_minus=f"{part.half_width:.6g}",
        text=amount(part.half_width),
        loss_share=f"{part.share:.4f}",
    )
