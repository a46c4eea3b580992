"""Counts of public groups of cells, each times a public weight, formed before the noise.

*Privacy:* a group's count is the sum of the counts of its cells, from the rows that were kept for
those cells; so the bounds are those on cells, and how far a patient moves the groups follows from
them (:func:`confide.tables.bound_contributions.pooled_sensitivity`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.errors import InvalidParameterError
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import Expression
from confide.tables.relation import Relation

if TYPE_CHECKING:
    from confide.tables.aggregate import Aggregate


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledAggregate:
    """Weighted counts of groups of cells.

    Attributes:
        of: Counts over public cells.
        groups: Group of each cell of ``of``; groups are numbered from 0, and none is empty.
        weights: Of each group; () when all are 1.
    """

    of: "Aggregate"
    groups: tuple[int, ...]
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if set(self.groups) != set(range(self.size)) or not self.groups:
            raise InvalidParameterError("Expected groups numbered from 0, none of them empty.")
        if self.weights and (len(self.weights) != self.size or min(self.weights) < 1):
            raise InvalidParameterError("Expected a whole weight ≥ 1 for each group.")

    @property
    def size(self) -> int:
        """Number of groups."""
        return max(self.groups, default=-1) + 1

    @property
    def relation(self) -> Relation:
        """Which rows."""
        return self.of.relation

    @property
    def axes(self) -> tuple[Expression, ...]:
        """Of the cells that are pooled."""
        return self.of.axes

    @property
    def bounds(self) -> ContributionBounds:
        """What one privacy unit keeps."""
        return self.of.bounds

    def weight(self, group: int) -> int:
        """Return the weight of a group."""
        return self.weights[group] if self.weights else 1


def pooled(aggregate: PooledAggregate, counts: Sequence[int]) -> tuple[int, ...]:
    """Return the weighted count of each group from the counts of the cells."""
    total = [0] * aggregate.size
    for group, count in zip(aggregate.groups, counts, strict=True):
        total[group] += count
    return tuple(aggregate.weight(group) * count for group, count in enumerate(total))
