"""One value per patient, computed from that patient's own rows: first, last, any, count, days.

*Privacy:* with the patient as the unit, adding or removing a patient adds or removes one value and
leaves everyone else's alone, so the stability is 1.  With the event as the unit one event can
change the value and thereby every statistic of it, so per-patient values are refused.

References:
    [JNS18] Johnson, Near, Song. Towards practical differential privacy for SQL queries, sec. 3.
        PVLDB 11(5), 2018. https://doi.org/10.1145/3187009.3177733
"""

import enum
from dataclasses import dataclass
from typing import TypeAlias

from confide.errors import InvalidParameterError
from confide.tables.filter import Predicate


class Which(enum.Enum):
    """Which end of the time order."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtEnd:
    """``column`` of the first or last matching row by date; equal dates by keyed order.

    Attributes:
        name: Name of the value.
        which: First or last.
        table: Whose rows.
        column: What is taken; may be the date itself.
        by: Date column that orders the rows.
        where: Which rows count.
        before: Name of a per-patient date; only rows strictly before it count ("latest before").
    """

    name: str
    which: Which
    table: str
    column: str
    by: str
    where: Predicate
    before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HasAny:
    """Whether the patient has a matching row: no (0) or yes (1); never NULL."""

    name: str
    table: str
    where: Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOf:
    """Number of matching rows, capped at a public number; 0 when there is none."""

    name: str
    table: str
    where: Predicate
    at_most: int

    def __post_init__(self) -> None:
        if self.at_most < 1:
            raise InvalidParameterError(
                f"Per-patient value {self.name!r}: expected at-most ≥ 1, got {self.at_most}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysBetween:
    """Days from one per-patient date to another, clipped to public bounds; NULL if either is."""

    name: str
    start: str
    end: str
    lower: int
    upper: int

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise InvalidParameterError(
                f"Per-patient value {self.name!r}: expected lower < upper days."
            )


PerPatientValue: TypeAlias = AtEnd | HasAny | CountOf | DaysBetween
