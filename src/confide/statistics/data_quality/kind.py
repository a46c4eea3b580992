"""What reports say of data quality."""

from collections.abc import Sequence

from confide.drawing.asking import by_key_heads, of_table
from confide.drawing.cells import Cell
from confide.drawing.headlines import number, usable, value_of
from confide.drawing.numbers import clean
from confide.drawing.quantities import digits
from confide.drawing.words import Words
from confide.statistics.bias import ZERO
from confide.statistics.data_quality.section import DataQualitySection
from confide.statistics.data_quality.spec import DataQuality
from confide.statistics.data_quality.table import table
from confide.statistics.kind import Kind
from confide.tables.relation import OVERALL


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return which field is most often unusable."""
    known = usable(cells)
    spoilt = [
        cell
        for cell in known
        if cell.quantity == "share" and cell.key[1] != "ok" and cell.key[2] == OVERALL
    ]
    worst = max(spoilt or known, key=value_of)
    field, state, _ = worst.key
    said = number(worst, digits([worst], words=words), words=words)
    return words.say("headline.data-quality", field=words.named(field), state=clean(state), **said)


KIND = Kind(
    name="data-quality",
    spec=DataQuality,
    section=DataQualitySection,
    bias=f"{ZERO}, and that lines are made to add up",
    title=of_table("title.data-quality"),
    groups=by_key_heads,
    headline=_headline,
    figure="confide.statistics.data_quality.figure:draw",
    subtitle="confide.statistics.data_quality.figure:subtitle",
    own_total=True,
    table=table,
    audit="confide.statistics.data_quality.audit:AUDITED",
)
