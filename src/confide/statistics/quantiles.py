"""Distribution of a number over public bins, and its quantiles with intervals.

*Lemma:* a histogram: one row a patient gives Δ₁ = Δ₂² = 1 (m rows in one bin: m and m²).

*Privacy:* bins are public; every quantile of the released histogram is post-processing.
*Utility:* the cumulative counts are made monotone; a quantile is interpolated in its bin, so its
error is at least a fraction of the bin.  The interval inverts, edge by edge, the test of
"C(t) = q·N": with C the noisy cumulative count, C(t) − qN = (1−q)·ΣZ below t − q·ΣZ above, whose
quantile is known; for the population N·q(1−q) is added.  It is the widest run of edges that are not
rejected, so it is valid for each quantile by itself.

References:
    [Smi11] Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC
        2011. https://doi.org/10.1145/1993636.1993743
    [RWB88] Robertson, Wright, Dykstra. Order restricted statistical inference. 1988, ch. 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.plans.contribution import Counted, PerPatient, contribution_bounds
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.intervals import Component, noise_component, quantile, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Mechanism, Noisy, Question
from confide.plans.simulation import Simulation
from confide.tables.aggregate import Aggregate, Ones, cell_count, cell_keys, value_range
from confide.tables.bound_contributions import sensitivity
from confide.tables.expression import BinOf, ColumnOf, Expression, ValueOf
from confide.tables.filter import Everything, Predicate
from confide.tables.relation import Relation, domain, resolve
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

    def _groups(self, dataset: Dataset) -> tuple[Expression, ...]:
        return tuple(resolve(name, table=self.table, dataset=dataset) for name in self.by)

    def _axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        column = resolve(self.column, table=self.table, dataset=dataset)
        if not isinstance(column, ColumnOf | ValueOf):
            raise ContractError(f"Quantiles {self.id!r} needs a column, not a derived one.")
        return (*self._groups(dataset), BinOf(of=column, edges=self.edges(dataset)))

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
            Question(
                name="histogram",
                aggregate=Aggregate(
                    relation=Relation(table=self.table, where=self.where),
                    axes=axes,
                    value=Ones(),
                    bounds=bounds,
                ),
                sensitivity=sensitivity(
                    bounds,
                    values=value_range(Ones(), dataset=dataset, counted="rows"),
                    cells=cell_count(axes, dataset=dataset),
                    entity=dataset.unit.entity,
                    adjacency=dataset.adjacency,
                ),
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
        part = noise_component(noise, factor=0.5)
        parts = [Component(variance=part.variance * (len(edges) - 1))]
        in_rank = math.sqrt(variance(parts)) / float(self.expect)
        spread = float((of.upper - of.lower) * of.scale) / 6
        deviation = in_rank * spread * math.sqrt(2 * math.pi)
        bin_width = float((of.upper - of.lower) * of.scale) / (len(edges) - 1)
        return Forecast(
            half_width=quantile(parts, level=float(level)) * deviation + bin_width / 2,
            median_error=0.6745 * deviation + bin_width / 4,
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
        keys = cell_keys(self._groups(dataset), dataset=dataset)
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
        cumulative = [0, *_running(counts)]
        number = cumulative[-1]
        small = number < 10 * math.sqrt(noise.variance * len(counts))
        low, high = _inverted(
            cumulative,
            q=float(q),
            noise=noise,
            sampling=max(number, 0) if covers is Covers.SAMPLING_AND_NOISE else 0,
            level=float(self.level),
        )
        usable = number >= 1
        point = _interpolated(_monotone(cumulative), edges, target=float(q) * number)
        lower, upper = edges[low], edges[high]
        scale = float(of.scale)
        return Estimate(
            statistic=self.id,
            quantity=f"quantile {float(q):g}",
            key=key,
            value=scale * min(max(point, lower), upper) if usable else None,
            standard_error=scale * (upper - lower) / (2 * 1.96) if usable else None,
            lower=scale * lower,
            upper=scale * upper,
            level=float(self.level),
            covers=covers,
            unit=of.unit,
            flags=("denominator too small",) if small else (),
        )


def _running(counts: Sequence[int]) -> list[int]:
    total, sums = 0, []
    for count in counts:
        total += count
        sums.append(total)
    return sums


def _monotone(cumulative: Sequence[int]) -> list[float]:
    """Return the least-squares increasing sequence (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in cumulative:
        blocks.append((float(value), 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, i), (b, j) = blocks.pop(-2), blocks.pop()
            blocks.append(((a * i + b * j) / (i + j), i + j))
    return [value for value, size in blocks for _ in range(size)]


def _interpolated(cumulative: Sequence[float], edges: Sequence[int], *, target: float) -> float:
    for i in range(1, len(cumulative)):
        if cumulative[i] >= target:
            below, above = cumulative[i - 1], cumulative[i]
            share = (target - below) / (above - below) if above > below else 0.5
            return edges[i - 1] + min(1.0, max(0.0, share)) * (edges[i] - edges[i - 1])
    return float(edges[-1])


def _inverted(
    cumulative: Sequence[int], *, q: float, noise: Component, sampling: float, level: float
) -> tuple[int, int]:
    """Return the indices of the outermost edges between which the quantile is not rejected.

    The quantile lies above edge t when C(t) < qN and below it when C(t) ≥ qN; the lower end is the
    last edge at or below every edge where "C(t) < qN" is not rejected with confidence, and alike
    above.
    """
    number, bins = cumulative[-1], len(cumulative) - 1
    lower, upper = 0, bins
    for t in range(1, bins):
        below, above = t * (1 - q) ** 2, (bins - t) * q**2
        parts = [
            Component(
                variance=noise.variance * (below + above),
                excess_kurtosis=noise.excess_kurtosis / max(1, min(bins, 4)),
            ),
            Component(variance=sampling * q * (1 - q)),
        ]
        width = quantile(parts, level=level) * math.sqrt(variance(parts))
        difference = cumulative[t] - q * number
        if difference < -width and lower == t - 1:
            lower = t
        if difference > width and upper == bins:
            upper = t
    return (lower, upper) if lower < upper else (max(0, upper - 1), upper)
