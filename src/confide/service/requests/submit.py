"""Submit: ask for approval of a study."""

from pathlib import Path

from confide.errors import BudgetExhaustedError
from confide.release.asking import asked_for
from confide.release.refusal import told_in_epsilon
from confide.release.site.keys import read_person_key
from confide.service.opening import open_study
from confide.service.planning.left_out import refusal_of
from confide.service.planning.preview import preview
from confide.service.requests.standing import Asked, charged_to, standing


def submit(
    study: Path, *, key: Path, note: str = "", revises: int = 0, period: str | None = None
) -> Asked:
    """Ask those whom the study's tier names to approve it.

    Args:
        study: A study.yaml.
        key: Of the person who asks.
        note: For those who decide.
        revises: Request that this one takes the place of; 0 for none.
        period: Which run of a study that repeats.

    Raises:
        ContractError: If patients cannot be left out of such a plan, or a file breaks its contract.
        PolicyError: If the policy lets nobody ask this.
    """
    signer = read_person_key(key)
    site, declared = open_study(study, period=period)
    with site:
        plan, desk = declared.plan(), site.ledger.desk
        refusal_of(plan, ledger=site.ledger)  # one that can never run asks nobody
        asked = asked_for(plan, measure=site.declared.measure, note=note, revises=revises)
        try:
            submission = desk.submit(asked, signer=signer)
        except BudgetExhaustedError as refusal:
            raise told_in_epsilon(refusal, plan=plan) from None
        who = charged_to(submission, desk=desk)
        seen = preview(plan, site=site, analyst=who)
        return Asked(request=standing(submission, ledger=site.ledger), preview=seen)
