"""How one unit's influence was bounded, where the bounds come from, and the noise, in sentences.

*Privacy:* reads the plan, which is public.
"""

import enum
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from confide.drawing.asking import Asking
from confide.drawing.columns_read import tables_read
from confide.drawing.conditions import label, value_text
from confide.drawing.grid import Grid, error_at, grid_of, moved_text
from confide.drawing.numbers import clean, declared_number
from confide.drawing.population import made_of, present_in, read_by
from confide.drawing.words import Words
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.mechanism import Mechanism
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.plan import Measurement, Plan, Statistic
from confide.report.wording.bounds_told import THIS, BoundSaid, sentences_of
from confide.statistics.registry import kind_of
from confide.tables.aggregates.degrees import DegreeBounds, How
from confide.tables.aggregates.shapes import Sums
from confide.tables.aggregates.value import Centred, CentredSquare, Ones, Plain, Product, Value
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound
from confide.tables.expression import (
    ColumnOf,
    Expression,
    Holds,
    OrMissing,
    QualityOf,
    ValueOf,
)
from confide.tables.filter import Everything, expressions, sources
from confide.tables.relation import column_of
from confide.tables.schema import Column, Dataset, Kind, Table


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
    return sentences_of(bounds_of(statistic, plan=plan, words=words), words=words)


def bounds_of(statistic: Statistic, *, plan: Plan, words: Words) -> tuple[BoundSaid, ...]:
    """Return what is said of one statistic, with the columns that each sentence is about."""
    measurements = plan.of(statistic.id)
    relation = measurements[0].aggregate.relation
    sentences = [BoundSaid(said=kept_text(measurements[0].aggregate.bounds, words=words))]
    if plan.dataset.keeps_one_row(relation.table) and relation.where != Everything():
        sentences.append(BoundSaid(said=words.say("bounded.before")))
    for name in tables_read(measurements, dataset=plan.dataset):
        sentences += map(BoundSaid.plain, _rows_of(plan.dataset.table(name), words=words))
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
    sentences += map(BoundSaid.plain, made_of(used, dataset=plan.dataset, words=words))
    noises = [noise_text(m, dataset=plan.dataset, words=words) for m in measurements]
    sentences += map(BoundSaid.plain, dict.fromkeys(noises))  # equal questions are told once
    asking = Asking(dataset=plan.dataset, words=words)
    return (*sentences, *map(BoundSaid.plain, kind_of(statistic).bounded(statistic, asking)))


def _rows_of(table: Table, *, words: Words) -> list[str]:
    """Return which of its source's records are part of a table."""
    said = []
    for key, among in (("only", table.only), ("without", table.without)):
        for each in among:
            codes = words.listed([clean(code) for code in each.codes], joint="or")
            parts = {"column": label(each.source), "codes": codes, "table": label(table.name)}
            said.append(words.say(f"bounded.{key}", **parts))
    for column in table.columns:
        said += _units(column, table=table, words=words)
    return said


def kept_text(bounds: ContributionBounds | DegreeBounds, *, words: Words) -> str:
    """Return what one unit may contribute.

    Example:
        >>> from confide.drawing.words import load_words
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
        case DegreeBounds(how=How.PROJECTED, at_most=most):
            return words.say("bounded.projected", most=f"{most:,}")
        case DegreeBounds(at_most=most):
            return words.say("bounded.capped", most=f"{most:,}")
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
    for measurement in measurements:
        _, present = present_in(measurement.aggregate.relation.where)
        roles |= {s: _Role.NEEDED for each in present for s in sources(each) if s not in roles}
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


def _column(column: Column, *, role: _Role, words: Words) -> list[BoundSaid]:
    name = THIS
    source = clean(column.because, most=200) or words.say("bounded.no-source")
    match column.kind:
        case Kind.TEXT:
            said = words.say("bounded.text", column=name)
            return [BoundSaid(said=said, column=words.named(column.name), joint="and")]
        case Kind.CATEGORY:
            count = len(column.keys)
            sentence = words.say_count("bounded.keys", count, column=name, source=source)
        case Kind.DATE:
            of = column.domain()
            low, high = (value_text(end, of=of, words=words) for end in (of.lower, of.upper))
            sentence = words.say("bounded.dates", column=name, lower=low, upper=high, source=source)
        case Kind.NUMBER:
            of = column.domain()
            lower, upper = (declared_number(of.physical(end)) for end in (of.lower, of.upper))
            outside = f"bounded.outside.{column.outside.value}"
            step = clean(words.amount(declared_number(float(column.scale)), column.unit))
            sentence = words.say(
                "bounded.clip",
                column=name,
                outside=words.say(outside, lower=lower, upper=upper),
                step=step,
                source=source,
            )
        case _:
            assert_never(column.kind)
    named = words.named(column.name)
    return [
        BoundSaid(said=sentence, column=named, joint="and"),
        BoundSaid(said=_nulls(column, role=role, words=words), column=named, joint="or"),
    ]


def _units(column: Column, *, table: Table, words: Words) -> list[str]:
    """Return in which units a number is read, where it stands in several."""
    if column.units is None:
        return []
    known = dict.fromkeys(clean(words.unit(each.unit)) for each in column.units.known)
    return [
        words.say(
            "bounded.units-in-cell" if column.units.in_cell else "bounded.units",
            column=words.named(column.name),
            table=label(table.name),
            unit=clean(words.unit(column.unit)),
            known=words.listed(list(known), joint="or"),
        )
    ]


def _nulls(column: Column, *, role: _Role, words: Words) -> str:
    name = THIS
    if column.nulls is not None:
        constant = value_text(column.nulls, of=column.domain(), words=words)
        return words.say("bounded.nulls.constant", column=name, value=constant)
    return words.say(f"bounded.nulls.{role.value}", column=name)


def noise_text(measurement: Measurement, *, dataset: Dataset, words: Words) -> str:
    """Return one measurement's sensitivity, noise and errors, in physical units."""
    grid = grid_of(measurement, dataset=dataset)
    return words.say(
        f"bounded.{'choice' if measurement.sensitivity.reach else 'noise'}",
        name=measured_text(measurement, words=words),
        entity=words.say(f"entity.{dataset.unit.entity.value}"),
        l1=moved_text(measurement, grid=grid, words=words),
        law=law_text(measurement.mechanism, grid=grid, words=words),
        median=_enough(measurement, 0.5, grid=grid, words=words),
        p95=_enough(measurement, 0.95, grid=grid, words=words),
    )


def _enough(measurement: Measurement, level: float, *, grid: Grid, words: Words) -> str:
    """Return how far the noise may be, or the lead that is enough: of patients in whole ones."""
    error = error_at(measurement.mechanism, level)
    if measurement.sensitivity.reach and grid.units[:1] in (("persons",), ("rows",)):
        return replace(grid, step=Fraction(1)).text(
            math.ceil(float(grid.step) * error), words=words
        )
    return grid.text(error, words=words)


def measured_text(measurement: Measurement, *, words: Words) -> str:
    """Return what a measurement is called."""
    aggregate = measurement.aggregate
    variable, _, what = measurement.name.rpartition("/")
    if variable and f"measured.of.{what}" in words.templates:
        name = words.say(f"measured.of.{what}")
        return words.say("measured.of-variable", name=name, variable=words.named(variable))
    of_level, _, level = measurement.name.partition("/")
    if level:
        return words.say(f"measured.{of_level}-by", level=label(level))
    name = re.sub(r"-[0-9]+$", "", measurement.name)
    plain = f"measured.{name}" in words.templates
    if isinstance(aggregate, Sums) and not plain:
        return words.say(f"measured.{_pair_of(aggregate.value)}", name=clean(measurement.name))
    if isinstance(aggregate, Sums) and isinstance(aggregate.value, Centred):
        return words.say("measured.centred-sum")
    return words.say(f"measured.{name}")


def _pair_of(value: Value) -> str:
    """Return the sentence for a sum over a pair of variables, which is named after them."""
    match value:
        case Ones():
            return "rows-by"
        case Plain() | Centred():
            return "sum-by"
        case CentredSquare():
            return "square-of"
        case Product():
            return "product"
        case _:
            assert_never(value)


def law_text(mechanism: Mechanism, *, grid: Grid, words: Words) -> str:
    """Return the noise of a mechanism with its parameter.

    Example:
        >>> from fractions import Fraction
        >>> from confide.drawing.words import load_words
        >>> persons = Grid(step=Fraction(1), units=("persons",))
        >>> law_text(DiscreteLaplace(scale=Fraction(5, 2)), grid=persons, words=load_words("en"))
        'discrete Laplace noise of scale 2.5 patients'
    """
    match mechanism:
        case DiscreteLaplace(scale=scale):
            return words.say("bounded.law.laplace", scale=grid.text(float(scale), words=words))
        case DiscreteGaussian(sigma_squared=sigma_squared):
            sigma = grid.text(math.sqrt(sigma_squared), words=words)
            return words.say("bounded.law.gaussian", sigma=sigma)
        case PolyaDifference(scale=scale, shape=shape):
            b = grid.text(float(scale), words=words)
            return words.say("bounded.law.polya", scale=b, shape=f"{float(shape):.3g}")
        case KeyThreshold():
            b = grid.text(float(mechanism.noise().scale), words=words)
            tau = grid.text(mechanism.threshold(), words=words)
            return words.say("bounded.law.threshold", scale=b, tau=tau)
        case SetSelection():
            return words.say(
                "bounded.law-of-choice.set",
                size=str(mechanism.size),
                candidates=f"{mechanism.candidates:,}",
                scale=replace(grid, step=Fraction(1)).text(
                    _tenths(grid.step / mechanism.slope), words=words
                ),
            )
        case QuantileSet():
            return words.say(
                "bounded.law-of-choice.together",
                size=str(len(mechanism.at)),
                candidates=f"{mechanism.candidates:,}",
                scale=replace(grid, step=Fraction(1)).text(
                    _tenths(grid.step / mechanism.slope), words=words
                ),
            )
        case Peeling():
            return words.say(
                "bounded.law-of-choice.peeling",
                size=str(mechanism.size),
                candidates=f"{mechanism.candidates:,}",
                scale=replace(grid, step=Fraction(1)).text(
                    _tenths(grid.step / mechanism.slope), words=words
                ),
            )
        case _:
            assert_never(mechanism)


def _tenths(number: Fraction) -> float:
    """Return a number to one decimal, upwards."""
    return math.ceil(number * 10) / 10
