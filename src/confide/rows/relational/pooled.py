"""Norms of pooled counts: the groups' weighted counts of a person, added up by group first."""

import numpy as np
from sqlglot import exp

from confide.rows.cells.build import (
    HUGEINT,
    cast,
    equal,
    named,
    own,
    own_table,
    select,
    times,
)
from confide.rows.relational.summand import OfPerson, Stored, Summand, size
from confide.tables.aggregates.pooled import PooledAggregate


def _summand(aggregate: PooledAggregate, stored: Stored) -> Summand:
    (part,) = stored.parts
    groups = np.array(aggregate.groups, dtype=np.int64)
    weights = np.array([aggregate.weight(g) for g in range(aggregate.size)], dtype=np.int64)
    stored.lend(stored.name, {"cell": np.arange(groups.size), "g": groups, "w": weights[groups]})
    on = equal(own("cell", "w"), own("cell", "k"))
    counted = times(exp.Sum(this=own(part.column, "k")), own("w", "w"))
    rows = select(
        own("p", "k"),
        named(cast(counted, HUGEINT), "x"),
        of=own_table(part.table, "k"),
        joins=[exp.Join(this=own_table(stored.name, "w"), on=on)],
        by=[own("p", "k"), own("g", "w"), own("w", "w")],
    )
    return Summand(rows=rows, key=stored.name, value=size([own("x")], stored.charge.norm))


POOLED = OfPerson(of=PooledAggregate, summand=_summand)
