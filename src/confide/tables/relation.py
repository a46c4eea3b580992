"""Relations: a declared table, filtered, with the attributes of each row's person.

A relation is one base table, a row-local predicate, and whatever its expressions read of the same
person elsewhere: the person's one row in a table with one row per patient (a join on an enforced
unique key), or a declared per-patient value.

*Privacy:* a join to at most one row cannot multiply rows, and a filter cannot add any, so the rows
of a person in the relation are at most their rows in the base table: stability 1 for the set of
rows of one person [McS09].  A join to a table with several rows per patient is refused.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

import datetime as dt
import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError, UnknownNameError
from confide.privacy.unit import Entity
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
from confide.tables.filter import Everything, Predicate, expressions, qualities, sources
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny
from confide.tables.schema import Column, Dataset, Domain, Kind, Table

EPOCH = dt.date(1970, 1, 1).toordinal()
MISSING = "missing"
"""Label of an unknown value where it counts."""
OTHER = "other"
"""Label of every text that is none of those that are public."""
OVERALL = "overall"
"""Label of all groups together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Rows of ``table`` that satisfy ``where``."""

    table: str
    where: Predicate = field(default_factory=Everything)


def column_of(expression: ColumnOf, dataset: Dataset) -> Column:
    """Return the declared column that the expression names."""
    return dataset.table(expression.table).column(expression.column)


def domain(expression: Expression, *, dataset: Dataset) -> Domain:
    """Return the public domain of an expression.

    Raises:
        UnknownNameError: If a name was not declared.
        ContractError: If the expression does not suit the kind of its source.
    """
    match expression:
        case ColumnOf():
            return column_of(expression, dataset).domain()
        case ValueOf(name=name):
            return _value_domain(name, dataset)
        case BinOf(of=inner, edges=edges):
            return _bins(domain(inner, dataset=dataset), edges)
        case PartOf(part=part):
            first, last = day_range(expression, dataset=dataset)
            return _parts(part, first=first, last=last)
        case DaysOf(start=start, end=end, lower=lower, upper=upper):
            _require_dates(start, end, dataset=dataset)
            return Domain(kind=Kind.NUMBER, lower=lower, upper=upper, unit="d")
        case CaseOf(keys=keys, cases=cases):
            for predicate, _ in cases:
                _require_declared(predicate, dataset=dataset)
            return Domain(kind=Kind.CATEGORY, lower=0, upper=len(keys) - 1, keys=keys)
        case TextAmong(of=column, texts=texts):
            return _among(column_of(column, dataset), texts)
        case Holds(of=predicate):
            _require_declared(predicate, dataset=dataset)
            return Domain(kind=Kind.CATEGORY, lower=0, upper=1, keys=("no", "yes"))
        case OrMissing(of=inner):
            return _or_missing(domain(inner, dataset=dataset))
        case QualityOf(of=column):
            return _quality(column_of(column, dataset).kind)
        case _:
            assert_never(expression)


def _require_declared(predicate: Predicate, *, dataset: Dataset) -> None:
    for part in expressions(predicate):
        domain(part, dataset=dataset)


def _require_dates(*ends: Expression, dataset: Dataset) -> None:
    if any(domain(end, dataset=dataset).kind is not Kind.DATE for end in ends):
        raise ContractError(
            "Days are counted between two dates.", hint="Name two columns of kind: date."
        )


def _or_missing(inner: Domain) -> Domain:
    """Return a domain with one more integer, which stands for NULL."""
    keys = (*inner.keys, _unlike(inner.keys, MISSING, more="(no value)")) if inner.keys else ()
    return replace(inner, upper=inner.upper + 1, keys=keys)


def _unlike(keys: tuple[str, ...], label: str, *, more: str) -> str:
    """Return a label that is none of the keys, with as much more behind it as that takes."""
    return label if label not in keys else _unlike(keys, f"{label} {more}", more=more)


def _among(column: Column, texts: tuple[str, ...]) -> Domain:
    """Return places of public texts, and one of all others."""
    if column.kind is not Kind.TEXT:
        raise ContractError(f"Column {column.name!r} is no text.", hint="Use the column itself.")
    labels = (*texts, _unlike(texts, OTHER, more="(any)"))
    return Domain(kind=Kind.CATEGORY, lower=0, upper=len(texts), keys=labels)


def _quality(kind: Kind) -> Domain:
    match kind:
        case Kind.NUMBER | Kind.DATE:
            keys: tuple[str, ...] = ("ok", MISSING, "out of range")
        case Kind.CATEGORY:
            keys = ("ok", MISSING, "unknown code")
        case Kind.TEXT:
            keys = ("ok", MISSING)
        case _:
            assert_never(kind)
    return Domain(kind=Kind.CATEGORY, lower=0, upper=len(keys) - 1, keys=keys)


def _value_domain(name: str, dataset: Dataset) -> Domain:
    value = dataset.value(name)
    match value:
        case AtEnd(table=table, column=column):
            return dataset.table(table).column(column).domain()
        case HasAny():
            return Domain(kind=Kind.CATEGORY, lower=0, upper=1, keys=("no", "yes"))
        case CountOf(at_most=at_most):
            return Domain(kind=Kind.NUMBER, lower=0, upper=at_most, unit="1")
        case DaysBetween(lower=lower, upper=upper):
            return Domain(kind=Kind.NUMBER, lower=lower, upper=upper, unit="d")
        case _:
            assert_never(value)


@functools.lru_cache(maxsize=64)
def _bins(inner: Domain, edges: tuple[int, ...]) -> Domain:
    if inner.kind is Kind.CATEGORY:
        raise ContractError(
            "Categories cannot be cut into bins.", hint="Use the category itself as `by`."
        )
    last = len(edges) - 2
    alone = (inner.upper, inner.upper + 1)  # a bound with a bin of its own; other last bins close
    labels = tuple(
        _range_label(inner, low, high if i == last and (low, high) != alone else high - 1)
        for i, (low, high) in enumerate(itertools.pairwise(edges))
    )
    return Domain(kind=Kind.CATEGORY, lower=0, upper=last, keys=labels)


def _range_label(inner: Domain, first: int, last: int) -> str:
    """Return the grid points of a bin as people write them: 20-39, 18.5-24.9, -5 to -1."""
    low, high = _label(inner, first), _label(inner, last)
    if first == last:
        return low
    dash = "-" if inner.kind is Kind.NUMBER and first >= 0 else " to "
    return f"{low}{dash}{high}"


def _label(inner: Domain, canonical: int) -> str:
    if inner.kind is Kind.DATE:
        return date_of(canonical).isoformat()
    if inner.scale == 1:
        return str(canonical)
    value = canonical * inner.scale
    if value.denominator == 1:
        return str(value.numerator)
    text = f"{Decimal(value.numerator) / Decimal(value.denominator)}"
    return text if Fraction(text) == value else str(value)


def date_of(days: int) -> dt.date:
    """Return the date that is ``days`` after 1970-01-01.

    Example:
        >>> date_of(20_000).isoformat()
        '2024-10-04'
    """
    return dt.date.fromordinal(days + EPOCH)


def part_index(date: dt.date, part: DatePart) -> int:
    """Return the number of whole calendar parts since year 0 (weeks and days: since 0001-01-01)."""
    match part:
        case DatePart.YEAR:
            return date.year
        case DatePart.QUARTER:
            return date.year * 4 + (date.month - 1) // 3
        case DatePart.MONTH:
            return date.year * 12 + date.month - 1
        case DatePart.WEEK:
            return (date.toordinal() - 1) // 7  # 0001-01-01 was a Monday
        case DatePart.DAY:
            return date.toordinal()
        case _:
            assert_never(part)


def _part_label(index: int, part: DatePart) -> str:
    match part:
        case DatePart.YEAR:
            return f"{index:04d}"
        case DatePart.QUARTER:
            return f"{index // 4:04d}-Q{index % 4 + 1}"
        case DatePart.MONTH:
            return f"{index // 12:04d}-{index % 12 + 1:02d}"
        case DatePart.WEEK:
            year, week, _ = dt.date.fromordinal(index * 7 + 1).isocalendar()
            return f"{year:04d}-W{week:02d}"
        case DatePart.DAY:
            return dt.date.fromordinal(index).isoformat()
        case _:
            assert_never(part)


def day_range(parts: PartOf, *, dataset: Dataset) -> tuple[int, int]:
    """Return the first and the last day of the range whose calendar parts are counted.

    Raises:
        ContractError: If the source is no date, or the range is empty or not within its bounds.
    """
    inner = domain(parts.of, dataset=dataset)
    if inner.kind is not Kind.DATE:
        raise ContractError("Only a date has calendar parts.", hint="Use `bins` for a number.")
    first = inner.lower if parts.since is None else parts.since
    last = inner.upper if parts.until is None else parts.until
    if not inner.lower <= first <= last <= inner.upper:
        raise ContractError(
            f"Expected a range of days within {date_of(inner.lower)} to {date_of(inner.upper)}, "
            f"got {date_of(first)} to {date_of(last)}.",
            hint="Correct the range, or the declared bounds of the date in dataset.yaml.",
        )
    return first, last


def _parts(part: DatePart, *, first: int, last: int) -> Domain:
    first, last = (part_index(date_of(day), part) for day in (first, last))
    labels = tuple(_part_label(index, part) for index in range(first, last + 1))
    return Domain(kind=Kind.CATEGORY, lower=0, upper=last - first, keys=labels)


def check(relation: Relation, *reads: Expression, dataset: Dataset) -> None:
    """Refuse a relation whose rows per person are not bounded by those of its base table.

    Raises:
        UnknownNameError: If a table, column or value was not declared.
        ContractError: If an expression reads another table with several rows per patient, or a
            person's attributes under event-level privacy.
    """
    base = dataset.table(relation.table)
    _check_qualities(relation, reads)
    _refuse_contacts(base, dataset=dataset)
    for expression in (*reads, *expressions(relation.where)):
        for read in sources(expression):
            match read:
                case ColumnOf(table=table):
                    if table != base.name:
                        _check_join(table, base=base.name, dataset=dataset)
                case ValueOf(name=name):
                    dataset.value(name)
                    _refuse_event_unit(dataset, f"the per-patient value {name!r}")
                case _:
                    assert_never(read)
        domain(expression, dataset=dataset)


def _check_qualities(relation: Relation, reads: tuple[Expression, ...]) -> None:
    """Refuse a look at uncleaned cells but for groups of the table whose rows are counted."""
    here = tuple(e for e in reads if isinstance(e, QualityOf) and e.of.table == relation.table)
    if any(qualities(e) for e in (*reads, *expressions(relation.where)) if e not in here):
        raise ContractError(
            "The quality of a column can only group the rows of its own table.",
            hint="Count it with kind: data-quality over that table.",
        )


def _refuse_contacts(table: Table, *, dataset: Dataset) -> None:
    """Refuse rows of two persons, and every row where only contacts are protected."""
    if dataset.unit.entity is Entity.EDGE:
        raise ContractError(
            "With a contact as privacy unit, persons and their rows are not protected.",
            hint="Ask for a degree-histogram, or protect patients.",
        )
    if table.other_id and dataset.unit.entity in (Entity.PATIENT, Entity.HOSPITAL):
        raise ContractError(
            f"A row of table {table.name!r} is a contact of two persons, so bounding the rows of "
            "one does not bound the other's.",
            hint="Ask for a degree-histogram.",
        )


def _check_join(table: str, *, base: str, dataset: Dataset) -> None:
    if not dataset.table(table).one_row_per_patient:
        raise ContractError(
            f"Table {table!r} may hold several rows per patient, so joining it to {base!r} "
            "would multiply rows.",
            hint="Declare a per-patient value (first, last, any, count) of it instead.",
        )
    _refuse_event_unit(dataset, f"the join to {table!r}")


def _refuse_event_unit(dataset: Dataset, what: str) -> None:
    if dataset.unit.entity is Entity.EVENT:
        raise ContractError(
            f"With the event as privacy unit, {what} is refused: one event can change every row "
            "of its person.",
            hint="Protect patients (protects: {unit: patient, ...}).",
        )


def centre(of: Domain) -> tuple[int, int]:
    """Return a public centre c and the half width h = ⌈(U−L)/2⌉ with |x − c| ≤ h.

    Example:
        >>> centre(Domain(kind=Kind.NUMBER, lower=80, upper=201))
        (140, 61)
    """
    middle = (of.lower + of.upper) // 2
    return middle, max(of.upper - middle, middle - of.lower)


def resolve(name: str, *, table: str, dataset: Dataset) -> Expression:
    """Return the expression that a study calls ``name`` while asking about ``table``.

    Looked up in this order: ``table.column``; a column of the table; a derived column; a
    per-patient value; a column of another table with one row per patient, if only one has it.

    Raises:
        UnknownNameError: If nothing has the name.
        ContractError: If several one-row tables have it.
    """
    if "." in name:
        other, _, column = name.partition(".")
        dataset.table(other).column(column)
        return ColumnOf(table=other, column=column)
    base = dataset.table(table)
    if any(column.name == name for column in base.columns):
        return ColumnOf(table=table, column=name)
    for derived in dataset.derived:
        if derived.name == name:
            return derived.of
    if any(value.name == name for value in dataset.per_patient):
        return ValueOf(name=name)
    holders = [
        other.name
        for other in dataset.tables
        if other.one_row_per_patient and any(column.name == name for column in other.columns)
    ]
    if len(holders) == 1:
        return ColumnOf(table=holders[0], column=name)
    if holders:
        raise ContractError(
            f"Column {name!r} is in several tables: {', '.join(holders)}.",
            hint=f"Write {holders[0]}.{name}.",
        )
    known = [column.name for column in base.columns]
    known += [derived.name for derived in dataset.derived]
    known += [value.name for value in dataset.per_patient]
    raise UnknownNameError("column", name, known=known)


def axes_of(names: Iterable[str], *, table: str, dataset: Dataset) -> tuple[Expression, ...]:
    """Return the expressions that a study calls by these names; raises as :func:`resolve` does."""
    return tuple(resolve(name, table=table, dataset=dataset) for name in names)


def constant_per_patient(expression: Expression, *, table: str, dataset: Dataset) -> bool:
    """Return whether all rows of a person in ``table`` share the value of the expression."""
    return all(
        isinstance(read, ValueOf)
        or (read.table != table or dataset.table(table).one_row_per_patient)
        for read in sources(expression)
    )
