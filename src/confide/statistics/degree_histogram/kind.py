"""What reports say of a degree histogram."""

from collections.abc import Sequence

from confide.drawing.asking import Asking, by_heads, unit_axis
from confide.drawing.cells import Cell
from confide.drawing.conditions import label
from confide.drawing.headlines import main_range, number, usable
from confide.drawing.quantities import quantity_text
from confide.drawing.words import Words
from confide.statistics.bias import ZERO
from confide.statistics.degree_histogram.section import DegreeHistogramSection
from confide.statistics.degree_histogram.spec import DegreeHistogram
from confide.statistics.kind import Kind


def _title(statistic: DegreeHistogram, asking: Asking) -> str:
    return asking.words.say("title.degree-histogram", column=label(statistic.table))


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the mean number of contacts, where it is published."""
    mean = usable(cells)[-1]
    if mean.quantity != "mean degree":
        return main_range(cells, words)
    what = quantity_text(mean.quantity, words=words)
    return words.say("headline.quantile", quantity=what, **number(mean, None, words=words))


KIND = Kind(
    name="degree-histogram",
    spec=DegreeHistogram,
    section=DegreeHistogramSection,
    bias=f"{ZERO}; towards fewer contacts as far as degrees are bounded",
    title=_title,
    groups=by_heads("axis.degree"),
    axis=unit_axis,
    headline=_headline,
    figure="confide.statistics.degree_histogram.figure:draw",
    audit="confide.statistics.degree_histogram.audit:AUDITED",
)
