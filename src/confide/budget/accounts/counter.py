"""One counter of a lineage: what it holds, and what that means under a cap.

*Privacy:* a counter holds at most what a line of the anchor can say; a full one stays full.
"""

import functools
from dataclasses import dataclass

from confide.budget.ledger import Charge, Scope, ScopeSpent
from confide.budget.policy.counters import HeldCap
from confide.privacy.amount import LARGEST


@dataclass(slots=True)
class Counter:
    """What one counter holds, in grid units.

    Attributes:
        spent: So far.
        cap: The tightest that holds; ``None`` when none does.
        start: Of that, what lost rows of the ledger may have added to anyone.
    """

    spent: int = 0
    cap: int | None = None
    start: int = 0

    @property
    def is_full(self) -> bool:
        """Whether it holds the most that a line of the anchor can say, and takes nothing off."""
        return self.spent >= LARGEST

    def set_cap(self, cap: int | None) -> None:
        """Set the cap; what was spent stays, even when it is more."""
        self.cap = None if cap is None else max(cap, self.spent)


def charge_of(name: str, units: int, counter: Counter, cap: HeldCap) -> Charge:
    """Return what ``units`` would do to a counter under a cap."""
    scope, period = _scope_of(name)
    return Charge(
        scope=scope,
        period=period,
        amount=units,
        before=counter.spent,
        after=counter.spent + units,
        cap=max(cap.units, counter.spent),
        cap_id=cap.id,
    )


def use_of(name: str, counter: Counter, cap: HeldCap | None) -> ScopeSpent:
    """Return how much of a cap is used."""
    scope, period = _scope_of(name)
    most = None if cap is None else max(cap.units, counter.spent)
    return ScopeSpent(
        scope=scope,
        period=period,
        used=counter.spent,
        cap=most,
        remaining=None if most is None else most - counter.spent,
        cap_id="" if cap is None else cap.id,
    )


@functools.lru_cache(maxsize=4096)
def _scope_of(name: str) -> tuple[Scope, str]:
    """Return the scope of a counter, and its period."""
    scope, _, period = name.partition("/")
    return Scope(scope), period
