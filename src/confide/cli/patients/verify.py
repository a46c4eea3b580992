"""``confide patients verify``: whether the records of who was in which release are whole."""

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say


def verify_patients(
    dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Check every membership file against its tag and the ledger; tells nothing of them."""
    from confide.service.patients.verify import verify_patients as verified

    found = verified(dataset)
    shown = f"The patients' records are whole, of {found.charges} charges."
    Output(json=as_json, quiet=quiet).result("patients-verify", found, show=lambda: say(shown))
