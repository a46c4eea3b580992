"""What a measurement asks, in one sentence of public words; its digest stands beside it."""

from typing import assert_never

from confide.privacy.unit import Entity
from confide.release.facts import condition_text, expression_text
from confide.tables.aggregate import (
    Aggregate,
    Centred,
    CentredSquare,
    KeyedAggregate,
    Measured,
    MomentAggregate,
    Ones,
    Plain,
    Product,
    Value,
)
from confide.tables.bound_contributions import (
    CellBound,
    ContributionBounds,
    OneEvent,
    RowBound,
)
from confide.tables.degrees import DegreeAggregate, DegreeBounds
from confide.tables.descent import DescentAggregate
from confide.tables.expression import Expression
from confide.tables.factorized import FactorizedAggregate
from confide.tables.filter import All, Everything, Predicate
from confide.tables.pooled import PooledAggregate
from confide.tables.ranked import RankedCells, RankedFeatures
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


def query_text(measured: Measured, *, dataset: Dataset) -> str:
    """Return what is measured, of which rows, in which cells."""
    match measured:
        case Aggregate(relation=relation, axes=axes, value=value):
            what = f"{_value(value, dataset=dataset)} over rows of"
            return f"{what} {_rows(relation, axes, dataset=dataset)}"
        case KeyedAggregate(relation=relation, key=key):
            of = expression_text(key, dataset=dataset)
            return f"number of patients per value of {of}, {_rows(relation, (), dataset=dataset)}"
        case MomentAggregate(relation=relation, axes=axes, of=of, degree=degree):
            powers = "number and sum" if degree == 1 else "number, sum and sum of squares"
            what = f"{powers} of {expression_text(of, dataset=dataset)} over rows of"
            return f"{what} {_rows(relation, axes, dataset=dataset)}"
        case PooledAggregate(of=of):
            return f"groups of cells of: {query_text(of, dataset=dataset)}"
        case FactorizedAggregate(inner=inner):
            return "square root of the running total over time of: " + query_text(
                inner, dataset=dataset
            )
        case DegreeAggregate(relation=relation):
            return f"persons by number of contacts in {_rows(relation, (), dataset=dataset)}"
        case RankedCells(relation=relation, axes=axes, size=size):
            return f"the {size} largest cells of {_rows(relation, axes, dataset=dataset)}"
        case RankedFeatures(relation=relation, features=features, outcome=outcome, size=size):
            goes = expression_text(outcome, dataset=dataset)
            return (
                f"the {size} of {len(features)} columns that go most strongly with {goes}, "
                f"in {_rows(relation, (), dataset=dataset)}"
            )
        case DescentAggregate(relation=relation, covariates=covariates, outcome=outcome) as fit:
            goes = expression_text(outcome, dataset=dataset)
            names = ", ".join(expression_text(each, dataset=dataset) for each in covariates)
            asked = (
                "moments and products with the outcome"
                if fit.one_look
                else f"moments, {fit.rounds} gradients and curvature"
            )
            return (
                f"{asked} of a {fit.family.value} model of "
                f"{goes} by {names}, over rows of {_rows(relation, (), dataset=dataset)}"
            )
        case _:
            assert_never(measured)


def bounds_text(
    bounds: ContributionBounds | DegreeBounds, *, entity: Entity = Entity.PATIENT
) -> str:
    """Return what one privacy unit may contribute.

    Example:
        >>> bounds_text(CellBound(max_cells=2, max_rows_per_cell=3))
        'at most 2 cells a patient, 3 rows in each'
    """
    match bounds:
        case RowBound() if entity is Entity.EVENT:  # of a model: each row stands for itself
            return bounds_text(OneEvent())
        case RowBound(max_rows=rows):
            return f"at most {rows} row{'s' if rows > 1 else ''} a patient"
        case CellBound(max_cells=cells, max_rows_per_cell=rows):
            each = f"{rows} row{'s' if rows > 1 else ''} in each"
            return f"at most {cells} cell{'s' if cells > 1 else ''} a patient, {each}"
        case OneEvent():
            return "every row; the privacy unit is the row"
        case DegreeBounds(at_most=at_most):
            return f"at most {at_most} contacts a person"
        case _:
            assert_never(bounds)


def _value(value: Value, *, dataset: Dataset) -> str:
    match value:
        case Ones():
            return "count"
        case Plain(of=of):
            return f"sum of {expression_text(of, dataset=dataset)}"
        case Centred(of=of):
            return f"sum of {expression_text(of, dataset=dataset)} about its centre"
        case CentredSquare(of=of):
            return f"sum of squares of {expression_text(of, dataset=dataset)} about its centre"
        case Product(of=factors):
            return "sum of " + " × ".join(_value(f, dataset=dataset)[7:] for f in factors)
        case _:
            assert_never(value)


def _rows(relation: Relation, axes: tuple[Expression, ...], *, dataset: Dataset) -> str:
    where = _without_everything(relation.where)
    such = "" if where == Everything() else f" where {condition_text(where, dataset=dataset)}"
    by = ", ".join(expression_text(axis, dataset=dataset) for axis in axes)
    return f"{relation.table}{such}{f', by {by}' if by else ''}"


def _without_everything(where: Predicate) -> Predicate:
    """Return a condition without parts that always hold."""
    if not isinstance(where, All):
        return where
    kept = tuple(part for part in where.of if part != Everything())
    if len(kept) > 1:
        return All(of=kept)
    return kept[0] if kept else Everything()
