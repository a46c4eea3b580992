"""From the rows of a query's result to exact integers, once the guard has been heard.

*Privacy:* a row with a tag above 0 reports what one person kept, or that a stream was out of order;
an answer in which anyone kept more than the bound is refused as a whole.
"""

from collections.abc import Mapping
from typing import Any

from confide.errors import EngineError
from confide.rows.cells.stream import SUMS
from confide.rows.engine import Exact
from confide.rows.relational.statement import CELL


def guarded(rows: list[tuple[Any, ...]], *, limits: Mapping[int, int]) -> list[tuple[Any, ...]]:
    """Return the rows with sums, once nobody kept more than the bound."""
    for tag, _, worst, *_ in rows:
        if tag != SUMS and (worst or 0) > limits[tag]:
            raise EngineError("contribution bound not enforced")
    return [row for row in rows if row[0] == SUMS]


def vector(rows: list[tuple[Any, ...]], *, column: int, cells: int | None) -> Exact:
    """Return one integer a public cell, or a mapping from secret keys."""
    if cells is None:
        return {row[CELL]: int(row[column]) for row in rows}
    sums = [0] * cells
    for row in rows:
        sums[row[CELL]] += int(row[column])  # a cell may come from two files
    return tuple(sums)
