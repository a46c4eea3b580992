"""Rehearsals, which nobody can verify: they are of made-up rows, and have no certificate.

A folder of one holds :data:`REHEARSAL` in the place of a certificate, so that whoever asks for the
certificate is told what it is.
"""

from pathlib import Path

from confide.errors import VerificationError
from confide.plans.canonical import Json

REHEARSAL = "rehearsal.json"
MEMBER = "rehearsal"
"""Member that every JSON file of a rehearsal has, and no certificate or payload."""


def refuse_rehearsal(path: Path, held: Json = None) -> None:
    """Refuse what stands in the place of a certificate if it is of a rehearsal.

    Args:
        path: Where a certificate was looked for.
        held: What was read there; None where there is nothing.

    Raises:
        VerificationError: If it is.
    """
    marked = isinstance(held, dict) and MEMBER in held
    if marked or (held is None and (path.parent / REHEARSAL).exists()):
        raise VerificationError(
            f"{path.parent.name or path} is a rehearsal: its rows are made up, nothing was "
            "charged, and there is no certificate to verify.",
            hint="Run the study without --twin for a release.",
        )
