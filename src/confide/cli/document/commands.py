"""Which documents ``confide document`` knows, and where each is."""

import typer

from confide.cli.document.dpia import dpia
from confide.cli.document.ehds import ehds
from confide.cli.document.hipaa import hipaa
from confide.cli.document.identifiability import identifiability
from confide.cli.document.legal_basis import legal_basis
from confide.cli.document.start import start

document = typer.Typer(
    help="Documents that a person signs, filled from plan, ledger, certificate and audit.",
    no_args_is_help=True,
)

document.command("start")(start)
document.command("dpia")(dpia)
document.command("legal-basis")(legal_basis)
document.command("identifiability")(identifiability)
document.command("hipaa")(hipaa)
document.command("ehds")(ehds)
