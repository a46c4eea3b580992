"""What reports say of a Table 1."""

from collections.abc import Sequence

from confide.drawing.asking import by_key_heads, of_table
from confide.drawing.cells import Cell
from confide.drawing.headlines import number, usable
from confide.drawing.words import Words
from confide.statistics.bias import RATIO, ZERO
from confide.statistics.kind import Kind
from confide.statistics.table_one.section import TableOneSection
from confide.statistics.table_one.spec import TableOne
from confide.statistics.table_one.table import table
from confide.tables.relation import OVERALL


def _headline(cells: Sequence[Cell], words: Words) -> str:
    """Return how many rows it describes."""
    known = usable(cells)
    named = len({cell.key[0] for cell in known}) - 1
    whole = next(cell for cell in known if cell.key == ("", "", OVERALL))
    return words.say_count("headline.table-1", named, **number(whole, 0, words=words))


KIND = Kind(
    name="table-1",
    spec=TableOne,
    section=TableOneSection,
    bias=f"{ZERO}, and that lines are made to add up; of ratios {RATIO}",
    title=of_table("title.table-1"),
    groups=by_key_heads,
    headline=_headline,
    figure="confide.statistics.table_one.figure:draw",
    own_total=True,
    table=table,
    audit="confide.statistics.table_one.audit:AUDITED",
)
