"""Caps that leave patients out: what a plan is refused for, and the public use of each cap.

*Privacy:* made of the plan and of what everybody was charged, which rows of the ledger tell alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from confide.budget.ledger import Ledger
from confide.budget.per_patient.caps import patient_caps
from confide.errors import BudgetExhaustedError
from confide.plans.plan import Plan
from confide.privacy.amount import NANO, decimal_text
from confide.privacy.individual import FEMTO
from confide.privacy.measure import Mixed, letter_of_patients
from confide.release.left_out import cap_uses, nobody_is_counted
from confide.release.refusal import beside_units, told_in_epsilon
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why nobody could be counted.

    Attributes:
        cap: Which cap.
        message: The words in which a run is refused.
        available: First day on which more may be there; "" when none is known.
    """

    cap: str
    message: str
    available: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientCap:
    """A cap of each patient and its public use; amounts are in ε or ρ, as text.

    Attributes:
        cap: Its id in the policy.
        letter: ε or ρ; of a mixed ledger ε(a), at the order of patients.
        window: Over which charges add up.
        limit: As the policy says it; of a mixed ledger at that order.
        kept_to: Up to which a patient's own charges add up.
        everybody: What every patient was charged at least.
        left: Of ``kept_to`` at most.
        epsilon: The same in ε, where amounts are in ρ; of a mixed ledger the limit alone.
    """

    cap: str
    letter: str
    window: str
    limit: str
    kept_to: str
    everybody: str
    left: str
    epsilon: Mapping[str, str]


def refusal_of(plan: Plan, *, ledger: Ledger | None) -> BudgetExhaustedError | None:
    """Return what refuses a plan that can count nobody; None if it may run.

    Args:
        plan: What would be released.
        ledger: Holds what everybody was charged; None where it cannot be opened.

    Raises:
        ContractError: If patients cannot be left out of such a plan.
    """
    found = nobody_is_counted(plan, ledger=ledger)
    return None if found is None else told_in_epsilon(found, plan=plan)


def told_refusal(plan: Plan, *, ledger: Ledger | None) -> Refusal | None:
    """Return why nobody could be counted, as :func:`refusal_of` says it; None if not."""
    told = refusal_of(plan, ledger=ledger)
    if told is None:
        return None
    return Refusal(cap=told.cap, message=str(told), available=told.available)


def public_use(dataset: Dataset, *, ledger: Ledger) -> tuple[PatientCap, ...]:
    """Return each cap of the policy in force that leaves patients out, and its public use."""
    caps = patient_caps(ledger.desk.policy(dataset.lineage))
    measure = ledger.counted_in(dataset.lineage)
    letter = letter_of_patients(measure)
    found = []
    for use in cap_uses(replace(dataset, patients=caps), ledger=ledger):
        held = {
            "limit": use.bound if isinstance(measure, Mixed) else use.cap.nano * (FEMTO // NANO),
            "kept-to": use.bound,
            "everybody": use.everybody,
            "left": use.left,
        }
        beside = {
            name: beside_units(femto // (FEMTO // NANO), dataset=dataset)
            for name, femto in held.items()
        }
        if isinstance(measure, Mixed):
            beside = {"limit": decimal_text(use.cap.nano, per_one=NANO)}
        amounts = {name: decimal_text(femto, per_one=FEMTO) for name, femto in held.items()}
        found.append(
            PatientCap(
                cap=use.cap.id,
                letter=letter,
                window=use.cap.window.value,
                limit=amounts["limit"],
                kept_to=amounts["kept-to"],
                everybody=amounts["everybody"],
                left=amounts["left"],
                epsilon={name: epsilon for name, epsilon in beside.items() if epsilon},
            )
        )
    return tuple(found)
