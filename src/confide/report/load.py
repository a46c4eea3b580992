"""A release out of the folder that it was saved to.

*Privacy:* reads published files only.
"""

from pathlib import Path

from confide.drawing.charts.outlines import Maps
from confide.errors import ContractError
from confide.plans.canonical import Json
from confide.regular_file import read_bytes
from confide.release.certificate.certificate import NOISY_PATH
from confide.release.certificate.cuts import estimates_of
from confide.release.certificate.form_check import read_form
from confide.release.noisy import read_payload
from confide.release.reused_form import ReusedForm
from confide.release.verify.verify import Verification, read_certificate, verify
from confide.release.verify.verify_job import is_job
from confide.release.verify.verify_reuse import is_reuse, read_reused
from confide.report.pages.folder import CERTIFICATE, REPORT
from confide.report.release import Release
from confide.report.reused import reused_release


def load(
    folder: str | Path,
    *,
    key: str | None = None,
    outlines: Maps | None = None,
) -> Release:
    """Return the release that a folder holds, if it verifies.

    Args:
        folder: That ``save`` or ``confide run`` left.
        key: Public key that must have signed it; any may when None.
        outlines: Public shapes of areas, by spine and level, for maps: they are not in the folder.

    Raises:
        VerificationError: If a file is missing, or anything does not verify.
        ContractError: If it holds a job, or a house rule keeps the noisy numbers out of it.
    """
    folder = Path(folder)
    certificate, checked = verified(folder, key=key)
    if not checked.rebuilt:
        raise ContractError(
            f"A house rule keeps {NOISY_PATH} out of {folder.name}.",
            hint="What was published lies in its tables and figures; `confide show` prints it. The "
            "steward's workspace.release(plan) returns the release again at no charge.",
        )
    return rebuilt(certificate, folder=folder, outlines=outlines)


def verified(folder: Path, *, key: str | None = None) -> tuple[Json, Verification]:
    """Return the certificate of a folder of statistics, with its checks, all of which hold.

    Raises:
        VerificationError: If one does not.
        ContractError: If the folder holds a job.
    """
    certificate = read_certificate(folder / CERTIFICATE)
    checked = verify(certificate, folder=folder, pinned_key=key)
    checked.require(folder)
    if is_job(certificate):
        told = _page_of(folder)
        raise ContractError(
            f"{folder.name} holds files of a job ({certificate['plan']['kind']}), not tables: "
            f"{', '.join(each['path'] for each in certificate['outputs'])}.",
            hint=f"It verifies. {told}What it cost: {folder.name}/{CERTIFICATE}.",
        )
    return certificate, checked


def _page_of(folder: Path) -> str:
    """Say where the page of a job is, if there is one."""
    return f"Read it in {folder.name}/{REPORT}. " if (folder / REPORT).is_file() else ""


def rebuilt(
    certificate: Json,
    *,
    folder: Path,
    payload: bytes | None = None,
    outlines: Maps | None = None,
) -> Release:
    """Return the release of a verified certificate, made anew from its noisy numbers.

    Args:
        certificate: That verified.
        folder: Where its files are.
        payload: The noisy payload, where it is not in the folder.
        outlines: Public shapes of areas, for maps.
    """
    if is_reuse(certificate):
        reused = read_reused(read_form(certificate, form=ReusedForm), folder=folder)
        return reused_release(reused, certificate, outlines=outlines or {})
    noisy = read_payload(payload or read_bytes(folder / NOISY_PATH, largest=None))
    return Release(
        noisy=noisy,
        estimates=estimates_of(noisy),
        certificate=certificate,
        outlines=outlines or {},
    )
