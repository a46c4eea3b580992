"""Whether an aggregate is declared, small enough to publish, and cannot overflow.

*Privacy:* a sum that wraps or saturates is another sum, of which nobody knows how far one patient
moves it; so overflow is excluded before any row is read, from public caps.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
"""

from typing import assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.unit import Entity
from confide.tables.aggregate import (
    MOST_CELLS,
    Aggregate,
    KeyedAggregate,
    Measured,
    MomentAggregate,
    Ones,
    cell_count,
    moment_range,
    parts,
    reads,
    value_range,
)
from confide.tables.bound_contributions import (
    ContributionBounds,
    rows_per_unit,
)
from confide.tables.check_descent import check_descent
from confide.tables.degrees import DegreeAggregate, check_degrees
from confide.tables.descent import DescentAggregate
from confide.tables.expression import ColumnOf, Expression, ValueOf
from confide.tables.factorized import FactorizedAggregate, largest_step
from confide.tables.pooled import PooledAggregate
from confide.tables.ranked import RankedCells, RankedFeatures, moves
from confide.tables.relation import check, column_of, domain
from confide.tables.schema import Dataset, Kind

LARGEST_SUM = 2**126


def check_aggregate(aggregate: Measured, *, dataset: Dataset) -> None:
    """Refuse an aggregate that is undeclared, too large or could overflow.

    Raises:
        ContractError: If a name or kind does not fit.
        InvalidParameterError: If there are too many cells, or the sums could pass 2^126.
    """
    _refuse_hospitals(dataset)
    match aggregate:
        case KeyedAggregate():
            _check_keys(aggregate, dataset=dataset)
        case Aggregate(relation=relation, axes=axes, value=value, bounds=bounds):
            check(relation, *axes, *reads(value), dataset=dataset)
            _check_cells(axes, dataset=dataset)
            for expression in reads(value):
                _check_number(expression, dataset=dataset)
            size = value_range(value, dataset=dataset, counted="rows").magnitude
            _check_size(size, bounds=bounds, dataset=dataset)
        case DegreeAggregate():
            check_degrees(aggregate, dataset=dataset)
        case DescentAggregate():
            check_descent(aggregate, dataset=dataset)
        case MomentAggregate(bounds=bounds):
            for part in parts(aggregate):
                check_aggregate(part, dataset=dataset)
            size = moment_range(aggregate, dataset=dataset).magnitude
            _check_size(size, bounds=bounds, dataset=dataset)
        case PooledAggregate():
            _check_pooled(aggregate, dataset=dataset)
        case FactorizedAggregate(inner=inner, bounds=bounds):
            check_aggregate(inner, dataset=dataset)
            if inner.value != Ones():
                raise ContractError("Running sums need counts over time.")
            _check_size(largest_step(aggregate, dataset=dataset), bounds=bounds, dataset=dataset)
        case RankedCells() | RankedFeatures():
            _check_ranked(aggregate, dataset=dataset)
        case _:
            assert_never(aggregate)


def _refuse_hospitals(dataset: Dataset) -> None:
    if dataset.unit.entity is Entity.HOSPITAL:
        raise ContractError(
            "With the hospital as privacy unit, no bound on the rows of patients protects it.",
            hint="Fit a model of one teacher a hospital, or protect patients.",
        )


def _check_keys(aggregate: KeyedAggregate, *, dataset: Dataset) -> None:
    key = aggregate.key
    check(aggregate.relation, dataset=dataset)
    if key.table != aggregate.relation.table:
        raise ContractError("Key selection needs a text column of its own table.")
    if column_of(key, dataset).kind is not Kind.TEXT:
        raise ContractError(
            f"Column {key.column!r} has public categories, so its keys need no selection.",
            hint="Use a histogram; every category is published, with noise.",
        )


def _check_pooled(aggregate: PooledAggregate, *, dataset: Dataset) -> None:
    of = aggregate.of
    if not isinstance(of.value, Ones):
        raise ContractError("Only counts are pooled.")
    check_aggregate(of, dataset=dataset)
    if len(aggregate.groups) != cell_count(of.axes, dataset=dataset):
        raise InvalidParameterError("Expected a group for each cell that is pooled.")
    _check_size(max(aggregate.weights, default=1), bounds=of.bounds, dataset=dataset)


def _check_ranked(ranked: RankedCells | RankedFeatures, *, dataset: Dataset) -> None:
    for part in parts(ranked):
        check_aggregate(part, dataset=dataset)
    if isinstance(ranked, RankedFeatures):
        largest = max(moves(ranked, dataset=dataset))
        _check_size(largest, bounds=ranked.bounds, dataset=dataset)


def _check_number(expression: Expression, *, dataset: Dataset) -> None:
    match domain(expression, dataset=dataset).kind:
        case Kind.NUMBER:
            return
        case Kind.CATEGORY | Kind.TEXT:
            raise ContractError("Categories cannot be summed.", hint="Use a histogram.")
        case Kind.DATE:
            raise ContractError(
                "Dates cannot be summed.",
                hint="Declare a per-patient value days-between, or use a histogram by year.",
            )


def _check_size(size: int, *, bounds: ContributionBounds, dataset: Dataset) -> None:
    if dataset.population_at_most * rows_per_unit(bounds) * size >= LARGEST_SUM:
        raise InvalidParameterError(
            "The sum could overflow: population × rows × largest value reaches 2^126.",
            hint="Narrow the bounds, use a coarser grid, or lower population-at-most.",
        )


def _name(axis: Expression) -> str:
    match axis:
        case ColumnOf(column=name) | ValueOf(name=name):
            return repr(name)
        case _:
            return "what they are made of"


def _check_cells(axes: tuple[Expression, ...], *, dataset: Dataset) -> None:
    for axis in axes:
        of = domain(axis, dataset=dataset)
        if not of.keys:
            raise ContractError(
                f"Groups need public labels; {_name(axis)} is a plain number or date.",
                hint="In dataset.yaml cut it into bins, or take a part of a date: "
                "derived: {band: {of: …, bins: […]}}.",
            )
    if cell_count(axes, dataset=dataset) > MOST_CELLS:
        raise InvalidParameterError(
            "Expected at most ten million cells.", hint="Use fewer groups or coarser bins."
        )
