"""What public facts say of all rows of one public cell: values of expressions, truth of predicates.

A cell of an axis is made of spans: ranges of values of one expression (a bin is a range of numbers,
a month a range of days, a category one value), or that the expression is unknown; a cell "missing"
is what lies outside all bins, and the unknown value.  Bins and calendar parts are step functions
that never fall, so one that is equal at both ends of a span is constant on it.

*Privacy:* looks at declarations alone, never at a row.
"""

import datetime as dt
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

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
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny
from confide.tables.relation import EPOCH, column_of, date_of, day_range, domain, part_index
from confide.tables.schema import Dataset, Kind, Outside

_BELOW, _ABOVE = -1, 1 << 60
"""Places of values before the first and after the last bin or calendar part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A range of values of an expression; without ends, that it is unknown."""

    of: Expression
    low: int | None = None
    high: int | None = None


class Lack(enum.Enum):
    """Why an expression has no one value on a span."""

    UNKNOWN = "unknown"  # it is NULL on all of it
    OPEN = "open"  # the span does not decide it


Found: TypeAlias = "int | Lack"
Spans: TypeAlias = tuple[Span, ...]
"""A cell; without spans, one that no row can be in."""


def value_in(expression: Expression, cell: Spans, *, dataset: Dataset) -> Found:
    """Return the one value that an expression has in a cell, counted from its least."""
    found = {_value(expression, span, dataset=dataset) for span in cell}
    return found.pop() if len(found) == 1 else Lack.OPEN


def truth_in(predicate: Predicate, cell: Spans, *, dataset: Dataset) -> bool | None:
    """Return whether a predicate holds in all of a cell, or in none of it; None if neither."""
    found = {_truth(predicate, span, dataset=dataset) for span in cell}
    return found.pop() if len(found) == 1 else None


def _value(expression: Expression, span: Span, *, dataset: Dataset) -> Found:
    """Return the one value that an expression has on all of a span, counted from its least."""
    if isinstance(expression, Holds):
        truth = _truth(expression.of, span, dataset=dataset)
        return Lack.OPEN if truth is None else int(truth)
    if isinstance(expression, OrMissing):
        inner = _value(expression.of, span, dataset=dataset)
        size = domain(expression.of, dataset=dataset).size()
        return size if inner is Lack.UNKNOWN else inner
    if isinstance(expression, CaseOf) and expression != span.of:
        return _case(expression, span, dataset=dataset)
    if span.low is None or span.high is None:
        return Lack.UNKNOWN if _reads(expression, span.of) else Lack.OPEN
    if expression == span.of:
        least = domain(expression, dataset=dataset).lower
        return span.low - least if span.low == span.high else Lack.OPEN
    if isinstance(expression, BinOf | PartOf) and expression.of == span.of:
        first, last = (_position(expression, end, dataset=dataset) for end in (span.low, span.high))
        if first != last:
            return Lack.OPEN
        return Lack.UNKNOWN if first in (_BELOW, _ABOVE) else first
    return Lack.OPEN


def _case(expression: CaseOf, span: Span, *, dataset: Dataset) -> Found:
    for when, place in expression.cases:
        truth = _truth(when, span, dataset=dataset)
        if truth is not False:
            return Lack.OPEN if truth is None else place
    return Lack.UNKNOWN


def _reads(expression: Expression, of: Expression) -> bool:
    return expression == of or (isinstance(expression, BinOf | PartOf) and expression.of == of)


def _position(expression: BinOf | PartOf, value: int, *, dataset: Dataset) -> int:
    """Return the bin or calendar part of a value."""
    match expression:
        case BinOf(edges=edges):
            if value > edges[-1]:
                return _ABOVE
            inner = sum(edge <= value for edge in edges) - 1
            return min(inner, len(edges) - 2)  # the last bin is closed; −1 is below the first
        case PartOf(part=part):
            first, last = day_range(expression, dataset=dataset)
            if not first <= value <= last:
                return _BELOW if value < first else _ABOVE
            return part_index(date_of(value), part) - part_index(date_of(first), part)
        case _:
            assert_never(expression)


def _truth(predicate: Predicate, span: Span, *, dataset: Dataset) -> bool | None:
    """Return whether a predicate holds on all of a span, or on none of it; None if neither."""
    if span.of == Holds(of=predicate):
        return bool(span.low)
    match predicate:
        case Everything():
            return True
        case Between(of=of, lower=lower, upper=upper):
            low, high = _range(of, span, dataset=dataset) or (None, None)
            if low is None or high is None:
                return False if _is_unknown(of, span, dataset=dataset) else None
            if (lower is None or low >= lower) and (upper is None or high <= upper):
                return True
            past = (lower is not None and high < lower) or (upper is not None and low > upper)
            return False if past else None
        case IsIn(of=of, values=values):
            low, high = _range(of, span, dataset=dataset) or (None, None)
            if low is None or high is None:
                return False if _is_unknown(of, span, dataset=dataset) else None
            inside = len({value for value in values if low <= value <= high})
            return {0: False, high - low + 1: True}.get(inside)
        case All(of=parts):
            return _every([_truth(part, span, dataset=dataset) for part in parts])
        case AnyOf(of=parts):
            found = [_truth(part, span, dataset=dataset) for part in parts]
            return _negated(_every([_negated(truth) for truth in found]))
        case Not(of=part):
            return _negated(_truth(part, span, dataset=dataset))
        case _:
            assert_never(predicate)


def _range(of: Expression, span: Span, *, dataset: Dataset) -> tuple[int, int] | None:
    """Return least and greatest value of an expression on a span; None if unknown or undecided."""
    if of == span.of and span.low is not None and span.high is not None:
        return span.low, span.high
    value = _value(of, span, dataset=dataset)
    if isinstance(value, Lack):
        return None
    there = value + domain(of, dataset=dataset).lower
    return there, there


def _is_unknown(of: Expression, span: Span, *, dataset: Dataset) -> bool:
    return _value(of, span, dataset=dataset) is Lack.UNKNOWN


def _every(truths: Sequence[bool | None]) -> bool | None:
    if any(truth is False for truth in truths):
        return False
    return True if all(truths) else None


def _negated(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def cells_of(axis: Expression, *, table: str, dataset: Dataset) -> tuple[Spans, ...]:
    """Return the values that each cell of an axis of a table stands for."""
    match axis:
        case OrMissing(of=inner):
            known = cells_of(inner, table=table, dataset=dataset)
            return (*known, outside(inner, table=table, dataset=dataset))
        case ColumnOf() | ValueOf() | DaysOf() | CaseOf() | TextAmong() | Holds() | QualityOf():
            of = domain(axis, dataset=dataset)
            return tuple((Span(of=axis, low=v, high=v),) for v in range(of.lower, of.upper + 1))
        case BinOf(of=inner, edges=edges):
            of = domain(inner, dataset=dataset)
            ends = [edge - 1 for edge in edges[1:-1]] + [edges[-1]]
            ranges = [
                (max(low, of.lower), min(high, of.upper))
                for low, high in zip(edges, ends, strict=False)
            ]
        case PartOf(of=inner, part=part):
            first, last = day_range(axis, dataset=dataset)
            start = part_index(date_of(first), part)
            later = range(1, domain(axis, dataset=dataset).size())
            days = [_first_day(start + i, part) for i in later]
            ranges = list(zip([first, *days], [*(day - 1 for day in days), last], strict=True))
        case _:
            assert_never(axis)
    return tuple(
        (Span(of=inner, low=low, high=high),) if low <= high else () for low, high in ranges
    )


def _first_day(index: int, part: DatePart) -> int:
    """Return the first day of a calendar part, in days since 1970-01-01."""
    match part:
        case DatePart.YEAR:
            day = dt.date(index, 1, 1)
        case DatePart.QUARTER:
            day = dt.date(index // 4, index % 4 * 3 + 1, 1)
        case DatePart.MONTH:
            day = dt.date(index // 12, index % 12 + 1, 1)
        case DatePart.WEEK:
            day = dt.date.fromordinal(index * 7 + 1)
        case DatePart.DAY:
            day = dt.date.fromordinal(index)
        case _:
            assert_never(part)
    return day.toordinal() - EPOCH


def outside(axis: Expression, *, table: str, dataset: Dataset) -> Spans:
    """Return the values that lie in no cell of an axis, the unknown one included."""
    match axis:
        case Holds() | QualityOf() | OrMissing():
            return ()
        case ColumnOf() | ValueOf() | DaysOf() | CaseOf() | TextAmong():
            return (Span(of=axis),) if _can_be_unknown(axis, table=table, dataset=dataset) else ()
        case BinOf(of=inner, edges=edges):
            first, last = edges[0], edges[-1]
        case PartOf(of=inner):
            first, last = day_range(axis, dataset=dataset)
        case _:
            assert_never(axis)
    of = domain(inner, dataset=dataset)
    ranges = [(of.lower, first - 1), (last + 1, of.upper)]
    found = [Span(of=inner, low=low, high=high) for low, high in ranges if low <= high]
    unknown = _can_be_unknown(inner, table=table, dataset=dataset)
    return (*found, *([Span(of=inner)] if unknown else []))


def _can_be_unknown(
    of: ColumnOf | ValueOf | DaysOf | CaseOf | TextAmong, *, table: str, dataset: Dataset
) -> bool:
    """Return whether a row can lack the value; true wherever that is not excluded."""
    match of:
        case DaysOf() | TextAmong():
            return True
        case CaseOf(cases=cases):
            return not any(when == Everything() for when, _ in cases)
        case ColumnOf(table=other) if other != table:
            return True  # a person may have no row there
        case ColumnOf():
            column = column_of(of, dataset)
            match column.kind:
                case Kind.NUMBER:
                    return column.nulls is None or column.outside is not Outside.CLIP
                case Kind.CATEGORY:
                    return column.nulls is None or column.other is None
                case Kind.DATE | Kind.TEXT:
                    return True  # a date outside its bounds is dropped
                case _:
                    assert_never(column.kind)
        case ValueOf(name=name):
            match dataset.value(name):
                case HasAny() | CountOf():
                    return False
                case AtEnd() | DaysBetween():
                    return True
        case _:
            assert_never(of)
