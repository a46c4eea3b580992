"""Which layout a statistic's table has in the report, and what is said below each of them."""

from dataclasses import replace

from confide.plans.plan import Statistic
from confide.release.release import Release
from confide.report.cells import cells_of
from confide.report.characteristics import characteristics
from confide.report.cut import cut_text
from confide.report.quality import quality
from confide.report.table import Shown, shown
from confide.report.words import Words
from confide.statistics.data_quality import DataQuality
from confide.statistics.table_one import TableOne


def laid_out(release: Release, statistic: Statistic, *, words: Words) -> Shown:
    """Return the table of a statistic, in the layout that readers of its kind expect."""
    match statistic:
        case TableOne():
            found = characteristics(release, statistic, words=words)
        case DataQuality():
            found = quality(release, statistic, words=words)
        case _:
            found = shown(release, statistic, words=words)
    cells = cells_of(release.of(statistic))
    cut = cut_text(statistic, plan=release.plan, cells=cells, words=words)
    return replace(found, notes=(*found.notes, *cut))
