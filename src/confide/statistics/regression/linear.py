"""Linear regression from noisy moments: coefficients in physical units, with intervals.

What is measured are sums of products of pairs of variables (:mod:`.moments`), each about public
centres c with half widths h, over one row of each patient.

*Lemma:* the product of two numbers, each within h of its centre, is at most h·h′, so its sum moves
by Δ₁ = Δ₂ = h·h′ under add-remove and 2·h·h′ under substitution (h² for a square, which is never
negative); a number by a category moves one cell by h, a crosstab one cell by 1.  Each is a
measurement of its own, and losses add.  Under ``zcdp`` nothing is lost by that: a patient at a
corner of the box (every |x − c| = h) moves all sums by their bounds at once, so the joint vector's
loss is Σ_e B_e²/(2σ_e²) there too, and no accounting of the same box could be cheaper.

*Weights:* in units of h, noise in XᵀX enters a coefficient times the other coefficients, which are
below 1 as the outcome is within its box; noise in Xᵀy enters it directly.  So sums with the outcome
get twice the budget of the others.

*Utility:* :mod:`.least_squares`; with the noise off ordinary least squares.  Errors take the rows
to be independent with equal residual variance.

References:
    [Wan18] Wang. Revisiting differentially private linear regression: optimal and adaptive
        prediction & estimation in unbounded domain. UAI 2018. https://arxiv.org/abs/1803.02596
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from confide.arrays import Floats
from confide.errors import ContractError, InvalidParameterError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import ABSENT
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.estimates import Estimate, Forecast
from confide.plans.estimation.intervals import median_error, noise_component, quantile, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.rounds.held_out import Recalibration, require_judges
from confide.plans.simulation import Simulation
from confide.statistics.regression.least_squares import fit
from confide.statistics.regression.moments import MomentTable, Variables, second_moments, tables
from confide.statistics.regression.published import Scales, published
from confide.statistics.regression.subgroups import (
    GroupSums,
    GroupTable,
    JudgedLine,
    group_tables,
)
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.descent_terms import MOST_SUBGROUPS
from confide.tables.aggregates.value import Centred, CentredSquare, Ones, Product, Value
from confide.tables.expression import Expression
from confide.tables.filter import All, Between
from confide.tables.relation import Relation, centre, domain, resolve
from confide.tables.schema import Dataset, Domain, Kind

MOST_TERMS = 40
_TYPICAL = 1 / 3
"""Assumed SD as a share of h, of covariates and outcome; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearRegression(Statistic):
    """How a number depends on others and on categories, all at once.

    Attributes:
        outcome: The number that is explained.
        covariates: Numbers, and categories of which the first value is the reference.
        per_patient: ``rows=1`` where a patient may have several.
        subgroups: Categories by whose values it is told how far predictions are off on average; not
            covariates.  Rows that lack one are left out.
    """

    outcome: str
    covariates: tuple[str, ...]
    per_patient: PerPatient = field(default_factory=PerPatient)
    subgroups: tuple[str, ...] = field(default=(), metadata={ABSENT: ()})

    def __post_init__(self) -> None:
        names = (self.outcome, *self.covariates)
        if not self.covariates or len(set(names)) != len(names):
            raise ContractError(
                f"Regression {self.id!r} needs an outcome and other variables, each named once.",
                hint="Write outcome: sbp and covariates: [age, bmi, sex].",
            )
        require_judges(
            self.id, hold_out=Fraction(0), recalibrate=Recalibration.NONE, subgroups=self.subgroups
        )
        if set(self.subgroups) & set(names):
            raise ContractError(
                f"Regression {self.id!r} has a column of subgroups that it tells apart itself, so "
                "its predictions are right there on average whatever is found.",
                hint="Name a category that is no covariate.",
            )

    def _resolved(self, name: str, dataset: Dataset) -> tuple[Expression, Domain]:
        expression = resolve(name, table=self.table, dataset=dataset)
        return expression, domain(expression, dataset=dataset)

    def _numbers(self, dataset: Dataset) -> tuple[tuple[str, Expression, Domain], ...]:
        """Return the numbers, the outcome last."""
        found = [(name, *self._resolved(name, dataset)) for name in self.covariates]
        expression, of = self._resolved(self.outcome, dataset)
        if of.kind is not Kind.NUMBER or of.keys:
            raise ContractError(
                f"The outcome {self.outcome!r} of regression {self.id!r} is not a number.",
                hint="For a condition, compare proportions.",
            )
        numbers = [item for item in found if not item[2].keys]
        for name, _, each in numbers:
            if each.kind is not Kind.NUMBER:
                raise ContractError(
                    f"Covariate {name!r} is neither a number nor a category.",
                    hint="Declare a per-patient value days-between, or cut it into bins.",
                )
        return (*numbers, (self.outcome, expression, of))

    def _categories(self, dataset: Dataset) -> tuple[tuple[str, Expression, Domain], ...]:
        found = [(name, *self._resolved(name, dataset)) for name in self.covariates]
        return tuple(item for item in found if item[2].keys)

    def _groups(self, dataset: Dataset) -> tuple[tuple[str, Expression, Domain], ...]:
        """Return the columns of subgroups.

        Raises:
            ContractError: If one has no public categories, or there are too many.
        """
        if len(self.subgroups) > MOST_SUBGROUPS:
            raise InvalidParameterError(
                f"Expected subgroups by at most {MOST_SUBGROUPS} columns, got "
                f"{len(self.subgroups)}.",
                hint="Each further column takes from the budget of all; name the ones that count.",
            )
        found = tuple((name, *self._resolved(name, dataset)) for name in self.subgroups)
        if not all(of.keys for _, _, of in found):
            raise ContractError(
                "A column of subgroups is not a category.", hint="Cut it into public bins."
            )
        return found

    def _variables(self, dataset: Dataset) -> Variables:
        levels = tuple(of.size() for _, _, of in self._categories(dataset))
        variables = Variables(numbers=len(self._numbers(dataset)), levels=levels)
        if variables.terms > MOST_TERMS:
            raise InvalidParameterError(
                f"Regression {self.id!r} has more than {MOST_TERMS} terms.",
                hint="Use fewer covariates or coarser categories.",
            )
        return variables

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return one sum for each pair of variables, all over the same rows."""
        numbers, categories = self._numbers(dataset), self._categories(dataset)
        variables = self._variables(dataset)
        groups = self._groups(dataset)
        named = (*numbers, *categories, *groups)
        known = tuple(Between(of=expression) for _, expression, _ in named)
        relation = Relation(table=self.table, where=All(of=(self.where, *known)))
        bounds = one_row_each(
            self.per_patient,
            table=self.table,
            axes=tuple(expression for _, expression, _ in (*categories, *groups)),
            dataset=dataset,
        )
        outcome = len(numbers) - 1

        def asked(table: MomentTable) -> Question:
            aggregate = Aggregate(
                relation=relation,
                axes=tuple(categories[place][1] for place in table.categories),
                value=_value([numbers[place][1] for place in table.numbers]),
                bounds=bounds,
            )
            direct = table.numbers.count(outcome) == 1
            name = _name(table, numbers=numbers, categories=categories)
            return question(name, aggregate, dataset=dataset, weight=2 if direct else 1)

        def asked_by(group: tuple[str, Expression, Domain], table: GroupTable) -> Question:
            by = () if table.category is None else (categories[table.category][1],)
            aggregate = Aggregate(
                relation=relation,
                axes=(*by, group[1]),
                value=_value([] if table.number is None else [numbers[table.number][1]]),
                bounds=bounds,
            )
            name = _name_by(group[0], table, numbers=numbers, categories=categories)
            return question(name, aggregate, dataset=dataset)

        return (
            *(asked(table) for table in tables(variables)),
            *(asked_by(group, table) for group in groups for table in group_tables(variables)),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the effect of one standard deviation of a number.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of regression {self.id!r} depends on the number of rows.",
                hint="Write expect: {count: 5000}, from a public source or an earlier certificate.",
            )
        numbers, categories = self._numbers(dataset), self._categories(dataset)
        of = numbers[-1][2]
        outcome = len(numbers) - 1
        table = next(t for t in tables(self._variables(dataset)) if outcome in t.numbers)
        name = _name(table, numbers=numbers, categories=categories)
        cells = cell_count(
            tuple(categories[place][1] for place in table.categories), dataset=dataset
        )
        each = 1 / (float(self.expect) * (_TYPICAL if len(numbers) > 1 else 1.0))
        parts = [noise_component(additive(mechanisms[name]), factor=each)] * cells
        scale = float(of.scale)
        return Forecast(
            half_width=scale * quantile(parts, level=float(level)) * math.sqrt(variance(parts)),
            median_error=scale * median_error(parts),
            level=float(level),
            unit=of.unit,
            notes=(
                f"for {self.expect} rows, of the effect of one standard deviation of a covariate",
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
        """Return coefficients, residual standard deviation, R² and the number of rows."""
        del simulation
        numbers, categories = self._numbers(dataset), self._categories(dataset)
        variables = self._variables(dataset)
        halves = [centre(of)[1] for _, _, of in numbers]
        values: dict[MomentTable, Floats] = {}
        components = []
        for table in tables(variables):
            name = _name(table, numbers=numbers, categories=categories)
            size = math.prod(halves[place] for place in table.numbers)
            values[table] = np.array(vector(noisy[name]), dtype=np.float64) / size
            noise = noise_component(additive(mechanisms[name]), factor=1 / size)
            components += [(table, noise)]
        moments = second_moments(
            values, {table: noise.variance for table, noise in components}, variables=variables
        )
        noises = [noise for table, noise in components for _ in range(len(values[table]))]
        scales = Scales(
            outcome=numbers[-1][2],
            numbers=tuple((name, of) for name, _, of in numbers[:-1]),
            categories=tuple((name, of) for name, _, of in categories),
        )
        found = fit(moments)
        whole = published(
            found, statistic=self.id, noises=noises, scales=scales, level=float(self.level)
        )
        of = numbers[-1][2]
        judged = JudgedLine(
            statistic=self.id,
            level=float(self.level),
            found=found,
            error=math.sqrt(float(moments.variances @ found.residual_noise**2)),
            variables=variables,
            size=float(of.scale) * halves[-1],
            unit=of.unit,
        )
        return (*whole, *self._judged(judged, noisy, mechanisms=mechanisms, dataset=dataset))

    def _judged(
        self,
        judged: JudgedLine,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
    ) -> Iterator[Estimate]:
        """Yield how far predictions are off in each subgroup."""
        numbers, categories = self._numbers(dataset), self._categories(dataset)
        for column, _, of in self._groups(dataset):
            values, noises = {}, {}
            for table in group_tables(judged.variables):
                name = _name_by(column, table, numbers=numbers, categories=categories)
                size = 1.0 if table.number is None else centre(numbers[table.number][2])[1]
                cells = np.array(vector(noisy[name]), dtype=np.float64) / size
                values[table] = cells.reshape(-1, of.size())
                noises[table] = noise_component(additive(mechanisms[name]), factor=1 / size)
            labels = [f"{column}: {key}" for key in of.keys]
            yield from judged.published(labels, GroupSums(values=values, noises=noises))


def _value(factors: list[Expression]) -> Value:
    match factors:
        case []:
            return Ones()
        case [one]:
            return Centred(of=one)
        case [first, second] if first == second:
            return CentredSquare(of=first)
        case _:
            return Product(of=tuple(Centred(of=factor) for factor in factors))


def _name_by(
    column: str,
    table: GroupTable,
    *,
    numbers: tuple[tuple[str, Expression, Domain], ...],
    categories: tuple[tuple[str, Expression, Domain], ...],
) -> str:
    summed = "rows" if table.number is None else numbers[table.number][0]
    by = "" if table.category is None else f"{categories[table.category][0]} × "
    return f"{summed} by {by}{column}"


def _name(
    table: MomentTable,
    *,
    numbers: tuple[tuple[str, Expression, Domain], ...],
    categories: tuple[tuple[str, Expression, Domain], ...],
) -> str:
    product = " × ".join(numbers[place][0] for place in table.numbers) or "rows"
    by = " × ".join(categories[place][0] for place in table.categories)
    return f"{product} by {by}" if by else product
