"""Whether the policy admits a plan now, and if not why and what would help.

*Privacy:* made of the plan and the ledger; nothing here reads data.
"""

from dataclasses import dataclass

from confide.budget.chain.ledger_time import SystemClock, charged_year
from confide.budget.ledger import Scope, Spent
from confide.budget.workflow.rules import Refused
from confide.errors import PolicyError
from confide.plans.plan import Priced
from confide.release.approval import admission
from confide.service.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Whether the policy admits a plan now.

    Attributes:
        admitted: Whether it does.
        request: Number of the request that lets it.
        missing: Roles whose approval is missing.
        message: Why not.
        hint: What would help.
    """

    admitted: bool
    request: int | None
    missing: tuple[str, ...]
    message: str
    hint: str


def told_admission(planned: Priced, *, site: Site, spent: Spent, analyst: str) -> Admission:
    """Return whether the policy admits a plan now, and if not why and what would help.

    Args:
        planned: Of a study or a job.
        site: Whose policy and ledger are looked at.
        spent: Of the caps that it falls under.
        analyst: Who is charged.
    """
    answer = admission(site.ledger, planned, analyst=analyst)
    closed = _closed_year(spent)
    if closed is not None:
        message = str(closed).removesuffix(closed.hint).strip()
        answer = Refused(message=message, hint=closed.hint)
    if isinstance(answer, Refused):
        return Admission(
            admitted=False,
            request=None,
            missing=tuple(answer.missing),
            message=answer.message,
            hint=answer.hint,
        )
    return Admission(admitted=True, request=answer or None, missing=(), message="", hint="")


def _closed_year(spent: Spent) -> PolicyError | None:
    """Return why nothing is charged in a calendar year that has a cap and was not opened."""
    for use in spent.scopes:
        if use.scope is Scope.CALENDAR_YEAR and use.cap is not None and use.period.isdigit():
            try:
                charged_year(SystemClock().now(), open_year=int(use.period), capped=True)
            except PolicyError as closed:
                return closed
    return None
