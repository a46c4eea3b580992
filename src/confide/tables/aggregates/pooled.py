"""Counts of public groups of cells, each times a public weight, formed before the noise.

*Privacy:* a group's count is the sum of the counts of its cells, from the rows that were kept for
those cells; so the bounds are those on cells, and how far a patient moves the groups follows from
them (:func:`confide.tables.bound_contributions.pooled_sensitivity`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.overflow import check_sums
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Step
from confide.tables.bound_contributions import (
    ContributionBounds,
    OneEvent,
    pooled_sensitivity,
)
from confide.tables.expression import Expression
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledAggregate:
    """Weighted counts of groups of cells.

    Attributes:
        of: Counts over public cells.
        groups: Group of each cell of ``of``; groups are numbered from 0, and none is empty.
        weights: Of each group; () when all are 1.
    """

    of: Aggregate
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

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return self.axes

    @property
    def moves_always(self) -> bool:
        """Whether every row that is kept moves the vector, and none takes back another."""
        return self.of.moves_always

    def weight(self, group: int) -> int:
        """Return the weight of a group."""
        return self.weights[group] if self.weights else 1

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the counts that an engine answers."""
        return (self.of,)

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> tuple[int, ...]:
        """Return the weighted count of each group from the counts of the cells."""
        del dataset
        (counts,), total = sums, [0] * self.size
        for group, count in zip(self.groups, counts, strict=True):
            total[group] += count
        return tuple(self.weight(group) * count for group, count in enumerate(total))

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of coordinates of the vector."""
        del dataset
        return self.size

    def check(self, dataset: Dataset) -> None:
        """Refuse what are no counts, are undeclared, or could overflow."""
        if not self.of.counts:
            raise ContractError("Only counts are pooled.")
        self.of.check(dataset)
        if len(self.groups) != self.of.coordinates(dataset):
            raise InvalidParameterError("Expected a group for each cell that is pooled.")
        check_sums(max(self.weights, default=1), bounds=self.bounds, dataset=dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves the vector; ``counted`` names what a row is."""
        if (dataset.unit.entity is Entity.EVENT) != isinstance(self.bounds, OneEvent):
            raise ContractError(
                f"Expected bounds that suit the privacy unit {dataset.unit.entity.value!r}."
            )
        return pooled_sensitivity(
            self.bounds,
            weights=[self.weight(group) for group in range(self.size)],
            merged=self.size < len(self.groups),
            unit=counted,
            adjacency=dataset.adjacency,
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step is worth in the groups of full weight."""
        del dataset
        return Step(size=Fraction(1, max(self.weights, default=1)))

    def worth(self, dataset: Dataset) -> int | None:
        """Return what one row adds to all coordinates; None if that depends on the row."""
        del dataset
        return None if self.weights else 1

    def least_moved(self, dataset: Dataset) -> tuple[int, int]:
        """Return the least L1 size of a patient's vector that is not 0, and in how many places."""
        least, places = self.of.least_moved(dataset)
        return min(self.weights, default=1) * least, places

    def has_square(self, dataset: Dataset) -> bool:
        """Return whether the squared L2 norm of a patient's vector is computed."""
        del dataset
        return True

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return f"groups of cells of: {self.of.told(say)}"

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        return replace(
            self,
            of=self.of.beside(axes, copies=copies),
            groups=tuple(
                copy * self.size + group for copy in range(copies) for group in self.groups
            ),
            weights=self.weights * copies,
        )
