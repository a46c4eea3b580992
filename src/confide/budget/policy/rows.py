"""Caps written out as rows: the spends of some releases, added up, are at most a limit.

A row names releases, how often each runs, and how many of all these runs one patient can be in
(``most``); what it uses is the sum of the ``most`` largest spends.  So every row is a sum with
weights ≥ 0 that grows with each spend, and two things follow that the solver lives on:

- *Lemma.*  The policy can be met if and only if it is met when every release spends just its floor.
  *Proof:* each spend is at least its floor and each row grows with each spend; so if some spends
  meet all rows, the floors do.
- what one row allows does not depend on the others.

*Privacy:* a patient's cap with ``enforce: plan`` has a row for everyone, in every release, because
the ledger charges so; profiles lower it only with ``participation: {default: profiles}``.  With
``enforce: drop`` the engine keeps the cap by leaving rows out, and the rows say of which profiles
nobody is left out.  Limits are rounded down, floors up.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import assert_never

from confide.budget.policy.policy import (
    CapScope,
    Enforce,
    Limit,
    Noise,
    Participation,
    PlannedRelease,
    Policy,
    PolicyCap,
    Profile,
)
from confide.budget.policy.windows import windows
from confide.errors import ContractError
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.privacy.odds import epsilon_for_odds

NOTHING: Mapping[str, int] = MappingProxyType({})
PURE_NOISE = (Noise.LAPLACE, Noise.DISCRETE_LAPLACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cap, for one window and one profile, project or release.

    Attributes:
        cap: Id of the cap.
        whom: The profile, project or release; empty for everyone.
        window: Which window, such as 2027; empty where there is only one.
        runs: Releases, and how often each runs in the window.
        most: How many of these runs add up.
        limit: In 1e-9 of the measure.
        spent: What was spent before; ≥ 0.
        single: Whether it holds for one run alone: a cap of scope release, or a tier's ceiling.
    """

    cap: str
    whom: str
    window: str
    runs: Mapping[str, int]
    most: int
    limit: int
    spent: int = 0
    single: bool = False

    @property
    def free(self) -> int:
        """What is left of the limit."""
        return max(0, self.limit - self.spent)

    def counted(self, spends: Mapping[str, int] | Mapping[str, Fraction]) -> dict[str, int]:
        """Return how many runs of each release are among the ``most`` dearest."""
        left, found = self.most, {}
        for name in sorted(self.runs, key=lambda name: -spends[name]):
            found[name] = min(left, self.runs[name])
            left -= found[name]
            if not left:
                break
        return found

    def used(self, spends: Mapping[str, int] | Mapping[str, Fraction]) -> Fraction | int:
        """Return what the row adds up to; a whole number of whole spends."""
        total: Fraction | int = 0
        for name, times in self.counted(spends).items():
            total += times * spends[name]
        return total


def rows(policy: Policy, *, spent: Mapping[str, int] = NOTHING) -> tuple[Row, ...]:
    """Return every row of a policy; caps of scope analyst bind askers, not plans, and have none.

    Args:
        policy: What is written out.
        spent: What was spent before, in 1e-9 of the measure, by cap id ("annual": in each of its
            windows) or cap id and window ("annual@2027").

    Raises:
        ContractError: If a limit says nothing under the policy's measure.
    """
    found: dict[tuple[object, ...], Row] = {}
    for cap in policy.caps:
        for row in _rows_of(cap, policy=policy, spent=spent):
            key = (row.cap, row.window, tuple(sorted(row.runs.items())), row.most, row.limit)
            found.setdefault(key, row)
    return (*found.values(), *_ceilings(policy))


def _ceilings(policy: Policy) -> Iterator[Row]:
    """Yield the most that one run of each release may cost in its tier, as the ledger holds it."""
    for release in policy.releases:
        limit = ceiling_limit(release, policy=policy)
        if limit is not None:
            yield _of_one_run(ceiling_name(release.tier), release=release, limit=limit)


def _of_one_run(name: str, *, release: PlannedRelease, limit: int) -> Row:
    runs = {release.id: 1}
    return Row(cap=name, whom=release.id, window="", runs=runs, most=1, limit=limit, single=True)


def _rows_of(cap: PolicyCap, *, policy: Policy, spent: Mapping[str, int]) -> Iterator[Row]:
    match cap.scope:
        case CapScope.RELEASE:
            for release in policy.releases:
                limit = release_limit(cap.limit, release=release, policy=policy)
                if limit is not None:
                    yield _of_one_run(cap.id, release=release, limit=limit)
        case CapScope.PATIENT:
            for profile in profiles_of(cap, policy=policy):
                named = {r.id for r in policy.releases} - _elsewhere(profile, policy=policy)
                inside = [r for r in policy.releases if r.id in named]
                yield from _windowed(
                    cap, inside, policy=policy, spent=spent, whom=profile.id, most=profile.at_most
                )
        case CapScope.DATASET:
            yield from _windowed(cap, policy.releases, policy=policy, spent=spent)
        case CapScope.PROJECT:
            for project in dict.fromkeys(r.project for r in policy.releases):
                inside = [r for r in policy.releases if r.project == project]
                yield from _windowed(cap, inside, policy=policy, spent=spent, whom=project)
        case CapScope.ANALYST:
            return
        case _:
            assert_never(cap.scope)


def release_limit(limit: Limit, *, release: PlannedRelease, policy: Policy) -> int | None:
    """Return what the limit of a cap or ceiling allows one release; None where it says nothing.

    Under zcdp an odds factor binds releases of pure noise alone: ρ ≤ ε²/2, since such a release
    charged ρ is √(2ρ)-DP.  No finite factor bounds the odds after Gaussian noise.
    """
    factor = limit.odds_factor
    if policy.measure is Measure.PURE or factor is None:
        return policy.units_of(limit)
    if release.noise not in PURE_NOISE:
        return None
    return math.floor(epsilon_for_odds(factor).epsilon ** 2 / 2 * NANO)


def ceiling_limit(release: PlannedRelease, *, policy: Policy) -> int | None:
    """Return the most that one run of a release may cost in its tier; None without a ceiling."""
    ceiling = next((tier.ceiling for tier in policy.tiers if tier.id == release.tier), None)
    return None if ceiling is None else release_limit(ceiling, release=release, policy=policy)


def ceiling_name(tier: str) -> str:
    """Return what a ceiling is called beside caps: its place in the file, which is no cap's id."""
    return f"tiers → {tier} → ceiling"


def profiles_of(cap: PolicyCap, *, policy: Policy) -> tuple[Profile, ...]:
    """Return the profiles that a patient's cap is written out for."""
    everyone = Profile(id="", releases=tuple(r.id for r in policy.releases), why="")
    if not policy.profiles:
        return (everyone,)
    match cap.enforce:
        case Enforce.PLAN if policy.participation is Participation.EVERY_RELEASE:
            return (*policy.profiles, everyone)
        case Enforce.PLAN | Enforce.DROP:
            return policy.profiles
        case _:
            assert_never(cap.enforce)


def _elsewhere(profile: Profile, *, policy: Policy) -> set[str]:
    """Return the releases that other profiles name and this one does not."""
    named = {name for each in policy.profiles for name in each.releases}
    return named - set(profile.releases)


def _windowed(
    cap: PolicyCap,
    releases: Sequence[PlannedRelease],
    *,
    policy: Policy,
    spent: Mapping[str, int],
    whom: str = "",
    most: int = 0,
) -> Iterator[Row]:
    for held in windows(releases, window=cap.window):
        if held.releases:
            total = sum(release.runs for release in held.releases)
            yield Row(
                cap=cap.id,
                whom=whom,
                window=held.name,
                runs={release.id: release.runs for release in held.releases},
                most=min(most or total, total),
                limit=policy.units(cap),
                spent=spent.get(f"{cap.id}@{held.name}", spent.get(cap.id, 0)),
            )


def fits(written: Sequence[Row], spends: Mapping[str, int]) -> bool:
    """Return whether spends keep every row, exactly."""
    return all(row.used(spends) <= row.free for row in written)


def broken(written: Sequence[Row], spends: Mapping[str, int]) -> tuple[Row, ...]:
    """Return the rows that spends do not keep, the one most exceeded first."""
    over = [row for row in written if row.used(spends) > row.free]
    return tuple(sorted(over, key=lambda row: row.free - row.used(spends)))


def require_spent_known(policy: Policy, *, spent: Mapping[str, int]) -> None:
    """Refuse spends of a cap that the policy does not have.

    Raises:
        ContractError: With the caps that it has.
    """
    known = {cap.id for cap in policy.caps}
    for key, units in spent.items():
        cap = key.partition("@")[0]
        if cap not in known or not 0 <= units < 10**6 * NANO:
            raise ContractError(
                f"Cannot count {key!r} as spent.",
                hint=f"Write ID=AMOUNT or ID@WINDOW=AMOUNT, of: {', '.join(sorted(known))}.",
            )
