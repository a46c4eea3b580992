"""Numbers of patients or rows in public cells, of which only the largest cells are published.

*Reach* (how far a set of k cells can rise over another): only the cells of one set and not of the
other matter, at most s = min(k, n−k) of each.  So R_k is at most Σ|moves|, and at most the sum of
the 2s largest moves; with counts that are added or removed, which move in one direction, at most
s·D, D being the most that one cell moves.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Ones, Step
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import Expression
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCells:
    """Numbers of patients or rows in public cells, of which the largest are chosen.

    Attributes:
        relation: Which rows.
        axes: Expressions with labelled public domains.
        bounds: What one privacy unit keeps.
        size: How many cells are chosen.
    """

    relation: Relation
    axes: tuple[Expression, ...]
    bounds: ContributionBounds
    size: int

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return self.axes

    @property
    def counted(self) -> Aggregate:
        """The counts that are ranked."""
        return Aggregate(relation=self.relation, axes=self.axes, value=Ones(), bounds=self.bounds)

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the counts that an engine answers."""
        return (self.counted,)

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> tuple[int, ...]:
        """Return the utilities: the counts themselves."""
        del dataset
        return tuple(*sums)

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of candidates."""
        return self.counted.coordinates(dataset)

    def check(self, dataset: Dataset) -> None:
        """Refuse what is undeclared, has too many cells or could overflow."""
        self.counted.check(dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves the counts, and sets of them."""
        moved = self.counted.sensitivity(dataset, counted=counted)
        one, together = (
            reach_of_cells(
                l1=moved.l1,
                linf=moved.linf,
                size=size,
                cells=self.coordinates(dataset),
                adjacency=dataset.adjacency,
            )
            for size in (1, self.size)
        )
        return replace(moved, reach=one, set_reach=together)

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of a count is worth."""
        return self.counted.step(dataset)

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return f"the {self.size} largest cells of {say.rows(self.relation, self.axes)}"

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        del copies
        return replace(self, axes=(*axes, *self.axes))


def reach_of_cells(*, l1: int, linf: int, size: int, cells: int, adjacency: Adjacency) -> int:
    """Return how far a set of ``size`` cells can rise over another, from the moves of counts.

    Example:
        >>> reach_of_cells(l1=5, linf=1, size=3, cells=700, adjacency=Adjacency.ADD_REMOVE)
        3
        >>> reach_of_cells(l1=10, linf=1, size=3, cells=700, adjacency=Adjacency.SUBSTITUTE)
        6
    """
    swapped = min(size, cells - size)
    ways = {Adjacency.ADD_REMOVE: 1, Adjacency.SUBSTITUTE: 2}[adjacency]
    return min(l1, ways * swapped * linf)
