"""What the ledger says of a plan while it is chosen: released, asked for, planned, or does it fit.

*Privacy:* made of charges, caps, ceilings, requests and names on the chain alone, which are public.
"""

import functools
from collections.abc import Callable

from confide.budget.ledger import Ledger
from confide.budget.policy.adoption import Adopted, adopted
from confide.budget.policy.policy import Policy
from confide.budget.policy.solve import solve
from confide.budget.workflow.rules import OPEN, ceiling_problem
from confide.errors import ContractError
from confide.plans.plan import Plan
from confide.plans.pricing.both_noises import has_both
from confide.plans.pricing.roads import OnRecord, amount_in
from confide.privacy.measure import LedgerMeasure, Measure
from confide.release.approval import analyst_of
from confide.release.left_out import nobody_is_counted
from confide.release.published import is_released


def on_record(ledger: Ledger) -> OnRecord:
    """Return what a ledger says of plans."""
    return OnRecord(
        released=functools.partial(is_released, ledger=ledger),
        fits=functools.partial(fits_now, ledger=ledger),
        asked=functools.partial(is_asked_for, ledger=ledger),
        planned=_planned(lambda lineage: _in_force(ledger, lineage)),
    )


def of_policy(policy: Policy, *, measure: LedgerMeasure) -> OnRecord:
    """Return what a policy alone says of plans, where its ledger cannot be opened."""
    would_be = adopted(policy)

    def fits(plan: Plan) -> bool:
        return not _is_past_ceiling(plan, adopted=would_be, measure=measure)

    return OnRecord(fits=fits, planned=_planned(lambda _: policy))


def fits_now(plan: Plan, *, ledger: Ledger) -> bool:
    """Return whether a plan fits under its ceiling and what was charged left of every cap.

    Under caps that leave patients out it fits if somebody can be counted in each of its numbers.
    """
    lineage, study = plan.dataset.lineage, plan.study
    analyst = analyst_of(ledger, plan)
    spent = ledger.spent(lineage, project=study.project, analyst=analyst)
    amount = amount_in(spent.measure, planned=plan)
    present = ledger.desk.policy(lineage)
    if present and _is_past_ceiling(plan, adopted=present, measure=spent.measure):
        return False
    if nobody_is_counted(plan, ledger=ledger) is not None:
        return False
    charged = (scope.charged(amount) for scope in spent.scopes)
    return all(use.remaining is None or this <= use.remaining for use, this in charged)


def is_asked_for(plan: Plan, *, ledger: Ledger) -> bool:
    """Return whether somebody asked for approval of a plan, and a charge may be made under it."""
    desk, digest = ledger.desk, plan.digest()
    asked = desk.submissions(plan.dataset.lineage)
    about = (each.number for each in asked if each.asked.plan_digest == digest)
    return any(desk.stands(number)[0] in OPEN for number in about)


def _is_past_ceiling(plan: Plan, *, adopted: Adopted, measure: LedgerMeasure) -> bool:
    nano = amount_in(measure, planned=plan).alone
    return ceiling_problem(adopted, tier=plan.study.tier, nano=nano) is not None


def _in_force(ledger: Ledger, lineage: str) -> Policy | None:
    present = ledger.desk.policy(lineage)
    return None if present is None else present.policy


def _planned(in_force: Callable[[str], Policy | None]) -> Callable[[Plan], bool]:
    @functools.cache
    def planned_in(policy: Policy) -> Measure | None:
        try:
            solution = solve(policy)
        except ContractError:  # of caps that hold for none of its releases
            return None
        return None if solution.allocation is None else solution.policy.measure

    def is_planned(plan: Plan) -> bool:
        """Return whether a planned release has the noise with which its policy was divided.

        A release of the other would close a lane to those that the policy makes room for.
        """
        policy = in_force(plan.dataset.lineage)
        if policy is None or not policy.mixed or not plan.study.release:
            return False
        return planned_in(policy) is plan.dataset.measure and not has_both(plan)

    return is_planned
