"""Number, sum and squares of a value as one vector, of which a row moves the sum by a constant.

Sums of the same rows are mapped by a public integer matrix to one vector of which a row moves the
sum of all coordinates by a constant; it may count the rows of unknown value too, each by the same
constant in a coordinate that is theirs alone.  Engines answer the sums.

References:
    [Lor53] Lorentz. Bernstein polynomials. University of Toronto Press, 1953, sec. 1.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import ClassVar, Self

from confide.errors import InvalidParameterError
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.overflow import check_sums
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import (
    Centred,
    CentredSquare,
    Ones,
    Step,
    Value,
    step_of_product,
    step_unit,
)
from confide.tables.bound_contributions import ContributionBounds, ValueRange, sensitivity
from confide.tables.expression import (
    ColumnOf,
    DaysOf,
    Expression,
    Holds,
    OrMissing,
    ValueOf,
)
from confide.tables.filter import All, Between
from confide.tables.relation import Relation, centre, domain
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentAggregate:
    """Number, sum and (degree 2) sum of squares of a value, as one vector of constant L1 size.

    With R = U − L a row adds, in its cell, the Bernstein polynomials of its value x times R^degree:
    (U−x, x−L), or ((U−x)², 2(U−x)(x−L), (x−L)²).  They are not negative and add up to R^degree,
    whatever x: no part of the loss is spent on a direction in which nobody can move.

    Attributes:
        relation: Which rows; those whose value is unknown are left out.
        axes: Expressions with labelled public domains; none: one cell.
        of: Number.
        degree: 1 for means, 2 for means and variances.
        bounds: What one privacy unit keeps.
        missing: Whether rows of unknown value are kept, in a last coordinate of their cell.
    """

    counts: ClassVar[bool] = False
    moves_always: ClassVar[bool] = True

    relation: Relation
    axes: tuple[Expression, ...]
    of: Expression
    degree: int
    bounds: ContributionBounds
    missing: bool = False

    def __post_init__(self) -> None:
        if self.degree not in (1, 2):
            raise InvalidParameterError(f"Expected degree 1 or 2, got degree={self.degree}.")

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return (self.summed, *self.axes)

    @property
    def summed(self) -> Expression:
        """What is summed: an expression that has a value in every row that is kept."""
        if self.missing and isinstance(self.of, ColumnOf | ValueOf | DaysOf):
            return OrMissing(of=self.of)
        return self.of

    @property
    def width(self) -> int:
        """Number of coordinates of one cell."""
        return self.degree + 1 + self.missing

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the sums, over the same rows, that an engine answers."""
        relation, axes, known = self.relation, self.axes, Between(of=self.of)
        if self.missing:  # the same rows, known or not, in cells of their own
            axes = (*axes, Holds(of=known))
        else:
            relation = Relation(table=relation.table, where=All(of=(relation.where, known)))
        of = self.summed
        values: tuple[Value, ...] = (Ones(), Centred(of=of), CentredSquare(of=of))
        return tuple(
            Aggregate(relation=relation, axes=axes, value=value, bounds=self.bounds)
            for value in values[: self.degree + 1]
        )

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> tuple[int, ...]:
        """Return the vector from the exact sums of its parts, cell by cell."""
        factors = moment_factors(self, dataset=dataset)
        cells = list(zip(*sums, strict=True))
        known = cells[1::2] if self.missing else cells
        polynomials = [[sum(map(mul, row, cell)) for row in factors] for cell in known]
        if not self.missing:
            return tuple(v for cell in polynomials for v in cell)
        worth = self.worth(dataset)
        absent = [worth * n for n, *_ in cells[::2]]
        return tuple(v for cell, n in zip(polynomials, absent, strict=True) for v in (*cell, n))

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of coordinates of the vector."""
        return cell_count(self.axes, dataset=dataset) * self.width

    def check(self, dataset: Dataset) -> None:
        """Refuse what is undeclared, has too many cells or could overflow."""
        for part in self.parts():
            part.check(dataset)
        check_sums(self.worth(dataset), bounds=self.bounds, dataset=dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves the vector."""
        del counted
        step = step_unit(self.of, dataset=dataset)
        values = ValueRange(
            magnitude=self.worth(dataset),
            signed=False,
            unit=step if self.degree == 1 else f"({step})²",
            components=self.width,
        )
        return sensitivity(
            self.bounds,
            values=values,
            cells=cell_count(self.axes, dataset=dataset),
            entity=dataset.unit.entity,
            adjacency=dataset.adjacency,
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of the vector is worth."""
        return step_of_product((self.of,) * self.degree, dataset=dataset)

    def worth(self, dataset: Dataset) -> int:
        """Return what one row adds to all coordinates of its cell together: (U − L)^degree."""
        of = domain(self.of, dataset=dataset)
        width = of.upper - of.lower
        return width if self.degree == 1 else width * width

    def least_moved(self, dataset: Dataset) -> tuple[int, int]:
        """Return the least L1 size of a patient's vector that is not 0, and in how many places."""
        return max(1, self.worth(dataset)), self.degree + 1

    def has_square(self, dataset: Dataset) -> bool:
        """Return whether the squared L2 norm of a patient's vector is computed."""
        del dataset
        return True

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        powers = "number and sum" if self.degree == 1 else "number, sum and sum of squares"
        return f"{powers} of {say.of(self.of)} over rows of {say.rows(self.relation, self.axes)}"

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        del copies
        return replace(self, axes=(*axes, *self.axes))


def moment_factors(aggregate: MomentAggregate, *, dataset: Dataset) -> tuple[tuple[int, ...], ...]:
    """Return the public matrix that makes a cell's polynomials of its number, sum and squares.

    With y = x − c, x − L = y + (c−L) and U − x = (U−c) − y, so each polynomial is an integer
    combination of 1, y and y².
    """
    of = domain(aggregate.of, dataset=dataset)
    middle, _ = centre(domain(aggregate.summed, dataset=dataset))
    a, b = middle - of.lower, of.upper - middle
    if aggregate.degree == 1:
        return (b, -1), (a, 1)
    return (b * b, -2 * b, 1), (2 * a * b, 2 * (b - a), -2), (a * a, 2 * a, 1)
