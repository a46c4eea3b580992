"""``confide verify``: everything in a certificate that can be re-derived, is; needs no data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say

if TYPE_CHECKING:
    from confide.service.reading.verify import Verified

FAILED = 6


def verify(  # noqa: PLR0913 - one for each option
    certificate: Annotated[Path, typer.Argument(help="A certificate.json, or its folder.")],
    *,
    key: Annotated[Path | None, typer.Option(help="The signing.pub that you trust.")] = None,
    ledger_id: Annotated[
        str | None, typer.Option(help="Id of the ledger that you know from an earlier release.")
    ] = None,
    chain: Annotated[
        Path | None, typer.Option(help="An exported chain, or a copy of anchor.jsonl.")
    ] = None,
    earlier: Annotated[
        list[Path] | None, typer.Option(help="An earlier version that it supersedes; repeatable.")
    ] = None,
    noisy: Annotated[
        Path | None, typer.Option(help="noisy.json, where a house rule withholds it.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="For the steward: dataset.yaml, to ask its ledger.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate and the files beside it, without data."""
    from confide.service.reading.verify import Trusted
    from confide.service.reading.verify import verify as verified

    trusted = Trusted(
        key=key,
        ledger_id=ledger_id,
        chain=chain,
        earlier=tuple(earlier or ()),
        noisy=noisy,
        dataset=ledger,
    )
    found = verified(certificate, trusted=trusted)
    output = Output(json=as_json, quiet=quiet)
    output.result("verify", found, show=lambda: _show(found))
    if not found.holds:
        raise typer.Exit(FAILED)


def _show(found: "Verified") -> None:
    for check in found.checks:
        good = ("!", "yellow") if check.caution else ("✓", "green")
        mark, style = good if check.holds else ("✗", "red")
        detail = f": {check.detail}" if check.detail else ""
        say(f"{mark} {check.name}{detail}", style=style)
    pinned = "which you have pinned" if found.pinned else "which you have not pinned"
    if found.holds:
        verifies = "Verifies" if found.rebuilt else "Verifies as far as it is published"
        say(f"{verifies}. Signed by {found.signer}, {pinned}.", style="bold")
        cautions = [check.name for check in found.checks if check.caution]
        if cautions:
            say(f"It is genuine, but read before you use it: {', '.join(cautions)} (above, !).")
        if found.ledger:
            say(f"Charged to ledger {found.ledger}.")
        for each in found.unchecked:
            say(each)
    else:
        say("Does not verify.", style="bold red")
