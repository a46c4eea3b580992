"""What of a survival question stands in the table of the page: what one cites, not every bin.

Four groups and thirty bins are over six hundred numbers.  The page shows tests, comparisons and
summaries, and survival and cumulative incidence at the times that the figure names; the files hold
all of it.

*Privacy:* reads published cells.
"""

from collections.abc import Sequence

from confide.drawing.cells import Cell
from confide.statistics.survival.figure import few_times

_CURVES = ("survival", "cumulative incidence")
_AT_TIMES = ("at risk", "events", "censored", "cumulative hazard", *_CURVES)


def cited(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that the page shows: summaries, and curves at the times of the figure."""
    times = list(dict.fromkeys(cell.key[-1] for cell in cells if cell.quantity == "at risk"))
    shown = set(few_times(times)[1:])
    return [cell for cell in cells if cell.quantity not in _AT_TIMES or _on_curve(cell, shown)]


def _on_curve(cell: Cell, shown: set[str]) -> bool:
    """Return whether a cell is a point of a curve, before its end, at one of the times."""
    return cell.quantity in _CURVES and cell.key[-1] in shown and cell.value is not None
