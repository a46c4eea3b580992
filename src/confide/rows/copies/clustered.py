"""A declared table whose cleaned rows lie in tables of the same database, person by person."""

from dataclasses import dataclass

from sqlglot import exp

RANK = "rk"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredTable:
    """The tables that hold the rows of a declared one.

    Attributes:
        rows: ``p``, ``c0, c1, …``, ``h``, ``x`` and ``q0, q1, …`` in the order of person and place;
            and ``rk``, a row's rank among those of its person, NULL where one of them has a NULL.
        partial: The rows without a rank, in the same order; None with one row a patient.
    """

    rows: exp.Table
    partial: exp.Table | None = None

    def tables(self) -> tuple[exp.Table, ...]:
        """Return them all."""
        return (self.rows,) if self.partial is None else (self.rows, self.partial)
