"""Which declared columns a plan reads: what data minimisation can be checked against.

*Privacy:* a function of the plan, which is public.
"""

import dataclasses
from collections.abc import Iterator

from confide.plans.plan import Plan
from confide.tables.expression import ColumnOf, ValueOf
from confide.tables.per_patient import AtEnd, DaysBetween


def columns_read(plan: Plan) -> frozenset[tuple[str, str]]:
    """Return table and column of everything that the plan's vectors and conditions look at."""
    found: set[tuple[str, str]] = set()
    todo: list[object] = [measurement.aggregate for measurement in plan.measurements]
    seen: set[str] = set()
    while todo:
        for noun in _nouns(todo.pop()):
            match noun:
                case ColumnOf(table=table, column=column):
                    found.add((table, column))
                case ValueOf(name=name) if name not in seen:
                    seen.add(name)
                    todo.append(plan.dataset.value(name))
                case AtEnd(table=table, column=column, by=by, before=before):
                    found |= {(table, column), (table, by)}
                    todo += [] if before is None else [ValueOf(name=before)]
                case DaysBetween(start=start, end=end):
                    todo += [ValueOf(name=start), ValueOf(name=end)]
                case _:
                    pass
    return frozenset(found)


def _nouns(noun: object) -> Iterator[object]:
    """Yield a noun and everything inside it."""
    yield noun
    if isinstance(noun, tuple):
        for item in noun:
            yield from _nouns(item)
    elif dataclasses.is_dataclass(noun) and not isinstance(noun, type):
        for field in dataclasses.fields(noun):
            yield from _nouns(getattr(noun, field.name))
