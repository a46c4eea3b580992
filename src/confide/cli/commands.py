"""The command ``confide``: which words it knows, and where each is."""

from typing import Annotated

import typer

from confide.cli.border import Border
from confide.cli.checking.attack import attack
from confide.cli.checking.audit import audit
from confide.cli.checking.doctor import doctor
from confide.cli.document import document
from confide.cli.federate import federate
from confide.cli.ledger import ledger
from confide.cli.link import link
from confide.cli.output import write
from confide.cli.patients import patients
from confide.cli.planning.plan import plan
from confide.cli.policy import policy
from confide.cli.preparing.check import check
from confide.cli.preparing.cohort import cohort
from confide.cli.preparing.describe import describe
from confide.cli.preparing.init import init
from confide.cli.preparing.prepare import prepare
from confide.cli.reading.diff import diff
from confide.cli.reading.explain import explain
from confide.cli.reading.export import export
from confide.cli.reading.show import show
from confide.cli.reading.verify import verify
from confide.cli.releasing.advance import advance
from confide.cli.releasing.demo import demo
from confide.cli.releasing.run import run
from confide.cli.request import request
from confide.cli.survey import survey
from confide.cli.synth import synth

EPILOG = (
    "Exit codes: 0 done, 1 bug, 2 usage, 3 policy refuses, 4 approval missing, "
    "5 budget would be exceeded, 6 verification failed, 7 input breaks its contract, "
    "8 outage (no ledger, a full disk, a run over sites that ended): run the same again. "
    "Only `run`, `synth run`, `synth evaluate`, `link run`, `federate serve-site` and `demo` spend "
    "privacy budget."
)

app = typer.Typer(
    name="confide",
    cls=Border,
    help="Statistics from health records, with differential privacy.",
    epilog=EPILOG,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def confide(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Print the version, or the help when no command is named."""
    if version:
        from confide.version import __version__

        write(f"confide {__version__}\n")
    elif context.invoked_subcommand is None:
        write(f"{context.get_help()}\n")
    elif context.invoked_subcommand != verify.__name__:
        from confide.regular_file import require_posix

        require_posix()


PREPARE, RELEASE, CHECK = "Prepare", "Release", "Check and understand"

for command, panel in (
    (init, PREPARE),
    (cohort, PREPARE),
    (describe, PREPARE),
    (check, PREPARE),
    (prepare, PREPARE),
    (plan, RELEASE),
    (run, RELEASE),
    (advance, RELEASE),
    (show, RELEASE),
    (verify, CHECK),
    (diff, CHECK),
    (export, CHECK),
    (explain, CHECK),
    (audit, CHECK),
    (attack, CHECK),
    (doctor, CHECK),
    (demo, CHECK),
):
    app.command(command.__name__, rich_help_panel=panel)(command)
app.add_typer(policy, name="policy", rich_help_panel=PREPARE)
app.add_typer(ledger, name="ledger", rich_help_panel=CHECK)
app.add_typer(patients, name="patients", rich_help_panel=CHECK)
app.add_typer(request, name="request", rich_help_panel=RELEASE)
app.add_typer(synth, name="synth", rich_help_panel=RELEASE)
app.add_typer(link, name="link", rich_help_panel=RELEASE)
app.add_typer(survey, name="survey", rich_help_panel=RELEASE)
app.add_typer(federate, name="federate", rich_help_panel=RELEASE)
app.add_typer(document, name="document", rich_help_panel=CHECK)
