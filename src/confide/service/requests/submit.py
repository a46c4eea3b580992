"""Submit: ask for approval of whatever is charged: a study, a synthesis, its check."""

from pathlib import Path

from confide.errors import BudgetExhaustedError
from confide.release.asking import asked_for
from confide.release.refusal import told_in_epsilon
from confide.release.site.keys import read_person_key
from confide.service.requests.asked_plan import AskedFile, OfSynthesis, asked_plan
from confide.service.requests.seen import require_runnable, seen_of
from confide.service.requests.standing import Asked, charged_to, standing

__all__ = ["AskedFile", "OfSynthesis", "submit"]


def submit(wanted: AskedFile, *, key: Path, note: str = "", revises: int = 0) -> Asked:
    """Ask those whom the tier of a plan names to approve it.

    Args:
        wanted: A study.yaml or a synth.yaml.
        key: Of the person who asks.
        note: For those who decide.
        revises: Request that this one takes the place of; 0 for none.

    Raises:
        ContractError: If patients cannot be left out of such a plan, or a file breaks its contract.
        PolicyError: If the policy lets nobody ask this.
    """
    signer = read_person_key(key)
    with asked_plan(wanted) as (site, plan):
        desk = site.ledger.desk
        require_runnable(plan, ledger=site.ledger)  # one that can never run asks nobody
        asked = asked_for(plan, measure=site.declared.measure, note=note, revises=revises)
        try:
            submission = desk.submit(asked, signer=signer)
        except BudgetExhaustedError as refusal:
            raise told_in_epsilon(refusal, plan=plan) from None
        seen = seen_of(plan, site=site, analyst=charged_to(submission, desk=desk))
        return Asked(request=standing(submission, ledger=site.ledger), preview=seen)
