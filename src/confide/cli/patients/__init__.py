"""``confide patients``: consent withdrawn, what one patient has spent, records, and the bias."""

import typer

from confide.cli.patients.forget import forget_patients
from confide.cli.patients.preview import preview
from confide.cli.patients.show import show_patient
from confide.cli.patients.verify import verify_patients

patients = typer.Typer(
    help="Consent withdrawn, and per-patient budgets: for the privacy officer.",
    no_args_is_help=True,
)
patients.command("forget")(forget_patients)
patients.command("preview")(preview)
patients.command("show")(show_patient)
patients.command("verify")(verify_patients)
