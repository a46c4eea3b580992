"""The caps of a mixed ledger that decide at which orders it counts.

*Privacy:* made of limits, which are public; a ledger keeps its orders for life.
"""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from confide.budget.ledger import Caps
from confide.budget.policy.policy import CapScope, Policy, Window
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO, atto
from confide.privacy.measure import Mixed


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonCaps:
    """The tightest caps of a mixed ledger, in 1e-9 of ε.

    Attributes:
        yearly: On a calendar year, or any 365 days; None where there is none.
        lifetime: On everything; that on a year, or on a release, where there is none.
        each: The two of each analyst or project; None of which there is none.
    """

    yearly: int | None
    lifetime: int
    each: tuple[int | None, int | None] = (None, None)

    @classmethod
    def of(cls, limits: Caps | Policy) -> "EpsilonCaps":
        """Return those of dataset.yaml or of a policy.

        Caps of a policy on each analyst or project are taken where it has none on everybody.
        """
        if isinstance(limits, Caps):
            return cls(yearly=limits.calendar_year, lifetime=limits.lifetime)
        everybody = _tightest(limits, over={CapScope.PATIENT, CapScope.DATASET})
        each = _tightest(limits, over={CapScope.ANALYST, CapScope.PROJECT})
        yearly, lifetime = everybody if any(everybody) else each
        one = lifetime or yearly or min(map(limits.units, limits.caps))
        return cls(yearly=yearly, lifetime=one, each=each)


def _tightest(policy: Policy, *, over: Collection[CapScope]) -> tuple[int | None, int | None]:
    """Return the least cap of a policy on a year, and on a lifetime, over some scopes."""
    inside = [cap for cap in policy.caps if cap.scope in over]
    found = (
        min((policy.units(cap) for cap in inside if cap.window in windows), default=None)
        for windows in ({Window.CALENDAR_YEAR, Window.ROLLING}, {Window.LIFETIME})
    )
    yearly, lifetime = found
    return yearly, lifetime


def measure_for(caps: EpsilonCaps, *, delta: Fraction) -> Mixed:
    """Return the measure of a mixed ledger whose orders are the best for its caps at δ."""
    everybody = (caps.yearly or caps.lifetime, caps.lifetime)
    each = (caps.each[0] or everybody[0], caps.each[1] or everybody[1])
    yearly, lifetime, *orders = (
        MixedCap.of(Fraction(cap, NANO), delta=delta).order for cap in (*everybody, *each)
    )
    of_one = () if orders == [yearly, lifetime] else tuple(orders)
    return Mixed(atto=atto(delta), yearly=yearly, lifetime=lifetime, each=of_one)
