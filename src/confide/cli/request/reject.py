"""``confide request reject``: a request that will not be run."""

from confide.cli.output import Json, Output, Quiet
from confide.cli.request.options import HERE, Dataset, Key, Number, Role, Why


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
    from confide.budget.workflow.submission import Verdict
    from confide.cli.request.decide import decide

    output, verdict = Output(json=as_json, quiet=quiet), Verdict.REJECT
    decide(
        number, verdict=verdict, dataset=dataset, key=key, role=role, reason=reason, output=output
    )
