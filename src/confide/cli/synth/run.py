"""``confide synth run``: one charge, and a folder of synthetic tables that verifies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.cli.releasing.stages import STAGES

if TYPE_CHECKING:
    from confide.service.synthesis.run import Synthesised

MEASURING = {
    "bins": "Finding bins",
    "categories": "Finding categories",
    "one-ways": "Counting each column",
    "choice": "Choosing pairs",
    "rounds": "Choosing and counting pairs",
    "tables": "Counting the chosen tables",
    "rows": "Drawing rows",
}


def run_synth(
    file: Annotated[Path, typer.Argument(help="A synth.yaml.")] = Path("synth.yaml"),
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the release.")],
    request: Annotated[
        str | None,
        typer.Option(help="Key of this request: the same key again costs nothing."),
    ] = None,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="The table to look at as Parquet, not CSV.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Charge once, measure, certify, and leave synthetic tables with a report.

    One that was stopped goes on where it was, at no further charge, to the same tables.
    """
    from confide.service.synthesis.folder import Format
    from confide.service.synthesis.run import run_synthesis

    output = Output(json=as_json, quiet=quiet)
    form = Format.PARQUET if parquet else Format.CSV
    with output.stages(STAGES | MEASURING) as progress:
        made = run_synthesis(file, out=out, request=request, form=form, progress=progress)
    output.result("synth-run", made, show=lambda: show_synthesised(made))
    if made.baseline is None:
        output.note("No row is a patient. Analyse the tables with confide.combine, not one alone.")
    else:
        output.note("No row is a patient. confide.combine refuses a baseline.")


def show_synthesised(made: "Synthesised") -> None:
    """Print where a synthesis is, what it cost and that it verifies."""
    say(f"Report       {made.report}", style="bold")
    say(f"Table        {made.table}  ({made.rows:,} rows)")
    if made.tables:
        say(f"Tables       {len(made.tables)} to infer from, {made.tables[0].name} and on")
    if made.warehouse is not None:
        say(f"OMOP tables  {made.warehouse}  (an OMOP source opens them)")
    say(f"Certificate  {made.certificate}  (verifies; release {made.id})")
    if made.baseline is not None:
        say(made.baseline, style="bold")
    else:
        together = ["; ".join(", ".join(each) for each in made.cliques if len(each) > 1)]
        say(f"Measured together: {together[0]}.")
    for each in made.outside:
        say(each)
    spent = "Spent" if made.charged else "Delivered again, nothing charged or read; it had cost"
    say(f"{spent} {made.loss.text}.")
    for sentence in made.loss.odds:
        say(f"  {sentence}")
