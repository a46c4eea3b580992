"""Which noise a plan of a mixed ledger has: that of ε or that of ρ, by its error and the year.

A study is planned twice, once in each measure.  Laplace noise is the smaller of the two where a
patient moves few cells of few questions; Gaussian noise where they move many, and costs a year of
many releases less.  So the one with the smaller errors is taken of those that fit into a year as
often as is declared; of two with the same errors, the one that fits more often; and the one that
fits under what is left, if it is one alone.  A study that was released with one noise keeps it,
whatever caps became since: the other would be another charge.  So does one for which approval was
asked, and one that its policy plans with one noise, while that fits.

*Privacy:* compares forecasts, charges and caps: public facts alone; what was released is on the
chain.
"""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from confide.errors import ConfideError, ContractError, UnsupportedError
from confide.plans.events import recompute
from confide.plans.plan import Plan, Priced, Statistic
from confide.plans.pricing.allocate import forecast
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import Amount, InLanes, nano
from confide.privacy.measure import LedgerMeasure, Measure, Mixed
from confide.tables.schema import Dataset

_ROWS = Fraction(1000)
_ALIKE = math.log(1.01)
"""Errors that differ by less are taken for the same."""


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
        fits: How many such releases fit into a year of a mixed ledger, if there are no others.
    """

    plan: Plan
    fits: int


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
    """Return the plan of a study; in a mixed ledger the better of two.

    Args:
        make: Plans it for a data set of one measure.
        dataset: Of any ledger.
        year: What a mixed ledger gives; None for another.
        record: What the ledger says of a plan.

    Raises:
        ContractError: If it has no plan in either measure; as ``make`` does for ρ.
    """
    if year is None:
        return Chosen(taken=Road(plan=make(dataset), fits=0))
    roads: list[Road] = []
    problem: ConfideError | None = None
    for each in measured_in(dataset):
        try:
            plan = make(each)
        except (ContractError, UnsupportedError) as no_such_plan:
            problem = problem or no_such_plan
            continue
        roads.append(Road(plan=plan, fits=fits_in(year, lanes_of(plan, measure=year.measure))))
    match roads:
        case [one, other]:
            return _on_record(one, other, record) or _better(one, other, releases=year.releases)
        case [one]:
            return Chosen(taken=one)
        case _:
            raise problem or ContractError("The study has no plan in any measure.")


def _on_record(one: Road, other: Road, record: OnRecord) -> Chosen | None:
    """Return the road of which the ledger says what it does not say of the other; None if none."""
    says = (
        (Because.RELEASED, record.released),
        (Because.FITS, record.fits),
        (Because.ASKED, record.asked),
        (Because.PLANNED, record.planned),
    )
    for because, holds in says:
        found = [holds(each.plan) for each in (one, other)]
        if found[0] != found[1]:
            return _chosen(one, other, takes_one=found[0], because=because)
        if because is Because.RELEASED and all(found):
            return None
    return None


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


def fits_in(year: YearRoom, lanes: InLanes) -> int:
    """Return how many releases of that cost fit into a year that holds no others.

    Example:
        >>> cap = MixedCap.of(Fraction(3), delta=Fraction("1e-6"))
        >>> year = YearRoom(measure=Mixed(atto=10**12, yearly=9, lifetime=4), cap=cap)
        >>> fits_in(year, InLanes(alone=10**9, pure=10**9, ordered=((4, 9 * 10**8), (9, 10**9))))
        3
    """
    in_order = max(0, year.cap.budget) // lanes.at(year.cap.order)
    return in_order if lanes.pure is None else max(in_order, nano(year.cap.epsilon) // lanes.pure)


def _better(one: Road, other: Road, *, releases: int) -> Chosen:
    """Return the road with the smaller errors, of those that fit as often as is asked."""
    difference = _difference(one, other)
    enough = [min(each.fits, releases) for each in (one, other)]
    takes_one = difference < 0
    if enough[0] != enough[1]:
        takes_one = enough[0] > enough[1]
    elif abs(difference) <= _ALIKE:
        takes_one = one.fits >= other.fits
    return _chosen(one, other, takes_one=takes_one)


def _chosen(
    one: Road, other: Road, *, takes_one: bool, because: Because = Because.BETTER
) -> Chosen:
    taken, left = (one, other) if takes_one else (other, one)
    error = math.exp(_difference(taken, left))
    return Chosen(taken=taken, other=left, error=error, because=because)


def _difference(one: Road, other: Road) -> float:
    """Return the mean of :func:`log_errors`."""
    logs = log_errors(one.plan, than=other.plan)
    return sum(logs) / len(logs) if logs else 0.0


def log_errors(plan: Plan, *, than: Plan) -> Sequence[float]:
    """Return ln of the error of each statistic as a share of that in another plan of the study.

    Where nobody said how many rows are expected, both are forecast for a thousand.  A statistic
    that cannot be forecast then says nothing.
    """
    found = []
    for statistic in plan.statistics:
        other = next(each for each in than.statistics if each.id == statistic.id)
        ours, theirs = _error(plan, statistic), _error(than, other)
        if ours and theirs:
            found.append(math.log(ours / theirs))
    return found


def _error(plan: Plan, statistic: Statistic) -> float | None:
    for asked in (statistic, replace(statistic, expect=_ROWS)):
        try:
            width = forecast(plan, asked).half_width
        except ConfideError:
            continue
        if math.isfinite(width) and width > 0:
            return width
    return None
