"""Which cells a statistic's own conditions leave empty, by the declaration alone.

A cell that nobody can be in is noise, a group that nobody can be in makes a comparison of nothing,
and a covariate that is the same for everybody explains nothing: none of it fails, and all of it is
charged.  So a plan says it, and a condition that nobody can satisfy at all is refused.

*Privacy:* public names, bounds and conditions; no data.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from confide.plans.plan import Explaining, Plan, Statistic
from confide.tables.aggregates.shapes import OfCells
from confide.tables.expression import BinOf, Expression, Holds, OrMissing
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate, expressions
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset

Known: TypeAlias = Mapping[Expression, tuple[int, int] | None]
"""Between which canonical integers an expression is; None: it is NULL."""


_NAMED = 8  # labels


def can_hold(where: Predicate, *, dataset: Dataset) -> bool:
    """Return whether some row may satisfy a condition, as far as single columns tell."""
    return _truth(where, {}) is not False and all(
        any(_truth(where, {of: part}) is not False for part in _parts(of, where, dataset=dataset))
        for of in dict.fromkeys(expressions(where))
        if not isinstance(of, Holds)
    )


def empty_cell_notes(plan: Plan, statistic: Statistic) -> tuple[str, ...]:
    """Return what a forecast says of cells and covariates that conditions leave empty."""
    return tuple(dict.fromkeys(_notes(plan, statistic)))


def _notes(plan: Plan, statistic: Statistic) -> Iterator[str]:
    dataset = plan.dataset
    covariates = statistic.covariates if isinstance(statistic, Explaining) else ()
    for asked in plan.of(statistic.id):
        aggregate = asked.aggregate
        relation = aggregate.relation
        axes = aggregate.axes if isinstance(aggregate, OfCells) else ()
        for axis in axes:
            empty = _empty_labels(axis, relation.where, dataset=dataset)
            if empty:
                yield f"by its conditions nobody can be in {_few(empty)}: noise alone is there"
        for name in covariates:
            of = resolve(name, table=relation.table, dataset=dataset)
            left = [
                part
                for part in _parts(of, relation.where, dataset=dataset)
                if part is not None and _truth(relation.where, _known(of, part)) is not False
            ]
            if len(left) == 1 and left[0][0] == left[0][1]:
                yield f"by its conditions everybody has the same {name}: it explains nothing"


def _few(labels: list[str]) -> str:
    """Return the first labels, and how many more there are."""
    more = len(labels) - _NAMED
    return ", ".join(labels[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _empty_labels(axis: Expression, where: Predicate, *, dataset: Dataset) -> list[str]:
    if isinstance(axis, Holds) or where == Everything():
        return []
    labels = domain(axis, dataset=dataset).keys
    return [
        label
        for place, label in enumerate(labels)
        if _truth(where, _known(axis, (place, place))) is False
    ]


def _known(of: Expression, part: tuple[int, int]) -> Known:
    """Return what follows of an expression that lies in a part of its domain."""
    match of:
        case BinOf(of=inner, edges=edges) if part[0] == part[1]:
            low, high = edges[part[0]], edges[part[0] + 1]
            return {of: part, inner: (low, high if part[0] == len(edges) - 2 else high - 1)}
        case OrMissing():
            return {}  # whoever is missing may satisfy what those who are not cannot
        case _:
            return {of: part}


def _parts(
    of: Expression, where: Predicate, *, dataset: Dataset
) -> Iterator[tuple[int, int] | None]:
    """Yield the parts of a domain in which each comparison is true throughout or false; and NULL.

    Of a few values each is a part of its own.
    """
    yield None
    within = domain(of, dataset=dataset)
    if within.keys:
        yield from ((value, value) for value in range(within.lower, within.upper + 1))
        return
    cuts = {within.lower, within.upper + 1}
    for start, after in _compared(of, where):
        cuts |= {min(max(cut, within.lower), within.upper + 1) for cut in (start, after)}
    ordered = sorted(cuts)
    yield from ((a, b - 1) for a, b in itertools.pairwise(ordered))


def _compared(of: Expression, where: Predicate) -> Iterator[tuple[int, int]]:
    """Yield the ranges that a condition asks of an expression: where they begin, what is after."""
    match where:
        case Between(of=asked, lower=lower, upper=upper) if asked == of:
            least, most = -(2**63), 2**63
            yield least if lower is None else lower, most if upper is None else upper + 1
        case IsIn(of=asked, values=values) if asked == of:
            yield from ((value, value + 1) for value in values)
        case All(of=parts) | AnyOf(of=parts):
            for part in parts:
                yield from _compared(of, part)
        case Not(of=part):
            yield from _compared(of, part)
        case _:
            return


def _truth(where: Predicate, known: Known) -> bool | None:
    """Return whether a condition holds; None where that depends on more than is known."""
    match where:
        case Everything():
            return True
        case Between(of=of, lower=lower, upper=upper):
            if of not in known:
                return None
            part = known[of]
            if part is None:
                return False
            return _lies((lower, upper), part)
        case IsIn(of=of, values=values):
            if of not in known:
                return None
            part = known[of]
            if part is None:
                return False
            if part[0] == part[1]:
                return part[0] in values
            return None if any(part[0] <= value <= part[1] for value in values) else False
        case Not(of=inner):
            truth = _truth(inner, known)
            return None if truth is None else not truth
        case All(of=parts):
            truths = [_truth(part, known) for part in parts]
            return False if False in truths else None if None in truths else True
        case AnyOf(of=parts):
            truths = [_truth(part, known) for part in parts]
            return True if True in truths else None if None in truths else False


def _lies(ends: tuple[int | None, int | None], part: tuple[int, int]) -> bool | None:
    lower, upper = ends
    if (lower is not None and part[1] < lower) or (upper is not None and part[0] > upper):
        return False
    inside = (lower is None or lower <= part[0]) and (upper is None or part[1] <= upper)
    return True if inside else None
