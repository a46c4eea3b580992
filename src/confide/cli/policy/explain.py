"""``confide policy explain``: what each line of a policy means, for a member of the board."""

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, File, show


def explain(path: File = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Say what each line of a policy means, in plain words and as odds."""
    from confide.service.policy.explain import explain_policy

    told = explain_policy(path)
    output = Output(json=as_json, quiet=quiet)
    output.result("policy-explain", told, show=lambda: show(told.title, told.parts))
