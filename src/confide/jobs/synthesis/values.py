"""Levels of synthetic rows as values: labels, numbers inside their bins, dates, nothing.

A number or date in a bin is drawn evenly from the grid of the bin, which is all that was measured
of it: a mean of such values has the bias of that assumption, at most half a bin.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Ints
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
) -> Values:
    """Return what levels of rows stand for.

    Args:
        levels: Shape (rows, columns).
        columns: Their names.
        reads: Their expressions.
        dataset: Public facts.
        generator: Of places inside bins.
    """
    return {
        name: _column(levels[:, v], of=reads[v], dataset=dataset, generator=generator)
        for v, name in enumerate(columns)
    }


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
