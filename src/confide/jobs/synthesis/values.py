"""Levels of synthetic rows as values: labels, numbers inside their bins, dates, nothing.

A number or date in a bin is drawn evenly from the grid of the bin, which is all that was measured
of it: a mean of such values has the bias of that assumption, at most half a bin.  Where a rule says
that one is at most another, each is drawn between those before it and the ends of those after it.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Ints
from confide.errors import ContractError
from confide.jobs.synthesis.rules import BEYOND, NotAfter, all_orders, innermost, level_ends
from confide.tables.expression import BinOf, Expression, OrMissing
from confide.tables.relation import domain
from confide.tables.schema import Dataset, Domain, Kind

if TYPE_CHECKING:
    Generator = np.random.Generator  # noqa: TID251

Values: TypeAlias = Mapping[str, NDArray[Any]]
"""Columns by name: float64 with NaN where missing, or objects: texts, dates, None."""
_FIRST = dt.date(1970, 1, 1)


def values_of_levels(
    levels: Ints,
    *,
    columns: Sequence[str],
    reads: Sequence[Expression],
    dataset: Dataset,
    generator: "Generator",
    order: Sequence[NotAfter] = (),
) -> Values:
    """Return what levels of rows stand for.

    Args:
        levels: Shape (rows, columns).
        columns: Their names.
        reads: Their expressions.
        dataset: Public facts.
        generator: Of places inside bins.
        order: Rules that the values keep.
    """
    found = {
        name: _column(levels[:, v], of=reads[v], dataset=dataset, generator=generator)
        for v, name in enumerate(columns)
    }
    rules = all_orders(order)
    if rules:
        of = {name: (levels[:, v], reads[v]) for v, name in enumerate(columns)}
        drawn = _in_order(rules, of=of, dataset=dataset, generator=generator)
        for name, canonical in drawn.items():
            inside = domain(innermost(of[name][1]), dataset=dataset)
            known = np.abs(canonical) < BEYOND
            told = _told(np.where(known, canonical, inside.lower), of=inside)
            told[~known] = None if told.dtype == object else np.nan
            found[name] = told
    return found


def _in_order(
    rules: Sequence[NotAfter],
    *,
    of: Mapping[str, tuple[Ints, Expression]],
    dataset: Dataset,
    generator: "Generator",
) -> dict[str, Ints]:
    """Return canonical integers of the columns that rules of order name.

    Args:
        rules: With those that follow from them.
        of: Levels of rows and expression of each column.
        dataset: Public facts.
        generator: Of places inside bins.
    """
    names = sorted({name for rule in rules for name in rule.columns})
    before = {name: [rule.first for rule in rules if rule.then == name] for name in names}
    names.sort(key=lambda name: len(before[name]))
    low, most = {}, {}
    for name in names:
        codes, expression = of[name]
        ends = level_ends(expression, dataset=dataset)
        if ends is None:
            raise ContractError(f"Column {name!r} has no order.")
        low[name], most[name] = ends[0][codes], ends[1][codes]
    cap = {
        name: np.minimum.reduce([most[name], *(most[r.then] for r in rules if r.first == name)])
        for name in names
    }
    found: dict[str, Ints] = {}
    for name in names:
        least = np.maximum.reduce([low[name], *(found[each] for each in before[name])])
        known = most[name] < BEYOND
        high = np.where(known, np.maximum(cap[name], least), 0)
        drawn = generator.integers(np.where(known, least, 0), high + 1)
        found[name] = np.where(known, drawn, -BEYOND)
    return found


def _column(
    levels: Ints, *, of: Expression, dataset: Dataset, generator: "Generator"
) -> NDArray[Any]:
    if isinstance(of, OrMissing):
        inner = domain(of.of, dataset=dataset)
        absent = levels == inner.size()
        kept = np.where(absent, 0, levels)
        found = _column(kept, of=of.of, dataset=dataset, generator=generator)
        found[absent] = None if found.dtype == object else np.nan
        return found
    if isinstance(of, BinOf):
        inside = domain(of.of, dataset=dataset)
        if inside.kind in (Kind.NUMBER, Kind.DATE):
            return _told(_inside(levels, edges=of.edges, generator=generator), of=inside)
    found_domain = domain(of, dataset=dataset)
    return _told(levels + found_domain.lower, of=found_domain)


def _inside(levels: Ints, *, edges: Sequence[int], generator: "Generator") -> Ints:
    """Return canonical integers drawn evenly from bins; the last one is closed."""
    low = np.array(edges[:-1], dtype=np.int64)
    high = np.array([*edges[1:-1], edges[-1] + 1], dtype=np.int64)
    return np.asarray(generator.integers(low[levels], high[levels]), dtype=np.int64)


def _told(canonical: Ints, *, of: Domain) -> NDArray[Any]:
    if of.keys:
        return np.array(of.keys, dtype=object)[canonical - of.lower]
    if of.kind is Kind.DATE:
        days = [_FIRST + dt.timedelta(days=int(day)) for day in canonical]
        return np.array(days, dtype=object)
    return canonical * of.scale.numerator / of.scale.denominator
