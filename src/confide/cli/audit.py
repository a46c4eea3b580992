"""``confide audit``: try to break this installation's guarantee, on data it generates itself."""

from importlib import import_module
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.errors import UnsupportedError

FAILED = 6


def audit(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="The part that takes seconds.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to break this installation's guarantee, on data it generates itself."""
    try:
        run_audit = import_module("confide.attacks.audit.run").run_audit
    except ModuleNotFoundError:
        raise UnsupportedError(
            "This build has no audit.", hint="Install a release of confide that has it."
        ) from None
    output = Output(json=as_json, quiet=quiet)
    with output.stages({}) as progress:
        found = run_audit(quick=quick, progress=progress)
    checks = [
        {"name": each.name, "holds": each.holds, "detail": each.detail} for each in found.checks
    ]
    body = {"quick": quick, "holds": all(check["holds"] for check in checks), "checks": checks}
    output.result("audit", body, show=lambda: _show(body))
    if not body["holds"]:
        raise typer.Exit(FAILED)


def _show(body: dict[str, Any]) -> None:
    for check in body["checks"]:
        mark, style = ("✓", "green") if check["holds"] else ("✗", "red")
        say(f"{mark} {check['name']}: {check['detail']}", style=style)
    say("Nothing was broken." if body["holds"] else "The guarantee was broken.", style="bold")
