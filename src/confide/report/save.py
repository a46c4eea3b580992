"""A release as a folder: report, certificate, noisy payload, tables, figures, methods.

The folder appears whole or not at all: it is written beside its place under another name, flushed,
and renamed.  It is never written over another release.

*Privacy:* writes what was published; certificate, payload and CSV are the exact bytes that the
certificate's digests are of.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from confide.errors import ContractError, VerificationError
from confide.plans.canonical import Json, canonical_bytes
from confide.release.certificate import NOISY_PATH
from confide.release.export import tables
from confide.release.release import Release
from confide.release.verify import read_certificate
from confide.report.chart import EMPTY, Figure, figure
from confide.report.drawing import Drawing, draw
from confide.report.methods import methods
from confide.report.outlines import Outlines
from confide.report.page import page
from confide.report.table import frame, parquet_bytes
from confide.report.words import Words, load_words

REPORT, CERTIFICATE, METHODS = "report.html", "certificate.json", "methods.md"
_NAMES = {REPORT, CERTIFICATE, METHODS, NOISY_PATH, "tables", "figures"}


def save(
    release: Release,
    out: Path,
    *,
    progress: Callable[[str], None] = lambda _: None,
    language: str = "en",
    outlines: Mapping[tuple[str, str], Outlines] = EMPTY,
) -> None:
    """Write a release as a folder.

    Args:
        release: What is saved.
        out: The folder; made, or replaced when it holds this same release.
        progress: Told "tables", "figures", "report", "write".
        language: Of every sentence.
        outlines: Public shapes of areas, by spine and level, for maps.

    Raises:
        ContractError: If ``out`` is a file, or a folder that holds anything else.
        UnknownNameError: If the language has no sentences.
    """
    words = load_words(language)
    _check_place(release, out)
    files = contents(release, words=words, progress=progress, outlines=outlines)
    progress("write")
    _write(files, out)


def contents(
    release: Release,
    *,
    words: Words,
    progress: Callable[[str], None] = lambda _: None,
    outlines: Mapping[tuple[str, str], Outlines] = EMPTY,
) -> dict[str, bytes]:
    """Return every file of the folder by its path; the same bytes for the same release and map."""
    progress("tables")
    files = {
        CERTIFICATE: canonical_bytes(release.certificate),
        NOISY_PATH: release.noisy.payload(),
        **tables(release.plan.statistics, release.estimates),
    }
    for statistic in release.plan.statistics:
        files[f"tables/{statistic.id}.parquet"] = parquet_bytes(frame(release, statistic))
    progress("figures")
    drawn = _draw_all(release, words=words, outlines=outlines)
    for name, (_, drawing) in drawn.items():
        files[f"figures/{name}.svg"] = drawing.svg.encode()
        files[f"figures/{name}.png"] = drawing.png
    progress("report")
    files[REPORT] = page(release, figures=drawn, words=words).encode()
    files[METHODS] = methods(release, words=words).encode()
    return files


def _draw_all(
    release: Release, *, words: Words, outlines: Mapping[tuple[str, str], Outlines]
) -> dict[str, tuple[Figure, Drawing]]:
    drawn = {}
    for statistic in release.plan.statistics:
        built = figure(release, statistic, words=words, outlines=outlines)
        if built is not None:
            drawn[statistic.id] = (built, draw(built.chart))
    return drawn


def _check_place(release: Release, out: Path) -> None:
    """Refuse a place that holds anything but this release."""
    if not out.exists() and not out.is_symlink():
        return
    names = {path.name for path in out.iterdir()} if out.is_dir() else {out.name}
    if names and not (names <= _NAMES and _holds(release, out / CERTIFICATE)):
        raise ContractError(
            f"Expected a new or empty folder, got {out.name!r}, which holds something else.",
            hint="Choose another folder; a release is never written over anything else.",
        )


def _holds(release: Release, path: Path) -> bool:
    """Return whether a certificate is of this release: the same entry of the same ledger."""
    try:
        held = read_certificate(path)
        return bool(_identity(held) == _identity(release.certificate))
    except (VerificationError, KeyError, TypeError):
        return False


def _identity(certificate: Json) -> tuple[Json, ...]:
    return certificate["id"], certificate["issuer"]["key"], certificate["accounting"]["hash"]


def _write(files: dict[str, bytes], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        for name, content in files.items():
            path = new / name
            path.parent.mkdir(exist_ok=True)
            _write_file(path, content)
        new.chmod(0o755)
        _replace(out, new=new)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    _flush_folder(out.parent)


def _write_file(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
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


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
