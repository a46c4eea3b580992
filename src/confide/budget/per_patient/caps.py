"""The caps of a policy that are kept patient by patient."""

from confide.budget.policy.adoption import Adopted
from confide.budget.policy.policy import CapScope, Enforce, Policy
from confide.privacy.individual import CapWindow, PatientCap


def patient_caps(policy: Policy | Adopted | None) -> tuple[PatientCap, ...]:
    """Return what a plan states of patients who are left out: caps of scope patient, by dropping.

    Limits are those of the adoption, where a policy was adopted.
    """
    match policy:
        case None:
            return ()
        case Adopted(policy=adopted, units=units):
            known = dict(units)
        case Policy() as adopted:
            known = {cap.id: adopted.units(cap) for cap in adopted.caps}
    return tuple(
        PatientCap(id=cap.id, nano=known[cap.id], window=CapWindow(cap.window.value))
        for cap in adopted.caps
        if cap.scope is CapScope.PATIENT and cap.enforce is Enforce.DROP
    )
