"""``confide link plan``: what a linkage would tell, how far off, and what it costs; free."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.linkage.plan import LinkagePreview

_OVER_CAP = 5
_SHARED_VALUES = (
    "A value that many rows share in a blocking field, such as a default date, makes so many pairs "
    "that the run may end for want of memory, after its charge."
)


def plan_link(
    file: Annotated[Path, typer.Argument(help="A linkage.yaml.")] = Path("linkage.yaml"),
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what a linkage would tell, how far that is off and what it costs; reads no data."""
    from confide.service.linkage.plan import plan_linkage

    output = Output(json=as_json, quiet=quiet)
    seen = plan_linkage(file)
    output.result("link-plan", seen, show=lambda: show_linkage_plan(seen))
    output.note(_SHARED_VALUES)
    if seen.warning:
        output.note(seen.warning)
    if seen.released:
        output.note("This linkage is released already: running it again costs nothing.")
    elif not seen.fits:
        output.note("It does not fit: a cap would be passed. Write less under spend.")
        raise typer.Exit(_OVER_CAP)


def show_linkage_plan(seen: "LinkagePreview") -> None:
    """Print the plan of a linkage for people."""
    from confide.cli.planning.caps import show_caps_of_all

    say(f"{seen.title or seen.study}  ({seen.dataset})", style="bold")
    say(f"Persons of {seen.first} are linked with persons of {seen.second}, by a frozen model.")
    body = [(each.name, f"{each.l1:g}", f"{each.off:.3g}") for each in seen.told]
    head = ("told", "one person moves it by", "each number is off by")
    table(head, body, title="What is told", right=(1, 2))
    say("One person: a record in both tables. Off by: a standard deviation; scores are 0 to 1.")
    show_caps_of_all(seen.caps, epsilon_delta=seen.epsilon_delta)
    say(f"All together: {seen.loss.text}.", style="bold")
    for sentence in seen.loss.odds:
        say(f"  {sentence}")
