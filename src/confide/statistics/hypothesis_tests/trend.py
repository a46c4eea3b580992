"""Cochran–Armitage test of a trend: does a share rise or fall over ordered categories?

*Lemma:* cells are category × {without, with}, and one row of a patient is counted, so one
measurement has Δ₁ = Δ₂² = 1 under add-remove, 2 and 2 under substitution.  The scores are public.

*Utility:* one degree of freedom against a linear trend, where the test of independence spends
k − 1.  z² is the squared score contrast over its variance by sampling and noise
(:func:`.contingency.trend`); with the noise off that of Armitage.  The slope is that of the
least-squares line of the shares over the scores, weighted by the categories' numbers; its interval
holds sampling about that line, whatever the shape of the trend, and noise.

References:
    [Arm55] Armitage. Tests for linear trends in proportions and frequencies. Biometrics 11(3),
        1955. https://doi.org/10.2307/3001775
    [KR17] Kifer, Rogers. A new class of private chi-square hypothesis tests. AISTATS 2017.
        https://arxiv.org/abs/1610.07662
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from confide.arrays import Floats
from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import (
    Component,
    median_error,
    noise_component,
    quantile,
    share,
    variance,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.two_groups import categories
from confide.statistics.hypothesis_tests.contingency import slope, trend
from confide.statistics.hypothesis_tests.null_law import mixing, tail
from confide.statistics.hypothesis_tests.published import TOO_FEW, number, solid
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.conditions.known import rows_told
from confide.tables.expression import Expression, Holds
from confide.tables.filter import Predicate
from confide.tables.relation import resolve
from confide.tables.schema import Dataset

_ALL = ("all",)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendTest(Statistic):
    """Does a share rise or fall over ordered categories?

    Attributes:
        of: The condition whose share is wanted.
        by: The one ordered category.
        scores: Public scores of its values; 0, 1, 2, … when empty.
        per_patient: ``rows=1`` where a patient may have several.
    """

    of: Predicate
    by: tuple[str, ...]
    scores: tuple[Fraction, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if len(self.by) != 1:
            raise ContractError(
                f"Trend test {self.id!r} runs over one ordered category.",
                hint="Write by: [age_band].",
            )
        if self.scores and len(set(self.scores)) < 2:
            raise ContractError(
                f"Trend test {self.id!r}: equal scores have no trend.",
                hint="Write scores: [0, 1, 2].",
            )

    def _axis(self, dataset: Dataset) -> Expression:
        return resolve(self.by[0], table=self.table, dataset=dataset)

    def _keys(self, dataset: Dataset) -> tuple[str, ...]:
        keys = categories(self._axis(dataset), name=self.by[0], dataset=dataset)
        if self.scores and len(self.scores) != len(keys):
            raise ContractError(
                f"Trend test {self.id!r}: expected {len(keys)} scores, one for each value of "
                f"{self.by[0]!r}, got {len(self.scores)}.",
                hint=f"They are, in order: {', '.join(keys)}.",
            )
        return keys

    def _scores(self, dataset: Dataset) -> Floats:
        places = range(len(self._keys(dataset)))
        return np.array([float(score) for score in self.scores or places])

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one table of counts without and with, category by category."""
        self._keys(dataset)
        axes = (self._axis(dataset), Holds(of=self.of))
        aggregate = Aggregate(
            relation=rows_told(self.table, where=self.where, of=self.of, dataset=dataset),
            axes=axes,
            value=Ones(),
            bounds=one_row_each(self.per_patient, table=self.table, axes=axes, dataset=dataset),
        )
        return (question("count", aggregate, dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the slope per unit of score, for equal categories.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of trend test {self.id!r} depends on the number of rows of a category.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        scores = self._scores(dataset)
        steps = scores - scores.mean()
        noise = noise_component(additive(mechanisms["count"]))
        total = float(self.expect) * float(steps @ steps)
        parts = [noise.times(float(step) / 2 / total) for step in (*steps, *steps)]
        return Forecast(
            half_width=quantile(parts, level=float(level)) * math.sqrt(variance(parts)),
            median_error=median_error(parts),
            level=float(level),
            unit="1",
            notes=(f"for categories of {self.expect} rows, half of them with the condition",),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the share of each category, the slope, z² and p."""
        keys, scores = self._keys(dataset), self._scores(dataset)
        table = np.array(vector(noisy["count"]), dtype=np.float64).reshape(len(keys), 2)
        mechanism = additive(mechanisms["count"])
        noise = noise_component(mechanism)
        found = trend(table, scores=scores, noise_variance=noise.variance)
        few = not solid(float(found.least_expected), noise_variance=noise.variance)
        p = tail(
            found.statistic,
            loadings=found.loadings,
            noise_variance=noise.variance,
            mixed=mixing(
                mechanism, degrees=1, numbers=table.size, simulation=simulation, purpose=self.id
            ),
        )
        level = float(self.level)
        return (
            *(
                self._share(key, float(having), float(without), noise=noise, few=few)
                for key, (without, having) in zip(keys, table, strict=True)
            ),
            self._slope(table, scores=scores, noise=noise, few=few),
            number(
                self.id,
                "chi-squared",
                _ALL,
                None if few else float(found.statistic),
                level=level,
                few=few,
            ),
            number(self.id, "p-value", _ALL, None if few else float(p), level=level, few=few),
        )

    def _share(
        self, key: str, having: float, without: float, *, noise: Component, few: bool
    ) -> Estimate:
        found = share(
            having,
            without,
            noise=noise,
            spread=max(having + without, 0.0),
            least=1,
            level=float(self.level),
        )
        return Estimate(
            statistic=self.id,
            quantity="share",
            key=(key,),
            value=found.value,
            standard_error=found.standard_error,
            lower=found.lower,
            upper=found.upper,
            level=float(self.level),
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=(TOO_FEW,) if few or found.value is None else (),
        )

    def _slope(
        self,
        table: Floats,
        *,
        scores: Floats,
        noise: Component,
        few: bool,
    ) -> Estimate:
        value, sampling, weights = slope(table, scores=scores)
        parts = [Component(variance=sampling), *(noise.times(float(w)) for w in weights)]
        error = math.sqrt(variance(parts))
        width = quantile(parts, level=float(self.level)) * error
        return Estimate(
            statistic=self.id,
            quantity="slope",
            key=_ALL,
            value=None if few else value,
            standard_error=None if few else error,
            lower=None if few else value - width,
            upper=None if few else value + width,
            level=float(self.level),
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=(TOO_FEW,) if few else (),
        )
