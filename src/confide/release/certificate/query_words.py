"""What a measurement asks, in one sentence of public words; its digest stands beside it."""

from dataclasses import dataclass
from typing import assert_never

from confide.privacy.unit import Entity
from confide.release.certificate.facts import condition_text, expression_text
from confide.tables.aggregates.degrees import DegreeBounds
from confide.tables.aggregates.shapes import Measured
from confide.tables.aggregates.value import Centred, CentredSquare, Ones, Plain, Product, Value
from confide.tables.bound_contributions import (
    CellBound,
    ContributionBounds,
    OneEvent,
    RowBound,
)
from confide.tables.expression import Expression
from confide.tables.filter import All, Everything, Predicate
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


def query_text(measured: Measured, *, dataset: Dataset) -> str:
    """Return what is measured, of which rows, in which cells."""
    return measured.told(_InWords(dataset=dataset))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _InWords:
    """Names what stands in a data set."""

    dataset: Dataset

    def of(self, expression: Expression) -> str:
        return expression_text(expression, dataset=self.dataset)

    def value(self, value: Value) -> str:
        match value:
            case Ones():
                return "count"
            case Plain(of=of):
                return f"sum of {self.of(of)}"
            case Centred(of=of):
                return f"sum of {self.of(of)} about its centre"
            case CentredSquare(of=of):
                return f"sum of squares of {self.of(of)} about its centre"
            case Product(of=factors):
                return "sum of " + " × ".join(self.value(factor)[7:] for factor in factors)
            case _:
                assert_never(value)

    def rows(self, relation: Relation, axes: tuple[Expression, ...] = ()) -> str:
        where = _without_everything(relation.where)
        by = ", ".join(map(self.of, axes))
        such = condition_text(where, dataset=self.dataset) if where != Everything() else ""
        return relation.table + (such and f" where {such}") + (by and f", by {by}")


def _without_everything(where: Predicate) -> Predicate:
    """Return a condition without parts that always hold."""
    if not isinstance(where, All):
        return where
    kept = tuple(part for part in where.of if part != Everything())
    if len(kept) > 1:
        return All(of=kept)
    return kept[0] if kept else Everything()
