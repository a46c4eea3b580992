"""Folders of published files: written beside their place, flushed, renamed; never over another."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from confide.errors import ContractError, VerificationError
from confide.plans.canonical import Json
from confide.regular_file import sync_folder, tell_day_alone, writing
from confide.release.certificate.certificate import NOISY_PATH
from confide.release.reused import REUSED_PATH
from confide.release.verify.twins import MEMBER, REHEARSAL
from confide.release.verify.verify import read_certificate
from confide.report.wording.article import REFERENCES

REPORT, CERTIFICATE, METHODS = "report.html", "certificate.json", "methods.md"
LATEX, WORD = "tables.tex", "tables.docx"
"""Of a rehearsal alone: of a release they are exported."""
_NAMES = {
    *(REPORT, CERTIFICATE, METHODS, REFERENCES, NOISY_PATH, REUSED_PATH),
    *("sources", "tables", "figures"),
}
_REHEARSED = (_NAMES - {CERTIFICATE, REUSED_PATH, "sources"}) | {REHEARSAL, LATEX, WORD}


def require_place(certificate: Json, out: Path) -> None:
    """Refuse a place that holds anything but the release of this certificate.

    Raises:
        ContractError: If it does.
    """
    if not out.exists() and not out.is_symlink():
        return
    names = {path.name for path in out.iterdir()} if out.is_dir() else {out.name}
    if MEMBER in certificate and REHEARSAL in names and names <= _REHEARSED:
        return  # one rehearsal is as good as another
    if names and not (names <= _NAMES and _holds(certificate, out / CERTIFICATE)):
        raise ContractError(
            f"Expected a new or empty folder, got {out.name!r}, which holds something else.",
            hint="Choose another folder; a release is never written over anything else.",
        )


def _holds(certificate: Json, path: Path) -> bool:
    """Return whether a certificate is of this release: the same entry of the same ledger."""
    try:
        held = read_certificate(path)
        return bool(_identity(held) == _identity(certificate))
    except (VerificationError, KeyError, TypeError, AttributeError):
        return False


def _identity(certificate: Json) -> tuple[Json, ...]:
    entry = certificate.get("accounting", {}).get("hash")  # none of a release made of others
    return certificate["id"], certificate["issuer"]["key"], entry


def write_folder(files: Mapping[str, bytes], out: Path) -> None:
    """Write files, by path, so that the folder appears whole or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        for name, content in files.items():
            path = new / name
            path.parent.mkdir(exist_ok=True)
            _write_file(path, content)
        tell_day_alone([*new.rglob("*"), new])
        new.chmod(0o755)
        _replace(out, new=new)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    sync_folder(out.parent)


def _write_file(path: Path, content: bytes) -> None:
    with writing(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _replace(out: Path, *, new: Path) -> None:
    """Put ``new`` in the place of ``out``; a folder in the way is moved aside first, then away."""
    if not out.exists():
        new.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    out.rename(old / out.name)
    try:
        new.rename(out)
    except OSError:
        (old / out.name).rename(out)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
