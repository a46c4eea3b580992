"""What was granted under one cap to everyone, a profile or a project, while a plan is played."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from confide.budget.policy.policy import CapScope, Enforce, Policy, PolicyCap, Profile, Window
from confide.budget.policy.windows import YEAR

_NOW, _LENGTH = dt.timedelta(), dt.timedelta(days=YEAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How full a cap is in one window.

    Attributes:
        cap: Id.
        whom: Profile or project; empty for everyone.
        window: A year, or empty; of a rolling cap, the fullest 365 days.
        limit: In 1e-9 of the measure.
        spent: Of runs that were granted, and before.
    """

    cap: str
    whom: str
    window: str
    limit: int
    spent: int


@dataclass(slots=True, kw_only=True)
class Charged:
    """The charges of one cap.

    Attributes:
        cap: Which.
        whom: Profile or project; empty for everyone.
        limit: In 1e-9 of the measure.
        releases: Ids that it adds up.
        most: How many runs one patient can be in within a window; all if 0.
        before: Spent before, by window; "" in the first one.
        first: The first day that is played.
        granted: Days and amounts.
    """

    cap: PolicyCap
    whom: str
    limit: int
    releases: frozenset[str]
    most: int
    before: Mapping[str, int]
    first: dt.date
    granted: list[tuple[dt.date, int]] = field(default_factory=list)

    def spent(self, day: dt.date) -> int:
        """Return what one patient may have spent on a day."""
        amounts = self._amounts(day)
        return self._earlier(day) + sum(amounts[: self.most or len(amounts)])

    def after(self, day: dt.date, units: int) -> int:
        """Return what one patient in a run of that day may have spent after it."""
        amounts = self._amounts(day)
        others = self.most - 1 if self.most else len(amounts)
        return self._earlier(day) + units + sum(amounts[:others])

    def uses(self) -> tuple[Use, ...]:
        """Return how full the cap is, window by window."""
        days = [day for day, _ in self.granted] or [self.first]
        match self.cap.window:
            case Window.CALENDAR_YEAR:
                last = {day.year: day for day in days}
                return tuple(self._use(str(year), last[year]) for year in sorted(last))
            case Window.ROLLING:
                return (self._use(f"{YEAR} d", max(days, key=self.spent)),)
            case Window.LIFETIME | Window.RELEASE:
                return (self._use("", days[-1]),)
            case _:
                assert_never(self.cap.window)

    def fullest(self) -> int:
        """Return the most that one patient may have spent within any 365 days."""
        return max((self._year_from(day) for day, _ in self.granted), default=0)

    def _year_from(self, start: dt.date) -> int:
        """Return what counts in the 365 days from a day; ``most`` holds in each calendar year."""
        total = 0
        for year in (start.year, start.year + 1):
            amounts = sorted(
                (u for at, u in self.granted if at.year == year and 0 <= (at - start).days < YEAR),
                reverse=True,
            )
            total += sum(amounts[: self.most or len(amounts)])
        return total

    def _use(self, window: str, day: dt.date) -> Use:
        spent = self.spent(day)
        return Use(cap=self.cap.id, whom=self.whom, window=window, limit=self.limit, spent=spent)

    def _amounts(self, day: dt.date) -> list[int]:
        """Return what was granted in the window that ends on a day, the largest first."""
        match self.cap.window:
            case Window.RELEASE:
                found = []
            case Window.LIFETIME:
                found = [units for _, units in self.granted]
            case Window.CALENDAR_YEAR:
                found = [units for at, units in self.granted if at.year == day.year]
            case Window.ROLLING:
                found = [units for at, units in self.granted if _NOW <= day - at < _LENGTH]
            case _:
                assert_never(self.cap.window)
        return sorted(found, reverse=True)

    def _earlier(self, day: dt.date) -> int:
        """Return what was spent before the first day and still counts."""
        match self.cap.window:
            case Window.RELEASE:
                return 0
            case Window.LIFETIME:
                return self.before.get("", 0)
            case Window.CALENDAR_YEAR:
                first = self.before.get("", 0) if day.year == self.first.year else 0
                return self.before.get(str(day.year), first)
            case Window.ROLLING:
                return self.before.get("", 0) if day - self.first < _LENGTH else 0
            case _:
                assert_never(self.cap.window)


def deciding_accounts(
    policy: Policy, *, spent: Mapping[str, int], first: dt.date
) -> tuple[Charged, ...]:
    """Return the accounts that can refuse: all but those of profiles and of ``drop``."""
    found = []
    for cap in policy.caps:
        groups: dict[str, frozenset[str]] = {}
        everything = frozenset(release.id for release in policy.releases)
        if cap.scope is CapScope.PROJECT:
            for release in policy.releases:
                groups[release.project] = groups.get(release.project, frozenset()) | {release.id}
        elif cap.scope is CapScope.DATASET or (
            cap.scope is CapScope.PATIENT and cap.enforce is Enforce.PLAN
        ):
            groups[""] = everything
        found += [
            _account(cap, whom=whom, releases=releases, policy=policy, spent=spent, first=first)
            for whom, releases in groups.items()
        ]
    return tuple(found)


def profile_accounts(
    policy: Policy, *, spent: Mapping[str, int], first: dt.date
) -> tuple[Charged, ...]:
    """Return the accounts of profiles, which refuse nothing."""
    everything = tuple(release.id for release in policy.releases)
    found = []
    for cap in policy.caps:
        if cap.scope is CapScope.PATIENT:
            profiles = policy.profiles
            if cap.enforce is Enforce.DROP and not profiles:
                profiles = (Profile(id="", releases=everything, why=""),)
            named = {name for profile in policy.profiles for name in profile.releases}
            loose = frozenset(everything) - named
            found += [
                _account(
                    cap,
                    whom=p.id,
                    releases=loose | set(p.releases),
                    policy=policy,
                    spent=spent,
                    first=first,
                    most=p.at_most,
                )
                for p in profiles
            ]
    return tuple(found)


def analyst_accounts(
    policy: Policy, *, spent: Mapping[str, int], first: dt.date
) -> tuple[Charged, ...]:
    """Return the accounts of one analyst who asks for everything, which refuse nothing."""
    everything = frozenset(release.id for release in policy.releases)
    return tuple(
        _account(cap, whom="", releases=everything, policy=policy, spent=spent, first=first)
        for cap in policy.caps
        if cap.scope is CapScope.ANALYST
    )


def _account(
    cap: PolicyCap,
    *,
    whom: str,
    releases: frozenset[str],
    policy: Policy,
    spent: Mapping[str, int],
    first: dt.date,
    most: int = 0,
) -> Charged:
    before = {
        key.partition("@")[2]: units
        for key, units in spent.items()
        if key.partition("@")[0] == cap.id
    }
    return Charged(
        cap=cap,
        whom=whom,
        limit=policy.units(cap),
        releases=releases,
        most=most,
        before=before,
        first=first,
    )
