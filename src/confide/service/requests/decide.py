"""Decide: approve a request, reject it, or ask for changes; one signature."""

from pathlib import Path

from confide.budget.workflow.submission import Verdict
from confide.release.site.keys import read_person_key
from confide.service.opening import open_ledger
from confide.service.requests.standing import Standing, standing

__all__ = ["Verdict", "decide"]


def decide(
    number: int, *, verdict: Verdict, dataset: Path, key: Path, role: str, reason: str
) -> Standing:
    """Record one signed decision, and return where the request stands then.

    Args:
        number: Of the request.
        verdict: What is decided.
        dataset: A dataset.yaml.
        key: Of the person who decides.
        role: In which role; only if the tier asks for two of theirs.
        reason: Why; it is recorded for good.

    Raises:
        PolicyError: If the person may not decide it.
    """
    signer = read_person_key(key)
    with open_ledger(dataset) as (held, _):
        submission = held.desk.decide(
            number, verdict=verdict, signer=signer, role=role, reason=reason
        )
        return standing(submission, ledger=held)
