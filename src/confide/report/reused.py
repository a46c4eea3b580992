"""A release made of earlier ones as a folder, and as a release that tables and figures are made of.

*Privacy:* writes what was published.  A sum of noisy cells is drawn as one normal answer with the
variance of the noisiest sum; tables hold the intervals of each.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.plan import Measurement, Noisy, Plan
from confide.plans.reuse import Answer, Same, Summed
from confide.release.noisy import NoisyAggregates
from confide.release.release import Release
from confide.release.reused import REUSED_PATH, ReusedRelease
from confide.report.chart import EMPTY
from confide.report.folder import REPORT, require_place, write_folder
from confide.report.outlines import Outlines
from confide.report.reused_page import reused_page
from confide.report.save import tables_and_figures
from confide.report.words import Words, load_words


def save_reused(
    release: ReusedRelease,
    out: Path,
    *,
    progress: Callable[[str], None] = lambda _: None,
    language: str = "en",
    outlines: Mapping[tuple[str, str], Outlines] = EMPTY,
) -> None:
    """Write a release made of earlier ones as a folder, with their noisy payloads.

    Args:
        release: What is saved.
        out: The folder; made, or replaced when it holds this same release.
        progress: Told "tables", "figures", "report", "write".
        language: Of every sentence.
        outlines: Public shapes of areas, by spine and level, for maps.

    Raises:
        ContractError: If ``out`` is a file, or a folder that holds anything else.
    """
    words = load_words(language)
    require_place(release.certificate, out)
    files = contents(release, words=words, progress=progress, outlines=outlines)
    progress("write")
    write_folder(files, out)


def contents(
    release: ReusedRelease,
    *,
    words: Words,
    progress: Callable[[str], None] = lambda _: None,
    outlines: Mapping[tuple[str, str], Outlines] = EMPTY,
) -> dict[str, bytes]:
    """Return every file of the folder by its path."""
    progress("tables")
    reused = release.reused
    told = as_release(release)
    files, drawn = tables_and_figures(told, words=words, progress=progress, outlines=outlines)
    files[REUSED_PATH] = reused.payload()
    files |= {source.path: source.payload for source in reused.sources}
    progress("report")
    files[REPORT] = reused_page(told, reused=reused, figures=drawn, words=words).encode()
    return files


def as_release(release: ReusedRelease) -> Release:
    """Return the release that tables, figures and headlines are made of."""
    pairs = [pair for each in release.reused.answers for pair in _measured(each)]
    plan = Plan(
        study=release.reused.study,
        dataset=release.reused.dataset,
        statistics=release.reused.statistics,
        measurements=tuple(measurement for measurement, _ in pairs),
    )
    noisy = NoisyAggregates(plan=plan, values=tuple(values for _, values in pairs))
    return Release(noisy=noisy, estimates=release.estimates, certificate=release.certificate)


def _measured(found: Answer) -> list[tuple[Measurement, Noisy]]:
    """Return the measurements of one statistic as if they had been made for it."""
    match found:
        case Same(statistic=statistic, of=pairs):
            return [
                (_named(earlier.measurement, statistic=statistic.id, name=name), earlier.noisy)
                for name, earlier in pairs
            ]
        case Summed(statistic=statistic, question=question):
            sums = found.sums()
            worst = max(1.0, *(each.error.variance for each in sums))
            charged = sum(earlier.measurement.nano for earlier in found.sources)
            measurement = Measurement(
                statistic=statistic.id,
                name=question.name,
                aggregate=question.aggregate,
                sensitivity=question.sensitivity,
                mechanism=DiscreteGaussian(sigma_squared=Fraction(math.ceil(worst))),
                nano=charged,
            )
            return [(measurement, tuple(round(each.value) for each in sums))]


def _named(measurement: Measurement, *, statistic: str, name: str) -> Measurement:
    return Measurement(
        statistic=statistic,
        name=name,
        aggregate=measurement.aggregate,
        sensitivity=measurement.sensitivity,
        mechanism=measurement.mechanism,
        nano=measurement.nano,
        atto=measurement.atto,
    )
