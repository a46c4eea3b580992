"""Distinct persons per value of a text column: each person's first keys in the keyed order.

The place of a key is made of 60 bits of its SHA-256.  Prepared copies hold the numbers of the keys
and those bits; a number orders keys at the same place as the texts would, and is replaced by its
text before the totals leave the engine.

*Privacy:* the bound on the keys of a person is that of cells, with the same guard
(:mod:`confide.rows.cells.stream`).

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.bounding import Bounded, Cells, bounded_totals, limits
from confide.rows.cells.build import named, own, select
from confide.rows.cells.keyed_order import limbs_of, limbs_of_text, with_point
from confide.rows.cells.stream import Summed
from confide.rows.copies.choice import way_of_cells
from confide.rows.relational.compiler import Placed, Together, with_front
from confide.rows.relational.person_rows import relation_rows
from confide.rows.relational.statement import COUNT, Statement
from confide.rows.relational.table_rows import Scope
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.bound_contributions import CellBound
from confide.tables.schema import Table


def key_totals(keyed: KeyedAggregate, bounds: CellBound, *, scope: Scope) -> Bounded:
    """Return (tag, ``cell``, ``n``) by key; by the number of the key, of prepared copies."""
    copied, key = scope.copies is not None, (keyed.key,)
    column = key_column(keyed, table=scope.dataset.table(keyed.relation.table))
    beside = ("x", f"t{column}") if copied else ("x",)
    rows = relation_rows(
        scope,
        keyed.relation,
        reads=key,
        known=key,
        ordered=False,
        carried=beside if copied else (),
    )
    if not copied:
        rows = with_point(rows, person="p", ids=scope.layout.ids)
    return bounded_totals(
        select(own("p"), named(own("e0"), "cell"), *map(own, beside), of=rows),
        bounds=bounds,
        values=0,
        order=[],
        cells=Cells(
            number=None,
            times=1,
            limbs=limbs_of(own(f"t{column}")) if copied else limbs_of_text(own("cell")),
            beside=beside,
            packed=copied,
        ),
        late=None,
        summed=scope.summed,
        streams=scope.streams,
    )


def _of_keys(keyed: KeyedAggregate, bounds: CellBound, *, scope: Scope) -> exp.Query:
    query = with_front(scope, key_totals(keyed, bounds, scope=scope))
    if scope.copies is None:
        return query
    table = scope.dataset.table(keyed.relation.table)
    front = "tag" if scope.summed is Summed.CELLS else "p"
    column = key_column(keyed, table=table)
    return scope.copies.with_texts(query, table, column=column, front=front)


def _statement(group: Placed[KeyedAggregate], scope: Scope) -> Statement:
    (_, keyed), *_ = group
    bounds = keyed.bounds
    if not isinstance(bounds, CellBound) or bounds.max_rows_per_cell != 1:
        raise ContractError(
            "Key selection counts distinct patients: it needs a most number of keys a patient.",
            hint="Bound it by cells: per-patient: {cells: 5, rows: 1}.",
        )
    return Statement(
        query=_of_keys(keyed, bounds, scope=scope),
        answers=tuple((position, COUNT) for position, _ in group),
        cells=None,
        limits=limits(bounds),
        table=keyed.relation.table,
        bounds=bounds,
        way=way_of_cells(bounds),
    )


def key_column(keyed: KeyedAggregate, *, table: Table) -> int:
    """Return the index of the key's column."""
    return [column.name for column in table.columns].index(keyed.key.column)


KEYS = Together(of=KeyedAggregate, kept_by=lambda keyed: keyed, statement=_statement)
