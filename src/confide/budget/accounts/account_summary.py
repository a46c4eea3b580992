"""How much of each cap of a lineage is used, for people to look at.

*Privacy:* reads counters, which hold declared charges alone.
"""

from collections.abc import Iterator
from dataclasses import replace

from confide.budget.accounts.account import Account
from confide.budget.accounts.counter import Counter, use_of
from confide.budget.accounts.lanes import order_in
from confide.budget.entry import YearSpent
from confide.budget.ledger import ScopeSpent, Spent
from confide.budget.policy.counters import (
    DELTA,
    LIFETIME,
    RELEASE,
    YEAR,
    HeldCap,
    Occasion,
    counter_name,
    kind_of,
    pure_twin,
    year_of,
)


def summary(account: Account, *, project: str | None = None, analyst: str | None = None) -> Spent:
    """Return the use of every cap; of projects and analysts those named, or all known."""
    rows = _file_rows(account)
    if account.policy is not None:
        rows = _policy_rows(account, project=project, analyst=analyst)
    terms = account.terms
    return Spent(
        lineage=terms.lineage,
        measure=terms.measure,
        scopes=tuple(rows),
        years=tuple(_years(account)),
        delta=account.holds(DELTA).spent,
    )


def _years(account: Account) -> Iterator[YearSpent]:
    """Yield the use of every year in which anything was charged, by counters that all keep."""
    known = {year_of(name) for name in account.counters if kind_of(name) == YEAR}
    for year in sorted(year for year in known if year is not None):
        name, lost = counter_name(YEAR, when=Occasion(year=year)), account.lost_years.get(year, 0)
        used, order = account.holds(name).spent, order_in(YEAR, measure=account.terms.measure)
        pure = account.holds(pure_twin(name)).spent if order else None
        if used:
            yield YearSpent(year=year, used=used, lost=lost, order=order, pure=pure)


def _policy_rows(
    account: Account, *, project: str | None, analyst: str | None
) -> Iterator[ScopeSpent]:
    for cap in account.caps:
        if cap.kind == RELEASE:
            yield use_of(RELEASE, Counter(), cap)
            continue
        asked = analyst if cap.kind.startswith("analyst/") else project
        if "/" not in cap.kind or asked is not None:
            when = Occasion(year=account.year, analyst=analyst or "", project=project or "")
            names = [counter_name(cap.kind, when=when)]
        else:
            names = [
                name
                for name in sorted(account.counters)
                if kind_of(name) == cap.kind and year_of(name) in {None, account.year}
            ]
        for name in names:
            yield _use(name, cap, account=account)


def _file_rows(account: Account) -> Iterator[ScopeSpent]:
    """Yield the use of the caps of dataset.yaml: release, year, lifetime, δ; open ones too."""
    caps = {cap.kind: cap for cap in account.caps}
    yield use_of(RELEASE, Counter(), caps.get(RELEASE))
    for kind in (YEAR, LIFETIME, DELTA):
        name = counter_name(kind, when=Occasion(year=account.year))
        yield _use(name, caps.get(kind), account=account)


def _use(name: str, cap: HeldCap | None, *, account: Account) -> ScopeSpent:
    """Return how much of a cap is used, in a mixed ledger in both lanes."""
    use = use_of(name, account.holds(name), cap)
    order = order_in(kind_of(name), measure=account.terms.measure)
    if not order or kind_of(name) == DELTA:
        return use
    pure = account.holds(pure_twin(name)).spent
    return replace(use, order=order, epsilon=None if cap is None else cap.epsilon, pure=pure)
