"""Compile aggregates to SQL: as few scans as the kept rows allow, one statement each.

SQL is built from SQLGlot's syntax tree only.  Names of the data are quoted identifiers, categories
are literals, the keyed order's coefficients are bound parameters; no text of a user is ever parsed.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.cells.layout import Layout
from confide.rows.cells.stream import Summed
from confide.rows.copies.copies import Copies
from confide.rows.relational.compiler import Placed, Together
from confide.rows.relational.shapes import compiler_of
from confide.rows.relational.statement import Statement
from confide.rows.relational.table_rows import Scope
from confide.tables.aggregates.degrees import DegreeBounds
from confide.tables.aggregates.shapes import Asked, check_aggregate
from confide.tables.bound_contributions import ContributionBounds, OneEvent
from confide.tables.expression import QualityOf
from confide.tables.schema import Dataset


def statements(
    aggregates: Sequence[Asked],
    *,
    dataset: Dataset,
    layout: Layout,
    copies: Copies | None = None,
    summed: Summed = Summed.CELLS,
) -> tuple[Statement, ...]:
    """Compile aggregates to the fewest statements, over prepared copies where there are.

    Those that have rows of their own are left out: :class:`confide.rows.relational.compiler.Alone`.

    Raises:
        ContractError: If an aggregate is not declared, or does not fit the source.
        InvalidParameterError: If there are too many cells, or the sums could overflow.
    """
    groups: dict[object, tuple[Together[Any], Placed[Any]]] = {}
    for position, aggregate in enumerate(aggregates):
        check_aggregate(aggregate, dataset=dataset)
        compiler = compiler_of(aggregate)
        if not isinstance(compiler, Together):
            continue
        _check_unit(aggregate.bounds, dataset=dataset)
        kept_by = compiler.of, compiler.kept_by(aggregate)
        groups.setdefault(kept_by, (compiler, []))[1].append((position, aggregate))
    scope = Scope(dataset=dataset, layout=layout, copies=copies, summed=summed)
    return tuple(
        compiler.statement(group, _judging(group, scope=scope))
        for compiler, group in groups.values()
    )


def _judging(group: Placed[Any], *, scope: Scope) -> Scope:
    """Return what a statement of its own can name: the quality of cells where it is asked for."""
    (_, first), *_ = group
    quality = frozenset(axis.of.table for axis in first.axes if isinstance(axis, QualityOf))
    return replace(scope, quality=quality, named={})


def _check_unit(bounds: ContributionBounds | DegreeBounds, *, dataset: Dataset) -> None:
    if (dataset.unit.entity is Entity.EVENT) != isinstance(bounds, OneEvent):
        raise ContractError(
            f"Expected bounds that suit the privacy unit {dataset.unit.entity.value!r}.",
            hint="Patients need max rows or cells; events are bounded by being one row.",
        )
