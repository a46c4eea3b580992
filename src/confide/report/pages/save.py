"""A release as a folder: report, certificate, noisy payload, tables, figures, methods.

The folder appears whole or not at all: it is written beside its place under another name, flushed,
and renamed.  It is never written over another release.

*Privacy:* writes what was published; certificate, payload and CSV are the exact bytes that the
certificate's digests are of.
"""

import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from confide.drawing.charts.figure import Figure, Plate
from confide.drawing.charts.render import Drawing
from confide.drawing.words import Words
from confide.errors import MissingExtraError
from confide.plans.canonical import canonical_bytes
from confide.release.certificate.certificate import NOISY_PATH
from confide.release.export import tables
from confide.release.noisy import shows_noisy
from confide.release.reused import REUSED_PATH
from confide.release.verify.twins import MEMBER, REHEARSAL
from confide.report.charts.chart import figures
from confide.report.pages.folder import (
    CERTIFICATE,
    LATEX,
    METHODS,
    REPORT,
    WORD,
    require_place,
    write_folder,
)
from confide.report.pages.journal import latex_tables, word_document
from confide.report.pages.page import page
from confide.report.pages.reused_page import reused_page
from confide.report.pages.table import frame, parquet_bytes
from confide.report.wording.article import REFERENCES, references
from confide.report.wording.marks import mark_of, marked_csv, marked_text
from confide.report.wording.methods import methods

if TYPE_CHECKING:
    from confide.report.release import Release


def save(
    release: "Release",
    out: Path,
    *,
    progress: Callable[[str], None] = lambda _: None,
    language: str = "en",
) -> None:
    """Write a release as a folder.

    Args:
        release: What is saved.
        out: The folder; made, or replaced when it holds this same release.
        progress: Told "tables", "figures", "report", "write".
        language: Of every sentence.

    Raises:
        ContractError: If ``out`` is a file, or a folder that holds anything else.
        UnknownNameError: If the language has no sentences.
    """
    words = release.words(language)
    require_place(release.certificate, out)
    files = contents(release, words=words, progress=progress)
    if release.made_up is not None:
        files = _rehearsal(files, release, words=words)
    progress("write")
    write_folder(files, out)


def contents(
    release: "Release", *, words: Words, progress: Callable[[str], None] = lambda _: None
) -> dict[str, bytes]:
    """Return every file of the folder by its path; the same bytes for the same release and map."""
    progress("tables")
    files = {
        CERTIFICATE: canonical_bytes(release.certificate),
        **tables(release.plan, release.estimates),
    }
    for statistic in release.plan.statistics:
        files[f"tables/{statistic.id}.parquet"] = parquet_bytes(frame(release, statistic))
    progress("figures")
    drawn = {
        statistic.id: tuple(
            Plate(name=name, figure=each, drawing=_drawn(each))
            for name, each in figures(release, statistic, words=words).items()
        )
        for statistic in release.plan.statistics
    }
    for plate in (plate for plates in drawn.values() for plate in plates):
        if plate.drawing is not None:
            files[f"figures/{plate.name}.svg"] = plate.drawing.svg.encode()
            files[f"figures/{plate.name}.png"] = plate.drawing.png
    progress("report")
    if release.made_of is not None:
        files |= {source.path: source.payload for source in release.made_of.sources}
        files[REUSED_PATH] = release.made_of.payload()
        files[REPORT] = reused_page(
            release, made_of=release.made_of, figures=drawn, words=words
        ).encode()
        return files
    if shows_noisy(release.plan.study):
        files[NOISY_PATH] = release.noisy.payload()
    files[REPORT] = page(release, figures=drawn, words=words).encode()
    said = methods(release, words=words)
    files[METHODS], files[REFERENCES] = said.encode(), references(said).encode()
    return files


def _rehearsal(files: Mapping[str, bytes], release: "Release", *, words: Words) -> dict[str, bytes]:
    """Return the files of a rehearsal: each is marked, and no certificate is among them.

    Tables for journals are, since ``confide export`` makes none of what has no certificate.
    """
    mark = mark_of(release, words=words)
    kept = {name: content for name, content in files.items() if name != CERTIFICATE}
    for name, content in kept.items():
        if name.endswith(".csv"):
            kept[name] = marked_csv(content)
    if NOISY_PATH in kept:
        held = json.loads(kept[NOISY_PATH])
        kept[NOISY_PATH] = canonical_bytes({MEMBER: mark, "made-up": held})
    kept[METHODS] = marked_text(kept[METHODS].decode(), mark=mark).encode()
    kept[REFERENCES] = f"% {mark}\n".encode() + kept[REFERENCES]
    kept[REHEARSAL] = canonical_bytes({**release.certificate, "text": mark})
    kept[LATEX] = f"% {mark}\n{latex_tables(release, words=words)}".encode()
    with contextlib.suppress(MissingExtraError):
        kept[WORD] = word_document(release, words=words)
    return kept


def _drawn(built: Figure) -> Drawing | None:
    """Return a figure as drawn; None where it cannot be: an answer that was charged goes out."""
    try:
        return built.drawn()
    except ValueError:
        return None
