"""``confide attack``: what textbook attacks do to a table, and what differential privacy leaves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.checking.attack import LabResults

FAILED = 6
EVERY = "all"
PLACE, EXAMPLE_PLACE = Path("steward-only-attack"), Path("attack-example")


def attack(  # noqa: PLR0913 - what a steward says of a table
    name: Annotated[
        str,
        typer.Argument(
            help="linkage, homogeneity, background, intersection, differencing, tracker, "
            "averaging, reconstruction, membership, gradient; or all."
        ),
    ] = EVERY,
    *,
    table_path: Annotated[
        Path | None,
        typer.Option("--table", help="Your own table: a CSV or Parquet file, a line a patient."),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Made-up patients instead, to be shown to anybody.")
    ] = False,
    quasi: Annotated[
        str, typer.Option(help="Columns that others know of a patient, such as age,sex,zip.")
    ] = "",
    sensitive: Annotated[str, typer.Option(help="Column that they want to know.")] = "",
    separator: Annotated[
        str, typer.Option(help="Of a CSV file: a comma, a semicolon, tab or bar.")
    ] = ",",
    decimal: Annotated[str, typer.Option(help="Of a CSV file: a point or a comma.")] = ".",
    encoding: Annotated[
        str, typer.Option(help="Of a CSV file: utf-8, latin-1, windows-1252, utf-16, ...")
    ] = "utf-8",
    k: Annotated[
        int, typer.Option("--k", help="Of k-anonymous tables, and of the smallest exact count.")
    ] = 5,
    epsilon: Annotated[str, typer.Option(help="Of each answer with differential privacy.")] = "1",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=f"A new folder, apart from releases. [default: {PLACE} or {EXAMPLE_PLACE}]",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show on your own table why masking and k-anonymity are not enough.

    What comes out of a table is exact: for the steward's eyes only.  Opens no ledger and charges
    nothing.
    """
    from confide.service.checking.attack import OwnFile, attack_table

    if example == (table_path is not None) or (example and (quasi or sensitive)):
        raise typer.BadParameter(
            "Expected --table with --quasi and --sensitive, or --example without them."
        )
    form = {"separator": separator, "decimal": decimal, "encoding": encoding}
    own = None if table_path is None else OwnFile(path=table_path, **form)
    out = out or (EXAMPLE_PLACE if example else PLACE)
    output = Output(json=as_json, quiet=quiet)
    with output.stages({}) as progress:
        found = attack_table(
            name,
            own,
            quasi=[column.strip() for column in quasi.split(",") if column.strip()],
            sensitive=sensitive,
            k=k,
            epsilon=epsilon,
            out=out,
            progress=progress,
        )
    output.note(f"{found.for_whom} Written to {out}: {found.files[0]}, pictures and numbers.")
    if name == EVERY and found.not_run:
        output.note(f"Not run: {', '.join(found.not_run)}; it needs `pip install '.[accounting]'`.")
    output.result("attack", found, show=lambda: _show(found))
    if not all(each.holds for each in found.attacks):
        raise typer.Exit(FAILED)


def _show(found: "LabResults") -> None:
    say(found.for_whom, style="bold")
    promised, exposed = found.tables
    table(promised.columns, promised.rows, title=promised.title, right=range(1, 7))
    table(exposed.columns, exposed.rows, title=exposed.title, right=range(1, 6))
    for each in found.attacks:
        for remark in each.remarks:
            say(f"{each.attack}: {remark}")
