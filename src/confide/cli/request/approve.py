"""``confide request approve``: one of the signatures that a tier needs."""

from confide.cli.output import Json, Output, Quiet
from confide.cli.request.options import HERE, Dataset, Key, Number, Role, Why


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
    from confide.budget.workflow.submission import Verdict
    from confide.cli.request.decide import decide

    output, verdict = Output(json=as_json, quiet=quiet), Verdict.APPROVE
    decide(
        number, verdict=verdict, dataset=dataset, key=key, role=role, reason=reason, output=output
    )
