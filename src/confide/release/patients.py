"""Who is in a release under a policy that leaves patients out: admitted, read, charged, summed.

::

    admit      the files are whole, and what everybody paid leaves room: public, before reading
    read       bounded sums by person, inside the engine
    charge     who is in, and what they paid: durable before noise is drawn
    sum        of those who are in

*Privacy:* :mod:`confide.privacy.individual` has the theorem.  Every release takes the same steps
whether or not anybody is left out.  What goes wrong here is told by its class alone, since a
message could name a patient's number.
"""

from dataclasses import dataclass

from confide.budget.entry import Entry
from confide.budget.ledger import Ledger
from confide.budget.per_patient.bill import Bill, PatientsCharged, SpendCap
from confide.budget.per_patient.caps import patient_caps
from confide.budget.per_patient.store import PatientStore
from confide.budget.policy.adoption import Adopted
from confide.errors import ContractError, EngineError, PolicyError
from confide.noise.entropy import Entropy
from confide.plans.plan import Plan
from confide.plans.pricing.individual import WholeLoss, individual_losses
from confide.privacy.individual import enforced
from confide.privacy.measure import LedgerMeasure
from confide.release.left_out import measure_of_patients, require_somebody
from confide.rows.engine import Engine, ExactAggregates, PersonSums
from confide.tables.aggregates.shapes import Asked
from confide.tables.schema import Dataset

NONCE = 32


def may_leave_out(dataset: Dataset, *, ledger: Ledger) -> bool:
    """Return whether a release may leave patients out: by its caps, or as one that it continues."""
    growths = (growth for growth in ledger.growths(dataset.lineage) if not growth.closed)
    return bool(dataset.patients) or any(ledger.entry(each.opened).filtered for each in growths)


def require_caps_in_force(plan: Plan, *, ledger: Ledger, store: PatientStore | None) -> None:
    """Refuse a plan that states other caps of patients than the policy in force.

    Raises:
        PolicyError: If they differ.
        ContractError: If there is no store, or patients cannot be left out of such a plan.
    """
    policy = ledger.desk.policy(plan.dataset.lineage)
    _require_caps_of(plan, policy=policy)
    if patient_caps(policy):
        individual_losses(plan)
        _present(store)


def _require_caps_of(plan: Plan, *, policy: Adopted | None) -> None:
    if plan.dataset.patients != patient_caps(policy):
        raise PolicyError(
            "The plan states other caps of patients than the policy in force.",
            hint="Plan the study again under the policy that dataset.yaml names.",
        )


def _present(store: PatientStore | None) -> PatientStore:
    if store is None:
        raise ContractError(
            "Patients are left out of this release, and there is no store of their budgets.",
            hint="Release through the workspace, which has one in .confide/patients.",
        )
    return store


@dataclass(frozen=True, slots=True, kw_only=True)
class EverybodysRows:
    """Rows of a release that leaves nobody out."""

    engine: Engine
    dataset: Dataset

    def read(self, asked: tuple[Asked, ...]) -> tuple[ExactAggregates, str]:
        """Return the exact sums, and no membership."""
        return self.engine.aggregate(asked, dataset=self.dataset), ""


def rows_of(
    plan: Plan,
    entry: Entry,
    *,
    engine: Engine,
    ledger: Ledger,
    store: PatientStore | None,
    entropy: Entropy,
) -> "EverybodysRows | AdmittedRows":
    """Return how the rows of a charged plan are read, once the charge may be made to patients.

    A growing release that was opened with patients left out goes on without them, under the caps
    of its opening, whatever holds.

    Raises:
        LedgerFrozenError: If the store and the ledger do not agree.
        BudgetExhaustedError: If what everybody pays passes a cap.
        PolicyError: If another policy was adopted before the charge, with other caps of patients.
        ContractError: If there is no store.
    """
    opened = _opened(entry, ledger=ledger)
    charged = entry if opened is None else opened
    charged_under = (
        ledger.desk.version(charged.lineage, digest=charged.policy) if charged.policy else None
    )
    _require_caps_of(plan, policy=charged_under)
    left_out = bool(plan.dataset.patients) if opened is None else opened.filtered
    if not left_out:
        return EverybodysRows(engine=engine, dataset=plan.dataset)
    rows = AdmittedRows(
        plan=plan,
        entry=entry,
        opened=opened,
        engine=engine,
        ledger=ledger,
        store=_present(store),
        entropy=entropy,
    )
    rows.admit()
    return rows


def _opened(entry: Entry, *, ledger: Ledger) -> Entry | None:
    """Return the entry that a step continues; None of any other release."""
    return None if entry.continues is None else ledger.entry(entry.continues)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedRows:
    """Rows of a release that leaves patients out whose own budget is spent.

    Attributes:
        plan: What is released.
        entry: Under which charge.
        opened: The entry that this one continues; None where it is charged itself.
        engine: Reads the rows.
        ledger: Knows the other charges.
        store: Knows what patients paid.
        entropy: For the nonce of the membership.
    """

    plan: Plan
    entry: Entry
    opened: Entry | None
    engine: Engine
    ledger: Ledger
    store: PatientStore
    entropy: Entropy

    def admit(self) -> None:
        """Refuse for public reasons, before a row is read.

        Raises:
            LedgerFrozenError: If the store and the ledger do not agree.
            BudgetExhaustedError: If what everybody pays passes a cap.
        """
        if self.opened is None:
            require_somebody(self.plan, ledger=self.ledger, without=self.entry.number)
            self.store.admit(
                self.ledger, entry=self.entry, bounds=self._bounds(), everybody=self._everybody()
            )
        else:
            self.store.verify(self.ledger, forgets=True)

    def read(self, asked: tuple[Asked, ...]) -> tuple[ExactAggregates, str]:
        """Return the exact sums of those who are in, and the tag of the durable membership.

        Raises:
            LedgerFrozenError: If another entry is decided in another folder; nothing was read.
            EngineError: If anything fails; carries the class of the failure and no data.
        """
        if self.opened is None:  # once it is recorded that this one is read, so that both are seen
            self.store.require_here(self.ledger, bounds=self._bounds())
        rows = self.engine.person_sums(asked, dataset=self.plan.dataset)
        try:
            charged = self._charged(rows)
            return rows.sums(without=charged.left_out), charged.tag
        except EngineError:
            raise
        except Exception as failure:  # noqa: BLE001 - its message could name a patient
            raise EngineError(type(failure).__name__) from None
        finally:
            rows.close()

    def _charged(self, rows: PersonSums) -> PatientsCharged:
        if self.opened is not None:  # paid for, or left out, when it was opened
            out = self.store.left_out_of(
                self.ledger, opened=self.opened, roster=rows.roster, identities=rows.identities
            )
            return PatientsCharged(left_out=out, tag="")
        who, losses = rows.losses(individual_losses(self.plan, measure=self._measure))
        bill = Bill(
            everybody=self._everybody(),
            who=who,
            losses=losses,
            roster=rows.roster,
            identities=rows.identities,
        )
        return self.store.charge(
            self.ledger,
            entry=self.entry,
            bounds=self._bounds(),
            bill=bill,
            nonce=self.entropy.octets(NONCE).tobytes(),
        )

    @property
    def _measure(self) -> LedgerMeasure:
        return measure_of_patients(self.plan.dataset, ledger=self.ledger)

    def _bounds(self) -> tuple[SpendCap, ...]:
        of = self.plan.dataset
        return tuple(
            SpendCap(
                window=cap.window,
                femto=enforced(cap, adjacency=of.adjacency, measure=self._measure),
                cap=cap.id,
            )
            for cap in of.patients
        )

    def _everybody(self) -> int:
        charges = individual_losses(self.plan, measure=self._measure)
        return sum(each.femto for each in charges if isinstance(each, WholeLoss))
