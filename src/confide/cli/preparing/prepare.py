"""``confide prepare``: copies of the source that make every later answer one cheap pass.

*Privacy:* what it prints of the rows is for the steward alone; no release, plan or policy sees it.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confide.service.preparing.prepare import Compared, Dropped, Prepared

DIFFERS = 6


def prepare(
    dataset: Dataset = HERE,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Prove that the copies give the source's integers.")
    ] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Delete the copies; nothing but speed is lost.")
    ] = False,
    role: Annotated[
        str,
        typer.Option(
            help="Who connects to PostgreSQL to write copies, in place of who reads.",
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the prepared copies of a source, for the steward; spends nothing."""
    from confide.service.preparing.prepare import check_copies, drop_copies, preparation
    from confide.service.preparing.prepare import prepare as prepared

    output = Output(json=as_json, quiet=quiet)
    work = preparation(dataset, role=role)
    if drop:
        dropped = drop_copies(work)
        output.result("prepare-drop", dropped, show=lambda: _show_dropped(dropped))
        return
    if check:
        compared = check_copies(work)
        output.result("prepare-check", compared, show=lambda: _show_check(compared))
        _note_unread(compared.unread, output=output)
        if not compared.same:
            raise typer.Exit(DIFFERS)
        return
    output.note(f"Copies and spilling may take {work.disk_needed() / 1e6:,.0f} MB of disk.")
    with output.stages({}) as progress:
        made = prepared(work, progress=progress)
    output.result("prepare", made, show=lambda: _show_prepared(made))
    _note_unread(made.unread, output=output)
    for name in made.strangers:
        output.note(
            f"No patient of table {name!r} has a row in another table: ids may be written "
            "differently there, such as 12 and 00012."
        )
    output.note("These counts are exact and for you alone: they are no release.")


def _note_unread(unread: "Mapping[str, str]", *, output: Output) -> None:
    """Say which declared tables no study can read, and why."""
    for why in unread.values():
        output.note(f"No study can read a declared table. {why}")


def _show_check(found: "Compared") -> None:
    """Print whether copies and source agree."""
    if found.same:
        say("Copies and source give the same integers.")
    else:
        say(f"These tables differ: {', '.join(found.differing)}. Run: confide prepare --drop")


def _show_dropped(found: "Dropped") -> None:
    """Print whether there were copies."""
    say("The copies are deleted." if found.were_in_use else "There were no copies in use.")


def _show_prepared(made: "Prepared") -> None:
    """Print what was found, table by table."""
    from confide.service.dump import dump

    left_out = ("other codes", "other units", "without person")
    head = (
        "table",
        "unread lines",
        "rows",
        "unreadable",
        *left_out,
        "patients",
        "most rows",
        "repeated",
        "complete",
        "elsewhere",
    )
    rows = [
        tuple("–" if value is None else str(value) for value in dump(each).values())
        for each in made.tables
    ]
    title = "For the steward alone"
    for places in (range(1, 7), range(7, len(head))):  # two that break no name, for one too wide
        cells = [(row[0], *(row[place] for place in places)) for row in (head, *rows)]
        table(cells[0], cells[1:], title=title, right=range(1, len(cells[0])))
        title = ""
    if any(each.unread_lines for each in made.tables):
        say(
            "Unread lines have too few or too many fields; no answer counts them.",
            style="yellow",
        )
    if any(each.unreadable_rows for each in made.tables):
        say(
            "Unreadable rows hold text that is not in the declared encoding: \ufffd stands in it. "
            "They are counted, but not those with one in the person id. Where the file is in "
            "Latin-1 or Windows-1252, declare `encoding: windows-1252` of its table.",
            style="yellow",
        )
    say(f"The copies take {made.bytes / 1e6:,.1f} MB and are in use.")
