"""Row-local expressions: a column, an attribute of its person, and what is made of them.

Each expression has a public :class:`~confide.tables.schema.Domain` and evaluates, for one row, to a
canonical integer in it or to NULL.

*Privacy:* an expression sees one row and values that are functions of the same person's rows, so it
moves no bound.  Bins and cases are public; an observed value never becomes an edge.
"""

import enum
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from confide.errors import InvalidParameterError

if TYPE_CHECKING:
    from confide.tables.filter import Predicate


MOST_BRANCHES = 100
"""Cases stand in every plan of the data set, and so in every row of the ledger."""

MOST_DAYS = 4_000_000
"""More than lie between any two dates of four digits."""


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

    of: "ColumnOf | ValueOf | DaysOf"
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or any(a >= b for a, b in itertools.pairwise(self.edges)):
            raise InvalidParameterError(
                "Expected at least two increasing bin edges.", hint="Write bins: [20, 40, 60, 80]."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysOf:
    """Days from one date of a row to another, such as the length of a stay; NULL if either is.

    Attributes:
        start: The date from which days are counted.
        end: The date to which they are.
        lower: Least number of days.
        upper: Greatest; beyond either end a number is that end.
        inside: Whether a number beyond an end is NULL instead.
    """

    start: "ColumnOf | ValueOf"
    end: "ColumnOf | ValueOf"
    lower: int
    upper: int
    inside: bool = False

    def __post_init__(self) -> None:
        if not -MOST_DAYS <= self.lower < self.upper <= MOST_DAYS:
            raise InvalidParameterError(
                f"Expected lower < upper days, got {self.lower} and {self.upper}.",
                hint="Write lower: 0, upper: 365.",
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
class CaseOf:
    """The label of the first case whose predicate the row satisfies; NULL where it satisfies none.

    Attributes:
        keys: Labels.
        cases: Pairs (predicate, index into ``keys``), in the order in which they are tried.
    """

    keys: tuple[str, ...]
    cases: "tuple[tuple[Predicate, int], ...]"

    def __post_init__(self) -> None:
        if not 1 <= len(self.cases) <= MOST_BRANCHES or len(set(self.keys)) != len(self.keys):
            raise InvalidParameterError(
                f"Expected 1 to {MOST_BRANCHES} cases, each label once.",
                hint="Write case: {old: {age: {from: 65}}}.",
            )
        if {place for _, place in self.cases} != set(range(len(self.keys))):
            raise InvalidParameterError("Expected a case for each label.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAmong:
    """The place of a text among texts that are public; one past them where it is another.

    Attributes:
        of: A declared text; NULL where it is missing.
        texts: In normal form C, as rows are read; each once.  Those that a charged selection
            released are public, as declared ones are.
    """

    of: ColumnOf
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.texts)) != len(self.texts) or "" in self.texts:
            raise InvalidParameterError("Expected texts that are not empty, each once.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrMissing:
    """An expression whose NULL is a value of its own, one past its domain; never NULL.

    Labelled domains get a last label, "missing".
    """

    of: "ColumnOf | ValueOf | BinOf | PartOf | DaysOf | CaseOf | TextAmong"


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityOf:
    """Whether a cell was usable as it came: ok (0), missing (1) or neither (2); never NULL.

    Seen before clipping and before any null policy.  A number or date that cannot be read or is
    outside its bounds is "out of range"; a category that was not declared is an "unknown code".
    """

    of: ColumnOf


Expression: TypeAlias = (
    ColumnOf
    | ValueOf
    | BinOf
    | PartOf
    | DaysOf
    | CaseOf
    | TextAmong
    | Holds
    | OrMissing
    | QualityOf
)
