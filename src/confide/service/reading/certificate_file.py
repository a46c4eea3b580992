"""Where a certificate is, and the noisy payload that a ledger holds of it."""

from pathlib import Path
from typing import Any


def certificate_path(given: Path) -> Path:
    """Return the certificate that a path names: itself, or the one in its folder."""
    return given / "certificate.json" if given.is_dir() else given


def stored_payload(certificate: Any, dataset: Path) -> bytes | None:
    """Return the noisy payload of a certificate from the ledger of a data set."""
    from confide.release.verify.against_ledger import payload_of
    from confide.service.opening import open_ledger

    with open_ledger(dataset) as (held, declared):
        return payload_of(certificate, ledger=held, lineage=declared.dataset.lineage)
