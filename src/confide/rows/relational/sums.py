"""SQL of sums over public cells: one statement for all that keep the same rows.

Aggregates that agree in relation, axes, bounds and in what must be known keep *the same* rows, so
they share a statement: the centred sum of a blood pressure and the count of the rows summed, say.
What must be known is: the axes, the values, and whatever the filter requires to be known (a
``Between`` at the top of ``where``); so the count over rows whose pressure is known is the count
with ``Between(of=pressure)`` in its filter.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from confide.rows.cells.bounding import (
    MOST_ROWS,
    Bounded,
    Cells,
    bounded_totals,
    limits,
    needs_order,
    needs_place,
    streamed,
)
from confide.rows.cells.build import (
    STAR,
    as_one,
    at_most,
    num,
    own,
    own_table,
    select,
)
from confide.rows.cells.keyed_order import LIMB, MASK, limbs_of, with_point
from confide.rows.cells.proved_ranks import proved_totals, unproved_totals
from confide.rows.cells.stream import Late, Summed, stream_totals
from confide.rows.cells.terms import cell_and_sums, row_reads
from confide.rows.cells.words import order_of, stored_words
from confide.rows.copies.choice import Way, can_be_ranked, can_be_streamed, way_of
from confide.rows.copies.copies import MOST_RANKS, PLACES
from confide.rows.relational.carried import Carried, carried_of, evaluated_late
from confide.rows.relational.compiler import Placed, Together, with_front
from confide.rows.relational.person_rows import relation_rows
from confide.rows.relational.sorted_once import Streamed
from confide.rows.relational.statement import COUNT, FIRST_SUM, Statement
from confide.rows.relational.summand import OfPerson, Stored, Summand, size, wide
from confide.rows.relational.table_rows import Scope, clustered_before, copied, judged, table_name
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.value import Ones, Value, value_range
from confide.tables.bound_contributions import (
    CellBound,
    RowBound,
    rows_per_unit,
)
from confide.tables.expression import Expression
from confide.tables.filter import All, Between, Predicate, expressions
from confide.tables.relation import domain


def must_be_known(aggregate: Aggregate) -> frozenset[Expression]:
    """Return the expressions that are not NULL in any kept row."""
    return frozenset((*aggregate.reads, *_required(aggregate.relation.where)))


def _kept_by(aggregate: Aggregate) -> object:
    return aggregate.relation, aggregate.axes, aggregate.bounds, must_be_known(aggregate)


def _required(where: Predicate) -> tuple[Expression, ...]:
    match where:
        case Between(of=expression):
            return (expression,)
        case All(of=parts):
            return tuple(e for part in parts for e in _required(part))
        case _:
            return ()


def _way(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> Way:
    found = way_of(
        first.relation,
        bounds=first.bounds,
        reads=row_reads(first, values),
        known=must_be_known(first),
        copies=scope.copies,
        dataset=scope.dataset,
    )
    if found is Way.SORTED and not scope.streams:
        found = _way_in_database(first, values, scope=scope)
    ranks = found is Way.RANKS and scope.summed is Summed.PERSONS
    return Way.CLUSTERED if ranks else found  # in the ranks p stands for (rank, patient)


def _way_in_database(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> Way:
    """Return how an engine finds the rows that does not hand rows on as they were sorted.

    Where tables of it hold them in the order in which a person's are kept, it reads them so; of
    copies whose ranks were proved it reads the first ranks.
    """
    relation, reads, known = first.relation, row_reads(first, values), must_be_known(first)
    needed = (*reads, *known, *expressions(relation.where))
    if not can_be_streamed(relation, bounds=first.bounds, needed=needed):
        return Way.NUMBERED
    ranks = can_be_ranked(relation, reads=reads, known=known, dataset=scope.dataset)
    if relation.table in scope.clustered:
        return Way.RANKS if ranks else Way.CLUSTERED
    return Way.RANKS if ranks and _is_proved(first, scope=scope) else Way.NUMBERED


def _is_proved(first: Aggregate, *, scope: Scope) -> bool:
    """Return whether a copy holds the first ranks that are asked for, and what proves them."""
    table, bounds = first.relation.table, first.bounds
    if scope.ranked is None or table not in scope.ranked.proved:
        return False
    return isinstance(bounds, RowBound) and bounds.max_rows <= MOST_RANKS


def _as_one_row(first: Aggregate, *, scope: Scope) -> Aggregate | None:
    """Return the same question by rows where each person has one: one row in one cell is one row.

    Of a copy that is one pass; elsewhere counting by person is cheaper than sorting.
    """
    table = scope.dataset.table(first.relation.table)
    alone = CellBound(max_cells=1, max_rows_per_cell=1)
    there = scope.copies is not None or table.name in scope.clustered
    if not there or first.bounds != alone or not table.one_row_per_patient:
        return None
    return replace(first, bounds=RowBound(max_rows=1))


def _values(group: Placed[Aggregate]) -> list[Value]:
    return list(dict.fromkeys(a.value for _, a in group if not isinstance(a.value, Ones)))


def _streamed(group: Placed[Aggregate]) -> Streamed:
    (_, first), *_ = group
    return Streamed(
        relation=first.relation,
        bounds=first.bounds,
        reads=tuple(row_reads(first, _values(group))),
        known=tuple(_known(first)),
    )


def _statement(group: Placed[Aggregate], scope: Scope) -> Statement:
    (_, first), *_ = group
    values = _values(group)
    as_row = _as_one_row(first, scope=scope)
    if as_row is not None and _way(as_row, values, scope=scope) is Way.CLUSTERED:
        first = as_row
    way = Way.ONCE if scope.once else _way(first, values, scope=scope)
    answers = tuple(
        (position, COUNT if isinstance(a.value, Ones) else FIRST_SUM + values.index(a.value))
        for position, a in group
    )
    query = _query(first, values, way=way, scope=scope)
    if scope.clustered and way in {Way.RANKS, Way.CLUSTERED}:
        query = as_one(query)
    proved = way is Way.RANKS and scope.ranked is not None
    return Statement(
        query=query,
        answers=answers,
        cells=cell_count(first.axes, dataset=scope.dataset),
        limits=limits(first.bounds),
        table=first.relation.table,
        bounds=first.bounds,
        way=way,
        proved_at=FIRST_SUM + len(values) if proved else None,
    )


def _query(first: Aggregate, values: Sequence[Value], *, way: Way, scope: Scope) -> exp.Query:
    if way is Way.RANKS:
        ranked = _ranked if scope.ranked is None else _proved
        return ranked(first, values, scope=scope)
    table = scope.dataset.table(first.relation.table)
    there = way in {Way.CLUSTERED, Way.ONCE}
    ordered = not there and needs_order(first.bounds, values=len(values))
    order: Sequence[str] = ()
    if ordered:
        words = ("h",) if isinstance(first.bounds, CellBound) else order_of(table)
        order = (*words, *judged(table, scope.quality))
    late: Late | None = None
    streams = scope.streams or there
    if streams and streamed(first.bounds):
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
        cells=_cells(first, scope=scope),
        late=late,
        summed=scope.summed,
        streams=streams,
    )
    return with_front(scope, totals)


def _cells(first: Aggregate, *, scope: Scope) -> Cells:
    number = cell_count(first.axes, dataset=scope.dataset)
    times = domain(first.axes[-1], dataset=scope.dataset).size() if first.axes else 1
    return Cells(
        number=number,
        times=times,
        limbs=(own("cell"),) if number <= 2**LIMB else limbs_of(own("cell")),
        beside=("x",) if needs_place(first.bounds, number=number, times=times) else (),
        packed=scope.copies is not None,
    )


def _ranked(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> exp.Query:
    """Read the first ranks of the patients without NULLs, and stream the rows of the others."""
    table = scope.dataset.table(first.relation.table)
    name = table_name(scope.dataset, table)
    most, limit = rows_per_unit(first.bounds), limits(first.bounds)[MOST_ROWS]
    sums = [f"s{i}" for i in range(len(values))]
    carried = carried_of(row_reads(first, values), table=table, in_words=False)
    late = evaluated_late(first, values, carried=carried, scope=scope)

    def totals(rows: exp.Select, **bound: Any) -> exp.Select:
        part = replace(scope, named={name: rows})
        rows = _carrying(first, carried, scope=part, order=[])
        query = stream_totals(rows, sums=sums, late=late, **bound)
        return select(STAR, of=with_front(part, Bounded(query=query)))

    if table.name in scope.clustered:
        of = scope.clustered[table.name]
        first_rows = clustered_before(scope, table, of=of.rows, most=most)
        others = clustered_before(scope, table, of=of.partial or of.rows)
        complete = totals(first_rows, most=None, limit=limit)
        partial = totals(others, most=most, limit=limit)
        return exp.Union(this=complete, expression=partial, distinct=False)
    copies = copied(scope, table)
    # p stands for (rank, patient): each once, and no rank above the limit
    above = at_most(num((limit + 1) * PLACES), own("p"))
    complete = totals(copies.first_rows(table, most=most), most=None, limit=1, wrong=[above])
    partial = totals(copies.partial_rows(table), most=most, limit=limit)
    return exp.Union(this=complete, expression=partial, distinct=False)


def _proved(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> exp.Query:
    """Add up the first ranks of the patients without NULLs; number the rows of the others."""
    table = scope.dataset.table(first.relation.table)
    copies = copied(replace(scope, copies=scope.ranked), table)
    name, sums = table_name(scope.dataset, table), [f"s{i}" for i in range(len(values))]
    others = select(STAR, *stored_words(table, of="q"), of=copies.partial_rows(table))
    first_ranks = copies.first_rows(table, most=rows_per_unit(first.bounds))
    part = replace(scope, named={name: first_ranks, f"{name}o": others})
    short = {name for name, value in zip(sums, values, strict=True) if _is_short(value, part)}
    terms = _terms(first, values, scope=part, order=())
    ranked = proved_totals(terms, sums=sums, short=short)
    numbered = bounded_totals(
        _terms(first, values, scope=part, order=order_of(table)),
        bounds=first.bounds,
        values=len(values),
        order=[own(word) for word in order_of(table)],
        cells=_cells(first, scope=scope),
        late=None,
        streams=False,
    )
    rest = unproved_totals(numbered.counted or numbered.query, sums=sums)
    query = exp.Union(this=ranked, expression=rest, distinct=False)
    return with_front(part, Bounded(query=query))


def _is_short(value: Value, scope: Scope) -> bool:
    return value_range(value, dataset=scope.dataset, counted="").magnitude <= MASK


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
    """Return ``p``, what orders the rows, ``cell``, ``s0, s1, …`` and what is beside a cell."""
    beside = _cells(first, scope=scope).beside
    clustered = scope.copies is not None or first.relation.table in scope.clustered
    there = clustered or bool(order)  # rows that have h have x
    rows = relation_rows(
        scope,
        first.relation,
        reads=row_reads(first, values),
        known=_known(first),
        ordered=bool(order),
        carried=beside if there else (),
    )
    if beside and not there:
        rows = with_point(rows, person="p", ids=scope.layout.ids)
    columns = cell_and_sums(first, values, dataset=scope.dataset)
    return _narrowed(rows, [*columns, *map(own, beside)], scope=scope, order=order)


def _narrowed(
    rows: exp.Select, columns: list[exp.Expr], *, scope: Scope, order: Sequence[str]
) -> exp.Select:
    person = [] if scope.per_event else [own("p")]
    return select(*person, *map(own, order), *columns, of=rows)


def _summand(aggregate: Aggregate, stored: Stored) -> Summand:
    """Return |x| or x² of each cell of a person."""
    del aggregate
    (part,) = stored.parts
    value = size([wide(own(part.column), stored.charge)], stored.charge.norm)
    return Summand(rows=own_table(part.table), key=part.table, value=value)


SUMS = Together(of=Aggregate, kept_by=_kept_by, statement=_statement, streams=_streamed)
OF_PERSON = OfPerson(of=Aggregate, summand=_summand)
