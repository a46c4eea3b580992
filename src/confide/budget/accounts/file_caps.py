"""The caps of dataset.yaml, as the ledger keeps and compares them."""

from confide.budget.ledger import Caps, LedgerTerms
from confide.budget.policy.counters import DELTA, LIFETIME, RELEASE, YEAR, HeldCap, as_kept
from confide.privacy.measure import LedgerMeasure


def held_by_file(terms: LedgerTerms) -> tuple[HeldCap, ...]:
    """Return the caps of a lineage as the ledger keeps them; none where a policy has them."""
    return () if terms.caps is None else caps_of_file(terms.caps, measure=terms.measure)


def caps_of_file(caps: Caps, *, measure: LedgerMeasure) -> tuple[HeldCap, ...]:
    """Return the caps of dataset.yaml as the ledger keeps them."""
    found = [
        (RELEASE, caps.release),
        (YEAR, caps.calendar_year),
        (LIFETIME, caps.lifetime),
        (DELTA, caps.delta_lifetime_atto),
    ]
    held = (HeldCap(id="", kind=kind, units=u) for kind, u in found if u is not None)
    return tuple(as_kept(each, measure=measure) for each in held)


def is_raised(old: Caps | None, new: Caps) -> bool:
    """Return whether any cap of ``new`` allows more than in ``old``.

    Example:
        >>> is_raised(Caps(lifetime=10, calendar_year=3), Caps(lifetime=5))
        True
    """

    def looser(before: int | None, after: int | None) -> bool:
        return before is not None and (after is None or after > before)

    return old is None or (
        looser(old.release, new.release)
        or looser(old.calendar_year, new.calendar_year)
        or looser(old.lifetime, new.lifetime)
        or looser(old.delta_lifetime_atto, new.delta_lifetime_atto)
    )


def tightest(one: Caps, other: Caps) -> Caps:
    """Return caps that allow no more than either.

    Example:
        >>> tightest(Caps(lifetime=10, release=1), Caps(lifetime=5)) == Caps(lifetime=5, release=1)
        True
    """

    def least(a: int | None, b: int | None) -> int | None:
        return b if a is None else a if b is None else min(a, b)

    return Caps(
        lifetime=min(one.lifetime, other.lifetime),
        calendar_year=least(one.calendar_year, other.calendar_year),
        release=least(one.release, other.release),
        delta_lifetime_atto=min(one.delta_lifetime_atto, other.delta_lifetime_atto),
    )
