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
    from confide.service.releasing.twin import Rehearsed


def run(  # noqa: PLR0913 - one for each option
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
    twin: Annotated[
        bool,
        typer.Option(
            "--twin", help="Rehearse on made-up rows: no data, no ledger, no certificate."
        ),
    ] = False,
    patients: Annotated[
        int | None,
        typer.Option(
            "--twin-patients", help="Made-up patients; from public numbers when left out."
        ),
    ] = None,
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

    With --twin, rows are made up from dataset.yaml alone and the same study runs on them: the same
    plan, pages, figures and files, each marked as a rehearsal, in a folder named so. Neither the
    data nor the ledger is opened, and there is no certificate.
    """
    output = Output(json=as_json, quiet=quiet)
    if twin:
        if reuse or again or request is not None:
            raise ContractError(
                "--twin rehearses: it has no --request, no --again and no --reuse.",
                hint="Leave them out.",
            )
        _rehearse(study, out=out, period=period, patients=patients, output=output)
        return
    if patients is not None:
        raise ContractError(
            "--twin-patients is of a rehearsal.", hint="Add --twin, or leave it out."
        )
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


def _rehearse(
    study: Path, *, out: Path, period: str | None, patients: int | None, output: Output
) -> None:
    from confide.service.releasing.twin import rehearse_study

    with output.stages(STAGES) as progress:
        made = rehearse_study(study, out=out, period=period, patients=patients, progress=progress)
    output.result("rehearsal", made, show=lambda: _show_rehearsed(made))


def _show_rehearsed(made: "Rehearsed") -> None:
    """Print where a rehearsal is, and that nothing in it is of data."""
    say(f"Rehearsal    {made.report}", style="bold")
    say(f"Rows         made up: {made.patients:,} patients, from dataset.yaml alone")
    say(f"{made.rehearsal} No certificate was made.")
    say(f"The study itself would cost {made.loss.text}.")


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
