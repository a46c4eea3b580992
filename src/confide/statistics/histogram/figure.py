"""The figure of a histogram: bars, a line over time, or a grid of numbers where there are many.

*Privacy:* drawn from the release alone.
"""

from collections.abc import Sequence

from confide.drawing.cells import Cell, hollow_note
from confide.drawing.charts.by_group import MOST_CELLS, MOST_SERIES, groups
from confide.drawing.charts.marks import Frame, heat_map, over_time, row_of
from confide.drawing.charts.subject import Drawn, Subject, distinct
from confide.drawing.charts.vega import Chart
from confide.drawing.numbers import clean, fixed
from confide.drawing.quantities import intervals_text
from confide.statistics.histogram.spec import Histogram
from confide.tables.expression import PartOf
from confide.tables.relation import resolve
from confide.tables.schema import Dataset

_MOST_TIMES = 400
_HEAT_ACROSS = 12


def draw(subject: Subject) -> Drawn:
    """Return counts as bars, over time as a line, two-way as a grid where there are many."""
    statistic, cells = subject.statistic, subject.cells
    axis = subject.axis(cells)
    if _is_over_time(statistic, dataset=subject.dataset) and len(cells) <= _MOST_TIMES:
        rows = [row_of(cell, group=clean(cell.key[0])) for cell in cells]
        periods = tuple(row["group"] for row in rows)
        frame = Frame(groups=periods, x_title=subject.names[0])
        return over_time(rows, frame=frame, y_title=axis), ()
    if _is_grid(cells):
        return _grid(subject), hollow_note(subject.cells, words=subject.words)
    return groups(subject, cells, bars=True)


def subtitle(subject: Subject) -> str:
    """Return what stands in place of the usual words on intervals; "" where nothing does."""
    if not _is_grid(subject.cells):
        return ""
    return intervals_text("chart.grid", subject.cells[0], words=subject.words)


def _is_grid(cells: Sequence[Cell]) -> bool:
    """Return whether a crosstab is better read as a grid of numbers than as dots."""
    if len(cells[0].key) != 2:
        return False
    down, across = (len({cell.key[axis] for cell in cells}) for axis in (0, 1))
    grouped = across <= MOST_SERIES and down * across <= MOST_CELLS
    return not grouped and across <= _HEAT_ACROSS and down <= MOST_CELLS


def _grid(subject: Subject) -> Chart:
    rows = []
    for cell in subject.cells:
        row = row_of(cell, group=clean(cell.key[0]), series=clean(cell.key[1]))
        row["text"] = "–" if cell.value is None else fixed(cell.value, decimals=0)
        rows.append(row)
    frame = Frame(
        groups=distinct(row["group"] for row in rows),
        series=distinct(row["series"] for row in rows),
        x_title="",
    )
    return heat_map(rows, frame=frame, titles=(subject.names[0], subject.names[1]))


def _is_over_time(statistic: Histogram, *, dataset: Dataset) -> bool:
    """Return whether a histogram counts by calendar parts alone."""
    if len(statistic.by) != 1:
        return False
    return isinstance(resolve(statistic.by[0], table=statistic.table, dataset=dataset), PartOf)
