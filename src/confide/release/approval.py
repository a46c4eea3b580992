"""Whether a policy admits a plan, and under whose decisions an answer was given.

*Privacy:* made of the plan and the ledger; nothing here reads data.
"""

import getpass

from confide.budget.ledger import Entry, Ledger
from confide.budget.workflow.rules import PolicyClaim, Refused
from confide.budget.workflow.submission import Verdict
from confide.plans.plan import Priced
from confide.plans.pricing.roads import amount_in
from confide.release.certificate.certificate import asked_by
from confide.release.certificate.parts import AuthorityPart, DecisionPart, PolicyPart
from confide.release.published import key_of_plan


def analyst_of(ledger: Ledger, plan: Priced, *, request: str | None = None) -> str:
    """Return for whom a plan is run: whose approved request admits it, or the user's login.

    Args:
        ledger: That is charged.
        plan: What is run.
        request: Idempotency key; the plan's digest when None.
    """
    return ledger.desk.requester(
        plan.dataset.lineage,
        claim=_claim(plan, ledger=ledger, analyst=login()),
        request_key=request or key_of_plan(plan),
    )


def login() -> str:
    """Return who asks where nobody is named: the user's login."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def admission(ledger: Ledger, plan: Priced, *, analyst: str) -> int | Refused:
    """Return the request that would admit a plan now, 0 where none is needed, or why not."""
    return ledger.desk.admission(
        plan.dataset.lineage, claim=_claim(plan, ledger=ledger, analyst=analyst)
    )


def _claim(plan: Priced, *, ledger: Ledger, analyst: str) -> PolicyClaim:
    study, measure = plan.study, ledger.spent(plan.dataset.lineage).measure
    return PolicyClaim(
        analyst=analyst,
        plan_digest=plan.digest(),
        tier=study.tier,
        project=study.project,
        release=study.release,
        nano=amount_in(measure, planned=plan).alone,
        audience=study.audience,
    )


def authority_of(ledger: Ledger, entry: Entry) -> AuthorityPart:
    """Return who asked for an entry, under which policy, and the approvals that admitted it.

    A later part of a job, or period of a growing release, was admitted with the one it continues.
    """
    if not entry.policy:
        return asked_by(entry)
    adopted = ledger.desk.version(entry.lineage, digest=entry.policy)
    named = PolicyPart(id=adopted.policy.id, version=adopted.policy.version, sha256=adopted.digest)
    paid = entry if entry.continues is None else ledger.entry(entry.continues)
    decisions = [
        DecisionPart(role=each.role, decision="approved", at=each.at, why=each.reason or None)
        for submission in ledger.desk.submissions(entry.lineage)
        for each in submission.decisions
        if submission.number == paid.submission and each.verdict is Verdict.APPROVE
    ]
    return asked_by(entry, policy=named, decisions=decisions or None)
