"""What approving, rejecting and asking for changes have in common."""

from pathlib import Path
from typing import TYPE_CHECKING

from confide.cli.output import Output

if TYPE_CHECKING:
    from confide.budget.workflow.submission import Verdict


def decide(
    number: int,
    *,
    verdict: "Verdict",
    dataset: Path,
    key: Path,
    role: str,
    reason: str,
    output: Output,
) -> None:
    """Record one signed decision and say where the request stands then."""
    from confide.cli.request.words import request_body, show_decisions
    from confide.release.keys import read_person_key
    from confide.workspace import open_ledger

    signer = read_person_key(key)
    with open_ledger(dataset) as (held, _):
        submission = held.desk.decide(
            number, verdict=verdict, signer=signer, role=role, reason=reason
        )
        body = request_body(submission, ledger=held)
    output.result("request", body, show=lambda: show_decisions(body))
