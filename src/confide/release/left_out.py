"""Whether anybody can be counted under caps that leave patients out: by public amounts alone.

*Definition.*  Under each such cap stands what everybody was charged so far: the whole loss of
charges that left nobody out and of rows that are lost, and of every other what its plan charges
whatever a patient's rows are.  A plan is refused when that and the least which somebody counted in
one of its numbers pays (:mod:`confide.plans.pricing.least_charge`) pass the cap together: that
number would be noise about 0, for the price of a number about patients.  Patients who were left out
of a release that charged everybody may have more left; a number of them alone is not what was asked
for.

*Privacy:* a function of rows of the ledger and of the plan.  No membership file is read, so nothing
here depends on who was left out, or on what a burned entry came to: it counts with what its plan
charged everybody, though everybody may have been charged all of it.
"""

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from confide.budget.entry import OVER, Entry, State
from confide.budget.ledger import Ledger
from confide.budget.per_patient.records import lost_whole, whole
from confide.errors import BudgetExhaustedError, ContractError
from confide.plans.plan import Plan
from confide.plans.pricing.individual import for_everybody
from confide.plans.pricing.least_charge import LeastCharge, least_charges
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO, atto
from confide.privacy.individual import FEMTO, CapWindow, PatientCap, enforced
from confide.privacy.measure import LedgerMeasure, Mixed
from confide.statistics import read_plan
from confide.tables.schema import Dataset

_PENDING = frozenset({State.RESERVED, State.READING})


@dataclass(frozen=True, slots=True, kw_only=True)
class CapUse:
    """A cap that leaves patients out, and what everybody was charged under it.

    Attributes:
        cap: As the policy says it.
        bound: Up to what a patient's own charges add up, in 1e-15; half of the cap or a quarter
            under substitution.
        everybody: What every patient was charged at least, in 1e-15.
        leaves: What of it ends on which day, as 2028-01-01, in 1e-15; earliest first.
    """

    cap: PatientCap
    bound: int
    everybody: int = 0
    leaves: tuple[tuple[str, int], ...] = ()

    @property
    def left(self) -> int:
        """The most that a patient has left who was in every release, in 1e-15."""
        return max(0, self.bound - self.everybody)

    def fits_from(self, femto: int) -> str:
        """Return the first day on which so much fits; "" where none is known."""
        left = self.bound - self.everybody
        for day, units in self.leaves:
            left += units
            if femto <= left:
                return day
        return ""


def cap_uses(
    dataset: Dataset, *, ledger: Ledger | None = None, without: int = 0
) -> tuple[CapUse, ...]:
    """Return the use of each cap of a data set that leaves patients out, for a charge made now.

    Args:
        dataset: Whose caps.
        ledger: Holds what was charged; None where it cannot be opened.
        without: Number of an entry that does not count; 0 of none.

    Raises:
        LedgerFrozenError: If a recorded plan is not the one that was charged.
    """
    adjacency, measure = dataset.adjacency, measure_of_patients(dataset, ledger=ledger)
    found = [
        CapUse(cap=cap, bound=enforced(cap, adjacency=adjacency, measure=measure))
        for cap in dataset.patients
    ]
    if ledger is None:
        return tuple(found)

    @functools.cache
    def alike(number: int) -> int:
        return _by_plan(ledger.recorded_plan(number), measure=measure)

    def paid(entry: Entry) -> int:
        if not entry.amount.nano or entry.state in OVER or entry.number == without:
            return 0
        if not entry.filtered:
            return whole(entry)
        return 0 if entry.state in _PENDING else alike(entry.number)

    def used(use: CapUse) -> CapUse:
        if use.cap.window is CapWindow.RELEASE:
            return use
        now = ledger.counting_now(dataset.lineage, window=use.cap.window.value)
        amounts = [(day, paid(entry)) for entry, day in now.entries]
        lost = lost_whole(now.lost, measure=measure)
        ends = [(day, units) for day, units in [*amounts, (now.lost_leaves, lost)] if day and units]
        everybody = sum(units for _, units in amounts) + lost
        return CapUse(cap=use.cap, bound=use.bound, everybody=everybody, leaves=tuple(sorted(ends)))

    return tuple(used(use) for use in found)


def measure_of_patients(dataset: Dataset, *, ledger: Ledger | None) -> LedgerMeasure:
    """Return in what the losses of each patient add up: as the ledger counts.

    Where it cannot be opened, at the order that is the best for the tightest cap of a patient.
    """
    if ledger is not None:
        return ledger.counted_in(dataset.lineage)
    if not (dataset.mixed and dataset.patients):
        return dataset.measure
    delta = dataset.delta - dataset.selection_delta
    tightest = Fraction(min(cap.nano for cap in dataset.patients), NANO)
    order = MixedCap.of(tightest, delta=delta).order
    return Mixed(atto=atto(delta), yearly=order, lifetime=order)


def refusal(
    plan: Plan, *, uses: Iterable[CapUse], measure: LedgerMeasure | None = None
) -> BudgetExhaustedError | None:
    """Return why a plan is refused of which some number, or all, could count nobody; None if not.

    By the cap under which it fits last.

    Args:
        plan: Which.
        uses: Of its caps.
        measure: In what they count; as the plan does when None.

    Raises:
        ContractError: If patients cannot be left out of such a plan.
    """
    uses = tuple(uses)
    if not uses:
        return None
    least = least_charges(plan, measure=measure)
    most = max((each.femto for each in least), default=0)
    passed = [use for use in uses if max(most, 1) > use.left]
    if not passed:
        return None
    never = [use for use in passed if not use.fits_from(most)]
    use = min(never, key=lambda each: each.left) if never else None
    use = use or max(passed, key=lambda each: each.fits_from(most))
    return _refused(plan, least=least, use=use, measure=measure)


def nobody_is_counted(
    plan: Plan, *, ledger: Ledger | None, without: int = 0
) -> BudgetExhaustedError | None:
    """Return why some number of a plan could count nobody; arguments are those of cap_uses.

    Raises:
        ContractError: If patients cannot be left out of such a plan.
    """
    uses = cap_uses(plan.dataset, ledger=ledger, without=without)
    measure = measure_of_patients(plan.dataset, ledger=ledger)
    return refusal(plan, uses=uses, measure=measure)


def require_somebody(plan: Plan, *, ledger: Ledger, without: int = 0) -> None:
    """Refuse a plan of which some number could count nobody; arguments are those of cap_uses.

    Raises:
        BudgetExhaustedError: If so.
    """
    refused = nobody_is_counted(plan, ledger=ledger, without=without)
    if refused is not None:
        raise refused


def _by_plan(text: str, *, measure: LedgerMeasure) -> int:
    """Return what a recorded plan charged everybody; 0 of one that cannot be read here."""
    try:
        return for_everybody(read_plan(json.loads(text)), measure=measure)
    except ContractError:
        return 0


def _refused(
    plan: Plan, *, least: tuple[LeastCharge, ...], use: CapUse, measure: LedgerMeasure | None
) -> BudgetExhaustedError:
    beyond = [each for each in least if max(each.femto, 1) > use.left]
    asked = min(each.femto for each in beyond)
    everybody, left = for_everybody(plan, measure=measure), f"{use.left / FEMTO:.6g}"
    names = tuple(dict.fromkeys(each.measurement.statistic for each in beyond))
    if max(everybody, 1) > use.left:
        asked, what = everybody, f"this plan charges every patient {everybody / FEMTO:.6g}"
    else:
        some = "" if len(beyond) == len(least) else f" in {', '.join(map(repr, names))}"
        what = (
            f"this plan charges whoever is counted{some} at least {asked / FEMTO:.6g}: "
            "nobody would be who was in every release so far"
        )
    day = use.fits_from(max(each.femto for each in beyond))
    return BudgetExhaustedError(
        f"The cap {use.cap.id or 'of patients'} has {left} left after what every patient was "
        f"charged, and {what}.",
        cap=use.cap.id or "patient",
        requested=Fraction(asked, FEMTO),
        remaining=Fraction(use.left, FEMTO),
        hint=_way_out(use, everybody=everybody > 0, day=day),
        available=day,
    )


def _way_out(use: CapUse, *, everybody: bool, day: str) -> str:
    if not use.left:
        ask = "Nothing is left under this cap"
    elif everybody:
        ask = (
            "Selections and releases without individual accounting charge everybody: ask for "
            "counts, or for less"
        )
    else:
        ask = "Ask for less: a larger error, or fewer statistics"
    match use.cap.window:
        case _ if not day:
            return f"{ask}."
        case CapWindow.CALENDAR_YEAR:
            open_year = f"confide ledger open-year {day[:4]} --reason ..."
            return f"{ask}; it fits from {day} on, with: {open_year}"
        case _:
            return f"{ask}; it fits from {day} on, with: confide ledger confirm-day {day}"
