"""What the ledger gives back: an entry with its charges, an answer, and what is left.

*Privacy:* an entry holds the declared plan and its cost, and the hash of a noisy answer; nothing
exact ever reaches the ledger.
"""

import enum
import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from confide.budget.growth import Step
from confide.privacy.amount import Amount
from confide.privacy.measure import LedgerMeasure, Measure


class Scope(enum.Enum):
    """Over what a cap adds up; the first five bound the loss to each patient."""

    RELEASE = "release"
    CALENDAR_YEAR = "calendar-year"
    ROLLING = "rolling-365d"
    LIFETIME = "lifetime"
    LIFETIME_DELTA = "lifetime-delta"
    PROJECT = "project"
    ANALYST = "analyst"


class State(enum.Enum):
    """Where a request stands; the last four are final."""

    RESERVED = "reserved"
    READING = "reading"
    COMMITTED = "committed"
    PUBLISHED = "published"
    BURNED = "burned"
    CANCELLED = "cancelled"
    REFUSED = "refused"


FORWARD: Mapping[str, tuple[State, State]] = {
    "reading": (State.RESERVED, State.READING),
    "cancelled": (State.RESERVED, State.CANCELLED),
    "committed": (State.READING, State.COMMITTED),
    "burned": (State.READING, State.BURNED),
    "published": (State.COMMITTED, State.PUBLISHED),
}
COUNTS_FROM = frozenset({State.READING, State.PUBLISHED})  # then a charge counts anew in windows
OVER = frozenset({State.CANCELLED, State.REFUSED})  # the key may be used again


def follows_reading(kind: str, fields: Mapping[str, Any]) -> bool:
    """Return whether a row may be written once rows of patients were read for its release."""
    step = fields.get("step")
    return kind in FORWARD or bool(step and step["continues"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one release did to one cap, in grid units; ``before + amount = after ≤ cap``.

    Attributes:
        scope: Over what the cap adds up.
        period: Its year; for a project or an analyst window, year and name: "lifetime/asthma".
        amount: Charged.
        before: Spent before.
        after: Spent after.
        cap: The most.
        cap_id: Name of the cap in the policy; "" for the caps of dataset.yaml.
        order: Of a mixed ledger that has room at its order: that order, at which all is counted.
        epsilon: The ε that the cap lets be lost, of a mixed ledger.
    """

    scope: Scope
    period: str
    amount: int
    before: int
    after: int
    cap: int
    cap_id: str = ""
    order: int = 0
    epsilon: int | None = None

    @property
    def name(self) -> str:
        """The scope with its period: ``calendar-year/2027``."""
        return f"{self.scope.value}/{self.period}" if self.period else self.scope.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One request as the ledger holds it, and what a certificate quotes.

    Attributes:
        number: Number of the chained row that recorded the charge.
        previous: Hash of the row before it.
        hash: Hash of that row.
        at: Ledger time of that row, UTC, RFC 3339.
        payload_sha256: Of the stored answer, once committed; otherwise empty.
        charges: One per cap that applies; empty when refused.
        study: Id of the study, as the recorded plan names it; empty when it names none.
        step: Periods of a growing release that it publishes; None of any other release.
        project: For what it was asked; "" when the study names none.
        tier: Its importance; "" when the study names none.
        submission: Approved request under which it was charged; 0 where none was needed.
        policy: Digest of the policy under which it was charged; "" where none was in force.
        withheld: Whether its answer is delivered to nobody, as somebody decided.
        period: Which run of a repeated study it is; "" of a single one.
        snapshot: Declared name of the data that it was asked of.
        filtered: Whether its plan leaves patients out whose own budget is spent.
        members: Tag of the membership of a committed one, a keyed hash; "" where there is none.
        ledger: Id of the ledger; "" of entries that are older than it.
    """

    number: int
    previous: str
    hash: str
    at: str
    lineage: str
    analyst: str
    request_key: str
    plan_digest: str
    measure: Measure
    amount: Amount
    charges: tuple[Charge, ...]
    state: State
    payload_sha256: str = ""
    study: str = ""
    step: Step | None = None
    project: str = ""
    tier: str = ""
    submission: int = 0
    policy: str = ""
    withheld: bool = False
    filtered: bool = False
    members: str = ""
    ledger: str = ""
    period: str = ""
    snapshot: str = ""

    @property
    def continues(self) -> int | None:
        """Entry that was charged for this one as well; None where this one is charged."""
        return None if self.step is None else self.step.continues


_NAMES = tuple(each.name for each in fields(Entry))
_values = operator.attrgetter(*_NAMES)


def entry_with(entry: Entry, **changes: Any) -> Entry:
    """Return an entry with fields changed: as ``replace`` does, in a fifth of its time."""
    new = object.__new__(Entry)
    for name, value in zip(_NAMES, _values(entry), strict=True):
        object.__setattr__(new, name, value)
    for name, value in changes.items():
        object.__setattr__(new, name, value)
    return new


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A durable charge; only the ledger object that made it can read and commit under it."""

    entry: Entry
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRelease:
    """The answer that this request already has; deliver it again, at no charge."""

    entry: Entry
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSpent:
    """Use of one cap, in grid units; ``cap`` and ``remaining`` are ``None`` when it is open.

    In a mixed ledger they are those of the lane of ``order``, for a cap on ``epsilon``; ``pure`` is
    what the lane of pure events holds.
    """

    scope: Scope
    period: str
    used: int
    cap: int | None
    remaining: int | None
    cap_id: str = ""
    order: int = 0
    epsilon: int | None = None
    pure: int | None = None

    def in_pure(self) -> "ScopeSpent | None":
        """Return the use of the lane of pure events; None where it is closed, or there is none."""
        if self.pure is None or self.epsilon is None or self.pure > self.epsilon:
            return None
        left = self.epsilon - self.pure
        return replace(self, used=self.pure, cap=self.epsilon, remaining=left, order=0)

    def roomier(self) -> "ScopeSpent":
        """Return the use of the lane with more room."""
        pure = self.in_pure()
        return self if pure is None else max(pure, self, key=_room)

    def charged(self, amount: Amount) -> "tuple[ScopeSpent, int]":
        """Return the lane in which an amount would be charged, and how much it is there."""
        if self.scope is Scope.LIFETIME_DELTA:
            return self, amount.atto
        lanes = amount.lanes
        if lanes is None:
            return self.roomier(), amount.nano
        if self.scope is Scope.RELEASE:
            return self, lanes.alone
        pure, in_order = self.in_pure(), lanes.at(self.order)
        if pure is not None and lanes.pure is not None:
            fits = lanes.pure <= (pure.remaining or 0)
            if fits or in_order > (self.remaining or 0):
                return pure, lanes.pure
        return self, in_order


def _room(use: ScopeSpent) -> Fraction:
    return Fraction(use.remaining or 0, use.cap or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class YearSpent:
    """What was charged in one calendar year, whether or not a cap is by year.

    Attributes:
        year: Which.
        used: In grid units; of requests and of rows that are lost.
        lost: Of that, what rows that are lost charged, as officers accepted it.
        order: At which these are counted, in a mixed ledger; 0 in another.
        pure: What the lane of pure events holds in a mixed ledger.
    """

    year: int
    used: int
    lost: int
    order: int = 0
    pure: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Use of every cap of a lineage, in the order of the policy, or release, year, lifetime, δ.

    Attributes:
        lineage: Which.
        measure: In what it is counted.
        scopes: The caps.
        years: Every year in which anything was charged, oldest first.
        delta: Σδ over the life of the lineage, in 1e-18, whether or not it has a cap.
    """

    lineage: str
    measure: LedgerMeasure
    scopes: tuple[ScopeSpent, ...]
    years: tuple[YearSpent, ...] = ()
    delta: int = 0

    def in_year(self, year: int) -> YearSpent:
        """Return what was charged in a year."""
        known = {each.year: each for each in self.years}
        return known.get(year) or YearSpent(year=year, used=0, lost=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingNow:
    """What counts in a window of patients with a charge that is made now.

    Attributes:
        entries: Requests, oldest first, each with the first day on which it does not count any
            more; "" where none is known.
        lost: What rows that are lost charged, in grid units.
        lost_leaves: The first day on which none of that counts any more; "" where none is known.
    """

    entries: tuple[tuple[Entry, str], ...]
    lost: int
    lost_leaves: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Last row of the hash chain; number 0 when there is none."""

    number: int
    hash: str
