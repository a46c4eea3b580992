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

import functools
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
    BIGINT,
    HUGEINT,
    STAR,
    at_most,
    cast,
    minus,
    named,
    num,
    own,
    plus,
    select,
    times,
)
from confide.rows.evaluate import number_of
from confide.rows.keyed_order import LIMB, limbs_of, limbs_of_text, with_point
from confide.rows.layout import Layout
from confide.rows.person_rows import relation_rows
from confide.rows.prepared.choice import Way, way_of
from confide.rows.prepared.copies import PLACES, Copies
from confide.rows.stream import Late, stream_totals
from confide.rows.table_rows import (
    Scope,
    copied,
    judged,
    one_word,
    order_of,
    table_name,
    unpacked,
    words_of,
)
from confide.tables.aggregate import (
    Aggregate,
    Asked,
    Centred,
    CentredSquare,
    Factor,
    KeyedAggregate,
    Ones,
    Plain,
    Product,
    Value,
    cell_count,
    reads,
    value_range,
)
from confide.tables.bound_contributions import (
    CellBound,
    ContributionBounds,
    OneEvent,
    rows_per_unit,
)
from confide.tables.check_aggregate import check_aggregate
from confide.tables.degrees import DegreeAggregate
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    Expression,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    ValueOf,
)
from confide.tables.filter import All, Between, Predicate, sources
from confide.tables.relation import centre, domain
from confide.tables.schema import Dataset, Table

LARGEST_BIGINT = 2**63 - 1
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

    Degree histograms are left to :mod:`confide.rows.degrees`.

    Raises:
        ContractError: If an aggregate is not declared, or does not fit the source.
        InvalidParameterError: If there are too many cells, or the sums could overflow.
    """
    shared: dict[object, list[tuple[int, Aggregate | KeyedAggregate]]] = {}
    for position, aggregate in enumerate(aggregates):
        check_aggregate(aggregate, dataset=dataset)
        if isinstance(aggregate, DegreeAggregate):
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
    """Return what a statement can name: the source itself where cells are judged as they came."""
    axes = () if isinstance(aggregate, KeyedAggregate) else aggregate.axes
    asked = frozenset(axis.of for axis in axes if isinstance(axis, QualityOf))
    return Scope(dataset=dataset, layout=layout, copies=None if asked else copies, quality=asked)


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


def _dense(first: Aggregate, group: list[tuple[int, Aggregate]], *, scope: Scope) -> Statement:
    values = list(dict.fromkeys(a.value for _, a in group if not isinstance(a.value, Ones)))
    of = [expression for value in values for expression in reads(value)]
    way = way_of(
        first.relation,
        bounds=first.bounds,
        reads=(*first.axes, *of),
        known=must_be_known(first),
        copies=scope.copies,
        dataset=scope.dataset,
    )
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carried:
    """What a stream carries of a row.

    Attributes:
        early: Expressions to evaluate before the stream, called ``e0, e1, …``.
        columns: Indices of the base table's columns that the others need.
        words: Names of the words that hold those columns; none when they come as they are.
    """

    early: tuple[Expression, ...]
    columns: tuple[int, ...]
    words: tuple[str, ...]

    @property
    def as_they_are(self) -> tuple[str, ...]:
        """Name the columns that are carried as they are."""
        return () if self.words else tuple(f"c{i}" for i in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Name what the stream carries."""
        return (*(f"e{i}" for i in range(len(self.early))), *self.words, *self.as_they_are)


def _carried(reads: Sequence[Expression], *, table: Table, in_words: bool) -> _Carried:
    """Return what to carry: columns of the table itself, and expressions that read others."""
    index = {column.name: i for i, column in enumerate(table.columns)}
    own_reads = [e for e in reads if _can_wait(e, table)]
    columns = {index[c.column] for e in own_reads for c in sources(e) if isinstance(c, ColumnOf)}
    words = [
        f"k{i}" if one_word(table) is None else "k"
        for i, word in enumerate(words_of(table))
        if in_words and any(part.column in columns for part in word.fields)
    ]
    early = dict.fromkeys(e for e in reads if e not in own_reads)
    return _Carried(early=tuple(early), columns=tuple(sorted(columns)), words=tuple(words))


def _can_wait(expression: Expression, table: Table) -> bool:
    """Return whether an expression reads columns of the table that every kept row has.

    A word cannot say that a column is NULL, so whatever has a value in rows without a column, as a
    condition has, is evaluated before.
    """
    match expression:
        case Holds() | OrMissing() | QualityOf():
            return False
        case ColumnOf() | ValueOf() | BinOf() | PartOf():
            return all(
                isinstance(read, ColumnOf) and read.table == table.name
                for read in sources(expression)
            )
        case _:
            assert_never(expression)


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
    given: dict[str, Any] = {
        "bounds": first.bounds,
        "values": len(values),
        "order": [own(name) for name in order],
        "limbs": _limbs_of_cell(own("cell"), cells=cells),
        "with_point": lambda rows, columns: _with_point(rows, columns, scope=scope),
        "cells": cells,
        "times": domain(first.axes[-1], dataset=scope.dataset).size() if first.axes else 1,
    }
    if streamed(first.bounds):
        carried = _carried(_reads(first, values), table=table, in_words=ordered)
        rows = _carrying(first, carried, scope=scope, order=order)
        late = _made_late(first, values, carried=carried, scope=scope)
        return _with(scope, bounded_totals(rows, late=late, **given))
    rows = _terms(first, values, scope=scope, order=order)
    return _with(scope, bounded_totals(rows, late=None, **given))


def _ranked(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> exp.Query:
    """Read the first ranks of the patients without NULLs, and stream the rows of the others."""
    table = scope.dataset.table(first.relation.table)
    name = table_name(scope.dataset, table)
    copies = copied(scope, table)
    most, limit = rows_per_unit(first.bounds), limits(first.bounds)[MOST_ROWS]
    sums = [f"s{i}" for i in range(len(values))]
    carried = _carried(_reads(first, values), table=table, in_words=False)
    late = _made_late(first, values, carried=carried, scope=scope)

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


def _reads(first: Aggregate, values: Sequence[Value]) -> tuple[Expression, ...]:
    return (*first.axes, *_read_by(values))


def _read_by(values: Sequence[Value]) -> tuple[Expression, ...]:
    return tuple(dict.fromkeys(expression for value in values for expression in reads(value)))


def _known(first: Aggregate) -> list[Expression]:
    return sorted(must_be_known(first), key=repr)  # a set has no order; SQL text needs one


def _carrying(
    first: Aggregate, carried: _Carried, *, scope: Scope, order: Sequence[str]
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


def _made_late(
    first: Aggregate, values: Sequence[Value], *, carried: _Carried, scope: Scope
) -> Late:
    return Late(
        carried=carried.names,
        evaluated=lambda kept: _evaluated(kept, first, values, carried=carried, scope=scope),
    )


def _evaluated(
    kept: exp.Select,
    first: Aggregate,
    values: Sequence[Value],
    *,
    carried: _Carried,
    scope: Scope,
) -> exp.Select:
    """Return ``cell`` and ``s0, s1, …`` of kept rows, with ``p`` and ``before`` beside them."""
    table = scope.dataset.table(first.relation.table)
    names = [column.name for column in table.columns]

    def find(read: ColumnOf | ValueOf | QualityOf) -> exp.Expr:
        return own(f"c{names.index(read.column)}" if isinstance(read, ColumnOf) else "")

    def value_of(expression: Expression) -> exp.Expr:
        if expression in carried.early:
            return own(f"e{carried.early.index(expression)}")
        return number_of(expression, of=find, dataset=scope.dataset)

    beside = [own("p"), own("before")]
    if carried.words:
        early = [own(f"e{i}") for i in range(len(carried.early))]
        kept = select(*beside, *early, *unpacked(table, carried.columns), of=kept)
    evaluated = [
        named(value_of(expression), f"e{i}") for i, expression in enumerate(_reads(first, values))
    ]
    rows = select(*beside, *evaluated, of=kept)
    return select(*beside, *_cell_and_sums(first, values, scope=scope), of=rows)


def _cell_and_sums(first: Aggregate, values: Sequence[Value], *, scope: Scope) -> list[exp.Expr]:
    """Return ``cell`` and ``s0, s1, …`` from the evaluated ``e0, e1, …``."""
    columns = [named(cast(_cell(first.axes, dataset=scope.dataset), BIGINT), "cell")]
    place = {e: own(f"e{len(first.axes) + i}") for i, e in enumerate(_read_by(values))}
    for index, value in enumerate(values):
        read = [place[expression] for expression in reads(value)]
        columns.append(named(_term(value, read, dataset=scope.dataset), f"s{index}"))
    return columns


def _terms(
    first: Aggregate, values: Sequence[Value], *, scope: Scope, order: Sequence[str]
) -> exp.Select:
    """Return ``p``, what orders the rows, ``cell`` and ``s0, s1, …`` of the matching rows."""
    rows = relation_rows(
        scope,
        first.relation,
        reads=_reads(first, values),
        known=_known(first),
        ordered=bool(order),
    )
    columns = _cell_and_sums(first, values, scope=scope)
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


def _cell(axes: tuple[Expression, ...], *, dataset: Dataset) -> exp.Expr:
    """Return the row-major index of a cell, from the axes ``e0, e1`` and so on."""
    cell = num(0)
    for index, axis in enumerate(axes):
        of = domain(axis, dataset=dataset)
        cell = plus(times(cell, num(of.size())), minus(own(f"e{index}"), num(of.lower)))
    return cell


def _limbs_of_cell(cell: exp.Expr, *, cells: int) -> tuple[exp.Expr, ...]:
    """Return the index of a cell as limbs."""
    return (cell,) if cells <= 2**LIMB else limbs_of(cell)


def _narrowed(
    rows: exp.Select, columns: list[exp.Expr], *, scope: Scope, order: Sequence[str]
) -> exp.Select:
    person = [] if scope.per_event else [own("p")]
    return select(*person, *map(own, order), *columns, of=rows)


def _term(value: Value, read: Sequence[exp.Column], *, dataset: Dataset) -> exp.Expr:
    match value:
        case Ones():
            return num(1)
        case Plain():
            return read[0]
        case Centred(of=expression):
            middle, _ = centre(domain(expression, dataset=dataset))
            return minus(read[0], num(middle))
        case CentredSquare(of=expression):
            factor = Centred(of=expression)
            return _product((factor, factor), (*read, *read), dataset=dataset)
        case Product(of=factors):
            return _product(factors, read, dataset=dataset)
        case _:
            assert_never(value)


def _product(
    factors: Sequence[Factor], read: Sequence[exp.Column], *, dataset: Dataset
) -> exp.Expr:
    """Multiply; wide from the first factor on where the product could pass 64 bits."""
    parts = [_term(f, [column], dataset=dataset) for f, column in zip(factors, read, strict=True)]
    product = Product(of=tuple(factors))
    largest = value_range(product, dataset=dataset, counted="rows").magnitude
    if largest > LARGEST_BIGINT:  # each factor's magnitude is at least 1: parts are no larger
        parts[0] = cast(parts[0], HUGEINT)
    return functools.reduce(times, parts)


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
