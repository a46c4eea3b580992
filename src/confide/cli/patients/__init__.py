"""``confide patients``: what one patient has spent, whether the records are whole, and the bias."""

import typer

from confide.cli.patients.preview import preview
from confide.cli.patients.show import show_patient
from confide.cli.patients.verify import verify_patients

patients = typer.Typer(
    help="Per-patient budgets: for the privacy officer, and before a policy is written.",
    no_args_is_help=True,
)
patients.command("preview")(preview)
patients.command("show")(show_patient)
patients.command("verify")(verify_patients)
