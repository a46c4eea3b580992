"""What the audit looks at: every kind of statistic under every kind of bound, as its folder says.

*Privacy:* a kind or a bound that is left out is one whose claim nothing tries to refute.
"""

from collections.abc import Callable

from confide.plans.plan import Statistic
from confide.statistics.audited import Audited, Worst
from confide.statistics.registry import KINDS, kind_of


def worst_of(statistic: Statistic) -> Worst:
    """Return where the worst neighbours of a statistic are."""
    return kind_of(statistic).audited().worst


def statistics_of_patients(
    wanted: Callable[[Worst], bool] = lambda worst: worst.of_tables,
) -> tuple[Statistic, ...]:
    """Return every kind of statistic under every kind of bound, with the patient as the unit.

    Args:
        wanted: Of which kinds; those that the search over tables moves.
    """
    return tuple(s for kind in _asked() if wanted(kind.worst) for s in kind.patients)


def statistics_of_events() -> tuple[Statistic, ...]:
    """Return every kind of statistic with the event as the unit."""
    return tuple(s for kind in _asked() for s in kind.events)


def too_wide() -> frozenset[str]:
    """Return the ids of statistics of which only the sums are searched."""
    return frozenset(name for kind in _asked() for name in kind.wide)


def _asked() -> tuple[Audited, ...]:
    return tuple(kind.audited() for kind in KINDS)
