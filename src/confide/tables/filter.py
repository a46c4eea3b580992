"""Row-local predicates: which rows of a table a statistic is about.

A predicate looks at one row and its person's own values, never at another row or at the engine's
state, so filtering a table changes the rows of nobody else.  It is two-valued: a comparison with
NULL is false, and ``Not`` of it is true.

*Privacy:* filtering has stability 1 [McS09, sec. 2.4]: one more row in is at most one more row out.

References:
    [McS09] McSherry. Privacy integrated queries. SIGMOD 2009.
        https://doi.org/10.1145/1559845.1559850
"""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DaysOf,
    Expression,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    TextAmong,
    ValueOf,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """All rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """Rows whose value is known and in [lower, upper], in canonical integers; None is open."""

    of: Expression
    lower: int | None = None
    upper: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IsIn:
    """Rows whose value is one of ``values``, in canonical integers."""

    of: Expression
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class All:
    """Rows that satisfy every part."""

    of: "tuple[Predicate, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """Rows that satisfy at least one part."""

    of: "tuple[Predicate, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """Rows that do not satisfy the part."""

    of: "Predicate"


Predicate: TypeAlias = Everything | Between | IsIn | All | AnyOf | Not


def expressions(predicate: Predicate) -> tuple[Expression, ...]:
    """Return every expression that the predicate looks at."""
    match predicate:
        case Everything():
            return ()
        case Between(of=expression) | IsIn(of=expression):
            return (expression,)
        case All(of=parts) | AnyOf(of=parts):
            return tuple(e for part in parts for e in expressions(part))
        case Not(of=part):
            return expressions(part)
        case _:
            assert_never(predicate)


def sources(expression: Expression) -> tuple[ColumnOf | ValueOf, ...]:
    """Return the columns and per-patient values that an expression reads."""
    match expression:
        case ColumnOf() | ValueOf():
            return (expression,)
        case DaysOf(start=start, end=end):
            return (start, end)
        case (
            BinOf(of=inner)
            | PartOf(of=inner)
            | TextAmong(of=inner)
            | QualityOf(of=inner)
            | OrMissing(of=inner)
        ):
            return sources(inner)
        case CaseOf(cases=cases):
            return tuple(s for part, _ in cases for e in expressions(part) for s in sources(e))
        case Holds(of=predicate):
            return tuple(s for e in expressions(predicate) for s in sources(e))
        case _:
            assert_never(expression)


def qualities(expression: Expression) -> tuple[QualityOf, ...]:
    """Return what an expression looks at before it was cleaned."""
    match expression:
        case QualityOf():
            return (expression,)
        case Holds(of=predicate):
            return tuple(q for e in expressions(predicate) for q in qualities(e))
        case CaseOf(cases=cases):
            return tuple(q for part, _ in cases for e in expressions(part) for q in qualities(e))
        case ColumnOf() | ValueOf() | BinOf() | PartOf() | DaysOf() | TextAmong() | OrMissing():
            return ()
        case _:
            assert_never(expression)
