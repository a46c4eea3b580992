"""Distribution of a number over public bins, and its quantiles with intervals.

*Lemma:* a histogram: one row a patient gives Δ₁ = Δ₂² = 1 (m rows in one bin: m and m²).

*Privacy:* bins are public; every quantile of the released histogram is post-processing.
*Utility:* cells are half-open on the grid of the column; a value with a cell of its own is found
exactly, and so is each bound, where what lies beyond was clipped to.  Intervals invert ranks
outwards, so they are right whatever the shape inside a cell
(:mod:`confide.plans.estimation.cumulative`): no narrower than a cell, and as narrow as one value
where it has a cell.  Each is valid by itself.

The noise of all cells adds up in the ranks: its standard deviation at the median is √cells/2 times
that of one cell; so choose cells no finer than the reader needs.

References:
    [Smi11] Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC
        2011. https://doi.org/10.1145/1993636.1993743
    [RWB88] Robertson, Wright, Dykstra. Order restricted statistical inference. 1988, ch. 1.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.plans.canonical import ABSENT
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import AT_BOUND, Covers, Estimate, Forecast
from confide.plans.estimation.cumulative import Ends, Ranked, cell_edges, given_edges, rank_widths
from confide.plans.estimation.intervals import (
    Component,
    median_error,
    noise_component,
    quantile,
    variance,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Mechanism, Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.typical_spread import NORMAL_MEDIAN, median_note
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.value import Ones
from confide.tables.expression import BinOf, ColumnOf, Expression, ValueOf
from confide.tables.relation import Relation, axes_of, domain, resolve
from confide.tables.schema import Dataset, Domain, Kind

_QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles(Statistic):
    """Quantiles of a column, from its distribution over public bins.

    Attributes:
        column: A number.
        at: Which quantiles, in (0, 1).
        bins: Most public cells between the declared bounds: one a value where there are enough,
            else one for each bound and equal ones between.
        edges: Where cells begin instead, in the unit of the column, from bound to bound.
        by: Groups; none gives one set of numbers.
        per_patient: Bounds, where the schema gives none.
        ends: Whether each bound has a cell of its own.
    """

    column: str
    at: tuple[Fraction, ...] = _QUARTILES
    bins: int = 64
    edges: tuple[Fraction, ...] = ()
    by: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)
    ends: Ends = field(default=Ends.APART, metadata={ABSENT: Ends.MERGED})

    def __post_init__(self) -> None:
        if not self.at or any(not 0 < q < 1 for q in self.at):
            raise ContractError(f"Quantiles {self.id!r}: expected `at` strictly between 0 and 1.")
        if self.bins < 2:
            raise ContractError(f"Quantiles {self.id!r}: expected at least two bins.")

    def _domain(self, dataset: Dataset) -> Domain:
        of = domain(resolve(self.column, table=self.table, dataset=dataset), dataset=dataset)
        if of.kind is not Kind.NUMBER:
            raise ContractError(
                f"Quantiles {self.id!r}: {self.column!r} is not a number.",
                hint="Use a histogram for categories and dates.",
            )
        return of

    def cells(self, dataset: Dataset) -> tuple[int, ...]:
        """Return the edges of the public cells, in canonical integers.

        Raises:
            ContractError: If those that are named do not suit the column.
        """
        of = self._domain(dataset)
        if self.edges:
            return given_edges(self.edges, of=of, name=f"Quantiles {self.id!r}")
        return cell_edges(of, cells=self.bins, ends=self.ends)

    def _axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        column = resolve(self.column, table=self.table, dataset=dataset)
        if not isinstance(column, ColumnOf | ValueOf):
            raise ContractError(f"Quantiles {self.id!r} needs a column, not a derived one.")
        return (
            *axes_of(self.by, table=self.table, dataset=dataset),
            BinOf(of=column, edges=self.cells(dataset)),
        )

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one histogram."""
        axes = self._axes(dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        return (
            question(
                "histogram",
                Aggregate(
                    relation=Relation(table=self.table, where=self.where),
                    axes=axes,
                    value=Ones(),
                    bounds=bounds,
                ),
                dataset=dataset,
            ),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of a median under a normal law spread over a third of the range.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of quantiles {self.id!r} depends on the number of rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        of, edges = self._domain(dataset), self.cells(dataset)
        noise = additive(mechanisms["histogram"])
        count = len(edges) - 1
        reach = float((of.upper - of.lower) * of.scale)
        per_rank = reach * NORMAL_MEDIAN / float(self.expect)
        cell = float(((edges[-1] - edges[0]) / Fraction(count) - 1) * of.scale)
        part = noise_component(noise, factor=0.5)
        kurtosis = part.excess_kurtosis / count
        parts = [Component(variance=part.variance * count, excess_kurtosis=kurtosis)]
        width = quantile(parts, level=float(level)) * math.sqrt(variance(parts))
        return Forecast(
            half_width=width * per_rank + cell / 2,
            median_error=math.hypot(median_error(parts) * per_rank, cell / 8),
            level=float(level),
            unit=of.unit,
            planning=float((of.upper + of.lower) * of.scale) / 2,
            notes=(
                f"for groups of {self.expect} rows; cells are up to {_wide(of, edges)} wide",
                median_note(of=of, even=width * reach / float(self.expect) + cell / 2),
            ),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return each quantile of each group, with both intervals."""
        del simulation
        edges, of = self.cells(dataset), self._domain(dataset)
        width, noise = len(edges) - 1, additive(mechanisms["histogram"])
        counts, level = vector(noisy["histogram"]), float(self.level)
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        least = 10 * math.sqrt(noise.variance() * width)
        return tuple(
            self._one(
                key,
                Ranked(
                    cumulative=(0, *itertools.accumulate(counts[i * width : (i + 1) * width])),
                    edges=edges,
                    upper=of.upper,
                    widths=rank_widths(noise, cells=width, q=float(q), level=level),
                    q=float(q),
                ),
                covers,
                least=least,
                of=of,
            )
            for i, key in enumerate(keys)
            for q in self.at
            for covers in Covers
        )

    def _one(
        self, key: tuple[str, ...], ranked: Ranked, covers: Covers, *, least: float, of: Domain
    ) -> Estimate:
        level = float(self.level)
        lower, upper = ranked.interval(sampled=covers is Covers.SAMPLING_AND_NOISE, level=level)
        known = ranked.rows >= 1
        value = min(max(ranked.point(), lower), upper)
        few = ("denominator too small",) if ranked.rows < max(least, 1) else ()
        bound = (AT_BOUND,) if known and value in (of.lower, of.upper) else ()
        return Estimate(
            statistic=self.id,
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


def _wide(of: Domain, edges: Sequence[int]) -> str:
    """Return the width of the widest cell, with its unit."""
    widest = max(b - a for a, b in itertools.pairwise(edges))
    return f"{float(widest * of.scale):.4g} {of.unit}".rstrip()
