"""Difference of the medians of a number in two groups.

*Lemma:* one histogram of group and cell: with one row a patient Δ₁ = Δ₂² = 1 under add-remove, and
Δ₁ = Δ₂² = 2 under substitution, where a row may leave one cell for another, of the other group too.

*Privacy:* groups and cells are public; medians and difference of the released histogram are
post-processing.
*Utility:* groups have different rows and different noise, so their intervals are independent.
Each inverts ranks outwards (:mod:`confide.plans.estimation.cumulative`), at several levels, and the
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
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.estimates import AT_BOUND, Covers, Estimate, Forecast
from confide.plans.estimation.distribution import (
    FEW_ROWS,
    Distribution,
    distribution,
    quantile_estimate,
)
from confide.plans.estimation.intervals import median_error, quantile, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.two_groups import categories, two_groups
from confide.plans.typical_spread import NORMAL_MEDIAN, median_note
from confide.statistics.median_difference.joint_levels import joint_levels
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.expression import Expression
from confide.tables.relation import Relation, resolve
from confide.tables.schema import Dataset

UNTOLD = "direction not told"
"""Flag of a difference whose interval holds 0 besides other numbers, or 0 alone at a bound."""

_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianDifference(Statistic):
    """How much larger is the median of a number in one group than in another?

    Attributes:
        column: A number.
        by: The one category that makes the groups.
        groups: The reference, and what is compared with it; needed if there are more than two.
        bins: Most public cells between the declared bounds: one a value where there are enough,
            else one for each bound and equal ones between.
        edges: Where cells begin instead, in the unit of the column, from bound to bound.
        per_patient: ``rows=1`` where a patient may have several.
    """

    column: str
    by: tuple[str, ...]
    groups: tuple[str, ...] = ()
    bins: int = 64
    edges: tuple[Fraction, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if len(self.by) != 1:
            raise ContractError(
                f"Median difference {self.id!r} compares groups of one category.",
                hint="Write by: [sex].",
            )
        if self.bins < 2:
            raise ContractError(f"Median difference {self.id!r}: expected at least two bins.")

    def _axis(self, dataset: Dataset) -> Expression:
        return resolve(self.by[0], table=self.table, dataset=dataset)

    def _groups(self, dataset: Dataset) -> tuple[tuple[int, str], tuple[int, str]]:
        keys = categories(self._axis(dataset), name=self.by[0], dataset=dataset)
        return two_groups(self.groups, keys=keys, name=self.by[0])

    def _distribution(self, dataset: Dataset) -> Distribution:
        return distribution(
            self.column,
            table=self.table,
            bins=self.bins,
            edges=self.edges,
            name=f"Median difference {self.id!r}",
            dataset=dataset,
        )

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one histogram, group by group."""
        self._groups(dataset)
        axes = (self._axis(dataset), self._distribution(dataset).axis)
        aggregate = Aggregate(
            relation=Relation(table=self.table, where=self.where),
            axes=axes,
            value=Ones(),
            bounds=one_row_each(self.per_patient, table=self.table, axes=axes, dataset=dataset),
        )
        return (question("histogram", aggregate, dataset=dataset),)

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
        spread = self._distribution(dataset)
        expected = spread.expected(additive(mechanisms["histogram"]), rows=self.expect)
        one = [expected.ranks]

        def reach(asked: float) -> float:
            return quantile(one, level=asked) * math.sqrt(variance(one)) * expected.per_rank

        both = median_error(one * 2) * expected.per_rank
        wide = max(reach(s) + reach(t) for s, t in joint_levels(float(level)))
        return Forecast(
            half_width=wide + expected.cell,
            median_error=math.hypot(both, expected.cell * math.sqrt(2) / 8),
            level=float(level),
            unit=spread.of.unit,
            notes=(
                f"for groups of {self.expect} rows; cells are up to {spread.widest} wide",
                median_note(of=spread.of, even=wide / NORMAL_MEDIAN + expected.cell),
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
        spread, groups = self._distribution(dataset), self._groups(dataset)
        counts, noise = vector(noisy["histogram"]), additive(mechanisms["histogram"])
        own = [counts[i * spread.cells : (i + 1) * spread.cells] for i, _ in groups]
        level = float(self.level)
        medians = tuple(
            quantile_estimate(
                spread.ranked(cells, noise=noise, q=_HALF, level=level),
                statistic=self.id,
                key=(name,),
                covers=covers,
                level=level,
                least=spread.least(noise),
                of=spread.of,
            )
            for (_, name), cells in zip(groups, own, strict=True)
            for covers in Covers
        )
        pair = f"{groups[1][1]} vs {groups[0][1]}"
        differences = (
            self._difference(own, pair=pair, covers=covers, spread=spread, noise=noise)
            for covers in Covers
        )
        return (*medians, *differences)

    def _difference(
        self,
        own: Sequence[Sequence[int]],
        *,
        pair: str,
        covers: Covers,
        spread: Distribution,
        noise: DiscreteLaplace | DiscreteGaussian,
    ) -> Estimate:
        """Return the second group's median minus the first's, with what holds it."""
        level, sampled = float(self.level), covers is Covers.SAMPLING_AND_NOISE
        rows = [sum(cells) for cells in own]

        def located(place: int, at: float) -> tuple[int, int, int]:
            ranked = spread.ranked(own[place], noise=noise, q=_HALF, level=at)
            return ranked.located(sampled=sampled, level=at)

        value = located(1, level)[0] - located(0, level)[0]
        ends = [(located(0, s), located(1, t)) for s, t in joint_levels(level)]
        lower = min(value, *(second[1] - first[2] for first, second in ends))
        upper = max(value, *(second[2] - first[1] for first, second in ends))
        places = {end for both in ends for _, low, high in both for end in (low, high)}
        known, scale = min(rows) >= 1, float(spread.of.scale)
        few = (FEW_ROWS,) if min(rows) < spread.least(noise) else ()
        bound = (AT_BOUND,) if places & {spread.of.lower, spread.of.upper} else ()
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
            unit=spread.of.unit,
            flags=(*few, *bound, *untold),
        )
