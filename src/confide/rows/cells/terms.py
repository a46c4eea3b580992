"""What a row adds to a dense aggregate, in SQL: the index of its cell, and each of its sums.

Rows come with the axes and then the values' expressions evaluated, called ``e0, e1, …``.
"""

import functools
from collections.abc import Sequence
from typing import assert_never

from sqlglot import exp

from confide.rows.cells.build import BIGINT, HUGEINT, cast, minus, named, num, own, plus, times
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import (
    Centred,
    CentredSquare,
    Factor,
    Ones,
    Plain,
    Product,
    Value,
    reads,
    value_range,
)
from confide.tables.expression import Expression
from confide.tables.relation import centre, domain
from confide.tables.schema import Dataset

LARGEST_BIGINT = 2**63 - 1


def row_reads(first: Aggregate, values: Sequence[Value]) -> tuple[Expression, ...]:
    """Return the expressions that stand as ``e0, e1, …``: the axes, then what values read, once."""
    return (*first.axes, *_read_by(values))


def _read_by(values: Sequence[Value]) -> tuple[Expression, ...]:
    return tuple(dict.fromkeys(expression for value in values for expression in reads(value)))


def cell_and_sums(first: Aggregate, values: Sequence[Value], *, dataset: Dataset) -> list[exp.Expr]:
    """Return ``cell`` and ``s0, s1, …`` from the evaluated ``e0, e1, …``."""
    columns = [named(cast(_cell(first.axes, dataset=dataset), BIGINT), "cell")]
    place = {e: own(f"e{len(first.axes) + i}") for i, e in enumerate(_read_by(values))}
    for index, value in enumerate(values):
        read = [place[expression] for expression in reads(value)]
        columns.append(named(_term(value, read, dataset=dataset), f"s{index}"))
    return columns


def _cell(axes: tuple[Expression, ...], *, dataset: Dataset) -> exp.Expr:
    """Return the row-major index of a cell, from the axes ``e0, e1`` and so on."""
    cell = num(0)
    for index, axis in enumerate(axes):
        of = domain(axis, dataset=dataset)
        cell = plus(times(cell, num(of.size())), minus(own(f"e{index}"), num(of.lower)))
    return cell


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
