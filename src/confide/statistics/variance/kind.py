"""What reports say of a variance."""

from collections.abc import Sequence

from confide.drawing.asking import of_column
from confide.drawing.cells import Cell
from confide.drawing.headlines import main_range, number, usable
from confide.drawing.quantities import digits
from confide.drawing.words import Words
from confide.statistics.kind import Kind
from confide.statistics.variance.section import VarianceSection
from confide.statistics.variance.spec import Variance


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return mean and standard deviation, where there is one of each."""
    known = usable(cells)
    if len(known) != 2:
        return main_range(cells, words)
    mean, spread = (number(cell, digits([cell], words=words), words=words) for cell in known)
    return words.say(
        "headline.variance",
        mean=mean["amount"],
        mean_interval=mean["interval"],
        sd=spread["amount"],
        sd_interval=spread["interval"],
    )


KIND = Kind(
    name="variance",
    spec=Variance,
    section=VarianceSection,
    bias="of order 1/n² in the noisy n; cut to what the bounds allow",
    title=of_column("title.variance"),
    headline=_headline,
    figure="confide.drawing.charts.by_group:moments",
    audit="confide.statistics.variance.audit:AUDITED",
)
