"""Counts over time, times the square root of their running sums, formed before the noise.

*Lemma:* see :mod:`confide.tables.aggregates.square_root`.  With C of non-negative entries and time
last,

- one event, or one cell of r rows: r²‖C₁‖², the first time;
- k cells of r rows each: r²·max over sets S of k cells of Σ_{i,j∈S} ⟨C_i, C_j⟩, attained at the
  first k times of one series; exact, and at most (k·r·max‖C_i‖)²;
- m rows, in any cells: ‖C·v‖ ≤ Σ v_i‖C_i‖ ≤ m‖C₁‖, attained by m rows at the first time;
- substitution: L1 and L2² at most double, no coordinate moves further.

*Lemma* (release in time order): the published coordinates of all steps are those of one C·v if a
patient adds the same to a period whenever it is read.  The earliest cells are kept, so this holds
if group, time and condition of a row depend on that row alone: rows that come in later are in later
cells.  It fails for whatever a later row can change backwards: a per-patient value ("last visit",
"ever diagnosed"), the one row of a person in another table, or which row stays of a table with one
row per patient.  Counted by last visit, a patient who comes every day would be the newest one every
day, T‖C₁‖² instead of ‖C₁‖².  So a prefix of the horizon is measured only if all is of the row.

References:
    [KL24] Kalinin, Lampert. Banded square root matrix factorization for differentially private
        model training. NeurIPS 2024, thm. 2. https://arxiv.org/abs/2405.13763
    [DMRST22] Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via
        optimal private linear operators on adaptive streams. NeurIPS 2022, thm. 2.1.
        https://arxiv.org/abs/2202.08312
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, assert_never

from confide.errors import ContractError
from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.overflow import check_sums
from confide.tables.aggregates.square_root import (
    BITS,
    ONE,
    coefficients,
    largest_height,
    largest_square,
    largest_sum,
    product,
    require_short,
)
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Step
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound
from confide.tables.expression import ColumnOf, Expression
from confide.tables.filter import expressions, sources
from confide.tables.relation import Relation, constant_per_patient, domain
from confide.tables.schema import Dataset

MOST_PERIODS = 512
"""Squares of longer running sums take a table of all pairs of periods: everybody pays in full."""
STEPS = f"steps of 2^-{BITS} "
"""Before the unit of what is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorizedAggregate:
    """Counts over time, times the matrix of :mod:`confide.tables.aggregates.square_root`.

    The last axis is time; for each combination of the other axes a series.  Coordinate t of C·x
    depends on the times up to t alone, so coordinates may be published as time goes by.

    Attributes:
        inner: The counts.
        until: How many times of each series are published; all when None.  The sensitivity is that
            of all times, whatever it is.
    """

    inner: Aggregate
    until: int | None = None

    def __post_init__(self) -> None:
        if not self.inner.axes:
            raise ContractError("Running sums need counts over time.")

    @property
    def relation(self) -> Relation:
        """Which rows."""
        return self.inner.relation

    @property
    def axes(self) -> tuple[Expression, ...]:
        """Series and, last, time."""
        return self.inner.axes

    @property
    def bounds(self) -> ContributionBounds:
        """What one privacy unit keeps."""
        return self.inner.bounds

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        return self.axes

    @property
    def moves_always(self) -> bool:
        """Whether every row that is kept moves the vector, and none takes back another."""
        return self.until is None and self.inner.moves_always

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

    def parts(self) -> tuple[Aggregate, ...]:
        """Return the counts that an engine answers."""
        return (self.inner,)

    def combined(self, sums: Sequence[Sequence[int]], *, dataset: Dataset) -> tuple[int, ...]:
        """Return the published coordinates of C·x, series by series, in exact integers."""
        (counts,), length, until = sums, self.length(dataset), self.published(dataset)
        starts = range(0, len(counts), length)
        each = (product(counts[at : at + length], until=until) for at in starts)
        return tuple(itertools.chain.from_iterable(each))

    def coordinates(self, dataset: Dataset) -> int:
        """Return the number of coordinates of the vector."""
        return self.inner.coordinates(dataset) // self.length(dataset) * self.published(dataset)

    def check(self, dataset: Dataset) -> None:
        """Refuse what are no counts, is undeclared, too long, or could overflow."""
        self.inner.check(dataset)
        if not self.inner.counts:
            raise ContractError("Running sums need counts over time.")
        length = self.length(dataset)
        self.published(dataset)
        cells = [domain(axis, dataset=dataset).size() for axis in self.axes[:-1]]
        require_short(length, series=math.prod(cells))
        check_sums(sum(coefficients(length)), bounds=self.bounds, dataset=dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one privacy unit moves C·x over the whole horizon, in steps of 2⁻²⁰.

        Raises:
            ContractError: If a part of the horizon is measured, and later rows could change it.
        """
        if self.until is not None:
            _require_lasting(self, dataset=dataset)
        length = self.length(dataset)
        series = _own_series(self, dataset=dataset)
        cells, rows = _spread(self.bounds)
        l1 = rows * largest_sum(cells, length=length, series=series)
        l2_squared = rows**2 * largest_square(cells, length=length, series=series)
        match dataset.adjacency:
            case Adjacency.ADD_REMOVE:
                times, move = 1, "and is added or removed"
            case Adjacency.SUBSTITUTE:
                times, move = 2, "and is replaced by another"
            case _:
                assert_never(dataset.adjacency)
        return Sensitivity(
            l1=times * l1,
            l2_squared=times * l2_squared,
            linf=rows * largest_height(cells, length=length),
            entity=dataset.unit.entity,
            unit=f"{STEPS}{counted}",
            because=f"{_kept(self.bounds)}, {move}; of all admissible times the first ones move "
            "the square root of the running sums furthest, exactly [KL24, thm. 2].",
        )

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of the vector is worth."""
        del dataset
        return Step(size=Fraction(1, ONE))

    def least_moved(self, dataset: Dataset) -> tuple[int, int]:
        """Return the least size of a vector that is not 0: of a row of the last time alone."""
        return coefficients(self.length(dataset))[0], 1

    def has_square(self, dataset: Dataset) -> bool:
        """Return whether the squared L2 norm of a patient's vector is computed."""
        return self.length(dataset) <= MOST_PERIODS

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        return f"square root of the running total over time of: {self.inner.told(say)}"

    def beside(self, axes: tuple[Expression, ...], *, copies: int) -> Self:
        """Return the same for each combination of further axes, of which there are ``copies``."""
        return replace(self, inner=self.inner.beside(axes, copies=copies))


def _require_lasting(aggregate: FactorizedAggregate, *, dataset: Dataset) -> None:
    """Refuse growth where a row that comes in later changes what a patient adds to a period."""
    table = dataset.table(aggregate.relation.table)
    if table.one_row_per_patient and dataset.unit.entity is not Entity.EVENT:
        raise ContractError(
            f"Table {table.name!r} keeps one row of a patient: a later one could take its place in "
            "a period that is published.",
            hint="Declare it without rows-per-patient and write per-patient: {cells: 1, rows: 1}, "
            "which keeps the earliest; or leave `through` out.",
        )
    for expression in (*aggregate.axes, *expressions(aggregate.relation.where)):
        for read in sources(expression):
            if not isinstance(read, ColumnOf) or read.table != table.name:
                raise ContractError(
                    "Running counts that grow look at a row's own columns only: what a patient's "
                    "other rows say can change after a period is published.",
                    hint=f"Use columns of {table.name!r} in over, by and where, or leave `through` "
                    "out.",
                )


def _own_series(aggregate: FactorizedAggregate, *, dataset: Dataset) -> int:
    """Return the most series that one unit can be in: one, where its groups never change."""
    *groups, _ = aggregate.axes
    table = aggregate.relation.table
    if all(constant_per_patient(group, table=table, dataset=dataset) for group in groups):
        return 1
    return cell_count(tuple(groups), dataset=dataset)


def _spread(bounds: ContributionBounds) -> tuple[int, int]:
    """Return the most cells of one unit, and the rows in each, that move C·x furthest."""
    match bounds:
        case OneEvent():
            return 1, 1
        case RowBound(max_rows=m):
            return 1, m
        case CellBound(max_cells=k, max_rows_per_cell=r):
            return k, r
        case _:
            assert_never(bounds)


def _kept(bounds: ContributionBounds) -> str:
    match bounds:
        case OneEvent():
            return "one event is one row at one time"
        case RowBound(max_rows=m):
            return f"a patient keeps at most {m} rows at any times"
        case CellBound(max_cells=k, max_rows_per_cell=r):
            rows = "1 row" if r == 1 else f"{r} rows"
            return f"a patient keeps at most {k} cells, the earliest, with {rows} each"
        case _:
            assert_never(bounds)
