"""``confide link run``: one charge, and a folder of noisy numbers that verifies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table
from confide.cli.releasing.stages import STAGES

if TYPE_CHECKING:
    from confide.service.linkage.run import Linked

LINKING = {"scores": "Scoring pairs", "links": "Linking"}


def run_link(
    file: Annotated[Path, typer.Argument(help="A linkage.yaml.")] = Path("linkage.yaml"),
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the release.")],
    request: Annotated[
        str | None,
        typer.Option(help="Key of this request: the same key again costs nothing."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Charge once, link, certify, and leave noisy numbers; no pair and no id is told."""
    from confide.service.linkage.run import run_linkage

    output = Output(json=as_json, quiet=quiet)
    with output.stages(STAGES | LINKING) as progress:
        made = run_linkage(file, out=out, request=request, progress=progress, warn=output.note)
    output.result("link-run", made, show=lambda: show_linked(made))


def show_linked(made: "Linked") -> None:
    """Print what was released, what it cost and that it verifies."""
    from confide.service.linkage.run import in_rows

    say(f"Numbers      {made.numbers}", style="bold")
    say(f"Certificate  {made.certificate}  (verifies; release {made.id})")
    if made.told:
        head, *rows = in_rows(made.told)
        table(head, rows, right=(2, 3))
    spent = "Spent" if made.charged else "Delivered again, nothing charged or read; it had cost"
    say(f"{spent} {made.loss.text}.")
    for sentence in made.loss.odds:
        say(f"  {sentence}")
