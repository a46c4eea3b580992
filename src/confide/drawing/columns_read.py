"""Which declared tables and columns a plan reads: what data minimisation can be checked against.

*Privacy:* a function of the plan, which is public.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from confide.plans.plan import Measurement, Plan
from confide.tables.expression import ColumnOf, ValueOf
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween, HasAny
from confide.tables.schema import Dataset, Table


def columns_read(plan: Plan) -> frozenset[tuple[str, str]]:
    """Return table and column of everything that decides the plan's vectors.

    That is what vectors and conditions look at, and in every table that is read the columns by
    whose codes rows are chosen: these by their names in the source where they are not declared.
    """
    dataset = plan.dataset
    found = {each for each in _read(plan.measurements, dataset=dataset) if each[1]}
    for name in tables_read(plan.measurements, dataset=dataset):
        table = dataset.table(name)
        named = {column.source: column.name for column in table.columns}
        found |= {(name, named.get(source, source)) for source in _code_columns(table)}
    return frozenset(found)


def undeclared_columns(table: Table) -> tuple[str, ...]:
    """Return columns of the source by whose codes rows are chosen, and that are not declared."""
    declared = {column.source for column in table.columns}
    return tuple(source for source in _code_columns(table) if source not in declared)


def _code_columns(table: Table) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.source for each in (*table.conditions, *table.without)))


def tables_read(measurements: Sequence[Measurement], *, dataset: Dataset) -> tuple[str, ...]:
    """Return every table whose rows decide an answer, also behind values of patients; in order."""
    found = {table for table, _ in _read(measurements, dataset=dataset)}
    found.update(each.aggregate.relation.table for each in measurements)
    return tuple(table.name for table in dataset.tables if table.name in found)


def _read(measurements: Sequence[Measurement], *, dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield table and column of what is looked at; "" for a table whose rows are counted."""
    todo: list[object] = [measurement.aggregate for measurement in measurements]
    seen: set[str] = set()
    while todo:
        for noun in _nouns(todo.pop()):
            match noun:
                case ColumnOf(table=table, column=column):
                    yield table, column
                case ValueOf(name=name) if name not in seen:
                    seen.add(name)
                    todo.append(dataset.value(name))
                case AtEnd(table=table, column=column, by=by, before=before):
                    yield table, column
                    yield table, by
                    todo += [] if before is None else [ValueOf(name=before)]
                case HasAny(table=table) | CountOf(table=table):
                    yield table, ""
                case DaysBetween(start=start, end=end):
                    todo += [ValueOf(name=start), ValueOf(name=end)]
                case _:
                    pass


def _nouns(noun: object) -> Iterator[object]:
    """Yield a noun and everything inside it."""
    yield noun
    if isinstance(noun, tuple):
        for item in noun:
            yield from _nouns(item)
    elif dataclasses.is_dataclass(noun) and not isinstance(noun, type):
        for field in dataclasses.fields(noun):
            yield from _nouns(getattr(noun, field.name))
