"""Sums of a bounded value over public cells: the shape that most statistics are, or are made of.

Each patient contributes a bounded integer vector over public cells, and the vectors are summed.
Cells are the product of public axes in row-major order (the last axis varies fastest); a row whose
axis or value is NULL is dropped before bounding.

*Lemma:* :func:`confide.tables.bound_contributions.sensitivity`.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
"""

from dataclasses import dataclass, replace
from typing import Self

from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.cells import cell_count, check_cells
from confide.tables.aggregates.overflow import check_sums
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import (
    Ones,
    Step,
    Value,
    check_number,
    least_value,
    reads,
    step_of,
    value_range,
)
from confide.tables.bound_contributions import ContributionBounds, sensitivity
from confide.tables.expression import Expression
from confide.tables.relation import Relation, check
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """Sums of a value over public cells.

    Attributes:
        relation: Which rows.
        axes: Expressions with labelled public domains; none: one cell.
        value: What a kept row adds.
        bounds: What one privacy unit keeps.
    """

    relation: Relation
    axes: tuple[Expression, ...]
    value: Value
    bounds: ContributionBounds

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return (*reads(self.value), *self.axes)

    @property
    def counts(self) -> bool:
        """Whether each number is one of rows that are kept."""
        return isinstance(self.value, Ones)

    @property
    def moves_always(self) -> bool:
        """Whether every row that is kept moves the vector, and none takes back another."""
        return self.counts

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of coordinates of the vector."""
        return cell_count(self.axes, dataset=dataset)

    def check(self, dataset: Dataset) -> None:
        """Refuse what is undeclared, has too many cells or could overflow."""
        check(self.relation, *self.axes, *reads(self.value), dataset=dataset)
        check_cells(self.axes, dataset=dataset)
        for expression in reads(self.value):
            check_number(expression, dataset=dataset)
        largest = value_range(self.value, dataset=dataset, counted="rows").magnitude
        check_sums(largest, bounds=self.bounds, dataset=dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves the vector; ``counted`` names what a row is."""
        return sensitivity(
            self.bounds,
            values=value_range(self.value, dataset=dataset, counted=counted),
            cells=cell_count(self.axes, dataset=dataset),
            entity=dataset.unit.entity,
            adjacency=dataset.adjacency,
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of the vector is worth."""
        return step_of(self.value, dataset=dataset)

    def worth(self, dataset: Dataset) -> int | None:
        """Return what one row adds to its cell; None if that depends on the row."""
        del dataset
        return 1 if self.counts else None

    def least_moved(self, dataset: Dataset) -> tuple[int, int]:
        """Return the least L1 size of a patient's vector that is not 0, and in how many places."""
        return least_value(self.value, dataset=dataset), 1

    def has_square(self, dataset: Dataset) -> bool:
        """Return whether the squared L2 norm of a patient's vector is computed."""
        del dataset
        return True

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return f"{say.value(self.value)} over rows of {say.rows(self.relation, self.axes)}"

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        del copies
        return replace(self, axes=(*axes, *self.axes))
