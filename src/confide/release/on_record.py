"""What the ledger says of a plan while it is chosen: whether it was released, and whether it fits.

*Privacy:* made of charges, caps and names on the chain alone, which are public.
"""

import functools

from confide.budget.ledger import Ledger
from confide.plans.plan import Plan
from confide.plans.pricing.roads import OnRecord, amount_in
from confide.release.approval import analyst_of
from confide.release.published import is_released


def on_record(ledger: Ledger) -> OnRecord:
    """Return what a ledger says of plans."""
    return OnRecord(
        released=functools.partial(is_released, ledger=ledger),
        fits=functools.partial(fits_now, ledger=ledger),
    )


def fits_now(plan: Plan, *, ledger: Ledger) -> bool:
    """Return whether a plan fits under every cap, as what was charged left them."""
    lineage, study = plan.dataset.lineage, plan.study
    analyst = analyst_of(ledger, plan)
    spent = ledger.spent(lineage, project=study.project, analyst=analyst)
    amount = amount_in(spent.measure, planned=plan)
    charged = (scope.charged(amount) for scope in spent.scopes)
    return all(use.remaining is None or this <= use.remaining for use, this in charged)
