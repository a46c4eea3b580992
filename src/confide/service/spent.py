"""Spent: the use of every cap, or of those that a plan falls under."""

from confide.budget.ledger import Spent
from confide.plans.plan import Plan
from confide.release.approval import analyst_of
from confide.service.site import Site


def spent_on(site: Site, plan: Plan | None = None) -> Spent:
    """Return the use of every cap, or of those that a plan falls under."""
    lineage = site.declared.dataset.lineage
    if plan is None:
        return site.ledger.spent(lineage)
    who = analyst_of(site.ledger, plan)
    return site.ledger.spent(lineage, project=plan.study.project, analyst=who)
