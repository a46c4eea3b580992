"""Which noise a plan of a mixed ledger has: that of ε, of ρ, or both, by its error and the year.

A study is planned in each measure, and in both (:mod:`confide.plans.pricing.both_noises`).  Laplace
noise is the smaller of the two where a patient moves few cells of few questions; Gaussian noise
where they move many, and costs a year of many releases less.  So the one with the smaller errors is
taken of those that fit into a year as often as is declared; of those with the same errors, the one
that takes less of a year; and before that, what fits under what is left.  A study that was released
with one noise keeps it, whatever caps became since: the other would be another charge.  So does one
for which approval was asked, and one that its policy plans with one noise, while that fits.

*Privacy:* compares forecasts, charges and caps: public facts alone; what was released is on the
chain.
"""

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.errors import ConfideError, ContractError, UnsupportedError
from confide.plans.events import recompute
from confide.plans.plan import Measurement, Plan, Priced, Statistic
from confide.plans.pricing.allocate import forecast
from confide.plans.pricing.both_noises import AS_GOOD, has_both, with_both
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO, Amount, InLanes, nano
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.tables.schema import Dataset

_ROWS = Fraction(1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class YearRoom:
    """What a mixed ledger gives a year.

    Attributes:
        measure: Of the ledger.
        cap: On a year, or on everything where there is none.
        releases: How many releases are to fit into it; 1 where nobody said.
        yearly: Whether the cap is on a year.
    """

    measure: Mixed
    cap: MixedCap
    releases: int = 1
    yearly: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Road:
    """One way to plan a study.

    Attributes:
        plan: The plan.
        part: Of a year of a mixed ledger, if there are no others; 0 in another.
        errors: Of each statistic by id; without those that cannot be forecast.
    """

    plan: Plan
    part: Fraction = Fraction(0)
    errors: Mapping[str, float] = field(default_factory=dict)

    @property
    def fits(self) -> int:
        """How many such releases fit into a year; 0 in a ledger that is not mixed."""
        return math.floor(1 / self.part) if self.part else 0


class Because(enum.Enum):
    """Why a road is taken, in the order in which that decides."""

    RELEASED = "it was released so"
    FITS = "the other does not fit"
    ASKED = "approval was asked for it"
    PLANNED = "the policy plans it so"
    BETTER = "its errors are smaller, or it fits more often"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The road taken, and the other one.

    Attributes:
        taken: By the rule.
        other: None where the study has no such plan.
        error: Error of the taken one as a share of the other's, on the whole.
        because: Why.
    """

    taken: Road
    other: Road | None = None
    error: float = 1.0
    because: Because = Because.BETTER


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRecord:
    """What a ledger says of a plan; of every plan the same where none is open.

    Attributes:
        released: Whether it was released, or what grows to it was.
        fits: Whether it fits under what is left of every cap, and under its tier's ceiling.
        asked: Whether approval was asked for it, and may still be used.
        planned: Whether the policy makes room for it with this noise.
    """

    released: Callable[[Plan], bool] = lambda _: False
    fits: Callable[[Plan], bool] = lambda _: True
    asked: Callable[[Plan], bool] = lambda _: False
    planned: Callable[[Plan], bool] = lambda _: False


NO_RECORD = OnRecord()


def measured_in(dataset: Dataset) -> tuple[Dataset, ...]:
    """Return a data set in each measure in which a study of it can be planned."""
    if not dataset.mixed:
        return (dataset,)
    return tuple(replace(dataset, measure=each) for each in (Measure.ZCDP, Measure.PURE))


def planned_by(
    make: Callable[[Dataset], Plan],
    *,
    dataset: Dataset,
    year: YearRoom | None,
    record: OnRecord = NO_RECORD,
) -> Chosen:
    """Return the plan of a study; in a mixed ledger the best of all.

    Args:
        make: Plans it for a data set of one measure.
        dataset: Of any ledger.
        year: What a mixed ledger gives; None for another.
        record: What the ledger says of a plan.

    Raises:
        ContractError: If it has no plan in either measure; as ``make`` does for ρ.
    """
    if year is None:
        return Chosen(taken=Road(plan=make(dataset)))
    plans: list[Plan] = []
    problem: ConfideError | None = None
    for each in measured_in(dataset):
        try:
            plans.append(make(each))
        except (ContractError, UnsupportedError) as no_such_plan:
            problem = problem or no_such_plan
    roads = tuple(_road(each, year=year) for each in plans)
    match roads:
        case (one, other):
            both = _with_both(one, other, year=year, record=record)
            return _decided((*roads, *both), record=record, releases=year.releases)
        case (one,):
            return Chosen(taken=one)
        case _:
            raise problem or ContractError("The study has no plan in any measure.")


def _with_both(rho: Road, pure: Road, *, year: YearRoom, record: OnRecord) -> tuple[Road, ...]:
    """Return roads of both noises, by their costs at the order of a year.

    Of its other orders, which were that of a year under earlier caps, those that are on record.
    """
    known: dict[tuple[object, ...], float | None] = {}

    def error(statistic: Statistic, measurements: Sequence[Measurement]) -> float | None:
        noise = (statistic.id, *((each.name, each.mechanism) for each in measurements))
        if noise not in known:
            asked = replace(rho.plan, measurements=tuple(measurements))
            known[noise] = _error(asked, statistic)
        return known[noise]

    def at(order: int) -> tuple[Plan, ...]:
        return with_both(
            rho.plan,
            pure.plan,
            measure=year.measure,
            order=order,
            error=error,
        )

    now = at(year.cap.order)
    others = (
        plan for order in year.measure.orders if order != year.cap.order for plan in at(order)
    )
    earlier = (
        plan for plan in others if plan not in now and (record.released(plan) or record.asked(plan))
    )
    return tuple(_road(each, year=year) for each in (*now, *earlier))


def _road(plan: Plan, *, year: YearRoom) -> Road:
    part = part_of(year, lanes_of(plan, measure=year.measure))
    errors = ((each.id, _error(plan, each)) for each in plan.statistics)
    return Road(
        plan=plan, part=part, errors={name: error for name, error in errors if error is not None}
    )


def _decided(roads: tuple[Road, ...], *, record: OnRecord, releases: int) -> Chosen:
    """Return the road of which the ledger says what it does not say of others, or the better."""
    says = (
        (Because.RELEASED, record.released),
        (Because.FITS, record.fits),
        (Because.ASKED, record.asked),
        (Because.PLANNED, record.planned),
    )
    left = roads
    for because, holds in says:
        found = [holds(each.plan) for each in left]
        if because is Because.RELEASED and all(found):
            break
        if any(found) and not all(found):
            kept = tuple(each for each, it in zip(left, found, strict=True) if it)
            if len({_noises(each) for each in kept}) == 1:
                taken = _best(kept, releases)
                return _chosen(taken, _best(_unlike(taken, left), releases), because=because)
            left = kept
    taken = _best(left, releases)
    return _chosen(taken, _best(_unlike(taken, left) or _unlike(taken, roads), releases))


def _noises(road: Road) -> tuple[Measure, bool]:
    return road.plan.dataset.measure, has_both(road.plan)


def _unlike(road: Road, roads: Sequence[Road]) -> list[Road]:
    return [each for each in roads if _noises(each) != _noises(road)]


def _best(roads: Sequence[Road], releases: int) -> Road:
    best, *rest = roads
    for each in rest:
        best = _better(best, each, releases=releases)
    return best


def lanes_of(plan: Priced, *, measure: Mixed) -> InLanes:
    """Return what a plan costs a mixed ledger.

    Raises:
        ContractError: If it costs nothing.
    """
    lanes = recompute(plan.events_json, measure=plan.dataset.measure, mixed=measure).lanes
    if lanes is None:
        raise ContractError("The plan measures nothing.", hint="Add a statistic to the study.")
    return lanes


def amount_in(measure: LedgerMeasure, *, planned: Priced) -> Amount:
    """Return what a plan costs a ledger; of a mixed one, in its lanes."""
    if not isinstance(measure, Mixed):
        return planned.amount
    return replace(planned.amount, lanes=lanes_of(planned, measure=measure))


def part_of(year: YearRoom, lanes: InLanes) -> Fraction:
    """Return the part of a year that a release takes, in the lane that has more room for it.

    Example:
        >>> cap = MixedCap.of(Fraction(3), delta=Fraction("1e-6"))
        >>> year = YearRoom(measure=Mixed(atto=10**12, yearly=9, lifetime=4), cap=cap)
        >>> part_of(year, InLanes(alone=10**9, pure=10**9, ordered=((4, 9 * 10**8), (9, 10**9))))
        Fraction(1, 3)
    """
    room, cost = max(0, year.cap.budget), lanes.at(year.cap.order)
    parts = [Fraction(cost, room)] if room else []
    if lanes.pure is not None:
        parts.append(Fraction(lanes.pure, nano(year.cap.epsilon)))
    return min(parts, default=Fraction(NANO))


def _better(one: Road, other: Road, *, releases: int) -> Road:
    """Return the road with the smaller errors, of those that fit as often as is asked."""
    difference = _difference(one, other)
    enough = [min(each.fits, releases) for each in (one, other)]
    takes_one = difference < 0
    if enough[0] != enough[1]:
        takes_one = enough[0] > enough[1]
    elif abs(difference) <= AS_GOOD:
        takes_one = one.part <= other.part
    return one if takes_one else other


def _chosen(taken: Road, other: Road, *, because: Because = Because.BETTER) -> Chosen:
    error = math.exp(_difference(taken, other))
    return Chosen(taken=taken, other=other, error=error, because=because)


def _difference(one: Road, other: Road) -> float:
    """Return the mean over statistics of ln of the error of one road as a share of the other's."""
    logs = _log_errors(one, than=other).values()
    return sum(logs) / len(logs) if logs else 0.0


def _log_errors(road: Road, *, than: Road) -> dict[str, float]:
    return {
        name: _log_ratio(error, than.errors[name])
        for name, error in road.errors.items()
        if name in than.errors
    }


def _log_ratio(error: float, other: float) -> float:
    """Return ln of a ratio of errors; of an interval of one value, that its error is a half."""
    if error and other:
        return math.log(error / other)
    return 0.0 if error == other else math.log(2 if error else 0.5)


def _error(plan: Plan, statistic: Statistic) -> float | None:
    """Return half the width of an interval for the noise; for a thousand rows if nobody said.

    None where that cannot be forecast.
    """
    for asked in (statistic, replace(statistic, expect=_ROWS)):
        try:
            width = forecast(plan, asked).half_width
        except ConfideError:
            continue
        if math.isfinite(width):
            return width
    return None
