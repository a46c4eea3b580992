"""Survival: curves, medians, restricted means, hazard ratios and the log-rank test of arms.

What is measured is the *exit histogram*: each patient leaves once, so cells are arm × public time
bin × way to leave (each event type, or censored), with a last bin for those followed to the horizon
and beyond.  Everything else is computed from its noisy counts.

*Lemma (exit histogram):* a patient has one row, and the row is in one arm, one bin and one category
of the status, or in none when one is unknown; so it adds 1 to at most one cell.  Adding or removing
it moves the vector by Δ₁ = Δ₂² = Δ∞ = 1; replacing it takes 1 from a cell and gives 1 to another:
Δ₁ = Δ₂² = 2 [DMNS06].  Censoring changes nothing: being censored is a cell like the others.

*Lemma (per time point):* for each time point the cells are arm × {before, not before} × category,
and the same holds for each; the K vectors are charged one by one, ε/K each (basic composition).

*Privacy:* bins are public, and never observed event times; a curve is post-processing, as are its
intervals, tests and the end of the curve where the noisy number at risk is too small.
*Utility:* the noise of a curve grows with the square root of the number of bins; for 500 patients,
24 bins and ε = 1 its root mean square error is 0.007 to 0.010 (twice that under substitution).  The
split per time point has 0.05 (0.17); the textbook's, for public n and no censoring, 0.04 [GW20].
Intervals are for the population: sampling and noise.  Numbers at risk are for the patients at hand.

Delayed entry (left truncation) is refused: it needs a second histogram, of entries, which doubles
the sensitivity, and the pairs of entry and exit that intervals need are not in the two.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006, sec. 3.3.
        https://doi.org/10.1007/11681878_14
    [GW20] Gondara, Wang. Differentially private survival function estimation. MLHC 2020.
        https://proceedings.mlr.press/v126/gondara20a.html
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Estimate, Forecast
from confide.plans.estimation.intervals import Component, median_error, noise_component, quantile
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.privacy.unit import Entity
from confide.statistics.survival.method import Method
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import BinOf, ColumnOf, Expression, ValueOf
from confide.tables.grid import on_grid
from confide.tables.relation import Relation, axes_of, constant_per_patient, domain, resolve
from confide.tables.schema import Dataset, Domain, Kind, Outside

MOST_BINS = 400
MOST_POINTS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival(Statistic):
    """Time to an event, censored on the right, by arm.

    Attributes:
        time: Number: time from the start to the event or to the end of follow-up.
        status: Category: how the follow-up ended.
        censored: Labels of ``status`` that are censoring; each other label is a type of event.
        by: Arms; none gives one curve.  The first arm is the one that others are compared with.
        bins: Number of equal public time bins up to the horizon.
        edges: Their edges instead, in the unit of ``time``; the first is its lower bound.
        until: Horizon in the unit of ``time``; the upper bound of ``time`` when None.
        method: The exit histogram, or the textbook's split per time point.
        per_patient: States nothing: a patient leaves once.
    """

    time: str
    status: str
    censored: tuple[str, ...]
    by: tuple[str, ...] = ()
    bins: int = 24
    edges: tuple[Fraction, ...] = ()
    until: Fraction | None = None
    method: Method = Method.EXIT_HISTOGRAM
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if self.edges and self.until is not None:
            raise ContractError(
                f"Survival {self.id!r} states edges and a horizon.",
                hint="Leave `until` out: the last edge is the horizon.",
            )
        if self.per_patient != PerPatient():
            raise ContractError(
                f"Survival {self.id!r} states per-patient bounds, but a patient leaves once.",
                hint="Leave `per-patient` out.",
            )
        many = len(self.edges) - 1 if self.edges else self.bins
        most = MOST_BINS if self.method is Method.EXIT_HISTOGRAM else MOST_POINTS
        if not 2 <= many <= most:
            raise InvalidParameterError(
                f"Survival {self.id!r}: expected 2 to {most} time bins, got {many}.",
                hint="The noise grows with the number of bins; 12 to 60 suit most curves.",
            )

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the parts of each estimate's key."""
        return (*self.by, "event", "time")

    def time_domain(self, dataset: Dataset) -> Domain:
        """Return the public domain of the time.

        Raises:
            ContractError: If it is not a number, or is left out above its upper bound.
        """
        expression = self._time(dataset)
        of = domain(expression, dataset=dataset)
        if of.kind is not Kind.NUMBER:
            raise ContractError(
                f"Survival {self.id!r}: {self.time!r} is not a number.",
                hint="Declare a per-patient value days-between of the two dates.",
            )
        if isinstance(expression, ColumnOf):
            column = dataset.table(expression.table).column(expression.column)
            if column.outside is Outside.DROP:
                raise ContractError(
                    f"Survival {self.id!r} would leave out those followed beyond the upper bound "
                    f"of {self.time!r}, who have survived longest.",
                    hint=f"Declare outside: clip for {self.time!r}.",
                )
        return of

    def _time(self, dataset: Dataset) -> ColumnOf | ValueOf:
        expression = resolve(self.time, table=self.table, dataset=dataset)
        if not isinstance(expression, ColumnOf | ValueOf):
            raise ContractError(f"Survival {self.id!r} needs a time, not bins of one.")
        return expression

    def ways(self, dataset: Dataset) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the types of event, and for each label of the status its way to leave.

        Types count from 0; censoring comes after them.

        Raises:
            ContractError: If the status is not a category, or a label is unknown.
        """
        of = domain(resolve(self.status, table=self.table, dataset=dataset), dataset=dataset)
        if of.kind is not Kind.CATEGORY:
            raise ContractError(
                f"Survival {self.id!r}: {self.status!r} is not a category.",
                hint="Declare the codes of the status as categories: alive, dead.",
            )
        stranger = next((label for label in self.censored if label not in of.keys), None)
        events = tuple(label for label in of.keys if label not in self.censored)
        if stranger is not None or not events or len(events) == len(of.keys):
            raise ContractError(
                f"Survival {self.id!r}: expected some of {list(of.keys)} to be censoring and "
                f"some not, got {list(self.censored)}.",
                hint="Write censored: [those with which follow-up ends without the event].",
            )
        places = tuple(events.index(label) if label in events else len(events) for label in of.keys)
        return events, places

    def canonical_edges(self, dataset: Dataset) -> tuple[int, ...]:
        """Return the edges of the bins before the horizon, in canonical integers.

        Raises:
            ContractError: If they do not fit the bounds or the grid of the time.
        """
        of = self.time_domain(dataset)
        if self.edges:
            whole = [on_grid(edge, of=of, name=self.time) for edge in self.edges]
        else:
            end = of.upper if self.until is None else on_grid(self.until, of=of, name=self.time)
            many = max(1, min(self.bins, end - of.lower))
            whole = [of.lower + (end - of.lower) * i // many for i in range(many + 1)]
        if (
            whole[0] != of.lower
            or whole[-1] > of.upper
            or any(a >= b for a, b in itertools.pairwise(whole))
        ):
            low, high = of.physical(of.lower), of.physical(of.upper)
            raise ContractError(
                f"Survival {self.id!r}: expected time bins that rise from {low:g}, the lower bound "
                f"of {self.time!r}, to at most {high:g}, in steps of {float(of.scale):g}.",
                hint=f"Write bins: 24, or edges: [{low:g}, …, {high:g}].",
            )
        return tuple(whole)

    def arms(self, dataset: Dataset) -> tuple[tuple[str, ...], ...]:
        """Return the labels of each arm, in the order of the tables of exits."""
        return cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the exit histogram; or one small histogram for each time point.

        Raises:
            ContractError: If a patient could leave several times.
        """
        time, edges = self._time(dataset), self.canonical_edges(dataset)
        self.ways(dataset)
        beyond = max(domain(time, dataset=dataset).upper, edges[-1] + 1)
        match self.method:
            case Method.EXIT_HISTOGRAM:
                cuts = {"exits": (*edges, beyond)}
            case Method.PER_TIME_POINT:
                cuts = {
                    f"before-{place}": (edges[0], edge, beyond)
                    for place, edge in enumerate(edges[1:], start=1)
                }
            case _:
                assert_never(self.method)
        status = resolve(self.status, table=self.table, dataset=dataset)
        groups = axes_of(self.by, table=self.table, dataset=dataset)
        bounds = self._bounds((*groups, time, status), dataset=dataset)
        event = dataset.unit.entity is Entity.EVENT
        return tuple(
            question(
                name,
                Aggregate(
                    relation=Relation(table=self.table, where=self.where),
                    axes=(*groups, BinOf(of=time, edges=cut), status),
                    value=Ones(),
                    bounds=bounds,
                ),
                dataset=dataset,
                counted=(Counted.EVENTS if event else Counted.PATIENTS).unit,
            )
            for name, cut in cuts.items()
        )

    def _bounds(self, axes: tuple[Expression, ...], *, dataset: Dataset) -> ContributionBounds:
        """Return one row of a patient; which may be any of them, since all agree."""
        if dataset.unit.entity is Entity.EVENT:
            counted = Counted.EVENTS
        else:
            counted = Counted.PATIENTS
            fixed = all(constant_per_patient(a, table=self.table, dataset=dataset) for a in axes)
            if not fixed:
                raise ContractError(
                    f"A patient of table {self.table!r} has several rows and could leave several "
                    "times.",
                    hint="Use a table with one row per patient, or per-patient values for time "
                    "and status: days-between, any, first, last.",
                )
        return contribution_bounds(
            PerPatient(), table=self.table, axes=axes, counted=counted, dataset=dataset
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of a share that survives, on average over the time points.

        It is for ``expect`` patients in an arm, of whom half survive the horizon and nobody is
        censored before.

        Raises:
            ContractError: If there is no planning number of patients.
        """
        from confide.statistics.survival.publish import planned_noise

        if self.expect is None:
            raise ContractError(
                f"The error of survival {self.id!r} depends on the number of patients of an arm.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        of = planned_noise(float(self.expect), self, dataset=dataset, noise=self.noise(mechanisms))
        return Forecast(
            half_width=quantile([of], level=float(level)) * math.sqrt(of.variance),
            median_error=median_error([of]),
            level=float(level),
            unit="1",
            planning=0.5,
            notes=(f"for arms of {self.expect} patients of whom half survive the horizon",),
        )

    @staticmethod
    def noise(mechanisms: Mapping[str, Mechanism]) -> Component:
        """Return the noise of one measured count; all questions have the same but for rounding."""
        return max(
            (noise_component(additive(mechanism)) for mechanism in mechanisms.values()),
            key=lambda component: component.variance,
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return comparisons of arms, then each arm's summary, then its curve and risk table."""
        from confide.statistics.survival.publish import published

        del simulation
        measured = [vector(noisy[asked.name]) for asked in self.questions(dataset)]
        return published(measured, self, dataset=dataset, noise=self.noise(mechanisms))
