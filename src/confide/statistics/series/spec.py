"""Daily, weekly or monthly sums and means of a clipped number, with one noise for the whole series.

*Lemma:* a patient keeps at most m periods and r rows in each, so over all periods together the
centred sums move by Δ₂² = m·r²·h², the counts by m·r² (h = ⌈(U − L)/2⌉), and sums of x by
m·r²·max(|L|, |U|)²; under ``pure`` by Δ₁ = m·r·(U − L) and m·r·max(|L|, |U|); see
:mod:`confide.tables.bound_contributions`.

The budget is *not* split over the D periods.  A split gives each period ρ/D, or ε/D, and needs no
bound m: that is the same plan with m = D.  So one noise for all is √(D/m) times more accurate in
ρ, and D/m times in ε, than the split.

*Privacy:* periods are declared, so those without rows are published like any other.
*Utility:* a period whose noisy number of rows is not told apart from none is a gap: flagged, with
no value; nothing is interpolated.  With ``n_min``, a public least number N of rows a period, the
denominator is max(n, N): no gaps, an error that is known before anything is spent, and intervals
that cover c + Σ(x − c)/max(n, N), the mean wherever n ≥ N.  The textbook noises that mean itself,
with Δ₂ = √m·r·(U − L)/N: its error is stated beside ours, and is larger
(docs/design/011-series.md).

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
"""

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias, assert_never

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism, NoiseLaw
from confide.plans.cell_means import (
    CellMean,
    aside_note,
    cell_means,
    expected_error,
    mean_questions,
    measured_apart,
    rows_error,
)
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast, at_bound
from confide.plans.estimation.intervals import Component, quantile
from confide.plans.mechanisms import additive, vector
from confide.plans.periods import CUT_PERIOD, cut_periods, period_axis
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.privacy.measure import Measure
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound
from confide.tables.expression import DatePart, Expression
from confide.tables.filter import All, Between
from confide.tables.relation import Relation, centre, domain, resolve
from confide.tables.schema import Dataset, Domain

SeriesKey: TypeAlias = tuple[str, ...]
Additive: TypeAlias = NoiseLaw

GAP = "gap"
FEWER = "fewer than n-min"


class SeriesOf(enum.Enum):
    """What is published of a period."""

    MEAN = "mean"
    SUM = "sum"


class Budget(enum.Enum):
    """How the periods share the budget."""

    JOINT = "joint"
    SPLIT = "split"  # the naive way, to compare: an equal part for each period


@dataclass(frozen=True, slots=True, kw_only=True)
class Series(Statistic):
    """Sums or means of a column over time.

    Attributes:
        column: What is summed or averaged, clipped to its declared bounds.
        over: A date, or a derived column of bins, such as hours since admission.
        of: Means or sums.
        every: Length of a period of a date; days when None.
        since: First day, in days since 1970-01-01; the first declared one when None.
        until: Last day.
        per_patient: Most periods (``cells``) and rows in each of one patient.
        n_min: Public least number of rows of a period; the denominator is never smaller.
        budget: Joint, or split over the periods to compare.
    """

    column: str
    over: str
    of: SeriesOf = SeriesOf.MEAN
    every: DatePart | None = None
    since: int | None = None
    until: int | None = None
    per_patient: PerPatient = field(default_factory=PerPatient)
    n_min: int | None = None
    budget: Budget = Budget.JOINT

    def __post_init__(self) -> None:
        if self.n_min is not None and (self.n_min < 1 or self.of is SeriesOf.SUM):
            raise ContractError(
                f"Series {self.id!r}: n-min is a number of rows ≥ 1, for means.",
                hint="Leave it out for sums.",
            )

    @property
    def by(self) -> tuple[str, ...]:
        """Name of the axis."""
        return (self.over,)

    def axis(self, dataset: Dataset) -> Expression:
        """Return the periods."""
        return period_axis(
            self.over,
            every=self.every,
            since=self.since,
            until=self.until,
            table=self.table,
            dataset=dataset,
        )

    def axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        """Return the one axis."""
        return (self.axis(dataset),)

    def periods(self, dataset: Dataset) -> int:
        """Return the number of periods."""
        return domain(self.axis(dataset), dataset=dataset).size()

    def _column(self, dataset: Dataset) -> Expression:
        return resolve(self.column, table=self.table, dataset=dataset)

    def _domain(self, dataset: Dataset) -> Domain:
        return domain(self._column(dataset), dataset=dataset)

    def bounds(self, dataset: Dataset) -> ContributionBounds:
        """Return what a patient keeps: at most so many periods, and rows in each.

        Raises:
            ContractError: If rows are bounded, but not the periods that they may be in.
        """
        match bounds := self._declared(dataset):
            case RowBound() if self.budget is Budget.JOINT:
                raise ContractError(
                    f"Series {self.id!r} bounds a patient's rows, but not the periods.",
                    hint="Write per-patient: {cells: 5, rows: 1}: five periods, one row in each.",
                )
            case RowBound(max_rows=r):
                return CellBound(max_cells=self.periods(dataset), max_rows_per_cell=r)
            case CellBound() if self.budget is Budget.SPLIT:
                return replace(bounds, max_cells=self.periods(dataset))
            case CellBound() | OneEvent():
                return bounds
            case _:
                assert_never(bounds)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the sums; or for means the centred sums and counts, or distances from bounds."""
        column, axes, bounds = self._column(dataset), (self.axis(dataset),), self.bounds(dataset)
        match self.of:
            case SeriesOf.MEAN:
                return mean_questions(
                    column,
                    table=self.table,
                    where=self.where,
                    axes=axes,
                    bounds=bounds,
                    dataset=dataset,
                )
            case SeriesOf.SUM:
                known = All(of=(self.where, Between(of=column)))
                relation = Relation(table=self.table, where=known)
                value = Plain(of=column)
                sums = Aggregate(relation=relation, axes=axes, value=value, bounds=bounds)
                return (question("sum", sums, dataset=dataset),)
            case _:
                assert_never(self.of)

    def advantage(self, dataset: Dataset) -> float:
        """Return how many times wider noise split over the periods would be; 1 if it is split."""
        return 1.0 if self.budget is Budget.SPLIT else self.gain_of_joint(dataset)

    def gain_of_joint(self, dataset: Dataset) -> float:
        """Return the same of either budget; so many rows may be in as many periods."""
        periods, bounds, most = self.periods(dataset), self._declared(dataset), 1
        if not isinstance(bounds, OneEvent):
            most = bounds.max_rows if isinstance(bounds, RowBound) else bounds.max_cells
        return (periods / min(most, periods)) ** (0.5 if dataset.measure is Measure.ZCDP else 1)

    def _declared(self, dataset: Dataset) -> ContributionBounds:
        """Return the bounds as they are written."""
        axes = (self.axis(dataset),)
        return contribution_bounds(
            self.per_patient, table=self.table, axes=axes, counted=Counted.EVENTS, dataset=dataset
        )

    def textbook(self, rho: float, *, level: float, dataset: Dataset) -> float | None:
        """Return the half width if the mean itself were noised, Δ₂ = √m·r·(U − L)/N, at ρ.

        In the unit of the column; None without ``n_min``, or where the textbook has no answer.
        """
        bounds = self.bounds(dataset)
        if self.n_min is None or not measured_apart(dataset) or not isinstance(bounds, CellBound):
            return None
        of = self._domain(dataset)
        most = math.sqrt(min(bounds.max_cells, self.periods(dataset))) * bounds.max_rows_per_cell
        sigma = most * (of.upper - of.lower) / self.n_min / math.sqrt(2 * rho)
        return sigma * float(of.scale) * quantile([Component(variance=1.0)], level=level)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of one period; notes give that of the budget split over them.

        Raises:
            ContractError: If a mean has no public number of rows to plan with, or too few.
        """
        if self.n_min is not None and self.expect is not None and self.expect < self.n_min:
            raise ContractError(
                f"Series {self.id!r} expects {self.expect} rows a period, fewer than its n-min "
                f"{self.n_min}: every mean would be drawn to the middle of the bounds.",
                hint="Leave n-min out, or write one that periods surely reach.",
            )
        of, notes = self._domain(dataset), []
        planning: float | None = None if self.expect is None else float(self.expect)
        match self.of:
            case SeriesOf.SUM:
                noise = additive(mechanisms["sum"])
                half, median = (of.physical(noise.half_width(p)) for p in (float(level), 0.5))
            case SeriesOf.MEAN:
                rows = self.expect if self.expect is not None else self.n_min
                if rows is None:
                    raise ContractError(
                        f"The error of series {self.id!r} depends on the rows of a period.",
                        hint="Write expect: {count: 500}, or n-min: 200, from a public source.",
                    )
                half, median = expected_error(
                    mechanisms, of=of, level=float(level), rows=float(rows), dataset=dataset
                )
                planning = of.physical(centre(of)[0])
                notes.append(f"for periods of {rows} rows")
                widest, _ = expected_error(
                    mechanisms,
                    of=of,
                    level=float(level),
                    rows=float(rows),
                    dataset=dataset,
                    aside=1.0,
                )
                notes.append(aside_note(of=of, widest=widest))
            case _:
                assert_never(self.of)
        times = self.advantage(dataset)
        if times > 1:
            wide = f"±{times * half:.3g} {of.unit}".strip()
            notes.append(
                f"split over the {self.periods(dataset)} periods, the budget would give {wide}, "
                f"{times:.3g} times as wide"
            )
        rho = sum(
            float(asked.sensitivity.l2_squared) / (2 * additive(mechanisms[asked.name]).variance())
            for asked in self.questions(dataset)
        )
        book = self.textbook(rho, level=float(level), dataset=dataset)
        if book is not None:
            wide = f"±{book:.3g} {of.unit}".strip()
            notes.append(f"noise on the mean itself, by the textbook, would give {wide}")
        return Forecast(
            half_width=half,
            median_error=median,
            level=float(level),
            unit=of.unit,
            planning=planning,
            notes=tuple(notes),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return one number a period; for means also the number of rows."""
        del simulation
        of, axis = self._domain(dataset), self.axis(dataset)
        cut = cut_periods(axis, dataset=dataset)
        keys = [
            (key, (CUT_PERIOD,) if place in cut else ())
            for place, key in enumerate(cell_keys((axis,), dataset=dataset))
        ]
        if self.of is SeriesOf.SUM:
            noise = additive(mechanisms["sum"])
            sums = zip(keys, vector(noisy["sum"]), strict=True)
            return tuple(
                self._sum(key, raw, noise=noise, of=of, flags=cuts) for (key, cuts), raw in sums
            )
        means = cell_means(
            noisy,
            mechanisms=mechanisms,
            of=of,
            level=float(self.level),
            dataset=dataset,
            least=self.n_min or 0,
        )
        error = rows_error(mechanisms, of=of, dataset=dataset)
        half = quantile([error], level=float(self.level)) * math.sqrt(error.variance)
        each = list(zip(keys, means, strict=True))
        return (
            *(self._mean(key, mean, half, of=of, flags=cuts) for (key, cuts), mean in each),
            *(self._rows(key, mean.rows, half, error=error) for (key, _), mean in each),
        )

    def _mean(
        self, key: SeriesKey, mean: CellMean, half: float, *, of: Domain, flags: tuple[str, ...]
    ) -> Estimate:
        """Return the mean of a period; none where its rows cannot be told from no rows."""
        found, error = mean.share, mean.share.standard_error
        gap = found.value is None or (self.n_min is None and mean.rows <= half)
        if gap:
            flags = (*flags, GAP)
        elif self.n_min is not None:
            flags = (*flags, FEWER) if mean.rows < self.n_min else flags
        elif mean.few:
            flags = (*flags, "denominator too small")
        flags = flags if gap else (*flags, *at_bound(found.value))
        reach = of.upper - of.lower
        value, low, high = (
            None if gap or p is None else of.physical(min(of.lower + reach * p, of.upper))
            for p in (found.value, found.lower, found.upper)
        )
        deviation = None if gap or error is None else float(of.scale) * reach * error
        return self._estimate("mean", key, (value, low, high), deviation, of.unit, flags)

    def _rows(self, key: SeriesKey, rows: float, half: float, *, error: Component) -> Estimate:
        numbers = tuple(max(0.0, number) for number in (rows, rows - half, rows + half))
        flags = ("below zero",) if rows < 0 else ()
        return self._estimate("count", key, numbers, math.sqrt(error.variance), "rows", flags)

    def _sum(
        self, key: SeriesKey, raw: int, *, noise: Additive, of: Domain, flags: tuple[str, ...]
    ) -> Estimate:
        """Return the sum of a period, cut where no sum of such values can be."""
        width = noise.half_width(float(self.level))
        least = -math.inf if of.lower < 0 else 0.0
        most = math.inf if of.upper > 0 else 0.0
        numbers = tuple(
            min(max(of.physical(number), least), most) for number in (raw, raw - width, raw + width)
        )
        deviation = float(of.scale) * noise.standard_deviation()
        return self._estimate("sum", key, numbers, deviation, of.unit, flags)

    def _estimate(
        self,
        quantity: str,
        key: SeriesKey,
        numbers: tuple[float | None, ...],
        deviation: float | None,
        unit: str,
        flags: tuple[str, ...],
    ) -> Estimate:
        value, lower, upper = numbers
        return Estimate(
            statistic=self.id,
            quantity=quantity,
            key=key,
            value=value,
            standard_error=deviation,
            lower=lower,
            upper=upper,
            level=float(self.level),
            covers=Covers.NOISE,
            unit=unit,
            flags=flags,
        )
