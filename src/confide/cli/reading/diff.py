"""``confide diff``: two certificates side by side; it never ranks what cannot be ranked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.reading.compare import Diff


def diff(
    first: Annotated[Path, typer.Argument(help="A certificate.json, or its folder.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare two releases: promise, bounds, scales, charges, versions. Verifies neither."""
    from confide.service.reading.compare import compare

    found = compare(first, second)
    Output(json=as_json, quiet=quiet).result("diff", found, show=lambda: _show(found))


def _show(found: "Diff") -> None:
    say(f"{found.first} and {found.second}: {found.order}.", style="bold")
    for reason in found.because:
        say(f"  {reason}")
    if found.versions:
        say(f"{found.versions[:1].upper()}{found.versions[1:]}.")
    if found.lines:
        rows = [(each.line, each.first, each.second) for each in found.lines]
        table(("line", found.first, found.second), rows, title="What differs")
    else:
        say("No line differs.")
