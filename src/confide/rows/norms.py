"""What each person pays for a release, in SQL: norms of the very integers that are summed.

Input: stored tables of kept rows, added up by person and cell: ``p``, ``cell``, ``n``, ``s0, …``.
Every norm is a sum of one expression over the rows of a person:

- sums and counts over cells: |x|, or x²;
- moments: |·| or squares of the polynomials of a cell (see :mod:`confide.tables.aggregate`);
- pooled counts: the same of the groups' weighted counts, added up by group first;
- running sums C·v: Σ v_t‖C_t‖₁ for the L1 norm, Σ v_t v_u ⟨C_t, C_u⟩ for the square of the L2 norm.

Products are wide where the claim allows more than 62 bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from sqlglot import exp

from confide.errors import UnsupportedError
from confide.plans.individual import Norm, OwnLoss, Rate
from confide.rows.build import (
    BIGINT,
    HUGEINT,
    call,
    cast,
    equal,
    less,
    named,
    num,
    over,
    own,
    own_table,
    plus,
    rest,
    select,
    shifted_right,
    times,
)
from confide.tables.aggregate import Aggregate, MomentAggregate, moment_factors
from confide.tables.factorized import FactorizedAggregate
from confide.tables.pooled import PooledAggregate
from confide.tables.schema import Dataset
from confide.tables.square_root import coefficients

_NARROW = 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Where the engine's answer to one part of a vector is stored: a table and a column."""

    table: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summand:
    """Rows with ``p``, and what is added up over them; ``key`` tells sources apart."""

    rows: exp.Query | exp.Table
    key: str
    value: exp.Expr


Lend = Callable[[str, dict[str, Any]], None]
"""Lets queries read columns of numbers under a name."""


def losses_query(
    charges: Sequence[tuple[OwnLoss, tuple[Part, ...]]], *, dataset: Dataset, lend: Lend
) -> exp.Query:
    """Return ``p`` and ``loss`` > 0, in 1e-15, of everybody who pays for a release.

    Args:
        charges: What is paid for, with where the parts of its vector are stored.
        dataset: Public facts.
        lend: For weights of cells.
    """
    groups: dict[str, list[tuple[OwnLoss, _Summand]]] = {}
    for number, (charge, parts) in enumerate(charges):
        summand = _summand(charge, parts, dataset=dataset, name=f"weights{number}", lend=lend)
        groups.setdefault(summand.key, []).append((charge, summand))
    each = [_losses(group) for group in groups.values()]
    query: exp.Query = each[0]
    for other in each[1:]:
        query = exp.Union(this=query, expression=other, distinct=False)
    if len(each) > 1:
        total = cast(exp.Sum(this=own("loss")), BIGINT)
        query = select(own("p"), named(total, "loss"), of=query, by=[own("p")])
    return select(own("p"), own("loss"), of=query, where=[less(num(0), own("loss"))])


def _losses(group: list[tuple[OwnLoss, _Summand]]) -> exp.Select:
    """Return ``p`` and ``loss`` of the measurements that read the same rows."""
    norms = [named(exp.Sum(this=each.value), f"x{i}") for i, (_, each) in enumerate(group)]
    rows = select(own("p"), *norms, of=group[0][1].rows, by=[own("p")])
    loss: exp.Expr | None = None
    for i, (charge, _) in enumerate(group):
        part = _rated(own(f"x{i}"), charge.rate, norm=charge.norm)
        loss = part if loss is None else plus(loss, part)
    return select(own("p"), named(loss or num(0), "loss"), of=rows)


def _rated(x: exp.Expr, rate: Rate, *, norm: Norm) -> exp.Expr:
    """Return what a norm costs: :meth:`confide.plans.individual.Rate.of` in SQL."""
    x = cast(x, HUGEINT)
    if norm is Norm.L1_SQUARED:
        x = times(x, x)
    if rate.dropped:
        x = shifted_right(plus(x, num(2**rate.dropped - 1)), rate.dropped)
    if (rate.times << rate.shift).bit_length() < _NARROW:
        x = cast(x, BIGINT)
    scaled = plus(times(x, num(rate.times)), num(2**rate.shift - 1))
    return cast(call("least", shifted_right(scaled, rate.shift), num(rate.most)), BIGINT)


def _summand(
    charge: OwnLoss, parts: tuple[Part, ...], *, dataset: Dataset, name: str, lend: Lend
) -> _Summand:
    match charge.measurement.aggregate:
        case Aggregate():
            (part,) = parts
            value = _size([_wide(own(part.column), charge)], charge.norm)
            return _Summand(rows=own_table(part.table), key=part.table, value=value)
        case MomentAggregate() as moments:
            return _of_moments(moments, parts, charge=charge, dataset=dataset)
        case PooledAggregate() as groups:
            return _of_groups(groups, parts, charge=charge, name=name, lend=lend)
        case FactorizedAggregate() as running:
            return _of_running(running, parts, charge=charge, dataset=dataset, name=name, lend=lend)
        case _:
            raise UnsupportedError("The vector is not a sum of patients' own.")


def _size(coordinates: Sequence[exp.Expr], norm: Norm) -> exp.Expr:
    """Return what coordinates of a cell add to a norm."""
    match norm:
        case Norm.L1 | Norm.L1_SQUARED:
            sizes = [call("abs", each) for each in coordinates]
        case Norm.L2_SQUARED:
            sizes = [times(each, each) for each in coordinates]
        case _:
            assert_never(norm)
    total = sizes[0]
    for each in sizes[1:]:
        total = plus(total, each)
    return total


def _wide(value: exp.Expr, charge: OwnLoss) -> exp.Expr:
    moved = charge.measurement.sensitivity
    narrow = max(moved.l1, moved.l2_squared).bit_length() < _NARROW
    return value if narrow else cast(value, HUGEINT)


def _of_moments(
    aggregate: MomentAggregate, parts: tuple[Part, ...], *, charge: OwnLoss, dataset: Dataset
) -> _Summand:
    """Return the polynomials of each cell; parts of other tables have the same rows."""
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
    known = [_combined(factors, names) for factors in moment_factors(aggregate, dataset=dataset)]
    value = _size(known, charge.norm)
    if aggregate.missing:
        worth = moment_worth(aggregate, dataset=dataset)
        absent = _size([times(own("a0"), num(worth))], charge.norm)
        odd = equal(rest(own("cell"), num(2)), num(1))
        value = exp.Case(ifs=[exp.If(this=odd, true=value)], default=absent)
    return _Summand(rows=rows, key=f"moments of {parts} {aggregate!r}", value=value)


def moment_worth(aggregate: MomentAggregate, *, dataset: Dataset) -> int:
    """Return what one row adds to all coordinates of its cell together."""
    factors = moment_factors(aggregate, dataset=dataset)
    return sum(each[0] for each in factors)


def _combined(factors: tuple[int, ...], names: Sequence[str]) -> exp.Expr:
    terms = [times(own(name), num(f)) for f, name in zip(factors, names, strict=True)]
    total = terms[0]
    for each in terms[1:]:
        total = plus(total, each)
    return total


def _of_groups(
    aggregate: PooledAggregate,
    parts: tuple[Part, ...],
    *,
    charge: OwnLoss,
    name: str,
    lend: Lend,
) -> _Summand:
    (part,) = parts
    groups = np.array(aggregate.groups, dtype=np.int64)
    weights = np.array([aggregate.weight(g) for g in range(aggregate.size)], dtype=np.int64)
    lend(name, {"cell": np.arange(groups.size), "g": groups, "w": weights[groups]})
    on = equal(own("cell", "w"), own("cell", "k"))
    counted = times(exp.Sum(this=own(part.column, "k")), own("w", "w"))
    rows = select(
        own("p", "k"),
        named(cast(counted, HUGEINT), "x"),
        of=own_table(part.table, "k"),
        joins=[exp.Join(this=own_table(name, "w"), on=on)],
        by=[own("p", "k"), own("g", "w"), own("w", "w")],
    )
    return _Summand(rows=rows, key=name, value=_size([own("x")], charge.norm))


def _of_running(
    aggregate: FactorizedAggregate,
    parts: tuple[Part, ...],
    *,
    charge: OwnLoss,
    dataset: Dataset,
    name: str,
    lend: Lend,
) -> _Summand:
    (part,) = parts
    length = aggregate.length(dataset)
    column = own(part.column, "k")
    match charge.norm:
        case Norm.L1 | Norm.L1_SQUARED:
            sums = np.cumsum(np.array(coefficients(length), dtype=np.int64))
            lend(name, {"t": np.arange(length), "w": sums[::-1].copy()})
            on = equal(own("t", "w"), rest(own("cell", "k"), num(length)))
            joins = [exp.Join(this=own_table(name, "w"), on=on)]
            value = times(cast(column, HUGEINT), own("w", "w"))
        case Norm.L2_SQUARED:
            lend(name, column_products(length))
            series = [over(own("cell", of), num(length)) for of in ("k", "m")]
            same = exp.And(this=equal(own("p", "m"), own("p", "k")), expression=equal(*series))
            pair = exp.And(
                this=equal(own("t", "w"), rest(own("cell", "k"), num(length))),
                expression=equal(own("u", "w"), rest(own("cell", "m"), num(length))),
            )
            joins = [
                exp.Join(this=own_table(part.table, "m"), on=same),
                exp.Join(this=own_table(name, "w"), on=pair),
            ]
            both = times(cast(column, HUGEINT), own(part.column, "m"))
            value = times(both, own("w", "w"))
        case _:
            assert_never(charge.norm)
    rows = select(own("p", "k"), named(value, "x"), of=own_table(part.table, "k"), joins=joins)
    return _Summand(rows=rows, key=name, value=own("x"))


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
