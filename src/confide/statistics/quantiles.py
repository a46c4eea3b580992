"""Distribution of a number over public bins, and its quantiles with intervals.

*Lemma:* a histogram: one row a patient gives Δ₁ = Δ₂² = 1 (m rows in one bin: m and m²).

*Privacy:* bins are public; every quantile of the released histogram is post-processing.
*Utility:* the cumulative counts are made monotone; a quantile is interpolated in its bin, so its
error is at least a fraction of the bin.  The interval inverts, place by place, the test of
"C(x) = q·N": with C the noisy cumulative count, C(t) − qN = (1−q)·ΣZ below t − q·ΣZ above, whose
quantile is known; for the population N·q(1−q) is added, and within a bin what rows spread over it
bring (:mod:`confide.plans.cumulative`).  Its ends are rounded down to the grid of the number, which
a whole number needs: it lies in the interval if the continuous quantile does.  It is valid for each
quantile by itself.

The noise of all bins adds up in C: its standard deviation at the median is √bins/2 times that of
one bin.  A hierarchy of sums would have about 0.6 of it at 64 bins under zCDP and none less under
pure ε; so choose bins no finer than the reader needs.

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
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.cumulative import Binned, interpolated, monotone, quantile_interval
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.intervals import (
    Component,
    median_error,
    noise_component,
    quantile,
    variance,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Mechanism, Noisy, Question
from confide.plans.simulation import Simulation
from confide.tables.aggregate import Aggregate, Ones, cell_keys
from confide.tables.expression import BinOf, ColumnOf, Expression, ValueOf
from confide.tables.filter import Everything, Predicate
from confide.tables.relation import Relation, axes_of, domain, resolve
from confide.tables.schema import Dataset, Domain, Kind

_QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Quantiles of a column, from its distribution over public bins.

    Attributes:
        id: Unique within the study.
        table: Whose rows.
        column: A number.
        at: Which quantiles, in (0, 1).
        bins: Number of equal public bins between the declared bounds.
        by: Groups; none gives one set of numbers.
        where: Which rows.
        per_patient: Bounds, where the schema gives none.
        level: Coverage of each interval.
        expect: Public planning number of rows in a group; needed to forecast the error.
        title: Headline in the report.
    """

    id: str
    table: str
    column: str
    at: tuple[Fraction, ...] = _QUARTILES
    bins: int = 64
    by: tuple[str, ...] = ()
    where: Predicate = field(default_factory=Everything)
    per_patient: PerPatient = field(default_factory=PerPatient)
    level: Fraction = Fraction(95, 100)
    expect: Fraction | None = None
    title: str = ""

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

    def edges(self, dataset: Dataset) -> tuple[int, ...]:
        """Return the public bin edges, in canonical integers."""
        of = self._domain(dataset)
        count = min(self.bins, of.upper - of.lower)
        steps = (of.lower + (of.upper - of.lower) * i // count for i in range(count + 1))
        return tuple(steps)

    def _axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        column = resolve(self.column, table=self.table, dataset=dataset)
        if not isinstance(column, ColumnOf | ValueOf):
            raise ContractError(f"Quantiles {self.id!r} needs a column, not a derived one.")
        return (
            *axes_of(self.by, table=self.table, dataset=dataset),
            BinOf(of=column, edges=self.edges(dataset)),
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
        of, edges = self._domain(dataset), self.edges(dataset)
        noise = additive(mechanisms["histogram"])
        bins = len(edges) - 1
        spread = float((of.upper - of.lower) * of.scale) / 6
        per_rank = spread * math.sqrt(2 * math.pi) / float(self.expect)
        bin_width = float((of.upper - of.lower) * of.scale) / bins
        part = noise_component(noise, factor=0.5)
        kurtosis = part.excess_kurtosis / bins
        parts = [Component(variance=part.variance * bins, excess_kurtosis=kurtosis)]
        width = quantile(parts, level=float(level)) * math.sqrt(variance(parts))
        return Forecast(
            half_width=width * per_rank + 0.3 * bin_width,
            median_error=math.hypot(median_error(parts) * per_rank, bin_width / 8),
            level=float(level),
            unit=of.unit,
            planning=float((of.upper + of.lower) * of.scale) / 2,
            notes=(f"for groups of {self.expect} rows; bins are {bin_width:.4g} {of.unit} wide",),
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
        edges = self.edges(dataset)
        width = len(edges) - 1
        counts = vector(noisy["histogram"])
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        noise = noise_component(additive(mechanisms["histogram"]))
        return tuple(
            self._one(key, q, covers, counts[i * width : (i + 1) * width], noise=noise, to=dataset)
            for i, key in enumerate(keys)
            for q in self.at
            for covers in Covers
        )

    def _one(
        self,
        key: tuple[str, ...],
        q: Fraction,
        covers: Covers,
        counts: Sequence[int],
        *,
        noise: Component,
        to: Dataset,
    ) -> Estimate:
        of, edges = self._domain(to), self.edges(to)
        cumulative = [0, *itertools.accumulate(counts)]
        number, level, bins = cumulative[-1], float(self.level), len(counts)
        binned = Binned(
            counts=counts,
            edges=edges,
            noises=[[_noise(t, bins=bins, q=float(q), noise=noise)] for t in range(bins + 1)],
            own=noise.variance,
            q=float(q),
        )
        low, high = quantile_interval(
            binned, sampled=covers is Covers.SAMPLING_AND_NOISE, level=level
        )
        lower, upper = float(math.floor(low)), float(min(math.floor(high), edges[-1]))
        point = interpolated(monotone(cumulative), edges, target=float(q) * number)
        value = min(max(point, lower), max(high, lower))
        upper = max(upper, value)
        few = number < 10 * math.sqrt(noise.variance * len(counts))
        return Estimate(
            statistic=self.id,
            quantity=f"quantile {float(q):g}",
            key=key,
            value=of.physical(value) if number >= 1 else None,
            standard_error=of.physical(upper - lower) / (2 * quantile((), level=level))
            if number >= 1
            else None,
            lower=of.physical(lower),
            upper=of.physical(upper),
            level=level,
            covers=covers,
            unit=of.unit,
            flags=("denominator too small",) if few or number < 1 else (),
        )


def _noise(t: int, *, bins: int, q: float, noise: Component) -> Component:
    """Return the error of C(t) − qN at edge t: (1 − q) times bins below, q times the others."""
    squares = t * (1 - q) ** 2 + (bins - t) * q**2
    fourths = t * (1 - q) ** 4 + (bins - t) * q**4
    return Component(
        variance=noise.variance * squares,
        excess_kurtosis=noise.excess_kurtosis * fourths / squares**2,
    )
