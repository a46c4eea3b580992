"""Which counts per patient a measurement reads where their limit may change what it measures.

A count per patient stops at its ``at-most``: a patient with more counts as one with so many, which
no interval covers.  Whether that can change a number follows from the schema and the question:

- the count is summed, averaged, grouped by or is a covariate: it can;
- it decides a condition: it can where the condition does not say the same of every number from the
  limit on; "at least 3" does, for a limit of 3 or more, and "at most 3" for one above 3;
- it is read in bins: it can where the limit lies in one, since nobody is beyond the last edge.

*Privacy:* a function of the declaration alone, so it is the same whatever patients have.
"""

import dataclasses
from collections.abc import Iterator

from confide.plans.plan import Measurement, Plan, Question, Statistic
from confide.tables.expression import BinOf, ValueOf
from confide.tables.filter import Between, IsIn
from confide.tables.per_patient import AtEnd, CountOf, DaysBetween
from confide.tables.schema import Dataset


def limits(asked: Measurement | Question, *, dataset: Dataset) -> tuple[CountOf, ...]:
    """Return the counts whose limit may change what is measured, in the order of declaration."""
    counts = {each.name for each in dataset.per_patient if isinstance(each, CountOf)}
    if not counts:
        return ()
    found: set[str] = set()
    seen: set[str] = set()
    todo: list[object] = [asked.aggregate]
    while todo:
        for name, stops in _reads(todo.pop(), dataset=dataset):
            if name in counts and stops:
                found.add(name)
            if name not in seen:
                seen.add(name)
                todo.append(dataset.value(name))
    return tuple(v for v in dataset.per_patient if isinstance(v, CountOf) and v.name in found)


def limits_of(plan: Plan, statistic: Statistic) -> tuple[CountOf, ...]:
    """Return the counts whose limit may change a statistic, in the order of declaration."""
    found = {
        count.name for each in plan.of(statistic.id) for count in limits(each, dataset=plan.dataset)
    }
    return tuple(v for v in plan.dataset.per_patient if isinstance(v, CountOf) and v.name in found)


def limit_notes(plan: Plan, statistic: Statistic) -> tuple[str, ...]:
    """Return what a forecast says of counts that stop at their limit."""
    return tuple(
        f"{each.name} stops at {each.at_most:,}: who has more counts as one with so many, so "
        "numbers may be too low or differ, and the ± does not cover that"
        for each in limits_of(plan, statistic)
    )


def _reads(noun: object, *, dataset: Dataset) -> Iterator[tuple[str, bool]]:
    """Yield each value per patient that is read, and whether a limit of it may tell."""
    match noun:
        case (
            Between(of=ValueOf(name=name))
            | IsIn(of=ValueOf(name=name))
            | BinOf(of=ValueOf(name=name))
        ):
            value = dataset.value(name)
            yield name, isinstance(value, CountOf) and _tells(noun, value.at_most)
        case ValueOf(name=name):
            yield name, True
        case DaysBetween(start=start, end=end):
            yield from ((start, True), (end, True))
        case AtEnd(before=before, where=where):
            yield from () if before is None else ((before, True),)
            yield from _reads(where, dataset=dataset)
        case tuple():
            for item in noun:
                yield from _reads(item, dataset=dataset)
        case _ if dataclasses.is_dataclass(noun) and not isinstance(noun, type):
            for field in dataclasses.fields(noun):
                yield from _reads(getattr(noun, field.name), dataset=dataset)
        case _:
            return


def _tells(read: Between | IsIn | BinOf, limit: int) -> bool:
    """Return whether numbers from the limit on are not all read alike."""
    match read:
        case Between(lower=lower, upper=upper):
            never = upper is not None and upper < limit
            always = upper is None and (lower is None or lower <= limit)
            return not never and not always
        case IsIn(values=values):
            return any(value >= limit for value in values)
        case BinOf(edges=edges):
            return edges[-1] >= limit
