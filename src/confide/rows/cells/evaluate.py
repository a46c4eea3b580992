"""Expressions and predicates of the algebra as SQL over canonical integers.

A predicate is two-valued: comparing NULL gives false, and ``Not`` of it true.
"""

from collections.abc import Callable
from typing import TypeAlias, assert_never

from sqlglot import exp

from confide.rows.cells.build import (
    BIGINT,
    NULL,
    at_most,
    call,
    case,
    cast,
    equal,
    every,
    less,
    minus,
    missing,
    negated,
    num,
    over,
    plus,
    present,
    some,
    string,
    times,
)
from confide.rows.cells.operations import CalendarPart, operation
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DatePart,
    DaysOf,
    Expression,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    TextAmong,
    ValueOf,
)
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.relation import EPOCH, date_of, day_range, domain, part_index
from confide.tables.schema import Dataset

LARGEST_PRODUCT = 2**62
Reference: TypeAlias = Callable[[ColumnOf | ValueOf | QualityOf], exp.Expr]


def number_of(expression: Expression, *, of: Reference, dataset: Dataset) -> exp.Expr:
    """Return the canonical integer of an expression; ``of`` finds columns and values."""
    match expression:
        case ColumnOf() | ValueOf() | QualityOf():
            return of(expression)
        case BinOf(of=inner, edges=edges):
            within = domain(inner, dataset=dataset)
            sure = edges[0] <= within.lower and within.upper <= edges[-1]
            return _bin(number_of(inner, of=of, dataset=dataset), edges, sure=sure)
        case DaysOf(start=start, end=end):
            return _days(minus(of(end), of(start)), within=expression)
        case CaseOf(cases=cases):
            told = ((holds(when, of=of, dataset=dataset), num(place)) for when, place in cases)
            return cast(case(*told, default=NULL), BIGINT)
        case TextAmong(of=column, texts=texts):
            text = of(column)
            places = ((equal(text, string(each)), num(place)) for place, each in enumerate(texts))
            other = case((present(text), num(len(texts))), default=NULL)
            return cast(case(*places, default=other) if texts else other, BIGINT)
        case PartOf(of=inner, part=part):
            return _in_range(of(inner), expression, part=part, dataset=dataset)
        case Holds(of=predicate):
            return case((holds(predicate, of=of, dataset=dataset), num(1)), default=num(0))
        case OrMissing(of=inner):
            value = number_of(inner, of=of, dataset=dataset)
            return call("coalesce", value, num(domain(expression, dataset=dataset).upper))
        case _:
            assert_never(expression)


def is_known(expression: Expression, *, of: Reference, dataset: Dataset) -> exp.Expr:
    """Return whether an expression has a value; for a bin without looking for it."""
    match expression:
        case BinOf(of=inner, edges=edges):
            value = number_of(inner, of=of, dataset=dataset)
            within = domain(inner, dataset=dataset)
            parts = [present(value)]
            if within.lower < edges[0]:
                parts.append(_sure(at_most(num(edges[0]), value)))
            if edges[-1] < within.upper:
                parts.append(_sure(at_most(value, num(edges[-1]))))
            return every(*parts)
        case _:
            return present(number_of(expression, of=of, dataset=dataset))


def holds(predicate: Predicate, *, of: Reference, dataset: Dataset) -> exp.Expr:
    """Return a predicate as a condition that is never NULL."""
    match predicate:
        case Everything():
            return exp.true()
        case Between(of=expression, lower=lower, upper=upper):
            value = number_of(expression, of=of, dataset=dataset)
            parts = [present(value)]
            if lower is not None:
                parts.append(_sure(at_most(num(lower), value)))
            if upper is not None:
                parts.append(_sure(at_most(value, num(upper))))
            return every(*parts)
        case IsIn(of=expression, values=values):
            if not values:
                return exp.false()
            value = number_of(expression, of=of, dataset=dataset)
            listed = [num(v) for v in dict.fromkeys(values)]
            return _sure(exp.In(this=value, expressions=listed))
        case All(of=inner):
            return every(*(holds(part, of=of, dataset=dataset) for part in inner))
        case AnyOf(of=inner):
            return some(*(holds(part, of=of, dataset=dataset) for part in inner))
        case Not(of=part):
            return negated(holds(part, of=of, dataset=dataset))
        case _:
            assert_never(predicate)


def _sure(condition: exp.Expr) -> exp.Expr:
    return call("coalesce", condition, exp.false())


def _bin(value: exp.Expr, edges: tuple[int, ...], *, sure: bool) -> exp.Expr:
    """Return the bin of a value; NULL outside.  Even cuts divide, others halve the list.

    With n bins over W steps cut at ⌊W·i/n⌋, x steps from the start are in bin ⌊(n(x+1) − 1)/W⌋:
    x ≥ ⌊W·i/n⌋ if and only if x + 1 > W·i/n, that is i < n(x+1)/W.  From W steps on that is n or
    more: the rest is the last bin, of whatever width, as the time beyond a horizon is.

    Args:
        value: Canonical integer, or NULL.
        edges: Increasing.
        sure: Whether no value lies outside the edges.
    """
    last = len(edges) - 2
    even = _even_part(edges)
    if even:
        bins = len(even) - 1
        steps = minus(times(plus(minus(value, num(even[0])), num(1)), num(bins)), num(1))
        place = over(steps, num(even[-1] - even[0]))
        # the last edge belongs to the last bin; NULL is in none, as it is in no comparison
        inside = case((less(num(last), place), num(last)), default=place)
        unknown: list[tuple[exp.Expr, exp.Expr]] = []
    else:
        inside = _halve(value, edges, 0, last)
        unknown = [(missing(value), NULL)]  # comparing NULL would lead to the last bin
    if not sure:
        outside = some(less(value, num(edges[0])), less(num(edges[-1]), value))
        unknown.append((outside, NULL))
    return case(*unknown, default=inside) if unknown else inside


def _days(days: exp.Expr, *, within: DaysOf) -> exp.Expr:
    """Return a number of days between its ends; NULL stays NULL, and comparing it is false."""
    low, high = num(within.lower), num(within.upper)
    below, above = (NULL, NULL) if within.inside else (low, high)
    return cast(case((less(days, low), below), (less(high, days), above), default=days), BIGINT)


def _even_part(edges: tuple[int, ...]) -> tuple[int, ...]:
    """Return the edges, or all but the last, that cut their range evenly; none if neither do."""
    for cut in (edges, edges[:-1]):
        bins = len(cut) - 1
        if bins < 1 or bins * (edges[-1] - edges[0] + 1) >= LARGEST_PRODUCT:
            continue
        if cut == tuple(cut[0] + (cut[-1] - cut[0]) * i // bins for i in range(bins + 1)):
            return cut
    return ()


def _halve(value: exp.Expr, edges: tuple[int, ...], low: int, high: int) -> exp.Expr:
    if low == high:
        return num(low)
    middle = (low + high + 1) // 2
    below = _halve(value, edges, low, middle - 1)
    return case(
        (less(value, num(edges[middle])), below), default=_halve(value, edges, middle, high)
    )


def _in_range(days: exp.Expr, parts: PartOf, *, part: DatePart, dataset: Dataset) -> exp.Expr:
    """Return the calendar part of a day; NULL outside the range, where it is not all declared."""
    first, last = day_range(parts, dataset=dataset)
    index = minus(_part(days, part), num(part_index(date_of(first), part)))
    if parts.since is None and parts.until is None:
        return index
    outside = some(less(days, num(first)), less(num(last), days))
    return case((missing(days), NULL), (outside, NULL), default=index)


def _part(days: exp.Expr, part: DatePart) -> exp.Expr:
    """Count calendar parts as :func:`confide.tables.relation.part_index` does."""
    match part:
        case DatePart.YEAR:
            return _extract("year", days)
        case DatePart.QUARTER:
            quarter = minus(_extract("quarter", days), num(1))
            return plus(times(_extract("year", days), num(4)), quarter)
        case DatePart.MONTH:
            month = minus(_extract("month", days), num(1))
            return plus(times(_extract("year", days), num(12)), month)
        case DatePart.WEEK:
            return over(plus(days, num(EPOCH - 1)), num(7))
        case DatePart.DAY:
            return plus(days, num(EPOCH))
        case _:
            assert_never(part)


def _extract(part: str, days: exp.Expr) -> exp.Expr:
    return operation(CalendarPart, days, part=part)
