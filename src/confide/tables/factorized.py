"""Counts over time, times the square root of their running sums, formed before the noise.

*Privacy:* how far a patient moves them: :mod:`confide.plans.factorized`.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.errors import ContractError
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import Expression
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset
from confide.tables.square_root import coefficients, product, require_short

if TYPE_CHECKING:
    from confide.tables.aggregate import Aggregate


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorizedAggregate:
    """Counts over time, times the matrix of :mod:`confide.tables.square_root`.

    The last axis is time; for each combination of the other axes a series.  Coordinate t of C·x
    depends on the times up to t alone, so coordinates may be published as time goes by.

    Attributes:
        inner: The counts.
        until: How many times of each series are published; all when None.  The sensitivity is that
            of all times, whatever it is.
    """

    inner: "Aggregate"
    until: int | None = None

    def __post_init__(self) -> None:
        if not self.inner.axes:
            raise ContractError("Running sums need counts over time.")

    @property
    def relation(self) -> Relation:
        """Return which rows."""
        return self.inner.relation

    @property
    def axes(self) -> tuple[Expression, ...]:
        """Return series and, last, time."""
        return self.inner.axes

    @property
    def bounds(self) -> ContributionBounds:
        """Return what one privacy unit keeps."""
        return self.inner.bounds

    def length(self, dataset: Dataset) -> int:
        """Return the number of times of the whole horizon."""
        return domain(self.axes[-1], dataset=dataset).size()

    def published(self, dataset: Dataset) -> int:
        """Return the number of times that are published; raises if the horizon has fewer."""
        length = self.length(dataset)
        until = length if self.until is None else self.until
        if not 1 <= until <= length:
            raise ContractError(f"Expected 1 to {length} published periods, got {until}.")
        return until


def factorized(
    aggregate: FactorizedAggregate, counts: Sequence[int], *, dataset: Dataset
) -> tuple[int, ...]:
    """Return the published coordinates of C·x, series by series, in exact integers."""
    length, until = aggregate.length(dataset), aggregate.published(dataset)
    starts = range(0, len(counts), length)
    each = (product(counts[at : at + length], until=until) for at in starts)
    return tuple(itertools.chain.from_iterable(each))


def largest_step(aggregate: FactorizedAggregate, *, dataset: Dataset) -> int:
    """Return the most that one row adds to all coordinates together.

    Raises:
        InvalidParameterError: If there are too many series, or they are too long.
        ContractError: If more periods are published than there are.
    """
    length = aggregate.length(dataset)
    aggregate.published(dataset)
    cells = [domain(axis, dataset=dataset).size() for axis in aggregate.axes[:-1]]
    require_short(length, series=math.prod(cells))
    return sum(coefficients(length))
