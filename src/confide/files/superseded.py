"""The release that a study replaces, as its certificate names it."""

from pathlib import Path

from confide.errors import ContractError, VerificationError
from confide.files.texts import beside
from confide.plans.plan import Superseded
from confide.release.verify.verify import read_certificate


def superseded(named: str | None, *, of: Path) -> Superseded | None:
    """Return what a study file says that it supersedes.

    Args:
        named: Path of a certificate.json, or of its folder, relative to the study file.
        of: The study file.

    Raises:
        ContractError: If no certificate with numbers of its own is there.
    """
    if named is None:
        return None
    path = beside(named, of=of)
    path = path / "certificate.json" if path.is_dir() else path
    try:
        held = read_certificate(path)
        return Superseded(
            id=str(held["id"]), payload_sha256=str(held["accounting"]["payload-sha256"])
        )
    except (VerificationError, KeyError, TypeError):
        raise ContractError(
            f"study → supersedes names {path.name}, which is no certificate of a release.",
            hint="Name the folder or the certificate.json of the release that this one replaces.",
        ) from None
