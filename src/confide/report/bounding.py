"""How one unit's influence was bounded, where the bounds come from, and the noise, in sentences.

*Privacy:* reads the plan, which is public.
"""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.threshold import KeyThreshold
from confide.plans.plan import Measurement, Mechanism, Plan, Statistic
from confide.report.conditions import label, value_text
from confide.report.numbers import clean, significant
from confide.report.population import made_of, read_by
from confide.report.words import Words
from confide.statistics.histogram import Histogram
from confide.tables.aggregate import (
    Aggregate,
    Centred,
    CentredSquare,
    KeyedAggregate,
    MomentAggregate,
    Ones,
    Plain,
)
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound
from confide.tables.expression import (
    ColumnOf,
    Expression,
    Holds,
    OrMissing,
    QualityOf,
    ValueOf,
)
from confide.tables.filter import expressions, sources
from confide.tables.relation import column_of, domain
from confide.tables.schema import Column, Dataset, Kind


class _Role(enum.Enum):
    """What becomes of a row that lacks a column."""

    NEEDED = "drop"  # it is left out
    APART = "apart"  # it is counted as missing
    ASKED = "condition"  # a comparison is false


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """A column that a statistic reads, and what becomes of a row without it."""

    source: ColumnOf | ValueOf
    role: _Role


def bounded(statistic: Statistic, *, plan: Plan, words: Words) -> tuple[str, ...]:
    """Return the sentences of one statistic."""
    measurements = plan.of(statistic.id)
    sentences = [kept_text(measurements[0].aggregate.bounds, words=words)]
    for use in _uses(measurements):
        match use.source:
            case ColumnOf():
                column = column_of(use.source, plan.dataset)
                sentences += _column(column, role=use.role, words=words)
            case ValueOf():
                pass  # told with the expressions below
            case _:
                assert_never(use.source)
    used = (*read_by(measurements), *_asked(measurements))
    sentences += made_of(used, dataset=plan.dataset, words=words)
    sentences += [noise_text(m, dataset=plan.dataset, words=words) for m in measurements]
    if isinstance(statistic, Histogram):
        sentences += _after(statistic, words=words)
    return tuple(sentences)


def _after(statistic: Histogram, *, words: Words) -> list[str]:
    said = []
    if statistic.threshold is not None:
        said.append(words.say("bounded.threshold", threshold=f"{statistic.threshold:,}"))
    if statistic.round_to > 1:
        said.append(words.say("bounded.rounded", step=f"{statistic.round_to:,}"))
    return said


def kept_text(bounds: ContributionBounds, *, words: Words) -> str:
    """Return what one unit may contribute.

    Example:
        >>> from confide.report.words import load_words
        >>> kept_text(CellBound(max_cells=1), words=load_words("en"))
        'Each patient counts once.'
    """
    match bounds:
        case CellBound(max_cells=1, max_rows_per_cell=1):
            return words.say("bounded.once")
        case RowBound(max_rows=rows) | CellBound(max_cells=1, max_rows_per_cell=rows):
            return words.say_count("bounded.rows", rows)
        case CellBound(max_cells=cells, max_rows_per_cell=rows):
            kept = words.say_count("bounded.kept", rows)
            return words.say_count("bounded.cells", cells, rows=kept)
        case OneEvent():
            return words.say("bounded.event")
        case _:
            assert_never(bounds)


def _uses(measurements: Sequence[Measurement]) -> tuple[_Use, ...]:
    """Return every column that a statistic reads, in order of first use."""
    roles: dict[ColumnOf | ValueOf, _Role] = {}
    for expression in read_by(measurements):
        match expression:
            case Holds():
                continue
            case OrMissing() | QualityOf():
                role = _Role.APART
            case _:
                role = _Role.NEEDED
        roles |= {source: role for source in sources(expression) if source not in roles}
    for expression in _asked(measurements):
        roles |= {s: _Role.ASKED for s in sources(expression) if s not in roles}
    return tuple(_Use(source=source, role=role) for source, role in roles.items())


def _asked(measurements: Sequence[Measurement]) -> tuple[Expression, ...]:
    """Return what conditions look at: false, not unknown, where a value is missing."""
    held = [
        e for read in read_by(measurements) if isinstance(read, Holds) for e in expressions(read.of)
    ]
    for measurement in measurements:
        held += expressions(measurement.aggregate.relation.where)
    return tuple(dict.fromkeys(held))


def _column(column: Column, *, role: _Role, words: Words) -> list[str]:
    name = label(column.name)
    source = clean(column.because, most=200) or words.say("bounded.no-source")
    match column.kind:
        case Kind.TEXT:
            return [words.say("bounded.text", column=name)]
        case Kind.CATEGORY:
            count = len(column.keys)
            sentence = words.say_count("bounded.keys", count, column=name, source=source)
        case Kind.DATE:
            of = column.domain()
            low, high = (value_text(end, of=of, words=words) for end in (of.lower, of.upper))
            sentence = words.say("bounded.dates", column=name, lower=low, upper=high, source=source)
        case Kind.NUMBER:
            of = column.domain()
            sentence = words.say(
                "bounded.clip",
                column=name,
                outside=words.say(f"bounded.outside.{column.outside.value}"),
                lower=f"{of.physical(of.lower):.12g}",
                upper=f"{of.physical(of.upper):.12g}",
                unit=_after_a_number(column.unit, words=words),
                step=f"{float(column.scale):.12g}",
                source=source,
            )
        case _:
            assert_never(column.kind)
    return [sentence, _nulls(column, role=role, words=words)]


def _after_a_number(unit: str, *, words: Words) -> str:
    shown = clean(words.unit(unit))
    return f" {shown}" if shown else ""


def _nulls(column: Column, *, role: _Role, words: Words) -> str:
    name = label(column.name)
    if column.nulls is not None:
        constant = value_text(column.nulls, of=column.domain(), words=words)
        return words.say("bounded.nulls.constant", column=name, value=constant)
    return words.say(f"bounded.nulls.{role.value}", column=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What one step of a measurement is worth.

    Attributes:
        step: Physical value of one step.
        unit: Its unit code.
        squared: Whether the unit is to be read as squared.
    """

    step: Fraction
    unit: str
    squared: bool = False

    def text(self, canonical: float, *, words: Words) -> str:
        """Return a number of steps as a physical amount."""
        number = significant(float(self.step) * canonical)
        if self.squared and words.unit(self.unit):
            unit = words.say("bounded.squared", unit=clean(words.unit(self.unit)))
            return words.say("amount", value=number, unit=unit)
        return words.amount(number, self.unit)


def grid_of(measurement: Measurement, *, dataset: Dataset) -> Grid:
    """Return what one step of a measurement is worth."""
    aggregate = measurement.aggregate
    if isinstance(aggregate, KeyedAggregate):
        return Grid(step=Fraction(1), unit=measurement.sensitivity.unit)
    if isinstance(aggregate, MomentAggregate):
        of = domain(aggregate.of, dataset=dataset)
        step = of.scale**aggregate.degree
        return Grid(step=step, unit=of.unit, squared=aggregate.degree == 2)
    match aggregate.value:
        case Ones():
            return Grid(step=Fraction(1), unit=measurement.sensitivity.unit)
        case Plain(of=expression) | Centred(of=expression):
            of = domain(expression, dataset=dataset)
            return Grid(step=of.scale, unit=of.unit)
        case CentredSquare(of=expression):
            of = domain(expression, dataset=dataset)
            return Grid(step=of.scale**2, unit=of.unit, squared=True)
        case _:
            assert_never(aggregate.value)


def noise_text(measurement: Measurement, *, dataset: Dataset, words: Words) -> str:
    """Return one measurement's sensitivity, noise and errors, in physical units."""
    grid = grid_of(measurement, dataset=dataset)
    law = additive_law(measurement.mechanism)
    return words.say(
        "bounded.noise",
        name=measured_text(measurement, words=words),
        entity=words.say(f"entity.{dataset.unit.entity.value}"),
        l1=grid.text(measurement.sensitivity.l1, words=words),
        law=law_text(measurement.mechanism, grid=grid, words=words),
        median=grid.text(law.half_width(0.5), words=words),
        p95=grid.text(law.half_width(0.95), words=words),
    )


def measured_text(measurement: Measurement, *, words: Words) -> str:
    """Return what a measurement is called."""
    aggregate = measurement.aggregate
    if isinstance(aggregate, Aggregate) and isinstance(aggregate.value, Centred):
        return words.say("measured.centred-sum")
    variable, of, what = measurement.name.rpartition("/")
    if of:
        name = words.say(f"measured.of.{what}")
        return words.say("measured.of-variable", name=name, variable=label(variable))
    return words.say(f"measured.{measurement.name}")


def additive_law(mechanism: Mechanism) -> DiscreteLaplace | DiscreteGaussian:
    """Return the noise that a mechanism adds to each number.

    Example:
        >>> additive_law(DiscreteLaplace(scale=Fraction(2))).half_width(0.95)
        6
    """
    return mechanism.noise() if isinstance(mechanism, KeyThreshold) else mechanism


def law_text(mechanism: Mechanism, *, grid: Grid, words: Words) -> str:
    """Return the noise of a mechanism with its parameter.

    Example:
        >>> from confide.report.words import load_words
        >>> persons = Grid(step=Fraction(1), unit="persons")
        >>> law_text(DiscreteLaplace(scale=Fraction(5, 2)), grid=persons, words=load_words("en"))
        'discrete Laplace noise of scale 2.5 patients'
    """
    match mechanism:
        case DiscreteLaplace(scale=scale):
            return words.say("bounded.law.laplace", scale=grid.text(float(scale), words=words))
        case DiscreteGaussian(sigma_squared=sigma_squared):
            sigma = grid.text(math.sqrt(sigma_squared), words=words)
            return words.say("bounded.law.gaussian", sigma=sigma)
        case KeyThreshold():
            b = grid.text(float(mechanism.noise().scale), words=words)
            tau = grid.text(mechanism.threshold(), words=words)
            return words.say("bounded.law.threshold", scale=b, tau=tau)
        case _:
            assert_never(mechanism)
