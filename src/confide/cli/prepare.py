"""``confide prepare``: copies of the source that make every later answer one cheap pass.

*Privacy:* what it prints of the rows is for the steward alone; no release, plan or policy sees it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confide.rows.prepared.manifest import TableFacts

DIFFERS = 6


def prepare(
    dataset: Annotated[Path, typer.Argument(help="A dataset.yaml.")] = Path("dataset.yaml"),
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Prove that the copies give the source's integers.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the prepared copies of a source, for the steward; spends nothing."""
    from confide.workspace import preparation

    output = Output(json=as_json, quiet=quiet)
    work = preparation(dataset)
    if check:
        differing = work.differing()
        body: dict[str, Any] = {"same": not differing, "differing": list(differing)}
        body["unread"] = dict(work.problems())
        output.result("prepare-check", body, show=lambda: show_check(body))
        _note_unread(body, output=output)
        if differing:
            raise typer.Exit(DIFFERS)
        return
    output.note(f"Copies and spilling may take {work.disk_needed() / 1e6:,.0f} MB of disk.")
    with output.stages({}) as progress:
        manifest = work.prepare(progress=progress)
    facts = [_facts(each) for each in manifest.facts]
    body = {"tables": facts, "bytes": sum(manifest.sizes.values())}
    body["unread"] = dict(work.problems())
    output.result("prepare", body, show=lambda: show_prepared(body))
    _note_unread(body, output=output)
    for name in strangers(manifest.facts):
        output.note(
            f"No patient of table {name!r} has a row in another table: ids may be written "
            "differently there, such as 12 and 00012."
        )
    output.note("These counts are exact and for you alone: they are no release.")


def _note_unread(body: dict[str, Any], *, output: Output) -> None:
    """Say which declared tables no study can read, and why."""
    for why in body["unread"].values():
        output.note(f"No study can read a declared table. {why}")


def show_check(body: dict[str, Any]) -> None:
    """Print whether copies and source agree."""
    if body["same"]:
        say("Copies and source give the same integers.")
    else:
        say(f"These tables differ: {', '.join(body['differing'])}. Delete .confide/prepared.")


def show_prepared(body: dict[str, Any]) -> None:
    """Print what was found, table by table."""
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
        tuple("–" if value is None else str(value) for value in each.values())
        for each in body["tables"]
    ]
    table(head, rows, title="For the steward alone", right=tuple(range(1, len(head))))
    if any(each["unread-lines"] for each in body["tables"]):
        say(
            "Unread lines have too few or too many fields; no answer counts them.",
            style="yellow",
        )
    if any(each["unreadable-rows"] for each in body["tables"]):
        say(
            "Unreadable rows hold text that is not in the declared encoding: \ufffd stands in it. "
            "They are counted, but not those with one in the person id. Where the file is in "
            "Latin-1 or Windows-1252, declare `encoding: windows-1252` of its table.",
            style="yellow",
        )
    say(f"The copies take {body['bytes'] / 1e6:,.1f} MB and are in use.")


def strangers(facts: "Sequence[TableFacts]") -> list[str]:
    """Return the tables of which no patient has a row in any other, where others have patients."""
    peopled = [each for each in facts if each.patients]
    return [each.table for each in peopled if len(peopled) > 1 and each.elsewhere == 0]


def _facts(each: "TableFacts") -> dict[str, Any]:
    return {
        "table": each.table,
        "unread-lines": each.unread_lines,
        "rows": each.rows,
        "unreadable-rows": each.unreadable_rows,
        "other-codes": each.other_codes,
        "other-units": each.other_units,
        "without-person": each.without_person,
        "patients": each.patients,
        "most-rows": each.most_rows,
        "repeated": each.repeated,
        "complete-patients": each.complete,
        "patients-elsewhere": each.elsewhere,
    }
