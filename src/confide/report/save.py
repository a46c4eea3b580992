"""A release as a folder: report, certificate, noisy payload, tables, figures, methods.

The folder appears whole or not at all: it is written beside its place under another name, flushed,
and renamed.  It is never written over another release.

*Privacy:* writes what was published; certificate, payload and CSV are the exact bytes that the
certificate's digests are of.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from confide.plans.canonical import canonical_bytes
from confide.release.certificate import NOISY_PATH
from confide.release.export import tables
from confide.release.noisy import shows_noisy
from confide.release.release import Release
from confide.report.chart import EMPTY, figure
from confide.report.drawing import Drawing, draw
from confide.report.figure import Figure, Plate
from confide.report.folder import CERTIFICATE, METHODS, REPORT, require_place, write_folder
from confide.report.methods import methods
from confide.report.model_figures import model_figures
from confide.report.outlines import Outlines
from confide.report.page import page
from confide.report.table import frame, parquet_bytes
from confide.report.words import Words, load_words


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
    require_place(release.certificate, out)
    files = contents(release, words=words, progress=progress, outlines=outlines)
    progress("write")
    write_folder(files, out)


def contents(
    release: Release,
    *,
    words: Words,
    progress: Callable[[str], None] = lambda _: None,
    outlines: Mapping[tuple[str, str], Outlines] = EMPTY,
) -> dict[str, bytes]:
    """Return every file of the folder by its path; the same bytes for the same release and map."""
    progress("tables")
    files = {NOISY_PATH: release.noisy.payload()} if shows_noisy(release.plan.study) else {}
    shared, drawn = tables_and_figures(release, words=words, progress=progress, outlines=outlines)
    files |= shared
    progress("report")
    files[REPORT] = page(release, figures=drawn, words=words).encode()
    files[METHODS] = methods(release, words=words).encode()
    return files


def tables_and_figures(
    release: Release,
    *,
    words: Words,
    progress: Callable[[str], None],
    outlines: Mapping[tuple[str, str], Outlines],
) -> tuple[dict[str, bytes], dict[str, tuple[Plate, ...]]]:
    """Return certificate, tables and figures as files, and the figures as the page needs them."""
    files = {
        CERTIFICATE: canonical_bytes(release.certificate),
        **tables(release.plan, release.estimates),
    }
    for statistic in release.plan.statistics:
        files[f"tables/{statistic.id}.parquet"] = parquet_bytes(frame(release, statistic))
    progress("figures")
    drawn = _draw_all(release, words=words, outlines=outlines)
    for plate in (plate for plates in drawn.values() for plate in plates):
        if plate.drawing is not None:
            files[f"figures/{plate.name}.svg"] = plate.drawing.svg.encode()
            files[f"figures/{plate.name}.png"] = plate.drawing.png
    return files, drawn


def _draw_all(
    release: Release, *, words: Words, outlines: Mapping[tuple[str, str], Outlines]
) -> dict[str, tuple[Plate, ...]]:
    drawn = {}
    for statistic in release.plan.statistics:
        built = figure(release, statistic, words=words, outlines=outlines)
        found = {} if built is None else {statistic.id: built}
        for name, more in model_figures(release, statistic, words=words).items():
            found[f"{statistic.id}.{name}"] = more
        drawn[statistic.id] = tuple(
            Plate(name=name, figure=each, drawing=_drawn(each)) for name, each in found.items()
        )
    return drawn


def _drawn(built: Figure) -> Drawing | None:
    """Return a figure as drawn; None where it cannot be: an answer that was charged goes out."""
    try:
        return draw(built.chart)
    except ValueError:
        return None
