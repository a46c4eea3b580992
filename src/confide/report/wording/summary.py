"""A release in a few lines of HTML, as notebooks show it: what it is, its cost, its headlines."""

from typing import TYPE_CHECKING

from confide.drawing.cells import readable_cells
from confide.drawing.markup import isolated, rows_of_texts, tag
from confide.drawing.numbers import clean
from confide.release.certificate.certificate import shown_loss
from confide.report.wording.describe import title_of
from confide.report.wording.marks import mark_of
from confide.report.wording.odds_words import loss_text
from confide.report.wording.section import headline
from confide.statistics.registry import kind_of

if TYPE_CHECKING:
    from confide.report.release import Release

MOST = 30
"""Statistics that are shown; tables hold them all."""


def summary(release: "Release") -> str:
    """Return the element."""
    words, plan = release.words(), release.plan
    free, mark = release.made_of is not None, mark_of(release, words=words)
    cost = words.say("reuse.free") if free else loss_text(shown_loss(plan), words=words)
    told = [
        (
            tag("code", clean(each.id)),
            isolated(title_of(each, plan=plan, words=words)),
            isolated(headline(readable_cells(release.of(each)), kind=kind_of(each), words=words)),
        )
        for each in plan.statistics[:MOST]
    ]
    left = len(plan.statistics) - MOST
    return tag(
        "div",
        tag("p", tag("strong", mark)) if mark else "",
        tag("p", tag("strong", clean(str(release.certificate["id"]))), " ", cost),
        rows_of_texts(("id", "asked", "found"), told, numbers=()),
        tag("p", f"and {left} more statistics") if left > 0 else "",
    )
