"""What reports say of a difference of medians."""

from collections.abc import Sequence

from confide.drawing.asking import of_column
from confide.drawing.cells import Cell
from confide.drawing.findings import effect_text
from confide.drawing.words import Words
from confide.statistics.kind import Kind
from confide.statistics.median_difference.section import MedianDifferenceSection
from confide.statistics.median_difference.spec import MedianDifference


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the difference in one sentence."""
    found = next(cell for cell in cells if cell.quantity == "difference")
    if found.value is None:
        return words.say("headline.none")
    return words.say("headline.median-difference", effect=effect_text(found, words=words))


KIND = Kind(
    name="median-difference",
    spec=MedianDifference,
    section=MedianDifferenceSection,
    bias="at most the widths of two bins",
    title=of_column("title.median-difference"),
    headline=_headline,
    figure="confide.drawing.charts.forest:compared",
    audit="confide.statistics.median_difference.audit:AUDITED",
)
