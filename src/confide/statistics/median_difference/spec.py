"""Difference of the medians of a number in two groups.

*Lemma:* counts of group and cell in two rounds (:mod:`confide.tables.aggregates.refined`); where
cells are stated, one histogram: with one row a patient Δ₁ = Δ₂² = 1 under add-remove, and Δ₁ = Δ₂²
= 2 under substitution, where a row may leave one cell for another, of the other group too.

*Privacy:* groups are public, and cells too, or they follow from noisy counts; medians and
difference of these are post-processing.
*Utility:* groups have different rows and different noise, so their intervals are independent. Each
inverts ranks outwards (:mod:`confide.plans.estimation.cumulative`), at several levels, and the
difference is that of all pairs of medians that they hold together (:mod:`.joint_levels`): no shape
is assumed, so values that heap need no case of their own.  The median is the least value that at
least half of the rows do not exceed.

What was clipped is not counted: a difference of which an interval's end rests on a declared bound
is flagged, as the median there may lie beyond it.  One whose interval holds 0 besides other numbers
is flagged as well, as which group has the larger median is not told; so is the 0 of two medians
that may both lie beyond a bound.

References:
    [Smi11] Smith. Privacy-preserving statistical estimation with optimal convergence rates. STOC
        2011. https://doi.org/10.1145/1993636.1993743
    [New98] Newcombe. Interval estimation for the difference between independent proportions:
        comparison of eleven methods. Statistics in Medicine 17, 1998.
        https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism, NoiseLaw
from confide.plans.canonical import ABSENT
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.cuts.found import Rounds
from confide.plans.cuts.quantiles import (
    FEW_ROWS,
    Measurable,
    QuantileCells,
    quantile_cells,
    quantile_estimate,
    rounds_of,
)
from confide.plans.estimates import AT_BOUND, Covers, Estimate, Forecast
from confide.plans.estimation.intervals import median_error, quantile, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.two_groups import categories, two_groups
from confide.plans.typical_spread import NORMAL_MEDIAN, median_note
from confide.statistics.median_difference.joint_levels import joint_levels
from confide.tables.expression import Expression
from confide.tables.relation import Relation, resolve
from confide.tables.schema import Dataset, Domain

UNTOLD = "direction not told"
"""Flag of a difference whose interval holds 0 besides other numbers, or 0 alone at a bound."""

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianDifference(Statistic):
    """How much larger is the median of a number in one group than in another?

    Attributes:
        column: A number.
        by: The one category that makes the groups.
        groups: The reference, and what is compared with it; needed if there are more than two.
        bins: Most public cells between the declared bounds: one a value where there are enough,
            else one for each bound and equal ones between; None for two rounds.
        edges: Where cells begin instead, in the unit of the column, from bound to bound.
        per_patient: ``rows=1`` where a patient may have several.
    """

    column: str
    by: tuple[str, ...]
    groups: tuple[str, ...] = ()
    bins: int | None = field(default=None, metadata={ABSENT: 64})
    edges: tuple[Fraction, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if len(self.by) != 1:
            raise ContractError(
                f"Median difference {self.id!r} compares groups of one category.",
                hint="Write by: [sex].",
            )
        if self.bins is not None and self.bins < 2:
            raise ContractError(f"Median difference {self.id!r}: expected at least two bins.")

    def _axis(self, dataset: Dataset) -> Expression:
        return resolve(self.by[0], table=self.table, dataset=dataset)

    def _groups(self, dataset: Dataset) -> tuple[tuple[int, str], tuple[int, str]]:
        keys = categories(self._axis(dataset), name=self.by[0], dataset=dataset)
        return two_groups(self.groups, keys=keys, name=self.by[0])

    def _cells(self, dataset: Dataset) -> QuantileCells:
        return quantile_cells(
            self.column,
            table=self.table,
            bins=self.bins,
            edges=self.edges,
            at=(_HALF,),
            expect=self.expect,
            name=f"Median difference {self.id!r}",
            dataset=dataset,
        )

    def measured(self, dataset: Dataset) -> Measurable:
        """Return the counts that are asked for, group by group.

        Raises:
            ContractError: If cells that are named do not suit the column.
        """
        cells, axis = self._cells(dataset), self._axis(dataset)
        bounds = one_row_each(
            self.per_patient, table=self.table, axes=(axis, cells.axis), dataset=dataset
        )
        relation = Relation(table=self.table, where=self.where)
        return cells.measured(relation=relation, by=(axis,), bounds=bounds, dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one question, of counts."""
        self._groups(dataset)
        return (question("histogram", self.measured(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the difference, of normal laws over a third of the range.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of median difference {self.id!r} depends on the rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        cells, noise = self._cells(dataset), additive(mechanisms["histogram"])
        expected = cells.expected(self.measured(dataset), noise=noise, rows=self.expect)
        one = [expected.ranks]

        def reach(asked: float) -> float:
            return quantile(one, level=asked) * math.sqrt(variance(one)) * expected.per_rank

        both = median_error(one * 2) * expected.per_rank
        wide = max(reach(s) + reach(t) for s, t in joint_levels(float(level)))
        return Forecast(
            half_width=wide + expected.cell,
            median_error=math.hypot(both, expected.cell * math.sqrt(2) / 8),
            level=float(level),
            unit=cells.of.unit,
            notes=(
                f"for groups of {self.expect} rows; {expected.cells}",
                median_note(of=cells.of, even=wide / NORMAL_MEDIAN + expected.cell),
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
        """Return both medians and their difference, each with both intervals."""
        del simulation
        noise, of = additive(mechanisms["histogram"]), self._cells(dataset).of
        groups, level = self._groups(dataset), float(self.level)
        found = rounds_of(
            self.measured(dataset), vector(noisy["histogram"]), noise=noise, dataset=dataset
        )
        own = [found[i] for i, _ in groups]
        medians = tuple(
            quantile_estimate(
                each,
                q=float(_HALF),
                noise=noise,
                statistic=self.id,
                key=(name,),
                covers=covers,
                level=level,
                of=of,
            )
            for (_, name), each in zip(groups, own, strict=True)
            for covers in Covers
        )
        pair = f"{groups[1][1]} vs {groups[0][1]}"
        differences = (
            self._difference(own, pair=pair, covers=covers, of=of, noise=noise) for covers in Covers
        )
        return (*medians, *differences)

    def _difference(
        self,
        own: Sequence[Rounds],
        *,
        pair: str,
        covers: Covers,
        of: Domain,
        noise: NoiseLaw,
    ) -> Estimate:
        """Return the second group's median minus the first's, with what holds it."""
        level, sampled = float(self.level), covers is Covers.SAMPLING_AND_NOISE

        def located(place: int, at: float) -> tuple[int, int, int]:
            return own[place].located(float(_HALF), noise=noise, sampled=sampled, level=at)

        value = located(1, level)[0] - located(0, level)[0]
        ends = [(located(0, s), located(1, t)) for s, t in joint_levels(level)]
        lower = min(value, *(second[1] - first[2] for first, second in ends))
        upper = max(value, *(second[2] - first[1] for first, second in ends))
        places = {end for both in ends for _, low, high in both for end in (low, high)}
        known, scale = min(each.rows for each in own) >= 1, float(of.scale)
        few = (FEW_ROWS,) if any(each.rows < each.least(noise) for each in own) else ()
        bound = (AT_BOUND,) if places & {of.lower, of.upper} else ()
        untold = (UNTOLD,) if lower <= 0 <= upper and (bound or lower < upper) else ()
        return Estimate(
            statistic=self.id,
            quantity="difference",
            key=(pair,),
            value=scale * value if known else None,
            standard_error=scale * (upper - lower) / (2 * quantile((), level=level))
            if known
            else None,
            lower=scale * lower,
            upper=scale * upper,
            level=level,
            covers=covers,
            unit=of.unit,
            flags=(*few, *bound, *untold),
        )
