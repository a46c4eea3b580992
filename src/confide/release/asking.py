"""What is submitted for approval: a plan, as those who decide will see it.

*Privacy:* made of the plan, which holds public facts alone.
"""

from confide.budget.amount import Amount
from confide.budget.workflow.submission import Asked
from confide.plans.canonical import canonical_bytes
from confide.plans.plan import Priced


def asked_for(plan: Priced, *, note: str = "", revises: int = 0) -> Asked:
    """Return a plan as a request for approval.

    Args:
        plan: What is to be released; approvals bind to its digest.
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
        amount=Amount(nano=plan.nano, delta_atto=plan.atto),
    )
