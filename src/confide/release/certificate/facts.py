"""Every fact that a release took as public: columns, per-patient values, derived columns, spines.

*Privacy:* the promise holds only for facts that were not read off the data, so readers must see all
of them: a condition or a bin edge chosen by looking leaks as much as a bound does.
"""

from collections.abc import Iterator
from typing import assert_never

from confide.release.certificate.parts import FactPart
from confide.tables.conditions.conditions import shown
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
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny, PerPatientValue
from confide.tables.relation import date_of, domain
from confide.tables.schema import Column, Dataset, Derived, Kind, Table
from confide.tables.spine import Spine

DECLARED = "as declared in dataset.yaml"


def public_facts(dataset: Dataset) -> list[FactPart]:
    """Return name, value and source of each declared column, value, derived column and spine."""
    return [
        *(fact for table in dataset.tables for fact in _table(table)),
        *(_value(value, dataset=dataset) for value in dataset.per_patient),
        *(_derived(derived, dataset=dataset) for derived in dataset.derived),
        *(_spine(spine) for spine in dataset.spines),
    ]


def _table(table: Table) -> list[FactPart]:
    only = [
        FactPart(
            name=f"{table.name}: rows",
            value=f"{each.source} {word} [{', '.join(each.codes)}]",
            source=DECLARED,
        )
        for word, codes in (("in", table.only), ("not in", table.without))
        for each in codes
    ]
    rows = FactPart(name=f"{table.name}: rows", value=table.query, source=DECLARED)
    made = [rows] if table.query else []  # to the letter: blanks and line ends mean something in it
    return [*made, *only, *(_column(table.name, column) for column in table.columns)]


def _column(table: str, column: Column) -> FactPart:
    match column.kind:
        case Kind.CATEGORY:
            value = f"{len(column.keys)} categories"
        case Kind.TEXT:
            value = "no value is public"
        case Kind.NUMBER:
            of = column.domain()
            low, high = (f"{of.physical(end):.12g}" for end in (of.lower, of.upper))
            value = f"[{low}, {high}] {column.unit}".strip()
        case Kind.DATE:
            of = column.domain()
            value = f"{date_of(of.lower)} to {date_of(of.upper)}"
    value += "".join(f"; {more}" for more in _read_as(column))
    return FactPart(name=f"{table}.{column.name}", value=value, source=column.because)


def _read_as(column: Column) -> Iterator[str]:
    """Yield how codes and units of a column are read, where that is declared."""
    if column.units is not None:
        cell = column.units.in_cell
        yield f"{'cells' if cell else 'rows'} in other units, or in none, left out"
        for each in column.units.known:
            plus = f" plus {float(each.plus):.12g}" if each.plus else ""
            code = each.code or "none written"
            yield f"{each.unit} ({code}) times {float(each.times):.12g}{plus}"
    if column.absent:
        yield f"missing where [{', '.join(column.absent)}]"
    if column.names:
        yield f"{len(column.names)} codes named"


def _value(value: PerPatientValue, *, dataset: Dataset) -> FactPart:
    match value:
        case AtEnd(which=which, table=table, column=column, by=by, where=where, before=before):
            text = f"{which.value} {column} of {table}"
            text += "" if by == column else f" by {by}"
            text += _such(where, dataset=dataset)
            text += "" if before is None else f", before {before}"
        case HasAny(table=table, where=where):
            text = f"any row of {table}{_such(where, dataset=dataset)}"
        case CountOf(table=table, where=where, at_most=at_most):
            text = f"count of rows of {table}{_such(where, dataset=dataset)}, at most {at_most}"
        case DaysBetween(start=start, end=end, lower=lower, upper=upper):
            text = f"days between {start} and {end}, [{lower}, {upper}] d"
        case _:
            assert_never(value)
    return FactPart(name=value.name, value=text, source=DECLARED)


def _derived(derived: Derived, *, dataset: Dataset) -> FactPart:
    match derived.of:
        case BinOf(of=of, edges=edges):
            ends = ", ".join(_number(edge, of=of, dataset=dataset) for edge in edges)
            text = f"bins of {expression_text(of, dataset=dataset)}: {ends}"
        case other:
            text = expression_text(other, dataset=dataset)
    return FactPart(name=derived.name, value=text, source=DECLARED)


def _spine(spine: Spine) -> FactPart:
    counts = [len({row[level] for row in spine.areas}) for level in range(len(spine.levels))]
    text = " < ".join(f"{n} {name}" for n, name in zip(counts, spine.levels, strict=True))
    text += f", {sum(spine.population):,} people" if spine.population else ""
    return FactPart(name=spine.name, value=text, source=spine.because or DECLARED)


def _such(where: Predicate, *, dataset: Dataset) -> str:
    return "" if where == Everything() else f" where {condition_text(where, dataset=dataset)}"


def condition_text(predicate: Predicate, *, dataset: Dataset) -> str:
    """Return a condition in words."""
    match predicate:
        case Everything():
            return "anything"
        case Between(of=of, lower=None, upper=None):
            return f"{expression_text(of, dataset=dataset)} is known"
        case Between(of=of, lower=lower, upper=upper):
            low = "" if lower is None else f" from {_number(lower, of=of, dataset=dataset)}"
            high = "" if upper is None else f" to {_number(upper, of=of, dataset=dataset)}"
            return f"{expression_text(of, dataset=dataset)}{low}{high}"
        case IsIn(of=of, values=values):
            labels = ", ".join(_number(value, of=of, dataset=dataset) for value in values)
            return f"{expression_text(of, dataset=dataset)} in [{labels}]"
        case All(of=parts):
            return f"({' and '.join(condition_text(part, dataset=dataset) for part in parts)})"
        case AnyOf(of=parts):
            return f"({' or '.join(condition_text(part, dataset=dataset) for part in parts)})"
        case Not(of=part):
            return f"not {condition_text(part, dataset=dataset)}"
        case _:
            assert_never(predicate)


def expression_text(expression: Expression, *, dataset: Dataset) -> str:
    """Return an expression in words."""
    match expression:
        case ColumnOf(table=table, column=column):
            return f"{table}.{column}"
        case ValueOf(name=name):
            return name
        case BinOf(of=of):
            return f"bin of {expression_text(of, dataset=dataset)}"
        case PartOf(of=of, part=part):
            return f"{part.value} of {expression_text(of, dataset=dataset)}"
        case DaysOf(start=start, end=end, lower=lower, upper=upper):
            first, last = (expression_text(each, dataset=dataset) for each in (start, end))
            drop = ", others left out" if expression.inside else ""
            return f"days from {first} to {last}, [{lower}, {upper}] d{drop}"
        case CaseOf(keys=keys, cases=cases):
            told = (
                f"{keys[place]} if {condition_text(when, dataset=dataset)}" for when, place in cases
            )
            return f"the first of: {'; '.join(told)}"
        case TextAmong(of=column, texts=texts):
            return f"{expression_text(column, dataset=dataset)} among {len(texts)} texts"
        case Holds(of=predicate):
            return f"({condition_text(predicate, dataset=dataset)})"
        case OrMissing(of=of):
            return f"{expression_text(of, dataset=dataset)} or missing"
        case QualityOf(of=of):
            return f"quality of {expression_text(of, dataset=dataset)}"
        case _:
            assert_never(expression)


def _number(canonical: int, *, of: Expression, dataset: Dataset) -> str:
    return shown(canonical, of=domain(of, dataset=dataset))
