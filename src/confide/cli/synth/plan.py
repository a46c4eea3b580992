"""``confide synth plan``: what a synthetic table would cost and how far off it would be; free."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.synthesis.baseline import PlannedBaseline
    from confide.service.synthesis.plan import PlannedCheck, SynthesisPreview

OVER_CAP = 5


def plan_synth(
    file: Annotated[Path, typer.Argument(help="A synth.yaml.")] = Path("synth.yaml"),
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what a synthetic table would cost and how far off it would be; reads no data."""
    from confide.service.synthesis.plan import plan_synthesis

    output = Output(json=as_json, quiet=quiet)
    seen = plan_synthesis(file)
    output.result("synth-plan", seen, show=lambda: show_synthesis_plan(seen))
    for each in seen.warnings:
        output.note(each)
    if seen.released:
        output.note("This table is released already: running it again costs nothing.")
    elif seen.begun:
        output.note("It was begun, and is charged: running it goes on where it was stopped.")
    elif not seen.fits:
        output.note(
            "It does not fit: a cap would be passed. The table of budgets says what is free; write "
            "so much under spend."
        )
        raise typer.Exit(OVER_CAP)


def show_synthesis_plan(seen: "SynthesisPreview") -> None:
    """Print the plan of a synthesis for people."""
    from confide.cli.planning.caps import show_caps_of_all
    from confide.cli.planning.job import show_admission

    say(f"{seen.title or seen.study}  ({seen.dataset})", style="bold")
    body = [(each.name, f"{each.levels:,}", each.read) for each in seen.columns]
    table(("column", "levels", "read as"), body, title="Columns", right=(1,))
    if seen.events:
        say(f"OMOP tables are written of patients and their events: {', '.join(seen.events)}.")
    if seen.target:
        say(f"Target: {seen.target}. Each column is measured with it, and pairs of them as well.")
    for each in seen.together:
        say(f"Measured together: {', '.join(each)}.")
    if seen.baseline is None:
        _show_marginals(seen)
    else:
        _show_baseline(seen.baseline)
    if seen.check is not None:
        _show_check(seen.check)
    show_caps_of_all(seen.caps, epsilon_delta=seen.epsilon_delta)
    if not seen.begun:
        show_admission(seen.approval)
    say(f"All together: {seen.loss.text}.", style="bold")
    for sentence in seen.loss.odds:
        say(f"  {sentence}")


def _show_marginals(seen: "SynthesisPreview") -> None:
    from confide.cli.planning.job import show_drawn

    pairs = "One pair is" if seen.pairs == 1 else f"At most {seen.pairs} pairs are"
    again = "; if none is worth its noise, each column is counted with the target once more"
    say(f"{pairs} chosen privately and measured{again if seen.target else ''}.")
    show_drawn(seen.noise, title="What is drawn", head=("step", "a cell is off by, rows"))
    if seen.error_of_columns is not None and seen.error_of_pairs is not None:
        say(
            f"Expected error from noise alone (total variation, {seen.rows:,} rows): about "
            f"{seen.error_of_columns:.3f} of a column, {seen.error_of_pairs:.3f} of a pair that is "
            "measured. What the model leaves out comes on top."
        )
    say(f"{seen.tables} tables carry the uncertainty of noise and sampling; they cost nothing.")


def _show_baseline(of: "PlannedBaseline") -> None:
    say(of.says, style="bold")
    say(
        f"DP-SGD of a {of.method.upper()}: {of.steps:,} steps, each patient in one with chance "
        f"{of.rate:.4g}, gradients clipped to {of.clip:g}, noise of {of.noise_multiplier:.3g} "
        f"clips on each of {of.parameters:,} weights."
    )


def _show_check(check: "PlannedCheck") -> None:
    drawn = [
        (each.name, each.mechanism, "–" if each.off is None else f"{each.off:.1f}")
        for each in check.noise
    ]
    head = ("criterion", "noise", "off by, rows")
    table(head, drawn, title="Check of the criteria, by confide synth evaluate", right=(2,))
    if check.error_of_pairs is not None:
        say(f"The mean error of pairs will be known within ± {check.error_of_pairs:.3f}.")
    say(f"The check costs {check.loss.text}, beside the synthesis; caps below count both.")
