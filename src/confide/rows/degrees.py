"""Degrees of a contact network: the edges as SQL, in a secretly keyed stable order; then counting.

The place of an edge {a, b}, a before b, is the place that a row with the one limb x(b) would have
among the rows of a, x being the keyed point of an id (see :mod:`keyed_order`); ties by the ids.  It
depends on the two ids alone, so edges keep their order whoever is added or removed, which is what
the lemma in :mod:`confide.tables.degrees` asks for.

*Privacy:* edges leave the engine's tables as pairs of numbers and stay in this process; the
histogram goes to the gate as every exact sum does.

*Utility:* one sort, then one pass in Python over the edges at persons with more than the bound.

References:
    [DLL16] Day, Li, Lyu. Publishing graph degree distribution with node differential privacy.
        SIGMOD 2016, alg. 1. https://doi.org/10.1145/2882903.2926745
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from confide.errors import ContractError
from confide.rows.build import (
    STAR,
    call,
    equal,
    named,
    negated,
    own,
    own_table,
    select,
)
from confide.rows.evaluate import holds
from confide.rows.keyed_order import with_place, with_point
from confide.rows.layout import Layout
from confide.rows.table_rows import Scope, cleaned_rows
from confide.tables.degrees import DegreeAggregate, How, check_degrees
from confide.tables.expression import ColumnOf, QualityOf, ValueOf
from confide.tables.schema import Dataset

Fetch: TypeAlias = Callable[[exp.Query], Mapping[str, NDArray[Any]]]
"""Runs a query and returns its columns as arrays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeQueries:
    """What a degree histogram reads.

    Attributes:
        edges: Columns ``i`` and ``j``, numbers of the two ends, in the stable order.
        persons: One row with the number ``n`` of vertices; None where only ends are vertices.
    """

    edges: exp.Query
    persons: exp.Query | None

    def each(self) -> tuple[exp.Query, ...]:
        """Return the queries there are."""
        return (self.edges,) if self.persons is None else (self.edges, self.persons)


def degree_queries(
    aggregate: DegreeAggregate, *, dataset: Dataset, layout: Layout
) -> DegreeQueries:
    """Compile a degree histogram, over the source.

    Raises:
        ContractError: If it is not declared, or does not fit the source.
    """
    check_degrees(aggregate, dataset=dataset)
    scope = Scope(dataset=dataset, layout=layout)
    parts = {"pairs": _pairs(aggregate, scope=scope)}
    if aggregate.persons:
        each = cleaned_rows(scope, dataset.table(aggregate.persons))
        people = select(own("p"), of=each, by=[own("p")])  # a person once, however many rows
        persons = select(named(exp.Count(this=STAR), "n"), of=people.copy())
    else:
        ends = (select(named(own(end), "p"), of=own_table("pairs")) for end in ("a", "b"))
        people = select(own("p"), of=exp.Union(this=next(ends), expression=next(ends)))
        persons = None
    number = exp.Window(
        this=exp.RowNumber(),
        order=exp.Order(expressions=[exp.Ordered(this=own("p"), nulls_first=False)]),
    )
    parts["numbered"] = select(own("p"), named(number, "i"), of=people)
    return DegreeQueries(edges=_with(scope, parts, _ordered(layout)), persons=persons)


def _pairs(aggregate: DegreeAggregate, *, scope: Scope) -> exp.Select:
    """Return each pair of different persons with a matching contact once, ``a`` before ``b``."""
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
    query = select(
        named(call("least", *ends), "a"),
        named(call("greatest", *ends), "b"),
        of=cleaned_rows(scope, table),
        where=[
            negated(equal(*ends)),
            holds(aggregate.relation.where, of=find, dataset=scope.dataset),
        ],
    )
    query.set("distinct", exp.Distinct())
    return query


def _ordered(layout: Layout) -> exp.Select:
    """Return the numbers of both ends, in the stable order; ends that are no vertices drop out."""
    b = with_point(select(own("a"), own("b"), of=own_table("pairs")), person="b", ids=layout.ids)
    b = select(own("a"), own("b"), named(own("x"), "xb"), of=b)
    rows = with_place(with_point(b, person="a", ids=layout.ids), [own("xb")])
    joins = [
        exp.Join(this=own_table("numbered", side), on=equal(own("p", side), own(end, "e")))
        for side, end in (("v", "a"), ("w", "b"))
    ]
    columns = [named(own("i", "v"), "i"), named(own("i", "w"), "j")]
    query = select(own("h", "e"), *columns, of=rows, alias="e", joins=joins)
    query = select(own("i"), own("j"), of=query)
    order = [exp.Ordered(this=own(name), nulls_first=False) for name in ("h", "i", "j")]
    query.set("order", exp.Order(expressions=order))
    return query


def _with(scope: Scope, parts: Mapping[str, exp.Query], query: exp.Select) -> exp.Select:
    front = {**scope.named, **parts}
    query.set(
        "with_",
        exp.With(
            expressions=[
                exp.CTE(
                    this=part.copy(),
                    alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)),
                )
                for name, part in front.items()
            ]
        ),
    )
    return query


def degree_vector(
    aggregate: DegreeAggregate, *, queries: DegreeQueries, fetch: Fetch
) -> tuple[int, ...]:
    """Return the number of persons of each degree, from what the queries give.

    Args:
        aggregate: What is counted.
        queries: Of :func:`degree_queries`.
        fetch: Runs them.
    """
    edges = fetch(queries.edges)
    first, second = (np.asarray(edges[end], dtype=np.int64) for end in ("i", "j"))
    match aggregate.bounds.how:
        case How.CAPPED:
            degrees = np.bincount(np.concatenate([first, second]))
        case How.PROJECTED:
            degrees = projected_degrees(first, second, at_most=aggregate.bounds.at_most)
        case _:
            assert_never(aggregate.bounds.how)
    counts = np.bincount(
        np.minimum(degrees, aggregate.bounds.at_most), minlength=aggregate.bounds.at_most + 1
    ).tolist()
    if queries.persons is None:
        return tuple(counts[1:])
    persons = int(fetch(queries.persons)["n"][0])
    return (persons - sum(counts[1:]), *counts[1:])


def projected_degrees(
    first: NDArray[np.int64], second: NDArray[np.int64], *, at_most: int
) -> NDArray[np.int64]:
    """Return the degrees of the subgraph that keeps an edge if both ends have room [DLL16, alg. 1].

    Args:
        first: Shape (edges,): one end of each edge, in the stable order.
        second: Shape (edges,): the other end.
        at_most: Most edges that a vertex keeps.

    Example:
        A star of three contacts, of which its centre keeps two:

        >>> projected_degrees(np.array([0, 0, 0]), np.array([1, 2, 3]), at_most=2)
        array([2, 1, 1, 0])
    """
    all_ends = np.bincount(np.concatenate([first, second]))
    crowded = all_ends > at_most  # the others have room for every edge
    contested = crowded[first] | crowded[second]
    sure = np.concatenate([first[~contested], second[~contested]])
    degrees = np.bincount(sure, minlength=all_ends.size).tolist()
    for a, b in zip(first[contested].tolist(), second[contested].tolist(), strict=True):
        if degrees[a] < at_most and degrees[b] < at_most:
            degrees[a] += 1
            degrees[b] += 1
    return np.array(degrees, dtype=np.int64)
