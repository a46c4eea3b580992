"""Row-local expressions: a column, a person's attribute, a bin of it, a part of a date.

Each expression has a public :class:`~confide.tables.schema.Domain` and evaluates, for one row, to a
canonical integer in it or to NULL.

*Privacy:* an expression sees one row and values that are functions of the same person's rows, so it
moves no bound.  Bins are public; an observed value never becomes an edge.
"""

import enum
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from confide.errors import InvalidParameterError

if TYPE_CHECKING:
    from confide.tables.filter import Predicate


class DatePart(enum.Enum):
    """Calendar units of a date (proleptic Gregorian, no time zone)."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"  # ISO weeks, starting on Monday
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOf:
    """A declared column of a table: of the row itself, or of the person's one row in another."""

    table: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOf:
    """A declared per-patient value of the row's person."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BinOf:
    """The index of the bin that holds a number or date.

    Attributes:
        of: Number or date.
        edges: Increasing canonical integers; bin i is [edges[i], edges[i+1]), the last one closed.
            Outside all bins: NULL.
    """

    of: "ColumnOf | ValueOf"
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or any(a >= b for a, b in itertools.pairwise(self.edges)):
            raise InvalidParameterError(
                "Expected at least two increasing bin edges.", hint="Write bins: [20, 40, 60, 80]."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOf:
    """A calendar part of a date, counted from the first one of the range.

    Attributes:
        of: Date.
        part: Unit.
        since: First day, in days since 1970-01-01; the first declared one when None.
        until: Last day; the last declared one when None.  Outside the range: NULL.
    """

    of: "ColumnOf | ValueOf"
    part: DatePart
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """Whether the row satisfies a predicate: no (0) or yes (1); never NULL."""

    of: "Predicate"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrMissing:
    """An expression whose NULL is a value of its own, one past its domain; never NULL.

    Labelled domains get a last label, "missing".
    """

    of: "ColumnOf | ValueOf | BinOf | PartOf"


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityOf:
    """Whether a cell was usable as it came: ok (0), missing (1) or neither (2); never NULL.

    Seen before clipping and before any null policy.  A number or date that cannot be read or is
    outside its bounds is "out of range"; a category that was not declared is an "unknown code".
    """

    of: ColumnOf


Expression: TypeAlias = ColumnOf | ValueOf | BinOf | PartOf | Holds | OrMissing | QualityOf
