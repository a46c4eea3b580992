"""What is asked for a plan: a charge of the ledger, and an approval of those who decide.

*Privacy:* made of the plan, which holds public facts alone.
"""

from confide.budget.ledger import ChargeRequest, Step
from confide.budget.workflow.submission import Asked
from confide.plans.canonical import canonical_bytes
from confide.plans.events import study_events_json
from confide.plans.plan import Priced
from confide.plans.pricing.roads import amount_in
from confide.privacy.amount import Amount
from confide.privacy.measure import LedgerMeasure


def asked_for(plan: Priced, *, measure: LedgerMeasure, note: str = "", revises: int = 0) -> Asked:
    """Return a plan as a request for approval.

    Args:
        plan: What is to be released; approvals bind to its digest.
        measure: Of the ledger.
        note: For those who decide.
        revises: Request that this one takes the place of; 0 for none.
    """
    return Asked(
        lineage=plan.dataset.lineage,
        plan_digest=plan.digest(),
        plan_json=canonical_bytes(plan.to_json()).decode(),
        tier=plan.study.tier,
        project=plan.study.project,
        release=plan.study.release,
        note=note,
        revises=revises,
        amount=amount_in(measure, planned=plan),
    )


def charge_request(
    plan: Priced, *, analyst: str, request_key: str, step: Step | None = None
) -> ChargeRequest:
    """Return what is charged for a plan; nothing for a step of one that was charged before.

    Args:
        plan: Of a study or a job.
        analyst: Who asks.
        request_key: Under which a retry finds the same answer.
        step: Periods of a growing release that it publishes, or rounds of a job.
    """
    free = step is not None and step.continues is not None
    dataset = plan.dataset
    return ChargeRequest(
        analyst=analyst,
        request_key=request_key,
        plan_digest=plan.digest(),
        lineage=dataset.lineage,
        unit=dataset.unit.entity,
        adjacency=dataset.adjacency,
        measure=dataset.measure,
        amount=Amount(nano=0) if free else plan.amount,
        events_json=study_events_json((), measure=dataset.measure) if free else plan.events_json,
        plan_json=canonical_bytes(plan.to_json()).decode(),
        step=step,
        tier=plan.study.tier,
        project=plan.study.project,
        planned=plan.study.release,
    )
