"""``confide audit``: try to break this installation's guarantee, on data it generates itself."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.checking.audit import Audited

FAILED = 6


def audit(
    part: Annotated[
        str, typer.Argument(help='Only parts with this word in their name, as "model".')
    ] = "",
    *,
    quick: Annotated[bool, typer.Option("--quick", help="The part that takes seconds.")] = False,
    only: Annotated[
        str, typer.Option("--only", help="The same; of both words, parts need both.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the results and figures.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to break this installation's guarantee, on data it generates itself.

    Reads no data of yours and charges nothing.  If a check fails, release nothing.
    """
    from confide.service.checking.audit import audit as audited
    from confide.service.checking.audit import require_audit

    output = Output(json=as_json, quiet=quiet)
    require_audit(out=out)
    trainings = _trainings(output)
    with output.stages({}) as progress:
        found = audited(
            quick=quick, only=(part, only), trainings=trainings, out=out, progress=progress
        )
    output.result("audit", found, show=lambda: _show(found))
    if not found.holds:
        raise typer.Exit(FAILED)


def _trainings(output: Output) -> tuple[Any, ...]:
    """Return trainings in steps; their claim takes an accountant of its own."""
    if find_spec("dp_accounting") is None:
        output.note("Not run: DP-SGD, whose claim needs `pip install '.[accounting]'`.")
        return ()
    from confide.learning.audited_steps import dp_sgd_steps

    return (dp_sgd_steps(),)


def _show(found: "Audited") -> None:
    rows = [
        ("✓" if check.holds else "✗", check.layer, check.name, check.measured, check.claimed)
        for check in found.checks
    ]
    table(("", "layer", "what", "measured", "claimed"), rows)
    said = "nothing was broken." if found.holds else "the guarantee was broken; release nothing."
    say(f"{len(rows)} checks in {found.seconds} s: {said}", style="bold")
