"""Compile aggregates to SQL: as few scans as the kept rows allow, one statement each.

Aggregates that agree in relation, axes, bounds and in what must be known keep *the same* rows, so
they share a statement: the centred sum of a blood pressure and the count of the rows summed, say.
What must be known is: the axes, the values, and whatever the filter requires to be known (a
``Between`` at the top of ``where``); so the count over rows whose pressure is known is the count
with ``Between(of=pressure)`` in its filter.

SQL is built from SQLGlot's syntax tree only.  Names of the data are quoted identifiers, categories
are literals, the keyed order's coefficients are bound parameters; no text of a user is ever parsed.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.bounding import (
    KEPT,
    MOST_ROWS,
    Bounded,
    bounded_totals,
    limits,
    needs_order,
    streamed,
)
from confide.rows.build import (
    STAR,
    at_most,
    named,
    num,
    own,
    select,
)
from confide.rows.carried import Carried, carried_of, evaluated_late
from confide.rows.keyed_order import LIMB, limbs_of, limbs_of_text, with_point
from confide.rows.layout import Layout
from confide.rows.person_rows import relation_rows
from confide.rows.prepared.choice import Way, way_of
from confide.rows.prepared.copies import PLACES, Copies
from confide.rows.stream import Late, stream_totals
from confide.rows.table_rows import Scope, copied, judged, table_name
from confide.rows.terms import cell_and_sums, row_reads
from confide.rows.words import order_of
from confide.tables.aggregate import (
    Aggregate,
    Asked,
    KeyedAggregate,
    Ones,
    Value,
    cell_count,
    reads,
)
from confide.tables.bound_contributions import (
    CellBound,
    ContributionBounds,
    OneEvent,
    RowBound,
    rows_per_unit,
)
from confide.tables.check_aggregate import check_aggregate
from confide.tables.degrees import DegreeAggregate
from confide.tables.descent import DescentAggregate
from confide.tables.expression import Expression, QualityOf
from confide.tables.filter import All, Between, Predicate
from confide.tables.relation import domain
from confide.tables.schema import Dataset

CELL, COUNT, FIRST_SUM = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One SQL statement and what its rows mean.

    Each row is (tag, cell or key, kept rows, sum 0, sum 1, …); a tag above 0 reports the guard.

    Attributes:
        query: Syntax tree.
        answers: Pairs (position of the aggregate asked for, column of its sum).
        cells: Number of public cells; None for secret keys.
        limits: Most that the guard's rows may report, by tag.
        table: Whose rows.
        way: How the rows that a person keeps are found.
    """

    query: exp.Query
    answers: tuple[tuple[int, int], ...]
    cells: int | None
    limits: dict[int, int]
    table: str
    way: Way


def statements(
    aggregates: Sequence[Asked],
    *,
    dataset: Dataset,
    layout: Layout,
    copies: Copies | None = None,
) -> tuple[Statement, ...]:
    """Compile aggregates to the fewest statements, over prepared copies where there are.

    Degree histograms are left to :mod:`confide.rows.degrees`, models to
    :mod:`confide.rows.descent`.

    Raises:
        ContractError: If an aggregate is not declared, or does not fit the source.
        InvalidParameterError: If there are too many cells, or the sums could overflow.
    """
    shared: dict[object, list[tuple[int, Aggregate | KeyedAggregate]]] = {}
    for position, aggregate in enumerate(aggregates):
        check_aggregate(aggregate, dataset=dataset)
        if isinstance(aggregate, DegreeAggregate | DescentAggregate):
            continue
        _check_unit(aggregate.bounds, dataset=dataset)
        shared.setdefault(_kept_by(aggregate), []).append((position, aggregate))
    return tuple(
        _statement(group, scope=_scope(group[0][1], dataset=dataset, layout=layout, copies=copies))
        for group in shared.values()
    )


def _scope(
    aggregate: Aggregate | KeyedAggregate,
    *,
    dataset: Dataset,
    layout: Layout,
    copies: Copies | None,
) -> Scope:
    """Return what a statement can name: the quality of cells too, where it is asked for."""
    axes = () if isinstance(aggregate, KeyedAggregate) else aggregate.axes
    quality = frozenset(axis.of.table for axis in axes if isinstance(axis, QualityOf))
    return Scope(dataset=dataset, layout=layout, copies=copies, quality=quality)


def must_be_known(aggregate: Aggregate) -> frozenset[Expression]:
    """Return the expressions that are not NULL in any kept row."""
    known = (*aggregate.axes, *reads(aggregate.value), *_required(aggregate.relation.where))
    return frozenset(known)


def _kept_by(aggregate: Aggregate | KeyedAggregate) -> object:
    match aggregate:
        case KeyedAggregate():
            return aggregate
        case Aggregate(relation=relation, axes=axes, bounds=bounds):
            return relation, axes, bounds, must_be_known(aggregate)
        case _:
            assert_never(aggregate)


def _required(where: Predicate) -> tuple[Expression, ...]:
    match where:
        case Between(of=expression):
            return (expression,)
        case All(of=parts):
            return tuple(e for part in parts for e in _required(part))
        case _:
            return ()


def _check_unit(bounds: ContributionBounds, *, dataset: Dataset) -> None:
    if (dataset.unit.entity is Entity.EVENT) != isinstance(bounds, OneEvent):
        raise ContractError(
            f"Expected bounds that suit the privacy unit {dataset.unit.entity.value!r}.",
            hint="Patients need max rows or cells; events are bounded by being one row.",
        )


def _statement(group: list[tuple[int, Aggregate | KeyedAggregate]], *, scope: Scope) -> Statement:
    _, first = group[0]
    match first:
        case KeyedAggregate():
            return _keyed(group, first, scope=scope)
        case Aggregate():
            alike = [(position, a) for position, a in group if isinstance(a, Aggregate)]
            return _dense(first, alike, scope=scope)
        case _:
            assert_never(first)


def _way(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> Way:
    return way_of(
        first.relation,
        bounds=first.bounds,
        reads=row_reads(first, values),
        known=must_be_known(first),
        copies=scope.copies,
        dataset=scope.dataset,
    )


def _as_one_row(first: Aggregate, *, scope: Scope) -> Aggregate | None:
    """Return the same question by rows where each person has one: one row in one cell is one row.

    Of a copy that is one pass; elsewhere counting by person is cheaper than sorting.
    """
    table = scope.dataset.table(first.relation.table)
    alone = CellBound(max_cells=1, max_rows_per_cell=1)
    if scope.copies is None or first.bounds != alone or not table.one_row_per_patient:
        return None
    return replace(first, bounds=RowBound(max_rows=1))


def _dense(first: Aggregate, group: list[tuple[int, Aggregate]], *, scope: Scope) -> Statement:
    values = list(dict.fromkeys(a.value for _, a in group if not isinstance(a.value, Ones)))
    as_row = _as_one_row(first, scope=scope)
    if as_row is not None and _way(as_row, values, scope=scope) is Way.CLUSTERED:
        first = as_row
    way = _way(first, values, scope=scope)
    answers = tuple(
        (position, COUNT if isinstance(a.value, Ones) else FIRST_SUM + values.index(a.value))
        for position, a in group
    )
    return Statement(
        query=_query(first, values, way=way, scope=scope),
        answers=answers,
        cells=cell_count(first.axes, dataset=scope.dataset),
        limits=limits(first.bounds),
        table=first.relation.table,
        way=way,
    )


def _query(first: Aggregate, values: Sequence[Value], *, way: Way, scope: Scope) -> exp.Query:
    if way is Way.RANKS:
        return _ranked(first, values, scope=scope)
    table = scope.dataset.table(first.relation.table)
    ordered = way is not Way.CLUSTERED and needs_order(first.bounds, values=len(values))
    order: Sequence[str] = ()
    if ordered:
        words = ("h",) if isinstance(first.bounds, CellBound) else order_of(table)
        order = (*words, *judged(table, scope.quality))
    cells = cell_count(first.axes, dataset=scope.dataset)
    late: Late | None = None
    if streamed(first.bounds):
        carried = carried_of(row_reads(first, values), table=table, in_words=ordered)
        rows = _carrying(first, carried, scope=scope, order=order)
        late = evaluated_late(first, values, carried=carried, scope=scope)
    else:
        rows = _terms(first, values, scope=scope, order=order)
    totals = bounded_totals(
        rows,
        bounds=first.bounds,
        values=len(values),
        order=[own(name) for name in order],
        limbs=_limbs_of_cell(own("cell"), cells=cells),
        with_point=lambda rows, columns: _with_point(rows, columns, scope=scope),
        cells=cells,
        late=late,
        times=domain(first.axes[-1], dataset=scope.dataset).size() if first.axes else 1,
    )
    return _with(scope, totals)


def _ranked(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> exp.Query:
    """Read the first ranks of the patients without NULLs, and stream the rows of the others."""
    table = scope.dataset.table(first.relation.table)
    name = table_name(scope.dataset, table)
    copies = copied(scope, table)
    most, limit = rows_per_unit(first.bounds), limits(first.bounds)[MOST_ROWS]
    sums = [f"s{i}" for i in range(len(values))]
    carried = carried_of(row_reads(first, values), table=table, in_words=False)
    late = evaluated_late(first, values, carried=carried, scope=scope)

    def totals(rows: exp.Select, **bound: Any) -> exp.Select:
        part = replace(scope, named={name: rows})
        rows = _carrying(first, carried, scope=part, order=[])
        query = stream_totals(rows, sums=sums, late=late, **bound)
        return select(STAR, of=_with(part, Bounded(query=query)))

    # p stands for (rank, patient): each once, and no rank above the limit
    above = at_most(num((limit + 1) * PLACES), own("p"))
    complete = totals(copies.first_rows(table, most=most), most=None, limit=1, wrong=[above])
    partial = totals(copies.partial_rows(table), most=most, limit=limit)
    return exp.Union(this=complete, expression=partial, distinct=False)


def _known(first: Aggregate) -> list[Expression]:
    return sorted(must_be_known(first), key=repr)  # a set has no order; SQL text needs one


def _carrying(
    first: Aggregate, carried: Carried, *, scope: Scope, order: Sequence[str]
) -> exp.Select:
    """Return ``p``, what orders the rows, and what a stream carries."""
    rows = relation_rows(
        scope,
        first.relation,
        reads=carried.early,
        known=_known(first),
        ordered=bool(order),
        carried=carried.as_they_are,
    )
    return select(own("p"), *map(own, dict.fromkeys((*order, *carried.names))), of=rows)


def _terms(
    first: Aggregate, values: Sequence[Value], *, scope: Scope, order: Sequence[str]
) -> exp.Select:
    """Return ``p``, what orders the rows, ``cell`` and ``s0, s1, …`` of the matching rows."""
    rows = relation_rows(
        scope,
        first.relation,
        reads=row_reads(first, values),
        known=_known(first),
        ordered=bool(order),
    )
    columns = cell_and_sums(first, values, dataset=scope.dataset)
    return _narrowed(rows, columns, scope=scope, order=order)


def _keyed(
    group: list[tuple[int, Aggregate | KeyedAggregate]], keyed: KeyedAggregate, *, scope: Scope
) -> Statement:
    bounds, key = keyed.bounds, (keyed.key,)
    if not isinstance(bounds, CellBound) or bounds.max_rows_per_cell != 1:
        raise ContractError(
            "Key selection counts distinct patients: it needs a most number of keys a patient.",
            hint="Bound it by cells: per-patient: {cells: 5, rows: 1}.",
        )
    rows = relation_rows(scope, keyed.relation, reads=key, known=key, ordered=False)
    totals = bounded_totals(
        _narrowed(rows, [named(own("e0"), "cell")], scope=scope, order=[]),
        bounds=bounds,
        values=0,
        order=[],
        limbs=limbs_of_text(own("cell")),
        with_point=lambda rows, columns: _with_point(rows, columns, scope=scope),
        cells=None,
        late=None,
    )
    return Statement(
        query=_with(scope, totals),
        answers=tuple((position, COUNT) for position, _ in group),
        cells=None,
        limits=limits(bounds),
        table=keyed.relation.table,
        way=Way.CELLS,
    )


def _with_point(rows: exp.Select, columns: Sequence[str], *, scope: Scope) -> exp.Select:
    if scope.copies is not None:
        return scope.copies.with_point(rows, columns)
    return select(*map(own, [*columns, "x"]), of=with_point(rows, person="p", ids=scope.layout.ids))


def _limbs_of_cell(cell: exp.Expr, *, cells: int) -> tuple[exp.Expr, ...]:
    """Return the index of a cell as limbs."""
    return (cell,) if cells <= 2**LIMB else limbs_of(cell)


def _narrowed(
    rows: exp.Select, columns: list[exp.Expr], *, scope: Scope, order: Sequence[str]
) -> exp.Select:
    person = [] if scope.per_event else [own("p")]
    return select(*person, *map(own, order), *columns, of=rows)


def _with(scope: Scope, bounded: Bounded) -> exp.Query:
    """Put the cleaned tables, the per-patient values and the kept rows in front."""
    inline = None if scope.copies is None else False  # a copy is streamed in its order
    front = [_shared(name, rows, materialized=inline) for name, rows in scope.named.items()]
    if bounded.kept is not None:
        front.append(_shared(KEPT, bounded.kept, materialized=True))
    bounded.query.set("with_", exp.With(expressions=front))
    return bounded.query


def _shared(name: str, query: exp.Query, *, materialized: bool | None) -> exp.CTE:
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    return exp.CTE(this=query, alias=alias, materialized=materialized)
