"""``confide policy check``: read a policy, say what is wrong in it, and show its caps as odds."""

import typer

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, REFUSED, File, show


def check(path: File = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Read a policy, name its first mistake, show its caps as odds, and say if it can be met."""
    from confide.service.policy.check import check_policy

    checked = check_policy(path)
    output = Output(json=as_json, quiet=quiet)
    output.result("policy-check", checked, show=lambda: show(checked.title, checked.parts))
    if not checked.can_be_met:
        raise typer.Exit(REFUSED)
