"""``confide document``: documents that a person signs."""

import typer

from confide.cli.document.start import start
from confide.cli.document.write import writing

_ALL = "Reads no row and charges nothing.  Fields for a person stay empty and are listed."
_KINDS = {
    "dpia": "Write the annex on statistics for a data protection impact assessment (GDPR Art. 35).",
    "legal-basis": "Write the legal basis of each site, with the balancing test where one "
    "needs it.",
    "identifiability": "Write the assessment whether the released statistics are personal data to "
    "somebody.",
    "hipaa": "Write the appendix for an expert determination (45 CFR 164.514(b)(1)).",
    "ehds": "Write a health data request (Regulation (EU) 2025/327, Art. 69).",
}

document = typer.Typer(
    help="Documents that a person signs, filled from plan, ledger, certificate and audit.",
    no_args_is_help=True,
)
document.command("start")(start)
for kind, what in _KINDS.items():
    document.command(kind, help=f"{what}\n\n{_ALL}")(writing(kind))
