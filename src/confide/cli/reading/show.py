"""``confide show``: what a release found, and its tables, in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Labels, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.drawing.shown import Shown
    from confide.service.reading.show import Finding, ShownTable


def show(
    directory: Annotated[Path, typer.Argument(help="Folder that `confide run` left.")],
    *,
    statistic: Annotated[str, typer.Option("--only", help="Show the table of this one.")] = "",
    labels: Labels = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print what a release found, a sentence a question; with --only a table; if it verifies."""
    from confide.service.reading.show import show as shown

    found = shown(directory, only=statistic, labels=labels)
    output = Output(json=as_json, quiet=quiet)

    def show_it() -> None:
        if found.findings and not statistic:
            _findings(found.findings, title=found.title, loss=found.loss)
            say("")
            told = "" if labels is None else f" --labels {labels}"
            say(f"A table: confide show {directory} --only {found.findings[0].id}{told}")
        else:
            _tables(found.tables)

    output.result("show", found, show=show_it)
    output.note(f"Verifies. Signed by {found.signer}, which you have not pinned.")


def _findings(findings: "Sequence[Finding]", *, title: str, loss: str) -> None:
    say(title, style="bold")
    say(loss)
    say("")
    for each in findings:
        id_ = f" ({each.id})"  # which a title that another question has too ends with
        say(f"{each.title.removesuffix(id_)}{id_}")
        say(f"  {each.sentence}" + ("  Read it with its flags: --only." if each.flagged else ""))
    about: dict[str, list[str]] = {}
    for each in findings:
        for caveat in each.caveats:
            about.setdefault(caveat, []).append(each.id)
    if about:
        say("")
    for caveat, ids in about.items():
        say(f"{caveat} ({', '.join(ids)})")


def _tables(tables: "Sequence[ShownTable]") -> None:
    for each in tables:
        if each.layout is not None and each.rows:
            _laid_out(each.layout, title=each.title)
        elif each.rows:
            table(each.columns, each.rows, title=each.title)
        else:
            say(each.title, style="bold")
            say("  nothing was published")
        for note in each.notes:
            say(f"  {note}")


def _laid_out(shown: "Shown", *, title: str) -> None:
    """Print a table as the report has it."""
    table(shown.head, shown.rows, title=title, right=shown.number_columns)
    for note in shown.notes:
        say(f"  {note}")
