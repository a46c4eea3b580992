"""Which layout a statistic's table has in the report, and what is said below each of them."""

from dataclasses import replace
from typing import TYPE_CHECKING

from confide.drawing.asking import Asking
from confide.drawing.cells import readable_cells
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.plans.plan import Statistic
from confide.report.pages.table import shown
from confide.report.wording.cut import cut_text
from confide.report.wording.describe import words_on
from confide.statistics.registry import kind_of

if TYPE_CHECKING:
    from confide.report.release import Release


def laid_out(release: "Release", statistic: Statistic, *, words: Words) -> Shown:
    """Return the table of a statistic as it stands alone: with what a bound may cut below it."""
    words = words_on(statistic, plan=release.plan, words=words)
    found, cells = (
        table_layout(release, statistic, words=words),
        readable_cells(release.of(statistic)),
    )
    cut = cut_text(statistic, plan=release.plan, cells=cells, words=words)
    return replace(found, notes=(*found.notes, *cut))


def table_layout(release: "Release", statistic: Statistic, *, words: Words) -> Shown:
    """Return the table of a statistic, in the layout that readers of its kind expect."""
    words = words_on(statistic, plan=release.plan, words=words)
    own, cells = kind_of(statistic).table, readable_cells(release.of(statistic))
    if own is None or not cells:
        return shown(release, statistic, words=words)
    return own(statistic, cells, Asking(dataset=release.plan.dataset, words=words))
