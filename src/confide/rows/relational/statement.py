"""One SQL statement over the rows of a relation, and what its rows mean, once the guard was heard.

*Privacy:* a row with a tag above 0 reports what one person kept, or that a stream was out of order;
an answer in which anyone kept more than the bound is refused as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from confide.errors import EngineError
from confide.rows.cells.bounding import MOST_ROWS
from confide.rows.cells.proved_ranks import is_proved
from confide.rows.cells.stream import SUMS
from confide.rows.copies.choice import Way
from confide.rows.engine import Exact
from confide.tables.bound_contributions import ContributionBounds

CELL, COUNT, FIRST_SUM = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One SQL statement and what its rows mean.

    Each row is (tag, cell or key, kept rows, sum 0, sum 1, …); a tag above 0 reports the guard.

    Attributes:
        query: Syntax tree.
        answers: Pairs (position of the aggregate asked for, column of its sum).
        cells: Number of public cells; None for secret keys.
        limits: Most that the guard's rows may report, by tag.
        table: Whose rows.
        bounds: What one person keeps.
        way: How the rows that a person keeps are found.
        proved_at: Column of the first number that proves the ranks read; None where none are.
    """

    query: exp.Query
    answers: tuple[tuple[int, int], ...]
    cells: int | None
    limits: dict[int, int]
    table: str
    bounds: ContributionBounds
    way: Way
    proved_at: int | None = None


def guarded(rows: list[tuple[Any, ...]], *, limits: Mapping[int, int]) -> list[tuple[Any, ...]]:
    """Return the rows with sums, once nobody kept more than the bound."""
    for tag, _, worst, *_ in rows:
        if tag != SUMS and (worst or 0) > limits[tag]:
            raise EngineError("contribution bound not enforced")
    return [row for row in rows if row[0] == SUMS]


def require_proved(
    rows: list[tuple[Any, ...]], *, statement: Statement, proved: Sequence[Sequence[int]]
) -> None:
    """Refuse an answer from other rows than those of the ranks that were proved.

    Args:
        rows: With sums.
        statement: That gave them.
        proved: Of its table, by rank.

    Raises:
        EngineError: If they are others.
    """
    at, most = statement.proved_at, statement.limits.get(MOST_ROWS, 0)
    if at is not None and not is_proved(rows, at=at, proved=proved, most=most):
        raise EngineError("contribution bound not enforced")


def vector(rows: list[tuple[Any, ...]], *, column: int, cells: int | None) -> Exact:
    """Return one integer a public cell, or a mapping from secret keys."""
    if cells is None:
        return {row[CELL]: int(row[column]) for row in rows}
    sums = [0] * cells
    for row in rows:
        sums[row[CELL]] += int(row[column])  # a cell may come from two files
    return tuple(sums)
