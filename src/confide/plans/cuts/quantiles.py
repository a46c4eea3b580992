"""Quantiles of a number: in which cells its rows are counted, and what the noisy counts say.

Where nobody states cells they are counted in two rounds (:mod:`.second_cells`), the second around
the places to which the first one points; else in public cells, in one.  In one round as well where
there are so few values that each has a cell, where very many quantiles are sought, where patients
are left out by what they have spent (nobody's own part of a second round is known before), and
where several rows of a patient are bounded by the cells that they are in, which are the public
ones: a cell of the grid would hold next to none of them.

*Privacy:* cells are public, or follow from noisy counts; what is made of those is post-processing.
*Utility:* cells are half-open on the grid of the column; a value with a cell of its own is found
exactly, and so is each bound, where what lies beyond was clipped to.  Intervals invert ranks
outwards (:mod:`confide.plans.estimation.cumulative`).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from confide.errors import ContractError
from confide.noise.mechanism import NoiseLaw
from confide.plans.cuts.found import RoundCounts, Rounds, median_ranks, rows_of_cut, two_rounds
from confide.plans.cuts.layout import layout
from confide.plans.estimates import AT_BOUND, Covers, Estimate
from confide.plans.estimation.cumulative import Ends, cell_edges, given_edges
from confide.plans.estimation.intervals import Component, quantile
from confide.plans.typical_spread import NORMAL_MEDIAN
from confide.privacy.measure import Measure
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.refined import MOST_FINE, MOST_FINE_IN_ALL, RefinedAggregate
from confide.tables.aggregates.shapes import Refined
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound, ContributionBounds, rows_per_unit
from confide.tables.expression import (
    BinOf,
    ColumnOf,
    DaysOf,
    Expression,
    OrMissing,
    ValueOf,
)
from confide.tables.relation import Relation, domain, resolve
from confide.tables.schema import Dataset, Domain, Kind

FEW_ROWS = "denominator too small"
"""Flag of a group whose rows do not stand out from the noise of all its cells."""
FLAT_CELLS = 64
"""Cells of one round, where nobody says how many."""

Measurable: TypeAlias = Aggregate | Refined
AdditiveNoise: TypeAlias = NoiseLaw

_FEW_VALUES = 16
_MANY_QUANTILES = 12  # for more of them, windows are everywhere
_WEIGHTS = {Measure.PURE: (1, 3), Measure.ZCDP: (4, 7)}  # a quarter of the charge, and the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedMedian:
    """The error that noise is expected to bring to a median.

    Attributes:
        ranks: In rows.
        per_rank: How far the median moves with one row, in the unit of the column.
        cell: How wide a cell is, in the unit of the column.
        cells: What is said of the cells.
    """

    ranks: Component
    per_rank: float
    cell: float
    cells: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileCells:
    """A number whose quantiles are sought.

    Attributes:
        number: What is read.
        of: What it may be.
        edges: Of public cells, in canonical integers; that is all where cells are stated.
        stated: Whether somebody stated them.
        at: Which quantiles, in (0, 1).
        expect: Public planning number of rows in a group.
    """

    number: "ColumnOf | ValueOf | DaysOf"
    of: Domain
    edges: tuple[int, ...]
    stated: bool
    at: tuple[Fraction, ...]
    expect: Fraction | None

    @property
    def axis(self) -> BinOf:
        """The public cells."""
        return BinOf(of=self.number, edges=self.edges)

    def measured(
        self,
        *,
        relation: Relation,
        by: tuple[Expression, ...],
        bounds: ContributionBounds,
        dataset: Dataset,
        missing: bool = False,
        alike: bool = False,
    ) -> Measurable:
        """Return what is measured of some rows, group by group.

        Args:
            relation: Which rows.
            by: Groups; none gives one.
            bounds: What one privacy unit keeps.
            dataset: Public facts.
            missing: Whether rows of unknown value are kept, in a last cell of their group.
            alike: Whether groups are to add up, so that all have the same cells.
        """
        fine = self._fine(by, bounds=bounds, missing=missing, dataset=dataset)
        if fine is None:
            axis = OrMissing(of=self.axis) if missing else self.axis
            return Aggregate(relation=relation, axes=(*by, axis), value=Ones(), bounds=bounds)
        return RefinedAggregate(
            relation=relation,
            by=by,
            of=self.number,
            lower=self.of.lower,
            upper=self.of.upper,
            fine=fine,
            at=self.at,
            expect=self.expect,
            weights=_WEIGHTS[dataset.measure],
            bounds=bounds,
            missing=missing,
            alike=alike,
        )

    def _fine(
        self,
        by: tuple[Expression, ...],
        *,
        bounds: ContributionBounds,
        missing: bool,
        dataset: Dataset,
    ) -> int | None:
        """Return the cells of the grid of two rounds; None where one round is asked for."""
        reach = self.of.upper - self.of.lower
        several = isinstance(bounds, CellBound) and rows_per_unit(bounds) > 1
        few = reach < _FEW_VALUES or len(self.at) > _MANY_QUANTILES
        if self.stated or several or few or dataset.patients:
            return None
        groups = cell_count(by, dataset=dataset)
        fine = min(reach, MOST_FINE, MOST_FINE_IN_ALL // max(1, groups) - 1 - missing)
        return fine if fine > FLAT_CELLS or fine == reach else None

    def expected(
        self, asked: Measurable, *, noise: AdditiveNoise, rows: Fraction
    ) -> ExpectedMedian:
        """Return the error of a median of so many rows, normal over a third of the range."""
        reach = float((self.of.upper - self.of.lower) * self.of.scale)
        per_rank = reach * NORMAL_MEDIAN / float(rows)
        ends = self.edges
        ranks = median_ranks(noise, cells=len(ends) - 1)
        if isinstance(asked, Refined):
            plan = layout(asked, noise)
            a, b = plan.weights
            if plan.cuts:
                cell = rows_of_cut(plan, noise=noise, rows=float(rows)) * per_rank
                least = float(self.of.scale) * (0 if asked.fine == asked.upper - asked.lower else 1)
                return ExpectedMedian(
                    ranks=median_ranks(noise, cells=plan.wanted, weight=b),
                    per_rank=per_rank,
                    cell=max(least, cell),
                    cells=_CUT,
                )
            ends = tuple(asked.edges[place] for place in plan.even)
            ranks = median_ranks(noise, cells=plan.first, weight=a)
        widest = max(b - a for a, b in itertools.pairwise(ends)) * self.of.scale
        mean = (ends[-1] - ends[0]) / Fraction(len(ends) - 1)
        return ExpectedMedian(
            ranks=ranks,
            per_rank=per_rank,
            cell=float((mean - 1) * self.of.scale),
            cells=f"cells are up to {f'{float(widest):.4g} {self.of.unit}'.rstrip()} wide",
        )


_CUT = "cells are cut where the quantiles are, in a second round"


def quantile_cells(  # noqa: PLR0913 - what a study may say of cells
    column: str,
    *,
    table: str,
    bins: int | None,
    edges: tuple[Fraction, ...],
    at: tuple[Fraction, ...],
    expect: Fraction | None,
    name: str,
    dataset: Dataset,
    ends: Ends = Ends.APART,
    flat: int = FLAT_CELLS,
) -> QuantileCells:
    """Return the cells in which the quantiles of a column are sought.

    Args:
        column: A number of a table.
        table: Whose rows.
        bins: Most public cells; None for two rounds.
        edges: Where public cells begin instead, in the unit of the column; none for ``bins``.
        at: Which quantiles.
        expect: Public planning number of rows in a group.
        name: What is asked, for errors.
        dataset: Public facts.
        ends: Whether each bound has a cell of its own.
        flat: Most public cells where nobody says how many and one round must do.

    Raises:
        ContractError: If it is not a number of a table, or the named edges do not suit it.
    """
    of = resolve(column, table=table, dataset=dataset)
    if not isinstance(of, ColumnOf | ValueOf | DaysOf):
        raise ContractError(f"{name} needs a column, not a derived one.")
    within = domain(of, dataset=dataset)
    if within.kind is not Kind.NUMBER:
        raise ContractError(
            f"{name}: {column!r} is not a number.",
            hint="Use a histogram for categories and dates.",
        )
    cells = (
        given_edges(edges, of=within, name=name)
        if edges
        else cell_edges(within, cells=flat if bins is None else bins, ends=ends)
    )
    return QuantileCells(
        number=of,
        of=within,
        edges=cells,
        stated=bins is not None or bool(edges),
        at=at,
        expect=expect,
    )


def rounds_of(
    asked: Measurable, noisy: Sequence[int], *, noise: AdditiveNoise, dataset: Dataset
) -> tuple[Rounds, ...]:
    """Return the noisy counts of each group with the cells that they are of."""
    if isinstance(asked, Refined):
        return two_rounds(asked, noisy, mechanism=noise, groups=asked.groups(dataset))
    axis = asked.axes[-1]
    if not isinstance(axis, BinOf):
        raise ContractError("Expected counts over cells of a number.")
    upper, width = domain(axis.of, dataset=dataset).upper, len(axis.edges) - 1
    return tuple(
        Rounds(
            first=RoundCounts(
                edges=axis.edges, counts=noisy[start : start + width], weight=1, upper=upper
            ),
            even=axis.edges,
        )
        for start in range(0, len(noisy), width)
    )


def quantile_estimate(
    found: Rounds,
    *,
    q: float,
    noise: AdditiveNoise,
    statistic: str,
    key: tuple[str, ...],
    covers: Covers,
    level: float,
    of: Domain,
) -> Estimate:
    """Return a quantile of one group with its interval, flagged where there are too few rows."""
    value, lower, upper = found.located(
        q, noise=noise, sampled=covers is Covers.SAMPLING_AND_NOISE, level=level
    )
    known = found.rows >= 1
    few = (FEW_ROWS,) if found.rows < found.least(noise) else ()
    bound = (AT_BOUND,) if known and value in (of.lower, of.upper) else ()
    return Estimate(
        statistic=statistic,
        quantity=f"quantile {q:g}",
        key=key,
        value=of.physical(value) if known else None,
        standard_error=float(of.scale) * (upper - lower) / (2 * quantile((), level=level))
        if known
        else None,
        lower=of.physical(lower),
        upper=of.physical(upper),
        level=level,
        covers=covers,
        unit=of.unit,
        flags=(*few, *bound),
    )
