"""``confide synth examine``: a synthetic table beside the rows, exactly; for the steward alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.synthesis.examine import ExaminedSynthesis


def examine_synth(
    folder: Annotated[Path, typer.Argument(help="The folder that confide synth run left.")],
    *,
    rows: Annotated[
        Path,
        typer.Option("--table", help="CSV of the rows themselves, in the form of synthetic.csv."),
    ],
    holdout: Annotated[
        Path | None, typer.Option(help="CSV of rows from which the table was not made.")
    ] = None,
    outcome: Annotated[
        str, typer.Option(help="Column to predict. [default: the target's]", show_default=False)
    ] = "",
    level: Annotated[
        str, typer.Option(help="Its label to predict. [default: the last]", show_default=False)
    ] = "",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="A new folder, apart from releases.")
    ] = Path("steward-only-examination"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare a synthetic table with the rows, exactly: for the steward's eyes only.

    Opens no ledger and charges nothing, so none of its numbers may be published.
    """
    from confide.service.synthesis.examine import examine_synthesis

    found = examine_synthesis(
        folder, table=rows, holdout=holdout, outcome=outcome, level=level, out=out
    )
    output = Output(json=as_json, quiet=quiet)
    output.result("synth-examine", found, show=lambda: show_examination(found, out=out))
    output.note(found.for_whom)


def show_examination(found: "ExaminedSynthesis", *, out: Path) -> None:
    """Print what was found, for the steward."""
    say(found.for_whom, style="bold")
    body = [
        (f"tables of {each.columns}", f"{each.mean:.4f}", f"{each.largest:.4f}")
        for each in found.marginals
    ]
    of = found.correlations
    body.append(("correlations", f"{of.mean:.4f}", f"{of.largest:.4f}"))
    table(("error of", "mean", "largest"), body, title="How far off, exactly", right=(1, 2))
    for each in found.says:
        say(each)
    say(f"Page         {out / found.files[0]}")
