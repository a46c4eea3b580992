"""What those who decide see of a plan, whatever it is of."""

from typing import TypeAlias

from confide.budget.ledger import Ledger
from confide.errors import ContractError
from confide.plans.job import JobPlan
from confide.plans.plan import Plan, Priced
from confide.release.jobs.job_gate import require_everybody_stays
from confide.service.planning.job_preview import JobPreview, job_preview
from confide.service.planning.left_out import refusal_of
from confide.service.planning.preview import Preview, preview
from confide.service.site import Site

SeenPlan: TypeAlias = Preview | JobPreview


def seen_of(plan: Priced, *, site: Site, analyst: str | None) -> SeenPlan:
    """Return what follows from a plan and the ledger alone, without the source.

    Args:
        plan: Of a study or a job.
        site: Whose ledger is looked at.
        analyst: Who is charged; who has approval, or the user's login, when None.

    Raises:
        ContractError: If it is a plan of neither.
    """
    match plan:
        case Plan():
            return preview(plan, site=site, analyst=analyst)
        case JobPlan():
            return job_preview(plan, site=site, analyst=analyst)
        case _:
            raise ContractError("Expected the plan of a study or of a job.")


def require_runnable(plan: Priced, *, ledger: Ledger) -> None:
    """Refuse a plan from which patients cannot be left out where the policy leaves some out.

    Raises:
        ContractError: If it is one.
    """
    match plan:
        case Plan():
            refusal_of(plan, ledger=ledger)
        case JobPlan():
            require_everybody_stays(plan, ledger=ledger)
        case _:
            raise ContractError("Expected the plan of a study or of a job.")
