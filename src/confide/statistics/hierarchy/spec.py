"""Counts of areas within areas, each level measured by itself and all made to add up.

*Lemma:* a patient is in at most k finest areas with r rows each.  On the finest level that is
Δ₁ = k·r and Δ₂² = k·r²; all k may lie in one larger area, so on every other level Δ₁ = k·r and
Δ₂² = (k·r)² under add-remove; under substitution both double where there are two areas.  With one
area a patient, every level moves by 1.

*Privacy:* each level is one measurement with a share of the budget; their losses add.  All levels
count the *same* kept rows, bounded once on the finest areas: the engine answers the finest vector
once, and larger areas are its sums, formed before noise.  Consistency and rounding are
post-processing.
*Utility:* sums of noisy finest counts grow with the square root of their number, so larger areas
need a measurement of their own; a small share is enough.  Three numbers are published an area: the
measurement as it is, the least-squares estimate with its exact variance, and a whole number ≥ 0 of
which larger areas are the sum.  Intervals are those of the estimate; they hold for the noise alone.
That of the whole number is cut at 0, and reaches from there where the estimate is negative.
With several areas a patient, a larger area counts a patient once for each finest area in it.

References:
    [Hay10] Hay, Rastogi, Miklau, Suciu. Boosting the accuracy of differentially private histograms
        through consistency. VLDB 2010. https://doi.org/10.14778/1920841.1920970
    [Hon15] Honaker. Efficient use of differentially private binary trees. TPDP 2015.
        https://hona.kr/papers/files/privatetrees.pdf
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast, PartForecast
from confide.plans.estimation.intervals import Component, median_error, noise_component, quantile
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.statistics.hierarchy.least_squares import Spread, Tree, consistent, spreads
from confide.statistics.hierarchy.shares import default_shares
from confide.statistics.hierarchy.whole_counts import whole_counts
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.pooled import PooledAggregate
from confide.tables.aggregates.value import Ones
from confide.tables.expression import Expression
from confide.tables.relation import Relation, resolve
from confide.tables.schema import Dataset

QUANTITIES = ("count", "unrounded", "measurement")
"""What is published an area: whole and adding up, least squares, as it left the gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy(Statistic):
    """Patients, or events, in every area of every level of a spine.

    Attributes:
        spine: Name of a declared spine.
        counted: Patients or events.
        per_patient: Most finest areas (and rows in each) of one patient, where the schema gives
            none.
        shares: Budget of each level, finest first, in any unit; () makes the mean squared error
            least.
    """

    spine: str
    counted: Counted = Counted.PATIENTS
    per_patient: PerPatient = field(default_factory=PerPatient)
    shares: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if any(share <= 0 for share in self.shares):
            raise ContractError(
                f"Hierarchy {self.id!r}: expected shares > 0.", hint="Write shares: {county: 1, …}."
            )

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the parts of an estimate's key."""
        return ("level", "area")

    def _column(self, dataset: Dataset) -> Expression:
        name = dataset.spine(self.spine).levels[0]
        return resolve(name, table=self.table, dataset=dataset)

    def _keys(self, dataset: Dataset) -> tuple[str, ...]:
        return tuple(key for (key,) in cell_keys((self._column(dataset),), dataset=dataset))

    def _groups(self, dataset: Dataset) -> list[tuple[tuple[str, ...], list[int]]]:
        """Return labels of each level, and the place among them of each finest area."""
        spine, keys = dataset.spine(self.spine), self._keys(dataset)
        return [spine.grouped(keys, level=level) for level in range(len(spine.levels))]

    def tree(self, dataset: Dataset) -> Tree:
        """Return the areas within areas, by their places in the measured vectors."""
        groups = self._groups(dataset)
        parents = []
        for (labels, lower), (_, upper) in itertools.pairwise(groups):
            above = np.zeros(len(labels), dtype=np.int64)
            above[np.array(lower)] = upper
            parents.append(above)
        return Tree(sizes=tuple(len(labels) for labels, _ in groups), parents=tuple(parents))

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return one vector of counts a level, finest first.

        Raises:
            ContractError: If the shares are not one a level.
        """
        spine, column = dataset.spine(self.spine), self._column(dataset)
        if self.shares and len(self.shares) != len(spine.levels):
            raise ContractError(
                f"Hierarchy {self.id!r}: expected a share for each of the levels "
                f"{', '.join(spine.levels)}."
            )
        finest = Aggregate(
            relation=Relation(table=self.table, where=self.where),
            axes=(column,),
            value=Ones(),
            bounds=contribution_bounds(
                self.per_patient,
                table=self.table,
                axes=(column,),
                counted=self.counted,
                dataset=dataset,
            ),
        )
        aggregates: list[Aggregate | PooledAggregate] = [finest]
        groups = self._groups(dataset)
        aggregates += [PooledAggregate(of=finest, groups=tuple(of)) for _, of in groups[1:]]

        def asked(weights: Sequence[Fraction]) -> tuple[Question, ...]:
            return tuple(
                question(
                    f"count/{name}",
                    aggregate,
                    dataset=dataset,
                    counted=self.counted.unit,
                    weight=weight,
                )
                for name, aggregate, weight in zip(spine.levels, aggregates, weights, strict=True)
            )

        if self.shares:
            return asked(self.shares)
        shares = default_shares(
            [len(labels) for labels, _ in groups],
            sensitivities=[each.sensitivity for each in asked([Fraction(1)] * len(groups))],
            measure=dataset.measure,
        )
        return asked(shares)

    def _components(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset
    ) -> tuple[Component, ...]:
        names = dataset.spine(self.spine).levels
        return tuple(noise_component(additive(mechanisms[f"count/{name}"])) for name in names)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the largest error of a finest area, and of each level in the parts."""
        names = dataset.spine(self.spine).levels
        measured = self._components(mechanisms, dataset=dataset)
        found = spreads(self.tree(dataset), measured)
        worst = [
            _worst(spread, step=part.step) for spread, part in zip(found, measured, strict=True)
        ]

        def half_width(part: Component) -> float:
            return quantile([part], level=float(level)) * math.sqrt(part.variance)

        return Forecast(
            half_width=half_width(worst[0]),
            median_error=median_error([worst[0]]),
            level=float(level),
            unit=self.counted.unit,
            planning=None if self.expect is None else float(self.expect),
            notes=(f"the error is that of one {names[0]}; larger areas are below",),
            parts=tuple(
                PartForecast(
                    name=name,
                    cells=len(spread.variance),
                    half_width=half_width(part),
                    expected_error=math.sqrt(2 * part.variance / math.pi),
                )
                for name, spread, part in zip(names, found, worst, strict=True)
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
        """Return three numbers an area, largest areas first."""
        del simulation
        names, tree = dataset.spine(self.spine).levels, self.tree(dataset)
        measured = self._components(mechanisms, dataset=dataset)
        raw = [vector(noisy[f"count/{name}"]) for name in names]
        estimates = consistent(
            [np.array(values, dtype=np.float64) for values in raw],
            tree=tree,
            variances=[part.variance for part in measured],
        )
        found = spreads(tree, measured)
        whole = whole_counts(estimates, tree=tree)
        labels = [label for label, _ in self._groups(dataset)]
        noises = [additive(mechanisms[f"count/{name}"]) for name in names]
        widths = [noise.half_width(float(self.level)) for noise in noises]
        return tuple(
            estimate
            for level in reversed(range(len(names)))
            for area, label in enumerate(labels[level])
            for estimate in self._area(
                (names[level], label),
                whole=int(whole[level][area]),
                unrounded=float(estimates[level][area]),
                error=found[level].error(area, step=measured[level].step),
                raw=raw[level][area],
                noise=measured[level],
                width=widths[level],
            )
        )

    def _area(
        self,
        key: tuple[str, str],
        *,
        whole: int,
        unrounded: float,
        error: Component,
        raw: int,
        noise: Component,
        width: int,
    ) -> Iterator[Estimate]:
        half = quantile([error], level=float(self.level)) * math.sqrt(error.variance)
        low, high = math.floor(unrounded - half), math.ceil(max(0.0, unrounded) + half)
        yield self._published(
            "count",
            key,
            value=whole,
            ends=(max(0, min(low, whole)), max(high, whole)),
            error=error,
            below=unrounded < 0,
        )
        ends = (unrounded - half, unrounded + half)
        yield self._published("unrounded", key, value=unrounded, ends=ends, error=error)
        ends = (raw - width, raw + width)
        yield self._published("measurement", key, value=raw, ends=ends, error=noise)

    def _published(
        self,
        quantity: str,
        key: tuple[str, str],
        *,
        value: float,
        ends: tuple[float, float],
        error: Component,
        below: bool = False,
    ) -> Estimate:
        return Estimate(
            statistic=self.id,
            quantity=quantity,
            key=key,
            value=float(value),
            standard_error=math.sqrt(error.variance),
            lower=float(ends[0]),
            upper=float(ends[1]),
            level=float(self.level),
            covers=Covers.NOISE,
            unit=self.counted.unit,
            flags=("below zero",) if below else (),
        )


def _worst(spread: Spread, *, step: float) -> Component:
    """Return the error of the area whose variance is largest."""
    return spread.error(int(np.argmax(spread.variance)), step=step)
