"""The two lanes of a mixed ledger: which of them a charge takes, and which of them a cap bounds.

A counter holds Σd at the order of its window, and its twin Σε of what is pure.  A charge is
admitted where one of the two has room (:mod:`confide.privacy.accounting.mixed`).

*Privacy:* a twin is filled by the first event that is not pure, and takes nothing off again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from confide.budget.accounts.counter import Counter, charge_of
from confide.budget.entry import Charge
from confide.budget.policy.counters import HeldCap, is_pure, kind_of, pure_twin, window_order
from confide.privacy.amount import LARGEST
from confide.privacy.measure import LedgerMeasure, Mixed

Holds = Callable[[str], Counter]
"""From the name of a counter to the counter as it stands."""


def order_in(kind: str, *, measure: LedgerMeasure) -> int:
    """Return the order in which caps of a kind count; 0 in a ledger of one measure."""
    return window_order(kind, measure=measure) if isinstance(measure, Mixed) else 0


def charge_in_lane(
    name: str, added: Mapping[str, int], cap: HeldCap, *, measure: LedgerMeasure, holds: Holds
) -> Charge:
    """Return what a charge does to a counter: in a mixed ledger, in the lane that has room.

    Args:
        name: Of the counter.
        added: What comes to each counter.
        cap: On it.
        measure: Of the ledger.
        holds: Counters as they stand.
    """
    in_order = charge_of(name, added[name], holds(name), cap)
    if cap.epsilon is None:
        return in_order
    pure, more = holds(pure_twin(name)), added[pure_twin(name)]
    in_pure = replace(
        in_order,
        amount=more,
        before=pure.spent,
        after=pure.spent + more,
        cap=cap.epsilon,
        epsilon=cap.epsilon,
    )
    if in_pure.after <= in_pure.cap:
        return in_pure
    in_order = replace(in_order, order=order_in(cap.kind, measure=measure), epsilon=cap.epsilon)
    is_pure_so_far = in_pure.before <= in_pure.cap and more < LARGEST
    return in_pure if is_pure_so_far and in_order.after > in_order.cap else in_order


def tightest_caps(caps: Sequence[HeldCap]) -> dict[str, int]:
    """Return the tightest of the caps on each kind of counter, twins too."""
    found: dict[str, int] = {}
    for cap in caps:
        found[cap.kind] = min(cap.units, found.get(cap.kind, cap.units))
        if cap.epsilon is not None:
            twin = pure_twin(cap.kind)
            found[twin] = min(cap.epsilon, found.get(twin, cap.epsilon))
    return found


def cap_on(name: str, caps: Mapping[str, int], *, holds: Holds) -> int | None:
    """Return the cap on a counter; None where there is none, or its twin holds it.

    Of the two counters of a mixed ledger, that of pure events has it while they are within ε.
    """
    pure = name if is_pure(name) else pure_twin(name)
    epsilon = caps.get(kind_of(pure))
    if epsilon is not None and (holds(pure).spent <= epsilon) != is_pure(name):
        return None
    return caps.get(kind_of(name))
