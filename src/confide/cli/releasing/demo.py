"""``confide demo``: two releases of public data, from a survey file and from an OMOP database."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.cli.releasing.run import show_run
from confide.cli.releasing.stages import STAGES

if TYPE_CHECKING:
    from confide.service.demo.examples import Demonstrated


def demo(
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for studies and reports.")
    ] = Path("confide-demo"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Release two studies of public data, and leave reports that you can open.

    Running it again into the same folder delivers the same numbers and spends nothing.
    """
    from confide.service.demo.examples import EXAMPLES, Demonstrated, data_of, release_example

    output = Output(json=as_json, quiet=quiet)
    found = [(example, data_of(example)) for example in EXAMPLES]
    releases = []
    for example, data in found:
        output.note(f"{example.about}.")
        with output.stages(STAGES) as progress:
            releases.append(release_example(example, data=data, out=out, progress=progress))
    made = Demonstrated(folder=out, releases=tuple(releases))
    output.result("demo", made, show=lambda: _show(made))


def _show(made: "Demonstrated") -> None:
    for each in made.releases:
        show_run(each.delivered)
        say("")
    if not any(each.delivered.charged for each in made.releases):
        say("These are the numbers of the first run; for new ones, give another --out.")
    say("Open a report in a browser; check it with")
    for each in made.releases:
        say(f"  {_program()} verify {each.delivered.certificate}")


def _program() -> str:
    """Return how this program was called, so that the line can be pasted."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "confide" and len(called.parts) > 1 else "confide"
