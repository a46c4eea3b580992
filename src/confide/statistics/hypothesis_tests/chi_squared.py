"""χ² test of independence of two categories, with the share of each within each of the first.

*Lemma:* the cells of an r × c table are disjoint and one row of a patient is counted, so one
measurement has Δ₁ = Δ₂² = 1 under add-remove, 2 and 2 under substitution.

*Utility:* Q is the residual of independence, whitened by sampling and noise together
(:mod:`.contingency`), and its null law knows the shape of the noise (:mod:`.null_law`); with the
noise off both are Pearson's.  Where a cell's expected count is below 5, or below 3 standard
deviations of its noise, p is withheld: a public rule on noisy numbers.  Departures are
π_ij − π_i₊π₊_j, whose error is linear in table and noise to first order.  Shares π_ij/π_i₊ have the
intervals of :func:`~confide.plans.estimation.intervals.share`: A is one cell and B the rest of its
row, whose noise is the sum of theirs.

References:
    [KR17] Kifer, Rogers. A new class of private chi-square hypothesis tests. AISTATS 2017.
        https://arxiv.org/abs/1610.07662
    [GLRV16] Gaboardi, Lim, Rogers, Vadhan. Differentially private chi-squared hypothesis testing.
        ICML 2016. https://arxiv.org/abs/1602.03090
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from confide.arrays import Floats
from confide.errors import ContractError, InvalidParameterError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import (
    Component,
    median_error,
    noise_component,
    quantile,
    share,
    together,
    variance,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.two_groups import categories
from confide.statistics.hypothesis_tests.contingency import departures, independence
from confide.statistics.hypothesis_tests.null_law import mixing, tail
from confide.statistics.hypothesis_tests.published import TOO_FEW, number, solid
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count, cell_keys
from confide.tables.aggregates.value import Ones
from confide.tables.relation import Relation, axes_of
from confide.tables.schema import Dataset

MOST_CELLS = 400
_LEAST_ROW = 10.0
"""Deviations of its noise that the rows of a share must be."""

_SMALL_ROW = "denominator too small"
_ALL = ("all", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChiSquaredTest(Statistic):
    """Are two categories independent?

    Attributes:
        by: The two categories: rows and columns of the table.
        per_patient: ``rows=1`` where a patient may have several.
    """

    by: tuple[str, ...]
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if len(self.by) != 2 or self.by[0] == self.by[1]:
            raise ContractError(
                f"χ² test {self.id!r} needs two categories, got {len(set(self.by))}.",
                hint="Write by: [ward, readmitted].",
            )

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one table of counts."""
        axes = axes_of(self.by, table=self.table, dataset=dataset)
        for name, axis in zip(self.by, axes, strict=True):
            categories(axis, name=name, dataset=dataset)
        if cell_count(axes, dataset=dataset) > MOST_CELLS:
            raise InvalidParameterError(
                f"χ² test {self.id!r} has more than {MOST_CELLS} cells.",
                hint="Use coarser bins or categories.",
            )
        aggregate = Aggregate(
            relation=Relation(table=self.table, where=self.where),
            axes=axes,
            value=Ones(),
            bounds=one_row_each(self.per_patient, table=self.table, axes=axes, dataset=dataset),
        )
        return (question("count", aggregate, dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of one departure, in a table of equal cells.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of χ² test {self.id!r} depends on the number of rows.",
                hint="Write expect: {count: 5000}, from a public source or an earlier certificate.",
            )
        noise = noise_component(additive(mechanisms["count"]))
        cells = cell_count(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        each = 1 / float(self.expect)
        least = max(5.0, 3 * math.sqrt(noise.variance))
        return Forecast(
            half_width=each * quantile([noise], level=float(level)) * math.sqrt(noise.variance),
            median_error=each * median_error([noise]),
            level=float(level),
            unit="1",
            notes=(
                f"for {self.expect} rows in {cells} cells",
                f"p is withheld if a cell expects fewer than {math.ceil(least)} rows",
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
        """Return p, the statistic, each cell's share of its row and departure from independence."""
        axes = axes_of(self.by, table=self.table, dataset=dataset)
        r, c = (len(categories(a, name="", dataset=dataset)) for a in axes)
        table = np.array(vector(noisy["count"]), dtype=np.float64).reshape(r, c)
        mechanism = additive(mechanisms["count"])
        noise = noise_component(mechanism)
        found = independence(table, noise_variance=noise.variance)
        degrees = (r - 1) * (c - 1)
        p = tail(
            found.statistic,
            loadings=found.loadings,
            noise_variance=noise.variance,
            mixed=mixing(
                mechanism, degrees=degrees, numbers=r * c, simulation=simulation, purpose=self.id
            ),
        )
        few = not solid(float(found.least_expected), noise_variance=noise.variance)
        level = float(self.level)
        return (
            number(self.id, "p-value", _ALL, None if few else float(p), level=level, few=few),
            number(
                self.id,
                "chi-squared",
                _ALL,
                None if few else float(found.statistic),
                level=level,
                few=few,
            ),
            number(self.id, "degrees of freedom", _ALL, float(degrees), level=level),
            *self._shares(table, keys=cell_keys(axes, dataset=dataset), noise=noise),
            *self._departures(table, keys=cell_keys(axes, dataset=dataset), noise=noise, few=few),
        )

    def counts_behind(
        self, noisy: Mapping[str, Sequence[float]], *, dataset: Dataset
    ) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield the row of each share, and what of it has another label; a house rule asks."""
        axes = axes_of(self.by, table=self.table, dataset=dataset)
        columns = len(categories(axes[1], name="", dataset=dataset))
        counts = noisy["count"]
        for place, key in enumerate(cell_keys(axes, dataset=dataset)):
            first = place - place % columns
            row = float(sum(counts[first : first + columns]))
            yield "share", key, row
            yield "share", key, row - counts[place]

    def _shares(
        self, table: Floats, *, keys: tuple[tuple[str, ...], ...], noise: Component
    ) -> list[Estimate]:
        """Return the share of each label of the second category within each of the first."""
        others = together([noise] * (table.shape[1] - 1))
        rows = table.sum(axis=1)
        least = _LEAST_ROW * math.sqrt(table.shape[1] * noise.variance)
        found = []
        for key, (i, j) in zip(keys, np.ndindex(table.shape), strict=True):
            having, row = float(table[i, j]), float(rows[i])
            for covers in (Covers.NOISE, Covers.SAMPLING_AND_NOISE):
                each = share(
                    having,
                    row - having,
                    noise=noise,
                    other=others,
                    spread=0.0 if covers is Covers.NOISE else max(row, 0.0),
                    least=1,
                    level=float(self.level),
                )
                found.append(
                    Estimate(
                        statistic=self.id,
                        quantity="share",
                        key=key,
                        value=each.value,
                        standard_error=each.standard_error,
                        lower=each.lower,
                        upper=each.upper,
                        level=float(self.level),
                        covers=covers,
                        unit="1",
                        flags=(_SMALL_ROW,) if row < least or each.value is None else (),
                    )
                )
        return found

    def _departures(
        self,
        table: Floats,
        *,
        keys: tuple[tuple[str, ...], ...],
        noise: Component,
        few: bool,
    ) -> list[Estimate]:
        values, sampling, weights = departures(table)
        found = []
        for key, value, spread, row in zip(keys, values, sampling, weights, strict=True):
            parts = [Component(variance=spread), *(noise.times(float(w)) for w in row)]
            error = math.sqrt(variance(parts))
            width = quantile(parts, level=float(self.level)) * error
            found.append(
                Estimate(
                    statistic=self.id,
                    quantity="departure",
                    key=key,
                    value=None if few else float(value),
                    standard_error=None if few else error,
                    lower=None if few else float(value) - width,
                    upper=None if few else float(value) + width,
                    level=float(self.level),
                    covers=Covers.SAMPLING_AND_NOISE,
                    unit="1",
                    flags=(TOO_FEW,) if few else (),
                )
            )
        return found
