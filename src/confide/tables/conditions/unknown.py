"""Whether a value can be unknown, by the schema and the conditions on rows alone."""

from typing import assert_never

from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DaysOf,
    Expression,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    TextAmong,
    ValueOf,
)
from confide.tables.filter import All, Between, Everything, IsIn, Predicate
from confide.tables.per_patient import CountOf, HasAny
from confide.tables.relation import column_of, day_range, domain
from confide.tables.schema import Column, Dataset, Kind, Outside

EVERYTHING = Everything()


def can_be_unknown(
    expression: Expression, *, table: str, dataset: Dataset, where: Predicate = EVERYTHING
) -> bool:
    """Return whether a row can lack the value; a statistic leaves such a row out, or counts it.

    Whatever is declared of a column of another table, a person may have no row there.

    Args:
        expression: What is read.
        table: Of whose rows.
        dataset: Public facts.
        where: Which rows.

    Example:
        >>> from confide.tables.expression import Holds
        >>> from confide.tables.filter import Everything
        >>> can_be_unknown(Holds(of=Everything()), table="visits", dataset=None)  # yes or no
        False
    """
    match expression:
        case Holds() | OrMissing() | QualityOf():
            return False
        case ColumnOf() | ValueOf() | DaysOf() if (
            _ends(expression, where, dataset=dataset) is not None
        ):
            return False
        case ColumnOf(table=other):
            return other != table or _column_can(column_of(expression, dataset))
        case ValueOf(name=name):
            return not isinstance(dataset.value(name), HasAny | CountOf)
        case BinOf(of=inner):
            outside = beyond(expression, dataset=dataset, where=where)
            return outside or can_be_unknown(inner, table=table, dataset=dataset, where=where)
        case DaysOf(start=start, end=end):
            return expression.inside or any(
                can_be_unknown(each, table=table, dataset=dataset, where=where)
                for each in (start, end)
            )
        case TextAmong():
            return True
        case CaseOf():
            return sometimes_none(expression)
        case PartOf(of=inner):
            of = domain(inner, dataset=dataset)
            whole = day_range(expression, dataset=dataset) == (of.lower, of.upper)
            return not whole or can_be_unknown(inner, table=table, dataset=dataset, where=where)
        case _:
            assert_never(expression)


def sometimes_none(of: CaseOf) -> bool:
    """Return whether a row can be in none of the cases."""
    return not any(when == EVERYTHING for when, _ in of.cases)


def beyond(bins: BinOf, *, dataset: Dataset, where: Predicate = EVERYTHING) -> bool:
    """Return whether a known value can be in none of the bins."""
    of = domain(bins.of, dataset=dataset)
    lower, upper = _ends(bins.of, where, dataset=dataset) or (of.lower, of.upper)
    return lower < bins.edges[0] or upper > bins.edges[-1]


def _ends(
    of: ColumnOf | ValueOf | DaysOf, where: Predicate, *, dataset: Dataset
) -> tuple[int, int] | None:
    """Return the ends of a value in the rows that are kept; None if they may lack it."""
    match where:
        case Between(of=read, lower=lower, upper=upper) if read == of:
            within = domain(of, dataset=dataset)
            low = within.lower if lower is None else max(lower, within.lower)
            return low, within.upper if upper is None else min(upper, within.upper)
        case IsIn(of=read, values=values) if read == of and values:
            return min(values), max(values)
        case All(of=parts):
            found = [_ends(of, part, dataset=dataset) for part in parts]
            known = [ends for ends in found if ends is not None]
            return (max(a for a, _ in known), min(b for _, b in known)) if known else None
        case _:
            return None


def _column_can(column: Column) -> bool:
    match column.kind:
        case Kind.NUMBER:
            return column.nulls is None or column.outside is Outside.DROP
        case Kind.CATEGORY:
            return column.nulls is None or column.other is None
        case Kind.DATE | Kind.TEXT:  # a date outside its range is left out whatever nulls become
            return True
        case _:
            assert_never(column.kind)
