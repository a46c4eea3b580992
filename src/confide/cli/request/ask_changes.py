"""``confide request ask-changes``: a request that goes back to whoever asked."""

from confide.cli.output import Json, Output, Quiet
from confide.cli.request.options import HERE, Dataset, Key, Number, Role, Why


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
    from confide.budget.workflow.submission import Verdict
    from confide.cli.request.decide import decide

    output, verdict = Output(json=as_json, quiet=quiet), Verdict.ASK_CHANGES
    decide(
        number, verdict=verdict, dataset=dataset, key=key, role=role, reason=reason, output=output
    )
