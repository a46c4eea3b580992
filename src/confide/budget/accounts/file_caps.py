"""The caps of dataset.yaml, as the ledger keeps and compares them."""

from fractions import Fraction

from confide.budget.ledger import Caps, LedgerTerms
from confide.budget.policy.counters import DELTA, LIFETIME, RELEASE, YEAR, HeldCap, window_order
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import ATTO, NANO
from confide.privacy.measure import LedgerMeasure, Mixed


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
    if not isinstance(measure, Mixed):
        return tuple(held)
    return tuple(
        _in_order(each, measure=measure) if each.kind in {YEAR, LIFETIME} else each for each in held
    )


def _in_order(cap: HeldCap, *, measure: Mixed) -> HeldCap:
    """Return a cap on ε as one on Σd, too; nothing of it where the order leaves no room."""
    in_order = MixedCap(
        epsilon=Fraction(cap.units, NANO),
        delta=Fraction(measure.atto, ATTO),
        order=window_order(cap.kind, measure=measure),
    )
    return HeldCap(id=cap.id, kind=cap.kind, units=max(0, in_order.budget), epsilon=cap.units)


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
