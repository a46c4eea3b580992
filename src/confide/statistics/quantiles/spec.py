"""Quantiles of a number with intervals, from counts in two rounds or over public bins.

*Lemma:* counts in two rounds, the cells of the second cut where the first points
(:mod:`confide.tables.aggregates.refined`); where bins are stated, a histogram: one row a patient
gives Δ₁ = Δ₂² = 1 (m rows in one bin: m and m²).

*Privacy:* bins are public or follow from noisy counts; every quantile of these is post-processing.
*Utility:* cells are half-open on the grid of the column; a value with a cell of its own is found
exactly, and so is each bound, where what lies beyond was clipped to.  Intervals invert ranks
outwards, so they are right whatever the shape inside a cell
(:mod:`confide.plans.estimation.cumulative`): no narrower than a cell, and as narrow as one value
where it has a cell.  Each is valid by itself.

Without intervals quantiles are choices among the values of the column: each by itself
(:mod:`.points`), or up to three together, in one choice (:mod:`.together`).

The noise of all cells adds up in the ranks: over 64 public ones its standard deviation at the
median is 4 times that of one count.  The second round asks for few, where they matter.

References:
    [Smi11] Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC
        2011. https://doi.org/10.1145/1993636.1993743
    [RWB88] Robertson, Wright, Dykstra. Order restricted statistical inference. 1988, ch. 1.
"""

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import ABSENT
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.cuts.found import Rounds
from confide.plans.cuts.quantiles import (
    AdditiveNoise,
    Measurable,
    QuantileCells,
    quantile_cells,
    quantile_estimate,
    rounds_of,
)
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.cumulative import Ends
from confide.plans.estimation.intervals import median_error, quantile, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.typical_spread import NORMAL_MEDIAN, median_note
from confide.privacy.ranks import MOST_TOGETHER
from confide.statistics.quantiles.points import RankedPoint, points_forecast
from confide.statistics.quantiles.together import NAME, PointsTogether
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.ranked.ranked_together import RankedTogether
from confide.tables.aggregates.ranked.ranked_value import MOST_VALUES, RankedValue
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import Expression
from confide.tables.relation import Relation, axes_of
from confide.tables.schema import Dataset


class QuantileInterval(enum.Enum):
    """What is published beside each quantile."""

    BY_RANK = "by-rank"  # an interval, from counts whose ranks are inverted
    NONE = "none"  # nothing: each value is chosen by itself
    TOGETHER = "none-together"  # nothing: values are chosen together


_QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles(Statistic):
    """Quantiles of a column, from its distribution over public bins.

    Attributes:
        column: A number.
        at: Which quantiles, in (0, 1).
        bins: Most public cells between the declared bounds: one a value where there are enough,
            else one for each bound and equal ones between; None for two rounds.
        edges: Where cells begin instead, in the unit of the column, from bound to bound.
        by: Groups; none gives one set of numbers.
        per_patient: Bounds, where the schema gives none.
        ends: Whether each bound has a cell of its own.
        interval: Whether quantiles have intervals.
    """

    column: str
    at: tuple[Fraction, ...] = _QUARTILES
    bins: int | None = field(default=None, metadata={ABSENT: 64})
    edges: tuple[Fraction, ...] = ()
    by: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)
    ends: Ends = field(default=Ends.APART, metadata={ABSENT: Ends.MERGED})
    interval: QuantileInterval = QuantileInterval.BY_RANK

    def __post_init__(self) -> None:
        if not self.at or any(not 0 < q < 1 for q in self.at):
            raise ContractError(f"Quantiles {self.id!r}: expected `at` strictly between 0 and 1.")
        if self.bins is not None and self.bins < 2:
            raise ContractError(f"Quantiles {self.id!r}: expected at least two bins.")
        if self.alone:
            self._check_points()

    @property
    def alone(self) -> bool:
        """Whether values have no intervals."""
        return self.interval is not QuantileInterval.BY_RANK

    def _check_points(self) -> None:
        """Refuse what a choice among values has no use for."""
        together = self.interval is QuantileInterval.TOGETHER
        if self.bins is not None or self.edges:
            raise ContractError(
                f"Quantiles {self.id!r} without intervals are chosen among the column's values.",
                hint="Leave out bins and edges, or leave out interval.",
            )
        if together and len(self.at) > MOST_TOGETHER:
            raise ContractError(
                f"Quantiles {self.id!r}: at most {MOST_TOGETHER} are chosen together.",
                hint="Leave some out of at, or leave out interval.",
            )
        if self.by:
            raise ContractError(
                f"Quantiles {self.id!r} without intervals are of one group.",
                hint="Leave out by, or ask each group by itself, with where.",
            )
        if len(set(self.at)) != len(self.at):
            raise ContractError(
                f"Quantiles {self.id!r} without intervals are each paid for, and one is repeated.",
                hint="Name each once in at.",
            )

    def _cells(self, dataset: Dataset) -> QuantileCells:
        return quantile_cells(
            self.column,
            table=self.table,
            bins=self.bins,
            edges=self.edges,
            at=self.at,
            expect=self.expect,
            name=f"Quantiles {self.id!r}",
            dataset=dataset,
            ends=self.ends,
        )

    def measured(self, dataset: Dataset) -> Measurable:
        """Return the counts that are asked for.

        Raises:
            ContractError: If cells that are named do not suit the column.
        """
        cells = self._cells(dataset)
        by = axes_of(self.by, table=self.table, dataset=dataset)
        bounds = self._bounds((*by, cells.axis), dataset=dataset)
        relation = Relation(table=self.table, where=self.where)
        return cells.measured(relation=relation, by=by, bounds=bounds, dataset=dataset)

    def rounds(self, noisy: Noisy, *, noise: AdditiveNoise, dataset: Dataset) -> tuple[Rounds, ...]:
        """Return the noisy counts of each group with the cells that they are of."""
        return rounds_of(self.measured(dataset), vector(noisy), noise=noise, dataset=dataset)

    def _bounds(self, axes: tuple[Expression, ...], *, dataset: Dataset) -> ContributionBounds:
        """Return what one privacy unit keeps."""
        return contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )

    def points(self, dataset: Dataset) -> tuple[RankedPoint, ...]:
        """Return the quantiles that are chosen, each with its question; none with intervals."""
        if self.interval is not QuantileInterval.NONE:
            return ()
        cells = self._cells(dataset)
        steps = min(MOST_VALUES, cells.of.upper - cells.of.lower)
        relation = Relation(table=self.table, where=self.where)
        bounds = self._bounds((cells.axis,), dataset=dataset)
        return tuple(
            RankedPoint(
                name=f"quantile-{place}",
                q=q,
                asked=RankedValue(
                    relation=relation,
                    of=cells.number,
                    lower=cells.of.lower,
                    upper=cells.of.upper,
                    steps=steps,
                    q=q,
                    bounds=bounds,
                ),
            )
            for place, q in enumerate(self.at, start=1)
        )

    def together(self, dataset: Dataset) -> PointsTogether | None:
        """Return the one choice of all quantiles; None where each is chosen, or has an interval."""
        if self.interval is not QuantileInterval.TOGETHER:
            return None
        cells = self._cells(dataset)
        bounds = self._bounds((cells.axis,), dataset=dataset)
        asked = RankedTogether(
            relation=Relation(table=self.table, where=self.where),
            of=cells.number,
            lower=cells.of.lower,
            upper=cells.of.upper,
            steps=min(MOST_VALUES, cells.of.upper - cells.of.lower),
            at=tuple(sorted(self.at)),
            bounds=bounds,
        )
        return PointsTogether(asked=asked)

    def rank_error(self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset) -> int:
        """Return how many rows a value without an interval is off, but for 1 − ``level``."""
        chance = 1 - float(self.level)
        if found := self.together(dataset):
            return found.rank_error(mechanisms, chance=chance)
        return max(p.rank_error(mechanisms, chance=chance) for p in self.points(dataset))

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one question, of counts or of a choice; or a choice for each quantile."""
        if found := self.together(dataset):
            return (question(NAME, found.asked, dataset=dataset),)
        if points := self.points(dataset):
            return tuple(question(each.name, each.asked, dataset=dataset) for each in points)
        return (question("histogram", self.measured(dataset), dataset=dataset),)

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
        cells = self._cells(dataset)
        if found := self.together(dataset):
            return found.forecast(mechanisms, of=cells.of, rows=self.expect, level=float(level))
        if points := self.points(dataset):
            return points_forecast(
                points, mechanisms, of=cells.of, rows=self.expect, level=float(level)
            )
        noise = additive(mechanisms["histogram"])
        of = cells.of
        expected = cells.expected(self.measured(dataset), noise=noise, rows=self.expect)
        parts, cell = [expected.ranks], expected.cell
        width = quantile(parts, level=float(level)) * math.sqrt(variance(parts))
        return Forecast(
            half_width=width * expected.per_rank + cell / 2,
            median_error=math.hypot(median_error(parts) * expected.per_rank, cell / 8),
            level=float(level),
            unit=of.unit,
            planning=float((of.upper + of.lower) * of.scale) / 2,
            notes=(
                f"for groups of {self.expect} rows; {expected.cells}",
                median_note(of=of, even=width * expected.per_rank / NORMAL_MEDIAN + cell / 2),
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
        """Return each quantile of each group, with both intervals or with none."""
        del simulation
        if found := self.together(dataset):
            return found.estimates(
                noisy, at=self.at, statistic=self.id, level=self.level, of=self._cells(dataset).of
            )
        if points := self.points(dataset):
            of = self._cells(dataset).of
            return tuple(
                each.estimate(noisy, statistic=self.id, level=self.level, of=of) for each in points
            )
        noise, of = additive(mechanisms["histogram"]), self._cells(dataset).of
        groups = self.rounds(noisy["histogram"], noise=noise, dataset=dataset)
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        return tuple(
            quantile_estimate(
                group,
                q=float(q),
                noise=noise,
                statistic=self.id,
                key=key,
                covers=covers,
                level=float(self.level),
                of=of,
            )
            for key, group in zip(keys, groups, strict=True)
            for q in self.at
            for covers in Covers
        )
