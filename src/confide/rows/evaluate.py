"""Expressions and predicates of the algebra as SQL over canonical integers.

A predicate is two-valued: comparing NULL gives false, and ``Not`` of it true.
"""

import datetime as dt
import itertools
from collections.abc import Callable
from typing import TypeAlias, assert_never

from sqlglot import exp

from confide.rows.clean import integer
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DatePart,
    Expression,
    Holds,
    PartOf,
    ValueOf,
)
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.relation import EPOCH, date_of, domain, part_index
from confide.tables.schema import Dataset

Reference: TypeAlias = Callable[[ColumnOf | ValueOf], exp.Expr]


def number_of(expression: Expression, *, of: Reference, dataset: Dataset) -> exp.Expr:
    """Return the canonical integer of an expression; ``of`` finds columns and values."""
    match expression:
        case ColumnOf() | ValueOf():
            return of(expression)
        case BinOf(of=inner, edges=edges):
            return _bin(of(inner), edges)
        case PartOf(of=inner, part=part):
            first = part_index(date_of(domain(inner, dataset=dataset).lower), part)
            return exp.paren(_part(of(inner), part) - integer(first))
        case Holds(of=predicate):
            met = holds(predicate, of=of, dataset=dataset)
            return exp.paren(exp.Case().when(met, integer(1)).else_(integer(0)))
        case _:
            assert_never(expression)


def holds(predicate: Predicate, *, of: Reference, dataset: Dataset) -> exp.Expr:
    """Return a predicate as a condition that is never NULL."""
    match predicate:
        case Everything():
            return exp.true()
        case Between(of=expression, lower=lower, upper=upper):
            value = number_of(expression, of=of, dataset=dataset)
            parts: list[exp.Expr] = [value.is_(exp.null()).not_()]
            if lower is not None:
                parts.append(_sure(value.copy() >= integer(lower)))
            if upper is not None:
                parts.append(_sure(value.copy() <= integer(upper)))
            return exp.paren(exp.and_(*parts))
        case IsIn(of=expression, values=values):
            if not values:
                return exp.false()
            value = number_of(expression, of=of, dataset=dataset)
            return _sure(value.isin(*(integer(v) for v in dict.fromkeys(values))))
        case All(of=inner):
            every = [holds(part, of=of, dataset=dataset) for part in inner]
            return exp.paren(exp.and_(*every)) if every else exp.true()
        case AnyOf(of=inner):
            some = [holds(part, of=of, dataset=dataset) for part in inner]
            return exp.paren(exp.or_(*some)) if some else exp.false()
        case Not(of=part):
            return exp.paren(exp.not_(exp.paren(holds(part, of=of, dataset=dataset))))
        case _:
            assert_never(predicate)


def _sure(condition: exp.Expr) -> exp.Expr:
    return exp.func("coalesce", condition, exp.false())


def _bin(value: exp.Expr, edges: tuple[int, ...]) -> exp.Expr:
    """Return the bin of a value, by halving the list of edges; NULL outside."""
    last = len(edges) - 2
    outside = exp.or_(value < integer(edges[0]), value.copy() > integer(edges[-1]))
    widths = {high - low for low, high in itertools.pairwise(edges)}
    inside: exp.Expr
    if len(widths) == 1:
        steps = exp.IntDiv(
            this=exp.paren(value.copy() - integer(edges[0])), expression=integer(widths.pop())
        )
        inside = exp.func("least", steps, integer(last))
    else:
        inside = _halve(value, edges, 0, last)
    # LEAST skips NULL, so NULL is answered first
    return exp.paren(
        exp.Case()
        .when(value.copy().is_(exp.null()), exp.null())
        .when(outside, exp.null())
        .else_(inside)
    )


def _halve(value: exp.Expr, edges: tuple[int, ...], low: int, high: int) -> exp.Expr:
    if low == high:
        return integer(low)
    middle = (low + high + 1) // 2
    below = _halve(value, edges, low, middle - 1)
    above = _halve(value, edges, middle, high)
    return exp.Case().when(value.copy() < integer(edges[middle]), below).else_(above)


def _part(days: exp.Expr, part: DatePart) -> exp.Expr:
    """Count calendar parts as :func:`confide.tables.relation.part_index` does."""
    match part:
        case DatePart.YEAR:
            return _extract("year", days)
        case DatePart.QUARTER:
            return exp.paren(_extract("year", days) * 4 + _extract("quarter", days) - 1)
        case DatePart.MONTH:
            return exp.paren(_extract("year", days) * 12 + _extract("month", days) - 1)
        case DatePart.WEEK:
            return exp.IntDiv(this=exp.paren(days + integer(EPOCH - 1)), expression=integer(7))
        case DatePart.DAY:
            return exp.paren(days + integer(EPOCH))
        case _:
            assert_never(part)


def _extract(part: str, days: exp.Expr) -> exp.Expr:
    epoch = exp.cast(exp.Literal.string(dt.date(1970, 1, 1).isoformat()), "date")
    date = exp.paren(epoch + exp.cast(days.copy(), "int"))
    return exp.cast(exp.Extract(this=exp.var(part), expression=date), "bigint")
