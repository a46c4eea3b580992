"""Whom a line of the anchor does not name: what may have come to anybody's counters.

A line names the counters on everybody, and of analysts and projects those alone that its ledger
kept.  So of the others it tells no more than that all of them together got what everybody did.

*Privacy:* what may have been anyone's counts against everybody; where a line tells of no bound, it
is all that a counter can hold.
"""

from collections.abc import Collection, Mapping

from confide.budget.policy.counters import (
    DELTA,
    KINDS,
    LIFETIME,
    PURE_KINDS,
    YEAR,
    group_of,
    is_of_one,
    is_pure,
    kind_of,
    pure_twin,
    window_of,
    window_order,
    without_pure,
)
from confide.privacy.amount import LARGEST
from confide.privacy.measure import LedgerMeasure, Mixed


def unnamed(
    more: Mapping[str, int],
    *,
    full: Collection[str],
    says_whose: bool,
    follows: bool,
    measure: LedgerMeasure | None,
) -> dict[str, int]:
    """Return by group of counters what one line does not tell whose it was.

    Args:
        more: What came to each counter that the line names.
        full: Twins of pure events among them that hold all they can: they tell of nothing more.
        says_whose: Whether it names everybody who was charged, as far as it names anybody.
        follows: Whether it tells of one row.
        measure: Of the lineage, as the line tells it.
    """
    found: dict[str, int] = {}
    if not more.get(LIFETIME):
        return found
    mixed = isinstance(measure, Mixed) or pure_twin(LIFETIME) in more
    for kind in (*KINDS, *PURE_KINDS) if mixed else KINDS:
        if without_pure(kind) in {YEAR, LIFETIME, DELTA}:
            continue
        most = _grew(kind, more)
        if mixed:
            most = _most(kind, more=more, full=full, follows=follows, measure=measure)
        for group, units in most.items():
            whose = [each for name, each in more.items() if group_of(name) == group]
            is_told = mixed and bool(whose) and says_whose and follows
            unknown = units - sum(whose)
            if is_of_one(kind) and not says_whose:
                unknown = units
                if mixed and whose and not is_pure(kind):
                    unknown = min(units, *whose)  # what is anyone's came to each of them
            if unknown > 0 and not is_told:
                found[group] = unknown
    return found


def _grew(kind: str, more: Mapping[str, int]) -> dict[str, int]:
    """Return by group the most that came to counters of a kind, in a ledger of one measure."""
    grew = more[LIFETIME]
    if window_of(kind) != YEAR:
        return {kind: grew}
    years = [name for name in more if kind_of(name) == YEAR]
    return {_in_year(kind, name): min(grew, more[name]) for name in years}


def _most(
    kind: str,
    *,
    more: Mapping[str, int],
    full: Collection[str],
    follows: bool,
    measure: LedgerMeasure | None,
) -> dict[str, int]:
    """Return the same of a mixed ledger: each lane tells of itself, at its own order.

    *Privacy:* a twin that is full may hide that another was filled; a line that does not follow,
    what a year before it charged in its own window of 365 days; and counters on everybody say
    nothing at another order.  Then it is all that a counter can hold.
    """
    years = [name for name in more if kind_of(without_pure(name)) == YEAR]
    if is_pure(kind):
        twin = pure_twin(LIFETIME)
        if window_of(kind) != YEAR:
            return {kind: LARGEST if twin in full else more.get(twin, LARGEST)}
        return {
            _in_year(kind, without_pure(name)): LARGEST if name in full else more[name]
            for name in years
            if is_pure(name)
        }
    told = {name: more[name] for name in years if not is_pure(name)}
    if not isinstance(measure, Mixed) or _is_at_another(kind, measure=measure):
        told = dict.fromkeys(told, LARGEST)
    if window_of(kind) == YEAR:
        return {_in_year(kind, name): units for name, units in told.items()}
    if window_of(kind) == LIFETIME:
        known = isinstance(measure, Mixed) and not _is_at_another(kind, measure=measure)
        return {kind: more[LIFETIME] if known else LARGEST}
    return {kind: min(LARGEST, sum(told.values())) if follows and told else LARGEST}


def _is_at_another(kind: str, *, measure: Mixed) -> bool:
    """Return whether counters of a kind are at another order than those on everybody."""
    return window_order(kind, measure=measure) != window_order(window_of(kind), measure=measure)


def _in_year(kind: str, year: str) -> str:
    """Return the group of a kind in the year of a counter of the year."""
    return f"{kind.removesuffix(YEAR)}{year}"
