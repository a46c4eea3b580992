"""One SQL statement over the rows of a relation, and what its rows mean."""

from dataclasses import dataclass

from sqlglot import exp

from confide.rows.copies.choice import Way
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
    """

    query: exp.Query
    answers: tuple[tuple[int, int], ...]
    cells: int | None
    limits: dict[int, int]
    table: str
    bounds: ContributionBounds
    way: Way
