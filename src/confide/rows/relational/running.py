"""Norms of running sums C·v: Σ v_t‖C_t‖₁ in L1, Σ v_t v_u ⟨C_t, C_u⟩ in L2 squared."""

from typing import Any, assert_never

import numpy as np
from sqlglot import exp

from confide.plans.pricing.individual import Norm
from confide.rows.cells.build import (
    HUGEINT,
    cast,
    equal,
    named,
    num,
    over,
    own,
    own_table,
    rest,
    select,
    times,
)
from confide.rows.relational.summand import OfPerson, Stored, Summand
from confide.tables.aggregates.factorized import FactorizedAggregate
from confide.tables.aggregates.square_root import coefficients


def _summand(aggregate: FactorizedAggregate, stored: Stored) -> Summand:
    (part,) = stored.parts
    length = aggregate.length(stored.dataset)
    column = own(part.column, "k")
    match stored.charge.norm:
        case Norm.L1 | Norm.L1_SQUARED:
            sums = np.cumsum(np.array(coefficients(length), dtype=np.int64))
            stored.lend(stored.name, {"t": np.arange(length), "w": sums[::-1].copy()})
            on = equal(own("t", "w"), rest(own("cell", "k"), num(length)))
            joins = [exp.Join(this=own_table(stored.name, "w"), on=on)]
            value = times(cast(column, HUGEINT), own("w", "w"))
        case Norm.L2_SQUARED:
            stored.lend(stored.name, column_products(length))
            series = [over(own("cell", of), num(length)) for of in ("k", "m")]
            same = exp.And(this=equal(own("p", "m"), own("p", "k")), expression=equal(*series))
            pair = exp.And(
                this=equal(own("t", "w"), rest(own("cell", "k"), num(length))),
                expression=equal(own("u", "w"), rest(own("cell", "m"), num(length))),
            )
            joins = [
                exp.Join(this=own_table(part.table, "m"), on=same),
                exp.Join(this=own_table(stored.name, "w"), on=pair),
            ]
            both = times(cast(column, HUGEINT), own(part.column, "m"))
            value = times(both, own("w", "w"))
        case _:
            assert_never(stored.charge.norm)
    rows = select(own("p", "k"), named(value, "x"), of=own_table(part.table, "k"), joins=joins)
    return Summand(rows=rows, key=stored.name, value=own("x"))


def column_products(length: int) -> dict[str, Any]:
    """Return t, u and w = ⟨C_t, C_u⟩ of every pair of periods.

    Example:
        >>> found = column_products(2)
        >>> [value / 2**40 for value in found["w"].tolist()]
        [1.25, 0.5, 0.5, 1.0]
    """
    c = np.array(coefficients(length), dtype=np.int64)
    products = np.zeros((length, length), dtype=np.int64)
    for lag in range(length):
        sums = np.cumsum(c[: length - lag] * c[lag:])[::-1]  # ⟨C_t, C_{t+lag}⟩ by t
        early = np.arange(length - lag)
        products[early, early + lag] = products[early + lag, early] = sums
    first, second = np.indices((length, length))
    return {"t": first.ravel(), "u": second.ravel(), "w": products.ravel()}


RUNNING = OfPerson(of=FactorizedAggregate, summand=_summand)
