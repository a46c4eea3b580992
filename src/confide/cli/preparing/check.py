"""``confide check``: what is wrong with a source, before anything is charged.

*Privacy:* what it prints is exact and for the steward alone; no release, plan or policy sees it.
"""

from typing import TYPE_CHECKING

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.rows.checked.findings import CheckedTable, Finding
    from confide.service.preparing.check import Checked

_HEAD = ("column", "kind", "read", "missing", "unreadable", "outside")


def check(dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Say what is wrong with a source, exactly and for the steward alone; spends nothing."""
    from confide.service.preparing.check import check as checked

    output = Output(json=as_json, quiet=quiet)
    with output.stages({}) as progress:
        made = checked(dataset, progress=progress)
    output.result("check", made, show=lambda: _show(made))
    output.note(
        "These counts are exact and for you alone: they are no release. Nothing stored them."
    )


def _show(made: "Checked") -> None:
    for each in made.tables:
        _show_table(each)
    for place, finding in enumerate(made.findings, start=1):
        _show_finding(place, finding)
    if made.clean:
        say("Nothing was found: every cell is read as declared.", style="green")


def _show_table(each: "CheckedTable") -> None:
    """Print the counts of a table."""
    if each.rows is None:
        say(f"{each.table}: not read", style="bold")
        return
    people = "" if each.patients is None else f" of {each.patients:,} patients"
    rows = [
        (c.column, c.kind, *(f"{n:,}" for n in (c.read, c.missing, c.unreadable, c.outside)))
        for c in each.columns
    ]
    of_table = each.rows - each.other_codes - each.other_units
    rows_told = f"{each.rows:,}" if of_table == each.rows else f"{of_table:,} of {each.rows:,}"
    title = f"{each.table}: {rows_told} rows{people} (for the steward alone)"
    table(_HEAD, rows, title=title, right=(2, 3, 4, 5))


def _show_finding(place: int, finding: "Finding") -> None:
    """Print what is wrong and the line that helps."""
    where = finding.table + (f" → {finding.column}" if finding.column else "")
    cells = "" if finding.cells is None else f": {finding.cells:,}"
    say(f"{place}. {where}: {finding.what}{cells}", style="yellow")
    say(f"   {finding.why}")
    if finding.fix:
        say(f"   → {finding.fix}")
