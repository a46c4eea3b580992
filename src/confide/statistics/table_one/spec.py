"""Table 1: the characteristics of patients, by group and overall, from one budget.

*Lemma:* a row that is kept adds 1 to one coordinate of each line of labels or bins (rows without
the value to "missing"), and numbers ≥ 0 that add up to (U−L)² to the coordinates of each line of
moments (rows without the value to "missing", all of it).  With m rows of a patient each line moves
by at most Δ₁ = Δ₂ = m, or m·(U−L)², under add-remove; v lines of labels together by L1 = v·m and
L2² = v·m².  By substitution twice that, and √2 times in L2.  Losses of the lines add up.

Medians whose cells nobody states are counted in two rounds with weights a and b, in cells that the
line's own noisy first round points to: L1 = (a+b)·m and L2² = (a²+b²)·m² in place of m and m²
(:mod:`confide.tables.aggregates.refined`).  Given the noisy answers before, each round of each line
is a fixed query, so by adaptive composition losses add up as those of joint vectors, in whatever
order rounds of different lines are answered [DR14, thm 3.16]; all are charged at once.

*Privacy:* every line keeps the same rows, because no line drops a row that another keeps; "overall"
is the sum of the groups and is never measured.
*Utility:* the budget is split so that all lines have the same error relative to the error asked of
them: with an error of cᵢ per unit of noise and aᵢ asked, noise in proportion to aᵢ/cᵢ costs
εᵢ ∝ Δ₁cᵢ/aᵢ under pure DP and ρᵢ ∝ (Δ₂cᵢ/aᵢ)² under zCDP, which is the closed form.  All lines
measure the number of rows of a group, so by least squares [HRMS10] they share one total; whole
numbers that add up are the nearest ones.  Intervals cover the noise, and for shares, means,
quantiles and standardised mean differences sampling too.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, def. 3.
        https://doi.org/10.1007/11681878_14
    [HRMS10] Hay, Rastogi, Miklau, Suciu. Boosting the accuracy of differentially private histograms
        through consistency. PVLDB 3(1), 2010. https://doi.org/10.14778/1920841.1920970
    [YD12] Yang, Dalton. A unified approach to measuring the effect size between two groups using
        SAS. SAS Global Forum 2012, paper 335.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError, UnsupportedError
from confide.noise.mechanism import Mechanism
from confide.plans.cell_means import aside_note
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.cuts.chosen_together import chosen_value, chosen_values, error_of_median
from confide.plans.estimates import Estimate, Forecast
from confide.plans.estimation.intervals import Component, median_error, noise_component, quantile
from confide.plans.mechanisms import additive, quantile_set, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.typical_spread import NORMAL_MEDIAN, median_note
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.statistics.table_one.body import Body
from confide.statistics.table_one.in_rounds import as_read
from confide.statistics.table_one.lines import (
    QUARTILES,
    Characteristic,
    LineVector,
    MeasuredLine,
    consistent,
    lines,
    places,
)
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.shapes import Measured, Refined, Together
from confide.tables.bound_contributions import rows_per_unit
from confide.tables.relation import OVERALL, Relation, axes_of
from confide.tables.schema import Dataset

_GRID = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOne(Statistic):
    """Characteristics of patients: n (%), mean (SD), median [IQR], missing, and differences.

    Attributes:
        variables: The rows of the table.
        by: Groups, at most one; none gives one column.
        per_patient: Bounds, where the schema gives none; rows only.
    """

    variables: tuple[Characteristic, ...]
    by: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        names = [variable.column for variable in self.variables]
        if not names or len(set(names)) != len(names):
            raise ContractError(
                f"Table {self.id!r}: expected variables, each named once.",
                hint="Write variables: [sex, age].",
            )
        if len(self.by) > 1 or set(self.by) & set(names):
            raise ContractError(
                f"Table {self.id!r}: expected at most one group, which is no variable of its own.",
                hint="Write by: [arm].",
            )
        if self.per_patient.cells is not None:
            raise ContractError(
                f"Table {self.id!r} bounds cells: then its lines would keep different rows.",
                hint="Write per-patient: {rows: 1}.",
            )

    @property
    def key_names(self) -> tuple[str, str, str]:
        """What the parts of an estimate's key are."""
        return "variable", "label", "group"

    def lines(self, dataset: Dataset) -> tuple[MeasuredLine, ...]:
        """Return what is measured, one vector each."""
        return lines(
            self.variables,
            table=self.table,
            where=self.where,
            expect=self.expect,
            dataset=dataset,
        )

    def group_labels(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the labels of the groups; none if the table has one column.

        Raises:
            ContractError: If a group is called as the whole is.
        """
        if not self.by:
            return ()
        labels = tuple(
            key
            for (key,) in cell_keys(
                axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset
            )
        )
        if OVERALL in labels:
            raise ContractError(f"Table {self.id!r}: a group must not be called {OVERALL!r}.")
        return labels

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return one vector a line, weighted so that all reach their asked errors alike.

        Raises:
            ContractError: If no line counts rows.
        """
        if all(line.way is LineVector.VALUES for line in self.lines(dataset)):
            raise ContractError(
                f"Table {self.id!r} has values without intervals alone: nothing counts its rows.",
                hint="Add a variable with labels or a mean, or leave out interval.",
            )
        groups = axes_of(self.by, table=self.table, dataset=dataset)
        self.group_labels(dataset)
        relation = Relation(table=self.table, where=self.where)
        found = []
        for line in self.lines(dataset):
            bounds = contribution_bounds(
                self.per_patient,
                table=self.table,
                axes=(*groups, line.of),
                counted=Counted.EVENTS,
                dataset=dataset,
            )
            aggregate = line.aggregate(relation, groups=groups, bounds=bounds, dataset=dataset)
            asked = question(line.name, aggregate, dataset=dataset)
            weight = _weight(line, asked, dataset=dataset)
            found.append(question(line.name, aggregate, dataset=dataset, weight=weight))
        return tuple(found)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the largest error of a line, in units of the error asked of it.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The errors of table {self.id!r} depend on the number of rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        halves, medians, notes = [], [], [f"for groups of {self.expect} rows"]
        asked = {each.name: each.aggregate for each in self.questions(dataset)}
        for line in self.lines(dataset):
            if line.way is LineVector.VALUES:
                law = quantile_set(mechanisms[line.name])
                error = error_of_median(
                    law, of=line.domain, rows=float(self.expect), level=float(level)
                )
                halves.append(error.wide / float(line.asked))
                medians.append(error.usual / float(line.asked))
                notes.append(_note(line, half=error.wide, cell=0.0))
                continue
            part, cell = self._error(line, asked=asked[line.name], mechanisms=mechanisms)
            half = quantile([part], level=float(level)) * math.sqrt(part.variance)
            halves.append((half + cell / 2) / float(line.asked))
            medians.append(math.hypot(median_error([part]), cell / 8) / float(line.asked))
            notes.append(_note(line, half=half, cell=cell))
        return Forecast(
            half_width=max(halves),
            median_error=max(medians),
            level=float(level),
            unit="{asked error}",
            notes=tuple(notes),
        )

    def _error(
        self, line: MeasuredLine, *, asked: Measured, mechanisms: Mapping[str, Mechanism]
    ) -> tuple[Component, float]:
        """Return the error that noise brings, and how wide the cells of two rounds are."""
        mechanism, rows = additive(mechanisms[line.name]), self.expect or Fraction(1)
        if line.cells is not None and isinstance(asked, Refined):
            expected = line.cells.expected(asked, noise=mechanism, rows=rows)
            return expected.ranks.times(expected.per_rank), expected.cell
        noise = noise_component(mechanism, factor=1 / line.worth)
        error = noise.times(line.error_of_one / float(rows))
        if line.way is LineVector.COUNTS:
            return error, 0.0
        terms = (
            2 if line.way is LineVector.MOMENTS else line.known
        )  # a sum over them has no lattice
        kurtosis = error.excess_kurtosis / terms
        return Component(variance=error.variance, excess_kurtosis=kurtosis), 0.0

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return every number of the table, group by group and overall."""
        asked = {each.name: each.aggregate for each in self.questions(dataset)}
        groups = self.group_labels(dataset)
        measured = self.lines(dataset)
        found = [
            as_read(
                line,
                noisy[line.name],
                asked=asked[line.name],
                mechanism=mechanisms[line.name],
                groups=max(1, len(groups)),
            )
            for line in measured
            if line.way is not LineVector.VALUES
        ]
        of = tuple(each.line for each in found)
        body = Body(
            id=self.id,
            lines=of,
            places=places(of),
            of=consistent(of, mechanisms=mechanisms),
            vectors=tuple(each.numbers for each in found),
            firsts=tuple(each.first for each in found),
            groups=groups,
            level=float(self.level),
            simulation=simulation,
        )
        alone = (
            self._values(line, noisy[line.name], asked=asked[line.name], groups=groups)
            for line in measured
            if line.way is LineVector.VALUES
        )
        return (*body.estimates(), *(each for values in alone for each in values))

    def _values(
        self, line: MeasuredLine, noisy: Noisy, *, asked: Measured, groups: tuple[str, ...]
    ) -> Iterator[Estimate]:
        """Yield quartiles without intervals, group by group; of all groups together none."""
        if not isinstance(asked, Together):
            raise UnsupportedError("Expected a choice of quartiles.")
        found = chosen_values(asked, vector(noisy))
        for group, values in zip(groups or (OVERALL,), found, strict=True):
            for q, value in zip(QUARTILES, values, strict=True):
                key = (line.variable, "", group)
                yield chosen_value(
                    value, q=q, statistic=self.id, key=key, level=self.level, of=line.domain
                )


def _weight(line: MeasuredLine, asked: Question, *, dataset: Dataset) -> Fraction:
    """Return the line's share of the budget, up to a common factor; of two rounds as of one.

    Of a choice as of a count of rows.
    """
    ratio = Fraction(round(_GRID * line.error_of_one / float(line.asked)), _GRID)
    measure = dataset.measure
    if isinstance(asked.aggregate, Together):
        rows = rows_per_unit(asked.aggregate.bounds)
        twice = 2 if dataset.adjacency is Adjacency.SUBSTITUTE else 1
        return twice * (rows * ratio if measure is Measure.PURE else (rows * ratio) ** 2)
    a, b = asked.aggregate.weights if isinstance(asked.aggregate, Refined) else (0, 1)
    match measure:
        case Measure.PURE:
            return asked.sensitivity.l1 * ratio / (line.worth * (a + b))
        case Measure.ZCDP:
            return asked.sensitivity.l2_squared * (ratio / line.worth) ** 2 / (a * a + b * b)
        case _:
            assert_never(measure)


_AT_A_BOUND = math.sqrt(2.5)
"""Times the error in the middle: (1−t)² + (½−t)² + t² is ½ there and 5/4 at a bound."""


def _note(line: MeasuredLine, *, half: float, cell: float) -> str:
    match line.way:
        case LineVector.COUNTS:
            return f"{line.variable}: shares ±{100 * half:.2g} %"
        case LineVector.MOMENTS:
            shown = f"{line.variable}: mean ±{half:.2g} {line.domain.unit}".rstrip()
            aside = aside_note(of=line.domain, widest=half * _AT_A_BOUND, aside=0.0)
            return f"{shown}, {aside}"
        case LineVector.VALUES:
            shown = f"{line.variable}: median ±{half:.2g} {line.domain.unit}".rstrip()
            return f"{shown}, a value alone"
        case LineVector.HISTOGRAM:
            shown = f"{line.variable}: median ±{half + cell / 2:.2g} {line.domain.unit}".rstrip()
            even = half / NORMAL_MEDIAN + cell / 2
            return f"{shown}, {median_note(of=line.domain, even=even)}"
        case _:
            assert_never(line.way)
