"""``confide request approve``, ``reject`` and ``ask-changes``: one signed decision."""

from pathlib import Path

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet
from confide.cli.request.options import Key, Number, Role, Why


def approve(
    number: Number,
    dataset: Dataset = HERE,
    *,
    key: Key,
    reason: Why = "",
    role: Role = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Approve a request: this plan, under the policy in force, until it expires."""
    output = Output(json=as_json, quiet=quiet)
    _decide("approve", number, dataset=dataset, key=key, role=role, reason=reason, output=output)


def reject(
    number: Number,
    dataset: Dataset = HERE,
    *,
    key: Key,
    reason: Why,
    role: Role = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Reject a request for good; whoever asked may submit another."""
    output = Output(json=as_json, quiet=quiet)
    _decide("reject", number, dataset=dataset, key=key, role=role, reason=reason, output=output)


def ask_changes(
    number: Number,
    dataset: Dataset = HERE,
    *,
    key: Key,
    reason: Why,
    role: Role = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Send a request back, to be changed and submitted again with --revises."""
    output = Output(json=as_json, quiet=quiet)
    _decide(
        "ask-changes", number, dataset=dataset, key=key, role=role, reason=reason, output=output
    )


def _decide(
    verdict: str,
    number: int,
    *,
    dataset: Path,
    key: Path,
    role: str,
    reason: str,
    output: Output,
) -> None:
    """Record one signed decision and say where the request stands then."""
    from confide.cli.request.words import show_standing
    from confide.service.requests.decide import Verdict, decide

    found = decide(
        number, verdict=Verdict(verdict), dataset=dataset, key=key, role=role, reason=reason
    )
    output.result("request", found, show=lambda: show_standing(found))
