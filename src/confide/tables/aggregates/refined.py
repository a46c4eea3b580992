"""Counts over cells of a number, asked for twice: the second time where the first answer points.

The rows answer two vectors, one after the other: of each group the rows in public cells, each times
a public weight a; then the rows in other cells, whose edges follow from the first noisy answer,
each times b.  The exact counts over a fine public grid are taken once, and both answers are sums of
them.  Rows of unknown value may be counted too, as the last cell of each answer.

*Lemma* (one patient, of at most m rows, in units of 1).  Whatever the edges of the second answer
are, each row, of known value or not, is in one cell of each, so the first answer moves by a vector
v ≥ 0 with ‖v‖₁ ≤ a·m, and, as all rows may be in one cell, ‖v‖₂² ≤ (a·m)²; the second by b·m and
(b·m)².  Given the first noisy answer the second is a fixed query, and adaptive composition adds up
as for the joint vector [DR14, thm 3.16; BS16, lem. 1.7]: L1 = (a + b)·m, L2² = (a² + b²)·m².  Under
substitution the rows of the old and of the new patient are in different cells at most: both double.
One answer alone, each row times c with c ≤ √(a² + b²), moves by no more.  ∎

*Utility:* noise of one law on all coordinates, so a : b (Laplace) or a² : b² (Gaussian) is how the
charge is divided between the answers.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn, Self

from confide.errors import ContractError, InvalidParameterError, UnsupportedError
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Ones, Step
from confide.tables.bound_contributions import ContributionBounds, pooled_sensitivity
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DaysOf,
    Expression,
    OrMissing,
    ValueOf,
)
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset

MOST_FINE = 2**14
"""Most cells of the grid of one group."""
MOST_FINE_IN_ALL = 2**20
"""Most cells of the grids of all groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCells:
    """Rows between edges, each times a weight.

    Attributes:
        edges: Of each group, as places on its fine grid, from 0 to its end; no two are equal.  The
            last cell is that of unknown values, where they are counted.
        length: Numbers of the answer for one group; those beyond its cells are 0.
        weight: What a row adds.
    """

    edges: tuple[tuple[int, ...], ...]
    length: int
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinedAggregate:
    """Counts over cells, and over cells where these point.

    Attributes:
        relation: Which rows.
        by: Groups; none gives one.
        of: The number.
        lower: Its least value, in canonical integers.
        upper: Its greatest.
        fine: Cells of the grid below the greatest value, which has one of its own.
        at: Which quantiles are sought, in (0, 1).
        expect: Public planning number of rows in a group; decides how many cells are asked for.
        weights: a and b.
        bounds: What one privacy unit keeps.
        missing: Whether rows of unknown value are kept, in a cell past the greatest value.
        alike: Whether the second cells are the same for all groups, so that groups add up.
    """

    relation: Relation
    by: tuple[Expression, ...]
    of: "ColumnOf | ValueOf | DaysOf"
    lower: int
    upper: int
    fine: int
    at: tuple[Fraction, ...]
    expect: Fraction | None
    weights: tuple[int, int]
    bounds: ContributionBounds
    missing: bool = False
    alike: bool = False

    def __post_init__(self) -> None:
        if not 2 <= self.fine <= min(MOST_FINE, self.upper - self.lower):
            raise InvalidParameterError("Expected a grid of some cells between the bounds.")
        if len(self.weights) != 2 or not all(1 <= each <= 100 for each in self.weights):
            raise InvalidParameterError("Expected two whole weights from 1 to 100.")
        if not self.at or any(not 0 < q < 1 for q in self.at):
            raise InvalidParameterError("Expected quantiles strictly between 0 and 1.")

    @property
    def edges(self) -> tuple[int, ...]:
        """Where cells of the grid begin, in canonical integers, and where the last one ends."""
        reach = self.upper - self.lower
        inner = (self.lower + reach * place // self.fine for place in range(self.fine))
        return (*inner, self.upper, self.upper + 1)

    @property
    def once(self) -> int:
        """What a row weighs where one answer is asked for alone."""
        a, b = self.weights
        return math.isqrt(a * a + b * b)

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return (*self.by, OrMissing(of=self.of) if self.missing else self.of)

    @property
    def cells(self) -> int:
        """Number of cells of the grid of one group."""
        return self.fine + 1 + self.missing

    def whole(self, edges: Sequence[int]) -> tuple[int, ...]:
        """Return edges over all known values with that of the unknown ones, if they are kept."""
        return (*edges, self.cells) if self.missing else tuple(edges)

    def groups(self, dataset: Dataset) -> int:
        """Return the number of groups."""
        return cell_count(self.by, dataset=dataset)

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the counts over the grid that an engine answers."""
        binned = BinOf(of=self.of, edges=self.edges)
        axes = (*self.by, OrMissing(of=binned) if self.missing else binned)
        return (Aggregate(relation=self.relation, axes=axes, value=Ones(), bounds=self.bounds),)

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> "GridCounts":
        """Return what answers questions from the counts over the grid."""
        (counts,) = sums
        return GridCounts(counts, groups=self.groups(dataset))

    def check(self, dataset: Dataset) -> None:
        """Refuse bounds that are not declared, what is undeclared, and grids that are too large."""
        within = domain(self.of, dataset=dataset)
        if (within.lower, within.upper) != (self.lower, self.upper):
            raise ContractError("Expected the declared bounds of the number.")
        for part in self.parts():
            part.check(dataset)
        if self.groups(dataset) * self.cells > MOST_FINE_IN_ALL:
            raise InvalidParameterError(
                "Expected fewer cells in all groups together.", hint="Write bins: 64."
            )

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves both answers together."""
        one = pooled_sensitivity(
            self.bounds, weights=(1, 1), merged=True, unit=counted, adjacency=dataset.adjacency
        )
        a, b = self.weights
        told = f", counted in two rounds with weights {a} and {b}"
        return replace(
            one,
            l1=one.l1 * (a + b),
            l2_squared=one.l2_squared * (a * a + b * b),
            linf=one.linf * max(a, b, self.once),
            because=one.because.replace(", each counted once", told),
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of the second answer is worth."""
        del dataset
        return Step(size=Fraction(1, self.weights[1]))

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return (
            f"rows over cells of {say.of(self.of)}, then, unless few are expected beside the "
            f"noise, over finer cells where quantiles may be, of "
            f"{say.rows(self.relation, self.by)}"
        )

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        del copies
        return replace(self, by=(*axes, *self.by))


class GridCounts:
    """Exact counts over a grid, which answer questions in turn; secret, so never shown."""

    __slots__ = ("__counts",)

    def __init__(self, counts: Sequence[int], *, groups: int) -> None:
        width = len(counts) // groups
        self.__counts = tuple(
            (0, *itertools.accumulate(counts[group * width : (group + 1) * width]))
            for group in range(groups)
        )

    @property
    def groups(self) -> int:
        """How many groups are counted apart; public."""
        return len(self.__counts)

    def answer(self, ask: object) -> tuple[int, ...]:
        """Return an exact answer; called by the gate alone, right before the noise."""
        if not isinstance(ask, AskCells) or len(ask.edges) != len(self.__counts):
            raise UnsupportedError("The rows have no answer to this.")
        found: list[int] = []
        for below, edges in zip(self.__counts, ask.edges, strict=True):
            cells = [ask.weight * (below[b] - below[a]) for a, b in itertools.pairwise(edges)]
            found += [*cells, *[0] * (ask.length - len(cells))]
        return tuple(found)

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Exact counts are secret: they cannot be pickled.")
