"""What reports say of a histogram."""

from collections.abc import Sequence

from confide.drawing.asking import Asking, counted, unit_axis
from confide.drawing.cells import Cell, key_text
from confide.drawing.headlines import number, usable, value_of
from confide.drawing.quantities import digits
from confide.drawing.words import Words
from confide.statistics.bias import ZERO
from confide.statistics.histogram.section import HistogramSection
from confide.statistics.histogram.spec import Histogram
from confide.statistics.kind import Kind


def _title(statistic: Histogram, asking: Asking) -> str:
    groups = asking.listed(statistic.by)
    return asking.words.say(f"title.histogram.{counted(statistic)}", groups=groups)


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return the largest cell."""
    known = usable(cells)
    largest = max(known, key=value_of)
    return words.say(
        "headline.histogram",
        cells=f"{len(cells):,}",
        key=key_text(largest, words=words),
        **number(largest, digits(known, words=words), words=words),
    )


def _bounded(statistic: Histogram, asking: Asking) -> Sequence[str]:
    """Return what is done to the counts once they are noisy."""
    said, words = [], asking.words
    if statistic.threshold is not None:
        said.append(words.say("bounded.threshold", threshold=f"{statistic.threshold:,}"))
    if statistic.round_to > 1:
        said.append(words.say("bounded.rounded", step=f"{statistic.round_to:,}"))
    return said


KIND = Kind(
    name="histogram",
    spec=Histogram,
    section=HistogramSection,
    bias=ZERO,
    title=_title,
    titled_with_groups=True,
    axis=unit_axis,
    headline=_headline,
    figure="confide.statistics.histogram.figure:draw",
    subtitle="confide.statistics.histogram.figure:subtitle",
    bounded=_bounded,
    audit="confide.statistics.histogram.audit:AUDITED",
)
