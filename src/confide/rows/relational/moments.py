"""Norms of moments: absolute values or squares of the polynomials of a cell."""

from collections.abc import Sequence

from sqlglot import exp

from confide.rows.cells.build import (
    HUGEINT,
    cast,
    equal,
    named,
    num,
    own,
    own_table,
    plus,
    rest,
    select,
    times,
)
from confide.rows.relational.summand import OfPerson, Stored, Summand, size
from confide.tables.aggregates.moments import MomentAggregate, moment_factors


def _summand(aggregate: MomentAggregate, stored: Stored) -> Summand:
    """Return the polynomials of each cell; parts of other tables have the same rows."""
    parts = stored.parts
    names = [f"a{i}" for i in range(len(parts))]
    first, joins = parts[0].table, []
    for i, part in enumerate(parts[1:], start=1):
        if part.table != first:
            same = exp.And(
                this=equal(own("p", f"k{i}"), own("p", "k")),
                expression=equal(own("cell", f"k{i}"), own("cell", "k")),
            )
            joins.append(exp.Join(this=own_table(part.table, f"k{i}"), on=same))
    columns = [
        named(cast(own(part.column, "k" if part.table == first else f"k{i}"), HUGEINT), names[i])
        for i, part in enumerate(parts)
    ]
    rows = select(own("p", "k"), own("cell", "k"), *columns, of=own_table(first, "k"), joins=joins)
    known = [
        _combined(factors, names) for factors in moment_factors(aggregate, dataset=stored.dataset)
    ]
    value = size(known, stored.charge.norm)
    if aggregate.missing:
        worth = aggregate.worth(stored.dataset)
        absent = size([times(own("a0"), num(worth))], stored.charge.norm)
        odd = equal(rest(own("cell"), num(2)), num(1))
        value = exp.Case(ifs=[exp.If(this=odd, true=value)], default=absent)
    return Summand(rows=rows, key=f"moments of {parts} {aggregate!r}", value=value)


def _combined(factors: tuple[int, ...], names: Sequence[str]) -> exp.Expr:
    terms = [times(own(name), num(f)) for f, name in zip(factors, names, strict=True)]
    total = terms[0]
    for each in terms[1:]:
        total = plus(total, each)
    return total


MOMENTS = OfPerson(of=MomentAggregate, summand=_summand)
