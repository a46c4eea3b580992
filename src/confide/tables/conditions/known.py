"""Rows of which a condition can be told: not those in which it hangs on a value that is missing.

A filter is two-valued, so a row without the value does not satisfy it.  That is right for *which*
rows a statistic is about, and wrong for a share or an outcome: who was never asked would count as
"no".  A condition can be told as in Kleene's strong logic of three values [Kle52, § 64]: one part
that holds is enough for "any of", one that does not is enough to refute "all of".

*Privacy:* a filter by the row's own values, of stability 1 as any other.

References:
    [Kle52] Kleene. Introduction to metamathematics. 1952.
"""

from typing import assert_never

from confide.tables.conditions.unknown import can_be_unknown
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


def where_told(where: Predicate, *, of: Predicate, table: str, dataset: Dataset) -> Predicate:
    """Return the rows of ``where`` in which it can be told whether a condition holds.

    Args:
        where: Which rows.
        of: The condition.
        table: Of whose rows.
        dataset: Public facts.
    """
    told = _told(of, where=where, table=table, dataset=dataset)
    parts = tuple(each for each in (*_parts(where), *_parts(told)) if each != Everything())
    return parts[0] if len(parts) == 1 else All(of=parts) if parts else where


def rows_told(table: str, *, where: Predicate, of: Predicate, dataset: Dataset) -> Relation:
    """Return the rows of ``where`` in which it can be told whether a condition holds."""
    told = where_told(where, of=of, table=table, dataset=dataset)
    return Relation(table=table, where=told)


def _parts(predicate: Predicate) -> tuple[Predicate, ...]:
    return predicate.of if isinstance(predicate, All) else (predicate,)


def _told(of: Predicate, *, where: Predicate, table: str, dataset: Dataset) -> Predicate:
    """Return the rows in which a condition can be told; everything where it always can."""

    def told(part: Predicate) -> Predicate:
        return _told(part, where=where, table=table, dataset=dataset)

    match of:
        case Everything() | Between(lower=None, upper=None):  # that a value is known is known
            return Everything()
        case Between(of=read) | IsIn(of=read):
            lacks = can_be_unknown(read, table=table, dataset=dataset, where=where)
            return Between(of=read) if lacks else Everything()
        case Not(of=part):
            return told(part)
        case All(of=parts):
            each = tuple((part, told(part)) for part in parts)
            enough = tuple(All(of=(known, Not(of=part))) for part, known in each)
        case AnyOf(of=parts):
            each = tuple((part, told(part)) for part in parts)
            enough = tuple(All(of=(known, part)) for part, known in each)
        case _:
            assert_never(of)
    lacking = tuple(dict.fromkeys(known for _, known in each if known != Everything()))
    if not lacking:
        return Everything()
    if len(parts) == 1:
        return lacking[0]
    return AnyOf(of=(All(of=lacking), *enough))
