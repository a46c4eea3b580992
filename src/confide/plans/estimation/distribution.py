"""Distribution of a number over public cells, and what its noisy counts say of a quantile.

*Privacy:* cells are public; what is made of noisy counts is post-processing.
*Utility:* cells are half-open on the grid of the column; a value with a cell of its own is found
exactly, and so is each bound, where what lies beyond was clipped to.  Intervals invert ranks
outwards (:mod:`.cumulative`).
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.estimates import AT_BOUND, Covers, Estimate
from confide.plans.estimation.cumulative import Ends, Ranked, cell_edges, given_edges, rank_widths
from confide.plans.estimation.intervals import Component, noise_component, quantile
from confide.plans.typical_spread import NORMAL_MEDIAN
from confide.tables.expression import BinOf, ColumnOf, ValueOf
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset, Domain, Kind

FEW_ROWS = "denominator too small"
"""Flag of a group whose rows do not stand out from the noise of all its cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedMedian:
    """The error that noise is expected to bring to a median.

    Attributes:
        ranks: In rows.
        per_rank: How far the median moves with one row, in the unit of the column.
        cell: How wide a cell is, in the unit of the column.
    """

    ranks: Component
    per_rank: float
    cell: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The public cells of a number.

    Attributes:
        of: What the number may be.
        axis: Its cells.
    """

    of: Domain
    axis: BinOf

    @property
    def cells(self) -> int:
        """How many there are."""
        return len(self.axis.edges) - 1

    def least(self, noise: DiscreteLaplace | DiscreteGaussian) -> float:
        """Return the rows below which a group is :data:`FEW_ROWS`."""
        return max(10 * math.sqrt(noise.variance() * self.cells), 1)

    def ranked(
        self,
        counts: Sequence[int],
        *,
        noise: DiscreteLaplace | DiscreteGaussian,
        q: float,
        level: float,
    ) -> Ranked:
        """Return the ranks of the noisy counts of one group."""
        return Ranked(
            cumulative=(0, *itertools.accumulate(counts)),
            edges=self.axis.edges,
            upper=self.of.upper,
            widths=rank_widths(noise, cells=self.cells, q=q, level=level),
            q=q,
        )

    def expected(
        self, noise: DiscreteLaplace | DiscreteGaussian, *, rows: Fraction
    ) -> ExpectedMedian:
        """Return the error of a median of so many rows, normal over a third of the range."""
        of, edges, cells = self.of, self.axis.edges, self.cells
        reach = float((of.upper - of.lower) * of.scale)
        part = noise_component(noise, factor=0.5)
        return ExpectedMedian(
            ranks=Component(
                variance=part.variance * cells, excess_kurtosis=part.excess_kurtosis / cells
            ),
            per_rank=reach * NORMAL_MEDIAN / float(rows),
            cell=float(((edges[-1] - edges[0]) / Fraction(cells) - 1) * of.scale),
        )

    @property
    def widest(self) -> str:
        """The width of the widest cell, with its unit."""
        widest = max(b - a for a, b in itertools.pairwise(self.axis.edges))
        return f"{float(widest * self.of.scale):.4g} {self.of.unit}".rstrip()


def distribution(
    column: str,
    *,
    table: str,
    bins: int,
    edges: tuple[Fraction, ...],
    name: str,
    dataset: Dataset,
    ends: Ends = Ends.APART,
) -> Distribution:
    """Return the public cells of a column.

    Args:
        column: A number of a table.
        table: Whose rows.
        bins: Most cells.
        edges: Where cells begin instead, in the unit of the column; none for ``bins``.
        name: What is asked, for errors.
        dataset: Public facts.
        ends: Whether each bound has a cell of its own.

    Raises:
        ContractError: If it is not a number of a table, or the named edges do not suit it.
    """
    of = resolve(column, table=table, dataset=dataset)
    if not isinstance(of, ColumnOf | ValueOf):
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
        else cell_edges(within, cells=bins, ends=ends)
    )
    return Distribution(of=within, axis=BinOf(of=of, edges=cells))


def quantile_estimate(
    ranked: Ranked,
    *,
    statistic: str,
    key: tuple[str, ...],
    covers: Covers,
    level: float,
    least: float,
    of: Domain,
) -> Estimate:
    """Return a quantile of one group with its interval; ``least`` rows, or it is flagged."""
    value, lower, upper = ranked.located(sampled=covers is Covers.SAMPLING_AND_NOISE, level=level)
    known = ranked.rows >= 1
    few = (FEW_ROWS,) if ranked.rows < least else ()
    bound = (AT_BOUND,) if known and value in (of.lower, of.upper) else ()
    return Estimate(
        statistic=statistic,
        quantity=f"quantile {ranked.q:g}",
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
