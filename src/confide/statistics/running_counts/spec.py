"""Running and rolling counts over time, for dashboards that grow.

*Lemma:* with C the square root of the running sums on a 2⁻²⁰ grid and k cells of r rows each kept
of a patient, the earliest first, C·x moves by Δ₂ = r‖C₁ + … + C_k‖, the exact maximum over
admissible cells; see :mod:`confide.tables.aggregates.square_root`.  Under ``pure`` the counts x
themselves are measured, Δ₁ = k·r, and added up.

*Privacy:* C is lower-triangular: coordinate t depends on the periods up to t alone.  So the noisy
coordinates may be published as periods end, all for the one charge made at the start [DMRST22, thm.
2.1], also when later rows depend on what was published.  This needs that what a patient adds to a
period is the same whenever it is read: the *earliest* cells are kept, which later rows do not
change, and only a row's own columns are looked at (:mod:`confide.tables.aggregates.factorized`);
and rows must not be added to, changed in or taken from a period once it is published, so ``over``
is the day on which a record came in (its report day), and a late report counts on that day.  A
patient for whom published periods are changed j times loses at most (j+1)·ρ: between two changes
the coordinates are part of C·v for one admissible v.  Event days as known on a report day are sums
of cells (event day by report day): group by the event day.

*Utility:* at T = 365 days, ρ = 1/2 and one row a patient, the running count has a root mean square
error of 2.78 and at most 2.94; noise on each day's count would give 13.5 and 19.1.  Numbers are
unbiased; intervals cover the noise and hold one by one.

References:
    [DMRST22] Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via
        optimal private linear operators on adaptive streams. NeurIPS 2022.
        https://arxiv.org/abs/2202.08312
    [FHU23] Fichtenberger, Henzinger, Upadhyay. Constant matters: fine-grained error bound on
        differentially private continual observation. ICML 2023. https://arxiv.org/abs/2202.11205
    [Sid67] Šidák. Rectangular confidence regions for the means of multivariate normal
        distributions. JASA 62(318), 1967. https://doi.org/10.1080/01621459.1967.10482935
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import Component, noise_component, quantile
from confide.plans.mechanisms import additive, vector
from confide.plans.periods import CUT_PERIOD, completed, cut_periods, period_axis
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.privacy.measure import Measure
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.factorized import FactorizedAggregate
from confide.tables.aggregates.shapes import Growing
from confide.tables.aggregates.square_root import ONE, convolved, inverse, running
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound, CellOrder, ContributionBounds, RowBound
from confide.tables.expression import DatePart, Expression
from confide.tables.relation import Relation, axes_of, domain
from confide.tables.schema import Dataset

RUNNING = "running count"
COUNT = "count"
AGAIN = "counts again in each period"
"""A sum over periods in which one patient may count several times: not a number of patients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCounts(Statistic):
    """Counts of patients or events per period, added up over time.

    Attributes:
        over: A date, or a derived column of bins: the day on which a record came in.
        every: Length of a period of a date; days when None.
        since: First day of the horizon, in days since 1970-01-01; the first declared when None.
        until: Last day of the horizon; it may lie in the future.
        through: Last day whose period is published; the whole horizon when None.
        groups: Public groups, a series each; event days give what was known of each, when.
        counted: Patients, at most once a period, or events.
        per_patient: Most periods (``cells``) and rows in each of one patient.
        rolling: Also publish sums of so many periods.
    """

    over: str
    every: DatePart | None = None
    since: int | None = None
    until: int | None = None
    through: int | None = None
    groups: tuple[str, ...] = ()
    counted: Counted = Counted.PATIENTS
    per_patient: PerPatient = field(default_factory=PerPatient)
    rolling: int | None = None

    @property
    def by(self) -> tuple[str, ...]:
        """Names of the axes."""
        return (*self.groups, self.over)

    def axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        """Return the groups and, last, the periods of the whole horizon."""
        time = period_axis(
            self.over,
            every=self.every,
            since=self.since,
            until=self.until,
            table=self.table,
            dataset=dataset,
        )
        return (*axes_of(self.groups, table=self.table, dataset=dataset), time)

    def published(self, dataset: Dataset) -> int:
        """Return how many periods are published."""
        time = self.axes(dataset)[-1]
        if self.through is None:
            return domain(time, dataset=dataset).size()
        return completed(time, through=self.through, dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector: counts times the square root, or under ``pure`` the counts."""
        axes = self.axes(dataset)
        counts = Aggregate(
            relation=Relation(table=self.table, where=self.where),
            axes=axes,
            value=Ones(),
            bounds=self._bounds(axes, dataset=dataset),
        )
        if self.rolling is not None and not self.rolling >= 2:
            raise ContractError(
                f"Running counts {self.id!r}: expected rolling ≥ 2, got {self.rolling}."
            )
        if dataset.measure is Measure.PURE:
            if self.through is not None:
                raise ContractError(
                    f"Running counts {self.id!r} grow under zcdp only.",
                    hint="Account in zcdp, or leave `through` out.",
                )
            return (question("counts", counts, dataset=dataset, counted=self.counted.unit),)
        until = None if self.through is None else self.published(dataset)
        root = FactorizedAggregate(inner=counts, until=until)
        return (question("root", root, dataset=dataset, counted=self.counted.unit),)

    def _bounds(self, axes: tuple[Expression, ...], *, dataset: Dataset) -> ContributionBounds:
        bounds = contribution_bounds(
            self.per_patient, table=self.table, axes=axes, counted=self.counted, dataset=dataset
        )
        match bounds:
            case CellBound():
                return replace(bounds, order=CellOrder.EARLIEST)
            case RowBound():
                raise ContractError(
                    f"Running counts {self.id!r} bound the periods of a patient, not rows alone.",
                    hint="Write per-patient: {cells: 5, rows: 1}: five periods, one row in each.",
                )
            case _:
                return bounds

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of the last running count; notes give the others'."""
        until = self._length(dataset)  # the whole horizon: a plan that grows keeps its price
        errors = self._errors(mechanisms, dataset=dataset, until=until)[RUNNING]
        last, each = errors[-1], float(level) ** (1 / until)  # Šidák: errors are jointly normal
        together = max(_half(error, level=each) for error in errors)
        rms = math.sqrt(sum(error.variance for error in errors) / until)
        unit = self.counted.unit
        notes = [
            f"root mean square error over {until} periods: {rms:.3g} {unit}",
            f"all {until} periods at once: ±{together:.3g} {unit}",
        ]
        (asked,) = self.questions(dataset)
        if isinstance(asked.aggregate, Growing):
            plain = question("counts", asked.aggregate.inner, dataset=dataset)
            ratio = plain.sensitivity.l2_squared / asked.sensitivity.l2_squared
            naive = ratio * additive(mechanisms["root"]).variance() * until
            width = _half(Component(variance=naive), level=float(level))
            notes.append(f"noise on each period's count, added up, would give ±{width:.3g} {unit}")
        return Forecast(
            half_width=_half(last, level=float(level)),
            median_error=_half(replace(last, step=0.0), level=0.5),
            level=float(level),
            unit=unit,
            planning=None if self.expect is None else float(self.expect),
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
        """Return the running counts, then the counts of single periods, then rolling ones."""
        del simulation
        length, until = self._length(dataset), self.published(dataset)
        (name,) = mechanisms
        values = vector(noisy[name])
        keys = cell_keys(self.axes(dataset), dataset=dataset)
        errors = self._errors(mechanisms, dataset=dataset, until=until)
        series = [values[at : at + until] for at in range(0, len(values), until)]
        cut = cut_periods(self.axes(dataset)[-1], dataset=dataset)
        again = (AGAIN,) if self._counts_again(dataset) else ()
        return tuple(
            self._published(
                quantity,
                keys[group * length + t],
                value,
                error=errors[quantity][t],
                flags=((CUT_PERIOD,) if t in cut else ()) if quantity == COUNT else again,
            )
            for quantity in errors
            for group, own in enumerate(series)
            for t, value in enumerate(self._sums(own, quantity=quantity, dataset=dataset))
            if quantity in (RUNNING, COUNT) or t + 1 >= (self.rolling or 0)
        )

    def _counts_again(self, dataset: Dataset) -> bool:
        """Return whether one patient may be in several periods, and is counted in each."""
        bounds = self._bounds(self.axes(dataset), dataset=dataset)
        several = isinstance(bounds, CellBound) and bounds.max_cells > 1
        return several and self.counted is Counted.PATIENTS

    def _length(self, dataset: Dataset) -> int:
        return domain(self.axes(dataset)[-1], dataset=dataset).size()

    def _kernel(self, quantity: str, *, dataset: Dataset, until: int) -> tuple[float, ...]:
        """Return what the measured series is convolved with to give a quantity."""
        root = dataset.measure is Measure.ZCDP
        sums = running(until) if root else (1.0,) * until
        match quantity:
            case "count":
                return inverse(until) if root else (1.0, *((0.0,) * (until - 1)))
            case "running count":
                return sums
            case _:
                window = self.rolling or 0
                return tuple(
                    value - (sums[t - window] if t >= window else 0.0)
                    for t, value in enumerate(sums)
                )

    def _sums(self, own: Sequence[int], *, quantity: str, dataset: Dataset) -> list[float]:
        step = ONE if dataset.measure is Measure.ZCDP else 1
        kernel = self._kernel(quantity, dataset=dataset, until=len(own))
        return convolved(kernel, [value / step for value in own])

    def _errors(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, until: int
    ) -> dict[str, list[Component]]:
        """Return the error of each quantity in each of the first periods."""
        (mechanism,) = mechanisms.values()
        step = ONE if dataset.measure is Measure.ZCDP else 1
        noise = noise_component(additive(mechanism), factor=1 / step)
        quantities = [RUNNING, COUNT]
        if self.rolling is not None:
            quantities.append(f"rolling {self.rolling}")
        found = {}
        for quantity in quantities:
            kernel = self._kernel(quantity, dataset=dataset, until=until)
            squares = itertools.accumulate(weight**2 for weight in kernel)
            fourths = itertools.accumulate(weight**4 for weight in kernel)
            found[quantity] = [
                Component(
                    variance=noise.variance * square,
                    excess_kurtosis=noise.excess_kurtosis * fourth / square**2,
                    step=noise.step,
                )
                for square, fourth in zip(squares, fourths, strict=True)
            ]
        return found

    def _published(
        self,
        quantity: str,
        key: tuple[str, ...],
        value: float,
        *,
        error: Component,
        flags: tuple[str, ...],
    ) -> Estimate:
        half = _half(error, level=float(self.level))
        return Estimate(
            statistic=self.id,
            quantity=quantity,
            key=key,
            value=max(0.0, value),
            standard_error=math.sqrt(error.variance),
            lower=max(0.0, value - half),
            upper=max(0.0, value) + half,
            level=float(self.level),
            covers=Covers.NOISE,
            unit=self.counted.unit,
            flags=("below zero", *flags) if value < 0 else flags,
        )


def _half(error: Component, *, level: float) -> float:
    return quantile([error], level=level) * math.sqrt(error.variance)
