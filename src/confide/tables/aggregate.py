"""Aggregates: the exact integer vector that a measurement noises.

Almost every statistic is this one shape: each patient contributes a bounded integer vector over
public cells, and the vectors are summed.  Cells are the product of public axes in row-major order
(the last axis varies fastest); a row whose axis or value is NULL is dropped before bounding.

A :class:`MomentAggregate` is a few such vectors of the same rows, mapped by an integer matrix to
one vector of which a row moves the sum of all coordinates by a constant; it may count the rows of
unknown value too, each by the same constant in a coordinate that is theirs alone.  A
:class:`PooledAggregate` adds public groups of cells of one such vector.  A
:class:`FactorizedAggregate` is a count over time, times a public integer matrix.  Engines answer
their parts.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [Lor53] Lorentz. Bernstein polynomials. University of Toronto Press, 1953, sec. 1.1.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import TypeAlias, assert_never

from confide.errors import InvalidParameterError
from confide.tables.bound_contributions import (
    ContributionBounds,
    ValueRange,
)
from confide.tables.degrees import DegreeAggregate
from confide.tables.descent import DescentAggregate
from confide.tables.descent_scale import scale_of
from confide.tables.expression import ColumnOf, Expression, Holds, OrMissing, ValueOf
from confide.tables.factorized import FactorizedAggregate, factorized
from confide.tables.filter import All, Between
from confide.tables.pooled import PooledAggregate, pooled
from confide.tables.ranked import RankedCells, RankedFeatures, scores
from confide.tables.relation import Relation, centre, domain
from confide.tables.schema import Dataset

MOST_CELLS = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class Ones:
    """Every kept row counts 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """The canonical value itself."""

    of: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Centred:
    """The canonical value minus the public centre of its bounds."""

    of: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class CentredSquare:
    """The square of the centred value."""

    of: Expression


Factor: TypeAlias = Plain | Centred
"""What may be multiplied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """The product of factors of one row: (x − c)(y − c′), or a weight times (x − c).

    The largest absolute value is the product of those of the factors, whatever the factors share.
    Both signs occur only if some factor that stands there an odd number of times has both.

    Attributes:
        of: Two factors or more; a row in which one of them is unknown is left out.
    """

    of: tuple[Factor, ...]

    def __post_init__(self) -> None:
        if len(self.of) < 2:
            raise InvalidParameterError(
                f"Expected two factors or more, got {len(self.of)}.",
                hint="A single factor is a value of its own.",
            )


Value: TypeAlias = Ones | Plain | Centred | CentredSquare | Product


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """Sums of a value over public cells.

    Attributes:
        relation: Which rows.
        axes: Expressions with labelled public domains; none: one cell.
        value: What a kept row adds.
        bounds: What one privacy unit keeps.
    """

    relation: Relation
    axes: tuple[Expression, ...]
    value: Value
    bounds: ContributionBounds


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedAggregate:
    """Distinct patients per value of a text column; the keys themselves are secret.

    Attributes:
        relation: Which rows.
        key: Text column.
        bounds: Most keys that one privacy unit keeps.
    """

    relation: Relation
    key: ColumnOf
    bounds: ContributionBounds


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentAggregate:
    """Number, sum and (degree 2) sum of squares of a value, as one vector of constant L1 size.

    With R = U − L a row adds, in its cell, the Bernstein polynomials of its value x times R^degree:
    (U−x, x−L), or ((U−x)², 2(U−x)(x−L), (x−L)²).  They are not negative and add up to R^degree,
    whatever x: no part of the loss is spent on a direction in which nobody can move.

    Attributes:
        relation: Which rows; those whose value is unknown are left out.
        axes: Expressions with labelled public domains; none: one cell.
        of: Number.
        degree: 1 for means, 2 for means and variances.
        bounds: What one privacy unit keeps.
        missing: Whether rows of unknown value are kept, in a last coordinate of their cell.
    """

    relation: Relation
    axes: tuple[Expression, ...]
    of: Expression
    degree: int
    bounds: ContributionBounds
    missing: bool = False

    def __post_init__(self) -> None:
        if self.degree not in (1, 2):
            raise InvalidParameterError(f"Expected degree 1 or 2, got degree={self.degree}.")


Asked: TypeAlias = Aggregate | KeyedAggregate | DegreeAggregate | DescentAggregate
"""What an engine answers."""


Measured: TypeAlias = (
    Asked | MomentAggregate | PooledAggregate | FactorizedAggregate | RankedCells | RankedFeatures
)
"""What a measurement may noise."""


def reads(value: Value) -> tuple[Expression, ...]:
    """Return the expressions that a value looks at, one for each of its factors."""
    match value:
        case Ones():
            return ()
        case Plain(of=expression) | Centred(of=expression) | CentredSquare(of=expression):
            return (expression,)
        case Product(of=factors):
            return tuple(factor.of for factor in factors)
        case _:
            assert_never(value)


def value_range(value: Value, *, dataset: Dataset, counted: str) -> ValueRange:
    """Return how large the value of one row can be; ``counted`` names what a row is.

    Raises:
        ContractError: If the value is not a number.
    """
    match value:
        case Ones():
            return ValueRange(magnitude=1, signed=False, unit=counted)
        case Plain(of=expression):
            of = domain(expression, dataset=dataset)
            largest = max(abs(of.lower), abs(of.upper), 1)
            signed = of.lower < 0 < of.upper
            return ValueRange(magnitude=largest, signed=signed, unit=_grid(of.unit, str(of.scale)))
        case Centred(of=expression):
            of = domain(expression, dataset=dataset)
            _, half = centre(of)
            return ValueRange(magnitude=half, signed=True, unit=_grid(of.unit, str(of.scale)))
        case CentredSquare(of=expression):
            of = domain(expression, dataset=dataset)
            _, half = centre(of)
            return ValueRange(
                magnitude=half**2, signed=False, unit=f"({_grid(of.unit, str(of.scale))})²"
            )
        case Product(of=factors):
            ranges = [value_range(factor, dataset=dataset, counted=counted) for factor in factors]
            odd = [r.signed for f, r in zip(factors, ranges, strict=True) if factors.count(f) % 2]
            units = [f"({r.unit})" for r in ranges if r.unit != "1"]
            return ValueRange(
                magnitude=math.prod(r.magnitude for r in ranges),
                signed=any(odd),
                unit="·".join(units) or "1",
            )
        case _:
            assert_never(value)


def moment_range(aggregate: MomentAggregate, *, dataset: Dataset) -> ValueRange:
    """Return how large the vector of one row of a moment aggregate is, in L1 and in L2."""
    of = domain(aggregate.of, dataset=dataset)
    step = _grid(of.unit, str(of.scale))
    return ValueRange(
        magnitude=(of.upper - of.lower) ** aggregate.degree,
        signed=False,
        unit=step if aggregate.degree == 1 else f"({step})²",
        components=_width(aggregate),
    )


def parts(aggregate: Measured) -> tuple[Asked, ...]:
    """Return the plain aggregates, over the same rows, that an engine answers."""
    match aggregate:
        case Aggregate() | KeyedAggregate() | DegreeAggregate() | DescentAggregate():
            return (aggregate,)
        case PooledAggregate(of=pooled):
            return (pooled,)
        case FactorizedAggregate(inner=inner):
            return (inner,)
        case MomentAggregate(relation=relation, axes=axes, bounds=bounds):
            known = Between(of=aggregate.of)
            if aggregate.missing:  # the same rows, known or not, in cells of their own
                axes = (*axes, Holds(of=known))
            else:
                relation = Relation(table=relation.table, where=All(of=(relation.where, known)))
            of = _summed(aggregate)
            values: tuple[Value, ...] = (Ones(), Centred(of=of), CentredSquare(of=of))
            return tuple(
                Aggregate(relation=relation, axes=axes, value=value, bounds=bounds)
                for value in values[: aggregate.degree + 1]
            )
        case RankedCells(relation=relation, axes=axes, bounds=bounds):
            return (Aggregate(relation=relation, axes=axes, value=Ones(), bounds=bounds),)
        case RankedFeatures():
            return _parts_of_features(aggregate)
        case _:
            assert_never(aggregate)


def _summed(aggregate: MomentAggregate) -> Expression:
    """Return what is summed: an expression that has a value in every row that is kept."""
    of = aggregate.of
    if aggregate.missing and isinstance(of, ColumnOf | ValueOf):
        return OrMissing(of=of)
    return of


def _width(aggregate: MomentAggregate) -> int:
    """Return the number of coordinates of one cell."""
    return aggregate.degree + 1 + aggregate.missing


def _parts_of_features(ranked: RankedFeatures) -> tuple[Aggregate, ...]:
    """Return the sums of :func:`confide.tables.ranked.scores`, all over the same complete rows."""
    outcome = Centred(of=ranked.outcome)
    read = (*ranked.features, ranked.outcome)
    known = All(of=(ranked.relation.where, *(Between(of=each) for each in read)))
    values: list[Value] = [Product(of=(Centred(of=f), outcome)) for f in ranked.features]
    values += [Ones(), outcome, *(Centred(of=f) for f in ranked.features)]
    relation = Relation(table=ranked.relation.table, where=known)
    return tuple(
        Aggregate(relation=relation, axes=ranked.axes, value=value, bounds=ranked.bounds)
        for value in values
    )


def combined(
    aggregate: MomentAggregate
    | PooledAggregate
    | FactorizedAggregate
    | RankedCells
    | RankedFeatures,
    sums: Sequence[Sequence[int]],
    *,
    dataset: Dataset,
) -> tuple[int, ...]:
    """Return the vector of an aggregate from the exact sums of its parts, in integers."""
    match aggregate:
        case MomentAggregate():
            return _moments(aggregate, sums, dataset=dataset)
        case PooledAggregate():
            return pooled(aggregate, *sums)
        case FactorizedAggregate():
            return factorized(aggregate, *sums, dataset=dataset)
        case RankedCells():
            return tuple(*sums)
        case RankedFeatures():
            return scores(aggregate, sums, dataset=dataset)
        case _:
            assert_never(aggregate)


def moment_factors(aggregate: MomentAggregate, *, dataset: Dataset) -> tuple[tuple[int, ...], ...]:
    """Return the public matrix that makes a cell's polynomials of its number, sum and squares.

    With y = x − c, x − L = y + (c−L) and U − x = (U−c) − y, so each polynomial is an integer
    combination of 1, y and y².
    """
    of = domain(aggregate.of, dataset=dataset)
    middle, _ = centre(domain(_summed(aggregate), dataset=dataset))
    a, b = middle - of.lower, of.upper - middle
    if aggregate.degree == 1:
        return (b, -1), (a, 1)
    return (b * b, -2 * b, 1), (2 * a * b, 2 * (b - a), -2), (a * a, 2 * a, 1)


def _moments(
    aggregate: MomentAggregate, sums: Sequence[Sequence[int]], *, dataset: Dataset
) -> tuple[int, ...]:
    """Return the vector of a moment aggregate, cell by cell."""
    factors = moment_factors(aggregate, dataset=dataset)
    cells = list(zip(*sums, strict=True))
    known = cells[1::2] if aggregate.missing else cells
    polynomials = [[sum(map(mul, row, cell)) for row in factors] for cell in known]
    if not aggregate.missing:
        return tuple(v for cell in polynomials for v in cell)
    worth = sum(row[0] for row in factors)  # (U − L)^degree
    absent = [worth * n for n, *_ in cells[::2]]
    return tuple(v for cell, n in zip(polynomials, absent, strict=True) for v in (*cell, n))


def vector_length(
    aggregate: Aggregate
    | MomentAggregate
    | DegreeAggregate
    | DescentAggregate
    | PooledAggregate
    | FactorizedAggregate,
    *,
    dataset: Dataset,
) -> int:
    """Return the number of coordinates of the vector."""
    if isinstance(aggregate, DegreeAggregate):
        return len(aggregate.degrees)
    if isinstance(aggregate, DescentAggregate):
        return scale_of(aggregate, dataset=dataset).length
    if isinstance(aggregate, PooledAggregate):
        return aggregate.size
    cells = cell_count(aggregate.axes, dataset=dataset)
    match aggregate:
        case Aggregate():
            return cells
        case MomentAggregate():
            return cells * _width(aggregate)
        case FactorizedAggregate():
            return cells // aggregate.length(dataset) * aggregate.published(dataset)
        case _:
            assert_never(aggregate)


def ranked_length(ranked: RankedCells | RankedFeatures, *, dataset: Dataset) -> int:
    """Return the number of candidates."""
    if isinstance(ranked, RankedFeatures):
        return len(ranked.features)
    return cell_count(ranked.axes, dataset=dataset)


def _grid(unit: str, scale: str) -> str:
    return (unit or "1") if scale == "1" else f"steps of {scale} {unit or '1'}"


def cell_count(axes: tuple[Expression, ...], *, dataset: Dataset) -> int:
    """Return the number of public cells."""
    return math.prod(domain(axis, dataset=dataset).size() for axis in axes)


def cell_keys(axes: tuple[Expression, ...], *, dataset: Dataset) -> tuple[tuple[str, ...], ...]:
    """Return the labels of every cell, in the order of the vector."""
    labels = []
    for axis in axes:
        of = domain(axis, dataset=dataset)
        labels.append(of.keys or tuple(str(of.physical(v)) for v in range(of.lower, of.upper + 1)))
    return tuple(itertools.product(*labels))
