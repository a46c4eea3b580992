"""Degrees of a contact network: the edges as SQL, in a secretly keyed stable order; then counting.

The place of an edge {a, b}, a before b, is the place that a row with the one limb x(b) would have
among the rows of a, x being the keyed point of an id (see :mod:`keyed_order`); ties by the ids.  It
depends on the two ids alone, so edges keep their order whoever is added or removed, which is what
the lemma in :mod:`confide.tables.aggregates.degrees` asks for.

*Privacy:* edges leave the engine's tables as pairs of numbers and stay in this process; the
histogram goes to the gate as every exact sum does.

*Utility:* degrees are counted from sorted pairs of numbers; the order matters, and one pass in
Python is made, for the edges at persons with more than the bound alone.

References:
    [DLL16] Day, Li, Lyu. Publishing graph degree distribution with node differential privacy.
        SIGMOD 2016, alg. 1. https://doi.org/10.1145/2882903.2926745
"""

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import (
    BIGINT,
    INT,
    STAR,
    call,
    cast,
    equal,
    named,
    negated,
    num,
    own,
    own_table,
    select,
)
from confide.rows.cells.evaluate import holds
from confide.rows.cells.keyed_order import with_place, with_point
from confide.rows.cells.layout import Layout
from confide.rows.relational.compiler import Alone
from confide.rows.relational.table_rows import Scope, cleaned_rows, person_ids
from confide.tables.aggregates.degrees import DegreeAggregate, How
from confide.tables.expression import ColumnOf, QualityOf, ValueOf
from confide.tables.schema import Dataset

Contacts: TypeAlias = Mapping[str, NDArray[Any]]
"""Columns by name."""
NUMBER = 31
ONES = (1 << NUMBER) - 1


def degree_query(aggregate: DegreeAggregate, dataset: Dataset, layout: Layout) -> exp.Select:
    """Compile a degree histogram, over the source.

    Rows are contacts, as often as they stand there: ``i`` < ``j`` the numbers of both ends, from 1,
    and ``h`` the place of the edge.  One row with ``j`` = 0 has the number of persons in ``i``.

    Raises:
        ContractError: If it is not declared, or does not fit the source.
    """
    aggregate.check(dataset)
    scope = Scope(dataset=dataset, layout=layout)
    parts = {"pairs": _pairs(aggregate, scope=scope)}
    if aggregate.persons:
        each = person_ids(scope, dataset.table(aggregate.persons))
        people = select(own("p"), of=each, by=[own("p")])  # a person once, however many rows
    else:
        ends = (select(named(own(end), "p"), of=own_table("pairs")) for end in ("a", "b"))
        people = select(own("p"), of=exp.Union(this=next(ends), expression=next(ends)))
    number = exp.Window(
        this=exp.RowNumber(),
        order=exp.Order(expressions=[exp.Ordered(this=own("p"), nulls_first=False)]),
    )
    pointed = with_point(people, person="p", ids=layout.ids)
    parts["numbered"] = select(
        own("p"), named(cast(number, INT), "i"), named(cast(own("x"), INT), "x"), of=pointed
    )
    n = cast(exp.Count(this=STAR), INT)
    persons = select(
        named(n, "i"), named(cast(num(0), INT), "j"), named(num(0), "h"), of=own_table("numbered")
    )
    both = exp.Union(this=_edges(), expression=persons, distinct=False)
    return _with(scope, parts, select(STAR, of=both))


def _pairs(aggregate: DegreeAggregate, *, scope: Scope) -> exp.Select:
    """Return the different persons of each matching contact, ``a`` before ``b``."""
    table = scope.dataset.table(aggregate.relation.table)

    def find(read: ColumnOf | ValueOf | QualityOf) -> exp.Expr:
        names = [column.name for column in table.columns]
        match read:
            case ColumnOf(column=name):
                return own(f"c{names.index(name)}")
            case ValueOf(name=name):
                return own(name)
            case QualityOf():
                raise ContractError("A contact is not chosen by the quality of its cells.")
            case _:
                assert_never(read)

    ends = (own("p"), own("q"))
    return select(
        named(call("least", *ends), "a"),
        named(call("greatest", *ends), "b"),
        of=cleaned_rows(scope, table),
        where=[
            negated(equal(*ends)),
            holds(aggregate.relation.where, of=find, dataset=scope.dataset),
        ],
    )


def _edges() -> exp.Select:
    """Return the numbers and places of contacts; those with ends that are no vertices drop out."""
    joins = [
        exp.Join(this=own_table("numbered", side), on=equal(own("p", side), own(end, "e")))
        for side, end in (("v", "a"), ("w", "b"))
    ]
    columns = [
        named(own("i", "v"), "i"),
        named(own("i", "w"), "j"),
        named(cast(own("x", "v"), BIGINT), "x"),
        named(cast(own("x", "w"), BIGINT), "y"),
    ]
    rows = select(*columns, of=own_table("pairs", "e"), joins=joins)
    return select(own("i"), own("j"), own("h"), of=with_place(rows, [own("y")]))


def _with(scope: Scope, parts: Mapping[str, exp.Query], query: exp.Select) -> exp.Select:
    front = {**scope.named, **parts}
    query.set(
        "with_",
        exp.With(
            expressions=[
                exp.CTE(
                    this=part.copy(),
                    alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)),
                    materialized=True if name == "numbered" else None,
                )
                for name, part in front.items()
            ]
        ),
    )
    return query


def degree_vector(aggregate: DegreeAggregate, contacts: Contacts) -> tuple[int, ...]:
    """Return the number of persons of each degree.

    Args:
        aggregate: What is counted.
        contacts: Columns ``i``, ``j`` and ``h`` of :func:`degree_query`.
    """
    i, j, h = (np.asarray(contacts[name]) for name in ("i", "j", "h"))
    (persons,) = i[j == 0].tolist()
    real = j > 0
    i, j, h = i[real], j[real], h[real]
    pairs = (i.astype(np.int64) << NUMBER) | j
    edges = _each_once(np.sort(pairs))
    most, degrees = aggregate.bounds.at_most, np.bincount(_both_ends(edges))
    match aggregate.bounds.how:
        case How.CAPPED:
            pass
        case How.PROJECTED:
            crowded = degrees > most  # the others keep every edge, in whatever order
            contested = crowded[i] | crowded[j]
            asked, places = pairs[contested], h[contested]
            # rows of a pair have one place, so they stand together
            ordered = _each_once(asked[np.lexsort((asked, places))])
            degrees -= np.bincount(_both_ends(ordered), minlength=degrees.size)
            degrees = projected_degrees(
                ordered >> NUMBER, ordered & ONES, degrees=degrees, at_most=most
            )
        case _:
            assert_never(aggregate.bounds.how)
    counts = np.bincount(np.minimum(degrees, most), minlength=most + 1).tolist()[1:]
    return (persons - sum(counts), *counts) if aggregate.persons else tuple(counts)


def _both_ends(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([pairs >> NUMBER, pairs & ONES])


def _each_once(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers ≥ 0, of which equal ones stand together, without repeats."""
    found: NDArray[np.int64] = numbers[np.diff(numbers, prepend=-1) != 0]
    return found


def projected_degrees(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    degrees: NDArray[np.int64],
    at_most: int,
) -> NDArray[np.int64]:
    """Return degrees once edges are kept, one by one, if both ends have room [DLL16, alg. 1].

    Args:
        first: Shape (edges,): one end of each edge, in the stable order.
        second: Shape (edges,): the other end.
        degrees: Shape (vertices,): of each vertex by edges that are kept in any case.
        at_most: Most edges that a vertex keeps.

    Example:
        A star of three contacts, of which its centre keeps two:

        >>> alone = np.zeros(4, dtype=np.int64)
        >>> projected_degrees(
        ...     np.array([0, 0, 0]), np.array([1, 2, 3]), degrees=alone, at_most=2
        ... )
        array([2, 1, 1, 0])
    """
    vertices = _each_once(np.sort(np.concatenate([first, second])))
    held = degrees[vertices].tolist()
    ends = (np.searchsorted(vertices, each).tolist() for each in (first, second))
    for a, b in zip(*ends, strict=True):
        if held[a] < at_most and held[b] < at_most:
            held[a] += 1
            held[b] += 1
    found = degrees.copy()
    found[vertices] = held
    return found


DEGREES = Alone(
    of=DegreeAggregate,
    query=degree_query,
    answer=lambda aggregate, contacts, _: degree_vector(aggregate, contacts),
    way="every contact once, in a stable order, from the source",
)
