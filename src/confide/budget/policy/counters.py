"""What adds up over whom and over what time: the names of a lineage's counters, and their caps.

====================================  ====================================================
counter                               holds
====================================  ====================================================
``lifetime``                          everything
``calendar-year/2027``                charges of the year that was open
``rolling-365d``                      charges that have not left the window
``lifetime-delta``                    δ of selections
``analyst/lifetime/ada``              the same of one analyst, also by year and window
``project/calendar-year/2027/asthma`` the same of one project, also by window and for life
``pure/lifetime``                     Σε of a mixed ledger, of this and of every other but δ
====================================  ====================================================

In worst-case accounting each release charges each patient, so a cap on every patient and a cap on
the data set read the same counter.  A study without a project is of the project "".

*Privacy:* a rolling window forgets a charge 365 days after the first *confirmed* day that is not
before it.  The true day of the charge is no later than that day, and whatever is granted in its
place comes no earlier than the confirmation that let it go, so any 365 days hold at most the cap,
whatever the clock showed in between.  In a mixed ledger a counter holds Σd at the order of its
window, and its pure twin Σε; an event that is not pure fills the twin, which takes nothing off.
"""

import datetime as dt
import functools
from dataclasses import dataclass
from fractions import Fraction

from confide.budget.policy.policy import CapScope, Enforce, Policy, PolicyCap, Window
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import ATTO, LARGEST, NANO, Amount
from confide.privacy.measure import LedgerMeasure, Mixed

RELEASE = "release"
LIFETIME = Window.LIFETIME.value
YEAR = Window.CALENDAR_YEAR.value
ROLLING = Window.ROLLING.value
DELTA = "lifetime-delta"
WINDOW_DAYS = 365
_ANALYST, _PROJECT = CapScope.ANALYST.value, CapScope.PROJECT.value
KINDS = (
    *(YEAR, LIFETIME, DELTA, ROLLING),
    *(f"{over}/{window}" for over in (_ANALYST, _PROJECT) for window in (YEAR, LIFETIME, ROLLING)),
)
"""Every kind of counter, in a ledger of one measure."""

_PURE = "pure"
PURE_KINDS = tuple(f"{_PURE}/{kind}" for kind in KINDS if kind != DELTA)
"""Of a mixed ledger besides: Σε while everything is pure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """Who asks, and when it counts.

    Attributes:
        year: Calendar year that is charged.
        analyst: Who asks.
        project: For what; "" when the study names none.
        epoch: How many days had been confirmed before the charge.
    """

    year: int
    analyst: str = ""
    project: str = ""
    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCap:
    """A cap as the ledger keeps it, in grid units.

    Attributes:
        id: Name in the policy; "" for the caps of dataset.yaml.
        kind: What it bounds: ``release``, ``lifetime``, ``analyst/calendar-year``, …
        units: How much; in a mixed ledger, of Σd at the order of its window.
        epsilon: How much ε it lets be lost, of a mixed ledger; of a release that is ``units``.
    """

    id: str
    kind: str
    units: int
    epsilon: int | None = None

    @property
    def allows(self) -> int:
        """How much it allows, as the policy or file says it."""
        return self.units if self.epsilon is None else self.epsilon


def counter_name(kind: str, *, when: Occasion) -> str:
    """Return the counter of a kind that a charge is added to.

    Example:
        >>> counter_name("analyst/calendar-year", when=Occasion(year=2027, analyst="ada"))
        'analyst/calendar-year/2027/ada'
    """
    over, _, window = without_pure(kind).rpartition("/")
    name = f"{kind}/{when.year}" if window == YEAR else kind
    if over == _ANALYST:
        return f"{name}/{when.analyst}"
    return f"{name}/{when.project}" if over == _PROJECT else name


@functools.lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """Return the kind of a counter.

    Example:
        >>> kind_of("analyst/calendar-year/2027/ada"), kind_of("calendar-year/2027")
        ('analyst/calendar-year', 'calendar-year')
    """
    first, _, rest = name.partition("/")
    if first == _PURE:
        return f"{first}/{kind_of(rest)}"
    if first in {_ANALYST, _PROJECT}:
        return f"{first}/{rest.partition('/')[0]}"
    return first


def pure_twin(name: str) -> str:
    """Return the counter, or the kind, of pure events beside one.

    Example:
        >>> pure_twin("calendar-year/2027")
        'pure/calendar-year/2027'
    """
    return f"{_PURE}/{name}"


def without_pure(name: str) -> str:
    """Return the counter, or the kind, of all events beside one of pure events, or itself."""
    return name.removeprefix(f"{_PURE}/")


def is_pure(name: str) -> bool:
    """Return whether a counter, or a kind, is of pure events alone."""
    return name.startswith(f"{_PURE}/")


@functools.lru_cache(maxsize=4096)
def window_of(kind: str) -> str:
    """Return the window of a kind."""
    return kind.rpartition("/")[2]


@functools.lru_cache(maxsize=4096)
def year_of(name: str) -> int | None:
    """Return the year of a counter; None of one that is not by year."""
    kind = kind_of(name)
    return int(name.removeprefix(f"{kind}/").partition("/")[0]) if window_of(kind) == YEAR else None


def group_of(name: str) -> str:
    """Return the kind of a counter, with its year where it has one.

    Example:
        >>> group_of("analyst/calendar-year/2027/ada"), group_of("project/lifetime/asthma")
        ('analyst/calendar-year/2027', 'project/lifetime')
    """
    kind, year = kind_of(name), year_of(name)
    return kind if year is None else f"{kind}/{year}"


def window_order(kind: str, *, measure: Mixed) -> int:
    """Return the order in which caps of a kind count in a mixed ledger."""
    each = is_of_one(kind)
    return measure.order(yearly=window_of(kind) != LIFETIME, each=each)


def is_of_one(kind: str) -> bool:
    """Return whether counters of a kind are each of one analyst or project."""
    return "/" in without_pure(kind)


def shares(amount: Amount, *, when: Occasion, measure: LedgerMeasure) -> dict[str, int]:
    """Return the grid units that a charge adds to each counter of a ledger.

    Example:
        >>> from confide.privacy.measure import Measure
        >>> when, tenth = Occasion(year=2027, analyst="ada"), Amount(nano=100_000_000)
        >>> added = shares(tenth, when=when, measure=Measure.PURE)
        >>> list(added)[:4]
        ['calendar-year/2027', 'lifetime', 'lifetime-delta', 'rolling-365d']
        >>> added["analyst/lifetime/ada"]
        100000000
    """
    names = _names(when)
    if isinstance(measure, Mixed):
        lanes = amount.lanes
        found = {
            name: 0 if lanes is None else lanes.at(window_order(kind_of(name), measure=measure))
            for name in names
        }
        pure = 0 if lanes is None else lanes.closing
        found |= {pure_twin(name): pure for name in names if name != DELTA}
    else:
        found = dict.fromkeys(names, amount.nano)
    found[DELTA] = amount.atto
    return found


@functools.lru_cache(maxsize=4096)
def _names(when: Occasion) -> tuple[str, ...]:
    """Return every counter to which a charge is added."""
    return tuple(counter_name(kind, when=when) for kind in KINDS)


def kind_of_cap(cap: PolicyCap) -> str:
    """Return what a policy's cap bounds in the ledger; a patient's worst case is everything."""
    if cap.scope is CapScope.RELEASE or cap.window is Window.RELEASE:
        return RELEASE
    if cap.scope in {CapScope.PATIENT, CapScope.DATASET}:
        return str(cap.window.value)
    return f"{cap.scope.value}/{cap.window.value}"


def is_kept_by_ledger(cap: PolicyCap) -> bool:
    """Return whether the ledger charges a cap: all but those kept patient by patient."""
    return not (cap.scope is CapScope.PATIENT and cap.enforce is Enforce.DROP)


def caps_of_policy(
    policy: Policy, *, units: dict[str, int], delta_atto: int, measure: LedgerMeasure
) -> tuple[HeldCap, ...]:
    """Return the caps that the ledger charges under a policy, in its order, then δ.

    One above what a counter holds is that.

    Args:
        policy: Which.
        units: Of each cap, by id; of a mixed ledger in ε.
        delta_atto: Σδ that selections may spend.
        measure: Of the ledger.
    """
    held = [
        HeldCap(id=cap.id, kind=kind_of_cap(cap), units=min(units[cap.id], LARGEST))
        for cap in policy.caps
        if is_kept_by_ledger(cap)
    ]
    delta = HeldCap(id="", kind=DELTA, units=min(delta_atto, LARGEST))
    return tuple(as_kept(each, measure=measure) for each in (*held, delta))


def as_kept(cap: HeldCap, *, measure: LedgerMeasure) -> HeldCap:
    """Return a cap on ε as a mixed ledger keeps it: on Σd, too, if it adds up over releases.

    Nothing of Σd where the order leaves no room.  In a ledger of one measure it stays as it is.

    *Privacy:* ε is less than a closed lane of pure events holds, or one that is not pure would fit.
    """
    if not isinstance(measure, Mixed) or cap.kind in {RELEASE, DELTA}:
        return cap
    epsilon = min(cap.units, LARGEST - 1)
    ordered = MixedCap(
        epsilon=Fraction(epsilon, NANO),
        delta=Fraction(measure.atto, ATTO),
        order=window_order(cap.kind, measure=measure),
    )
    return HeldCap(id=cap.id, kind=cap.kind, units=max(0, ordered.budget), epsilon=epsilon)


def leaves_on(day: str) -> str:
    """Return the day on which what was charged by a confirmed day leaves a rolling window.

    Example:
        >>> leaves_on("2027-06-01")
        '2028-05-31'
    """
    return (dt.date.fromisoformat(day) + dt.timedelta(days=WINDOW_DAYS)).isoformat()
