"""Policies, people and their keys for tests."""

import hashlib
from dataclasses import replace
from fractions import Fraction

from confide.budget.ledger import ChargeRequest, LedgerTerms
from confide.budget.policy.policy import (
    Basis,
    CapScope,
    Enforce,
    Limit,
    Person,
    PlannedRelease,
    Policy,
    PolicyCap,
    Tier,
    Window,
    Workflow,
)
from confide.budget.workflow.submission import Asked, Submission, Verdict
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from ledgers import LINEAGE, SiteKey, request, terms

PLAN_JSON = '{"plan":1}'
PLAN = hashlib.sha256(PLAN_JSON.encode()).hexdigest()
ADA, BO, CY, DI = (SiteKey(name * 32) for name in (b"A", b"B", b"C", b"D"))
"""Keys of an analyst, a steward, a privacy officer, and someone of the ethics board."""

PEOPLE = (
    Person(name="ada", roles=("analyst",), key=ADA.public_key.hex()),
    Person(name="bo", roles=("steward",), key=BO.public_key.hex()),
    Person(name="cy", roles=("privacy-officer", "steward"), key=CY.public_key.hex()),
    Person(name="di", roles=("ethics-board",), key=DI.public_key.hex()),
    Person(name="ed", roles=("reader",), key=SiteKey(b"E" * 32).public_key.hex()),
)
TIERS = (
    Tier(id="critical", approvals=("steward", "privacy-officer", "ethics-board"), needed=2),
    Tier(id="routine", approvals=("steward",)),
    Tier(id="open"),
)


def cap(
    name: str,
    scope: str,
    window: str,
    epsilon: str,
    *,
    priority: int = 2,
    enforce: Enforce = Enforce.PLAN,
) -> PolicyCap:
    return PolicyCap(
        id=name,
        basis=Basis.ETHICS,
        priority=priority,
        scope=CapScope(scope),
        window=Window(window),
        limit=Limit(epsilon=Fraction(epsilon)),
        enforce=enforce,
    )


LIFE = cap("dataset-life", "dataset", "lifetime", "4")


def policy(*caps: PolicyCap, version: int = 1, **others) -> Policy:
    fields = {
        "id": "north-hospital",
        "version": version,
        "effective": "2027-01-01",
        "unit": Entity.PATIENT,
        "adjacency": Adjacency.ADD_REMOVE,
        "measure": Measure.PURE,
        "caps": caps or (LIFE,),
    }
    return Policy(**(fields | others))


def over_both(*caps: PolicyCap, delta: str = "1e-6", **others) -> Policy:
    """A policy over a mixed ledger."""
    return policy(*caps, mixed=True, report_delta=Fraction(delta), **others)


def with_people(*caps: PolicyCap, version: int = 1, **workflow) -> Policy:
    return policy(
        *caps,
        version=version,
        tiers=TIERS,
        releases=(PlannedRelease(id="rare-q1", tier="critical", project="rare"),),
        workflow=Workflow(people=PEOPLE, **workflow),
    )


def uncapped(lineage: str = LINEAGE) -> LedgerTerms:
    """Terms of a lineage whose caps are those of a policy."""
    return replace(terms(), lineage=lineage, caps=None)


def asked_by(analyst: str = "ada", key: str = "k", *, nano: int, **others) -> ChargeRequest:
    return replace(request(key, nano=nano), **({"analyst": analyst, "plan_digest": PLAN} | others))


def asks(tier: str = "critical", *, plan: str = PLAN, **others) -> Asked:
    return Asked(lineage=LINEAGE, plan_digest=plan, plan_json=PLAN_JSON, tier=tier, **others)


def approved(ledger, tier: str = "critical", *signers: SiteKey, **others) -> Submission:
    """A request of ada's that the signers have approved."""
    submission = ledger.desk.submit(asks(tier, **others), signer=ADA)
    for signer in signers:
        role = "privacy-officer" if signer is CY else ""
        submission = ledger.desk.decide(
            submission.number, verdict=Verdict.APPROVE, signer=signer, role=role
        )
    return submission
