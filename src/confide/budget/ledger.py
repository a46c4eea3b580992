"""The privacy ledger: what was spent on whose data, and whether more may be.

A charge is durable *before* any row is read, and is never refunded afterwards::

    reserve ──► RESERVED ──► READING ──► COMMITTED ──► PUBLISHED
       │            │            └─ crash, failure ─► BURNED (stays charged)
       │            └─ never read ─► CANCELLED
       └─ a cap would be passed ─► REFUSED (recorded, 0)

*Privacy:* the sum of the charges of a lineage bounds the loss of its whole transcript, by basic
composition of a privacy filter with fixed caps [RRUV16]; under ``ZCDP`` ρ adds alike [BS16].  No
refund: the failure itself may depend on the data.  An answer exists only as the stored payload, so
a retry returns the same bytes and reveals nothing new.

*Utility:* amounts are integers; a cap is used to its last 1e-9.

References:
    [RRUV16] Rogers, Roth, Ullman, Vadhan. Privacy odometers and filters. NeurIPS 2016, sec. 4.
        https://arxiv.org/abs/1605.08294
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016, lemma 1.7.
        https://arxiv.org/abs/1605.02065
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from confide.budget.chain.chain import Chain, Signer
from confide.budget.entry import (
    Charge,
    CountingNow,
    Entry,
    Head,
    Reservation,
    Scope,
    ScopeSpent,
    Spent,
    State,
    StoredRelease,
)
from confide.budget.growth import PART, Growth, Step
from confide.budget.lengths import TEXT, is_text, require_bytes
from confide.budget.plan_text import require_plain, require_plan
from confide.errors import InvalidParameterError
from confide.plans.plan import NAME_BYTES
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import Amount, require_units
from confide.privacy.measure import MEASURES, LedgerMeasure, Measure
from confide.privacy.unit import Entity

if TYPE_CHECKING:
    from confide.budget.desk import Desk
    from confide.budget.workflow.acts import Officers
    from confide.budget.workflow.submission import Decision

__all__ = [
    "Amount",
    "Caps",
    "Charge",
    "ChargeRequest",
    "CountingNow",
    "Entry",
    "Growth",
    "Head",
    "Ledger",
    "LedgerTerms",
    "Measure",
    "Reservation",
    "Scope",
    "ScopeSpent",
    "Spent",
    "State",
    "Step",
    "StoredRelease",
]

TERMS = (*("|".join(each.value for each in of) for of in (Entity, Adjacency)), MEASURES)
"""What a lineage may have, by name: units, adjacencies and measures, as regular expressions."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LINEAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The most that may be spent, in grid units; ``None`` leaves a scope open.

    Attributes:
        lifetime: Over the life of the lineage, in 1e-9; required.
        calendar_year: In one calendar year, in 1e-9.  Any 12 months may hold twice as much.
        release: By one release, in 1e-9.
        delta_lifetime_atto: Σδ over the life of the lineage, in 1e-18; 0 refuses every δ.

    Example:
        >>> Caps(lifetime=10_000_000_000, calendar_year=3_000_000_000).delta_lifetime_atto
        0
    """

    lifetime: int
    calendar_year: int | None = None
    release: int | None = None
    delta_lifetime_atto: int = 0

    def __post_init__(self) -> None:
        require_units("lifetime", self.lifetime, least=1)
        require_units("delta_lifetime_atto", self.delta_lifetime_atto, least=0)
        for name, value in (("calendar_year", self.calendar_year), ("release", self.release)):
            if value is not None:
                require_units(name, value, least=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTerms:
    """What a lineage agreed to when it was first charged.

    Attributes:
        lineage: Id of the data through renames and snapshots; budgets follow it.
        unit: Whose loss is counted.
        adjacency: Which data sets are neighbours.
        measure: In what losses are counted.
        caps: Changed later by ``amend_caps`` only; None where the caps are those of a policy.
    """

    lineage: str
    unit: Entity
    adjacency: Adjacency
    measure: LedgerMeasure
    caps: Caps | None

    def __post_init__(self) -> None:
        if not _LINEAGE.fullmatch(self.lineage):  # no Unicode twins: each would have a budget
            raise InvalidParameterError(
                f"Expected lineage as ASCII letters, digits and . _ : / -, got {self.lineage!r}."
            )

    @property
    def names(self) -> tuple[str, str, str]:
        """Unit, adjacency and measure: what the amounts of this lineage are of."""
        return self.unit.value, self.adjacency.value, self.measure.value


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRequest:
    """One study that asks to be run.

    Attributes:
        analyst: Account that asks.
        request_key: The client's idempotency key; a retry sends the same one.
        plan_digest: SHA-256 of the plan, 64 lower-case hexadecimal digits.
        lineage: Of the data.
        unit: Of the plan; must be the ledger's, like the next two.
        adjacency: Of the plan.
        measure: In which ``amount`` is given.
        amount: What the plan costs.
        events_json: Canonical JSON of mechanisms, sensitivities and scales, from which any
            accountant can recompute the loss.
        plan_json: The plan, for the record, as canonical JSON.
        step: Periods of a growing release that it publishes; one that continues costs nothing.
        tier: Importance that the study claims; decides who must approve.
        project: To which it belongs, whose caps it falls under; "" is one as well.
        planned: Planned release of the policy that it is; "" for none.
    """

    analyst: str
    request_key: str
    plan_digest: str
    lineage: str
    unit: Entity
    adjacency: Adjacency
    measure: Measure
    amount: Amount
    events_json: str
    plan_json: str
    step: Step | None = None
    tier: str = ""
    project: str = ""
    planned: str = ""

    def __post_init__(self) -> None:
        free = self.step is not None and self.step.continues is not None
        if free != (self.amount.nano == 0) or (free and self.amount.atto):
            raise InvalidParameterError(
                "Expected a charge above 0, or a step of a release that was charged before."
            )
        for name in ("analyst", "request_key", "lineage"):
            _require_name(name, getattr(self, name))
        if PART in self.request_key and not free:
            told = f"Expected request_key without {PART!r}, which parts of jobs have, got "
            raise InvalidParameterError(f"{told}{self.request_key!r}.")
        for name in ("tier", "project", "planned"):
            if getattr(self, name):
                _require_name(name, getattr(self, name))
        for name in ("events_json", "plan_json"):
            _require_text(name, getattr(self, name))
            require_bytes(name, getattr(self, name), most=TEXT)
        require_plain("events_json", self.events_json)
        require_plan("plan_json", self.plan_json)
        if not _SHA256.fullmatch(self.plan_digest):
            raise InvalidParameterError("Expected plan_digest as 64 lower-case hex digits.")


class Ledger(Protocol):
    """Append-only record of privacy loss, shared by every process that reads the data.

    Every backend passes ``tests/contracts/ledger_contract.py``.  Each call is one durable
    transaction.  Any call raises LedgerFrozenError when the chain, its copy or the anchor differ.
    """

    def register(self, terms: LedgerTerms) -> None:
        """Fix the terms of a lineage; the same terms again change nothing.

        Until the first charge other terms replace them, recorded; a charge that was given back
        counts as well.

        Raises:
            MismatchError: If unit, adjacency or measure differ from those of the first charge.
            PolicyError: If the caps differ; from then on they change by ``amend_caps`` only.
        """

    @property
    def desk(self) -> "Desk":
        """Where people adopt a policy, confirm days, ask and decide."""

    def amend_caps(self, lineage: str, *, caps: Caps, reason: str = "") -> None:
        """Change caps; lowering is free, raising any of them needs a recorded ``reason``.

        Raises:
            PolicyError: If a policy was adopted: its next version changes them.
        """

    def open_year(self, lineage: str, *, year: int, reason: str, officers: "Officers" = ()) -> None:
        """Start the budget of a calendar year, which the clock must show as well.

        Args:
            lineage: Of the data.
            year: As the clock shows it.
            reason: Recorded for good.
            officers: Keys of those who do it; needed where the policy in force names people.

        Raises:
            ApprovalMissingError: If no officer of the policy signs.
        """

    def reserve(self, request: ChargeRequest) -> Reservation | StoredRelease:
        """Charge ``request``, or return the answer that its key already has.

        Raises:
            BudgetExhaustedError: If a cap would be passed; recorded, nothing charged.
            MismatchError: If unit, adjacency or measure are not the ledger's.
            ApprovalMissingError: If the tier needs approvals that are not there.
            BurnedError: If this key died after reading began.
            PolicyError: If this key is in progress, a new calendar year is not open yet, or the
                answer is withheld.
        """

    def start_reading(self, reservation: Reservation) -> None:
        """Record that rows will now be read; must return before the first one is."""

    def commit(self, reservation: Reservation, *, payload: bytes, members: str = "") -> Entry:
        """Store the noisy answer and its chained row, with the tag of who was in, as one."""

    def publish(self, entry: Entry) -> Entry:
        """Record that the stored answer was delivered; again is harmless."""

    def burn(self, reservation: Reservation, *, incident: str) -> None:
        """End a request that failed after reading began; the charge stays."""

    def cancel(self, reservation: Reservation) -> None:
        """Give back a charge under which nothing was read."""

    def let_go(self, reservation: Reservation, *, incident: str) -> State | None:
        """End a request whose owner met a failure: given back if only reserved, burned if reading.

        It never fails for what failed before, a full disk say: the next request ends it then, or
        whoever opens the ledger next.

        Returns:
            How it ended; None if that cannot be written yet.
        """

    def spent(
        self, lineage: str, *, project: str | None = None, analyst: str | None = None
    ) -> Spent:
        """Return the use of every cap; of projects and analysts all that are known, or one."""

    def counted_in(self, lineage: str) -> LedgerMeasure:
        """Return in what the losses of a lineage add up."""

    def entries(self, lineage: str, *, last: int | None = None) -> tuple[Entry, ...]:
        """Return every request of a lineage, oldest first; or so many of the newest."""

    def entry(self, number: int) -> Entry:
        """Return one request.

        Raises:
            UnknownNameError: If there is none of this number.
        """

    def withholding(self, number: int) -> "Decision | None":
        """Return who decided that an answer, or one that it repeats, goes to nobody; or None."""

    def of_plan(self, lineage: str, *, digest: str) -> tuple[Entry, ...]:
        """Return the requests of a plan, oldest first; reads no others, like the next three."""

    def known(self, plan_digest: str, *, analyst: str, request_key: str) -> Entry | None:
        """Return the request of an analyst under a key, if asking again would charge nothing.

        None also where it came to nothing, or its process ended before anything was read: that
        charge is given back when the request is made again, and another one is made.
        """

    def is_under_way(self, number: int) -> bool:
        """Return whether a request is reserved or reading, in a process that is there."""

    def under_way(self, lineage: str) -> tuple[Entry, ...]:
        """Return the requests of a lineage that are reserved or reading, oldest first."""

    def of_study(self, lineage: str, *, study: str, period: str) -> tuple[Entry, ...]:
        """Return the requests of a study for a period, oldest first."""

    def of_snapshot(self, lineage: str, *, snapshot: str) -> tuple[Entry, ...]:
        """Return the requests of a declared snapshot, oldest first."""

    def of_growth(self, growth: Growth) -> tuple[Entry, ...]:
        """Return the steps of a growing release, oldest first."""

    def beside(self, number: int, *, window: str) -> tuple[Entry, ...]:
        """Return the other requests that count with entry ``number`` in a window of patients.

        Args:
            number: Of an entry.
            window: "calendar-year": charged to the same year; "rolling-365d": not let go by a day
                that an officer confirmed; "lifetime": all of the lineage.
        """

    def lost_beside(self, number: int, *, window: str) -> int:
        """Return in grid units what lost rows charged, as far as it counts in a window.

        No entry tells of it any more: an officer went on after an older ledger was put back.
        """

    def counting_now(self, lineage: str, *, window: str) -> CountingNow:
        """Return what counts in a window of patients with a charge made now; as :meth:`beside`."""

    def recorded_plan(self, number: int) -> str:
        """Return the plan that entry ``number`` was charged for, as canonical JSON.

        Raises:
            LedgerFrozenError: If it is not the one whose digest the entry holds.
        """

    def growths(self, lineage: str) -> tuple[Growth, ...]:
        """Return the growing releases of a lineage, oldest first."""

    def stored(self, number: int) -> StoredRelease:
        """Return the committed answer of entry ``number``."""

    def head(self) -> Head:
        """Return the last row of the chain."""

    def rotate_key(self, new: Signer, *, reason: str, officers: "Officers" = ()) -> None:
        """Let another key sign from now on; a row of the chain, signed by the old one.

        It is an officer's act, like opening a year.  Refused while another process has a release
        under way, which could not commit its answer any more.
        """

    def chain(self) -> Chain:
        """Return every row, without answers, and the signed head over them."""

    def verify_chain(self, *, progress: Callable[[str], None] = lambda _: None) -> None:
        """Check every row, copy, payload and anchored head again.

        Args:
            progress: Is told how far it is, where it takes long.

        Raises:
            LedgerFrozenError: With everything that was found.
            VerificationError: If a process that was to check a part of it ended before it had.
        """

    def unfreeze(self, reason: str, *, officers: "Officers" = ()) -> None:
        """Go on after officers of every policy have looked; recorded, and gives no budget back."""

    def close(self) -> None:
        """Release the files; what was being read is burned by whoever opens the ledger next."""


def _require_name(name: str, value: object) -> None:
    _require_text(name, value)
    if isinstance(value, str):
        require_bytes(name, value, most=NAME_BYTES)
        if not value.isprintable():
            raise InvalidParameterError(f"Expected {name} as printable characters, got {value!r}.")


def _require_text(name: str, value: object) -> None:
    if not is_text(value):
        raise InvalidParameterError(f"Expected {name} as a non-empty text, got {value!r}.")
