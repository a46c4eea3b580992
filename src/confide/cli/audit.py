"""``confide audit``: try to break this installation's guarantee, on data it generates itself."""

from importlib import import_module
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table
from confide.errors import MissingExtraError, UnsupportedError

FAILED = 6
_RUN = "confide.attacks.audit.run"


def audit(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="The part that takes seconds.")] = False,
    only: Annotated[
        str, typer.Option("--only", help='Parts with this word in their name, as "model".')
    ] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to break this installation's guarantee, on data it generates itself.

    Reads no data of yours and charges nothing.  If a check fails, release nothing.
    """
    run_audit = _harness()
    output = Output(json=as_json, quiet=quiet)
    with output.stages({}) as progress:
        found = run_audit(quick=quick, progress=progress, only=only)
    body = {
        "quick": quick,
        "holds": found.passed,
        "seconds": round(found.seconds, 1),
        "checks": [
            {
                "layer": check.layer.value,
                "name": check.name,
                "holds": check.passed,
                "measured": check.measured,
                "claimed": check.claimed,
            }
            for check in found.checks
        ],
    }
    output.result("audit", body, show=lambda: _show(body))
    if not body["holds"]:
        raise typer.Exit(FAILED)


def _harness() -> Any:
    try:
        return import_module(_RUN).run_audit
    except ModuleNotFoundError as missing:
        if missing.name and not missing.name.startswith("confide"):
            raise MissingExtraError(missing.name, extra="accounting") from None
        raise UnsupportedError(
            "This build has no audit.", hint="Install a release of confide that has it."
        ) from None


def _show(body: dict[str, Any]) -> None:
    rows = [
        (
            "✓" if check["holds"] else "✗",
            check["layer"],
            check["name"],
            check["measured"],
            check["claimed"],
        )
        for check in body["checks"]
    ]
    table(("", "layer", "what", "measured", "claimed"), rows)
    say(
        f"{len(rows)} checks in {body['seconds']} s: "
        + (
            "nothing was broken." if body["holds"] else "the guarantee was broken; release nothing."
        ),
        style="bold",
    )
