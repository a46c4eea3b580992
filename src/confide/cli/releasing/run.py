"""``confide run``: the one command that spends."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say
from confide.cli.releasing.stages import STAGES
from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.service.releasing.deliver import Delivered
    from confide.service.releasing.reuse import Reused


def run(
    study: Annotated[Path, typer.Argument(help="A study.yaml.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the release.")],
    request: Annotated[
        str | None,
        typer.Option(help="Key of this request: the same key again costs nothing."),
    ] = None,
    reuse: Annotated[
        bool,
        typer.Option("--reuse", help="Answer from published releases: reads and charges nothing."),
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Publish anew what was published, or grows: another charge."),
    ] = False,
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Charge, read, add noise, certify, and leave a report.

    Running the same study again delivers the same numbers at no charge to the same login; for fresh
    noise, and a fresh charge, give another --request. With --reuse, published releases answer it,
    or it is refused. What another login has published, or this one under a --request, a period that
    this study has published under any plan, as from an earlier snapshot, and running counts that
    `confide advance` publishes, are charged a second time only with --again.
    """
    output = Output(json=as_json, quiet=quiet)
    if reuse:
        if request is not None or again:
            raise ContractError(
                "--reuse asks for nothing new, so it has no --request and no --again.",
                hint="Leave one out.",
            )
        _reuse(study, out=out, period=period, output=output)
        return
    from confide.service.releasing.deliver import run_study

    with output.stages(STAGES) as progress:
        made = run_study(
            study, out=out, request=request, period=period, again=again, progress=progress
        )
    output.result("run", made, show=lambda: show_run(made))


def show_run(made: "Delivered") -> None:
    """Print where a release is, what it cost and that it verifies."""
    from confide.cli.planning.growth import show_growth

    say(f"Report       {made.report}", style="bold")
    say(f"Certificate  {made.certificate}  (verifies; release {made.id})")
    again = f"Delivered again from snapshot {made.snapshot!r}, nothing charged or read; it had cost"
    spent = "Spent" if made.charged else again
    say(f"{spent} {made.loss.text}.")
    for sentence in (*made.loss.noise, *made.loss.odds):
        say(f"  {sentence}")
    show_growth(made.grows)


def _reuse(study: Path, *, out: Path, period: str | None, output: Output) -> None:
    from confide.service.releasing.reuse import reuse_study

    with output.stages(STAGES) as progress:
        made = reuse_study(study, out=out, period=period, progress=progress)
    output.result("run", made, show=lambda: _show_reused(made))


def _show_reused(made: "Reused") -> None:
    """Print where a release made of earlier ones is, and that it was free."""
    from confide.cli.planning.offers import show_unread

    say(f"Report       {made.report}", style="bold")
    say(f"Certificate  {made.certificate}  (verifies; {made.id})")
    entries = ", ".join(map(str, made.entries))
    say(f"Nothing charged or read: made of ledger entries {entries}, snapshot {made.snapshot!r}.")
    for name, unread in made.unread.items():
        show_unread(name, unread=unread, otherwise=made.otherwise[name])
