"""Play planned releases against the caps, in the order of their days, as the ledger would decide.

A release comes on the last day of its period, several runs evenly before it; releases of any time
are spread over the policy's first year in the order of the file.  With more years the plan repeats.
Each run asks for its spend; a cap that would be passed refuses it, and nothing is charged.

*Privacy:* like the ledger, a patient's cap with ``enforce: plan`` charges everyone for every run;
profiles are shown beside it and decide nothing.  A cap with ``enforce: drop`` refuses nothing: it
leaves patients out.  A cap on each analyst decides nothing, as no plan says who will ask; it is
told what it would hold if one asked for everything.  Days, spends and caps are public; no data are
read.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confide.budget.policy.charged import (
    Charged,
    Use,
    analyst_accounts,
    deciding_accounts,
    profile_accounts,
)
from confide.budget.policy.policy import (
    CapScope,
    Enforce,
    PlannedRelease,
    Policy,
    Window,
)
from confide.budget.policy.rows import NOTHING, ceiling_limit, ceiling_name, release_limit
from confide.budget.policy.windows import YEAR, DaySpan, span


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a release on its day.

    Attributes:
        day: When.
        release: Which.
        units: What it asks for, in 1e-9 of the measure.
    """

    day: dt.date
    release: PlannedRelease
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What became of a run.

    Attributes:
        run: Which.
        refused_by: Ids of the caps that it would pass; granted if there are none.
        left: What the tightest cap holds after it, in 1e-9; None where no cap adds up.
        tightest: That cap.
        left_out: Profiles whose patients are left out of it: those in every earlier run.
    """

    run: Run
    refused_by: tuple[str, ...]
    left: int | None
    tightest: str
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A plan that was played.

    Attributes:
        played: Every run, in order.
        uses: Every cap, window by window.
        any_year: The most that a cap by calendar years holds in any 365 days, by cap.
        one_analyst: What a cap on each analyst would hold at most, if one asked for all, by cap.
    """

    played: tuple[Played, ...]
    uses: tuple[Use, ...]
    any_year: Mapping[str, int]
    one_analyst: Mapping[str, int]


def runs_of(policy: Policy, *, spends: Mapping[str, int], years: int = 1) -> tuple[Run, ...]:
    """Return every run with its day, in order."""
    start = dt.date.fromisoformat(policy.effective)
    loose = [release for release in policy.releases if not release.period]
    found: list[tuple[dt.date, int, PlannedRelease]] = []
    for place, release in enumerate(policy.releases):
        when = span(release.period)
        if when is None:
            step = YEAR * loose.index(release) // len(loose)
            end = YEAR * (loose.index(release) + 1) // len(loose) - 1
            first = start if release.runs > 1 else start + dt.timedelta(days=step)
            last = start + dt.timedelta(days=YEAR - 1 if release.runs > 1 else end)
            when = DaySpan(first=first, last=last)
        days = (when.last - when.first).days + 1
        for run in range(1, release.runs + 1):
            day = when.first + dt.timedelta(days=days * run // release.runs - 1)
            found.append((max(day, when.first), place, release))
    repeated = [
        (_later(day, year), place, release)
        for year in range(years)
        for day, place, release in found
    ]
    repeated.sort(key=lambda each: each[:2])
    return tuple(
        Run(day=day, release=release, units=spends[release.id]) for day, _, release in repeated
    )


def _later(day: dt.date, years: int) -> dt.date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return day.replace(year=day.year + years, day=28)


def simulate(
    policy: Policy,
    *,
    spends: Mapping[str, int],
    years: int = 1,
    spent: Mapping[str, int] = NOTHING,
) -> Simulation:
    """Play the planned releases for some years.

    Args:
        policy: With its caps and releases.
        spends: Of one run of each release, in 1e-9 of the measure.
        years: How often the plan is repeated.
        spent: Before, by cap id (in its first window) or "cap@year".
    """
    runs = runs_of(policy, spends=spends, years=years)
    first = runs[0].day if runs else dt.date.fromisoformat(policy.effective)
    deciding = deciding_accounts(policy, spent=spent, first=first)
    shown = profile_accounts(policy, spent=spent, first=first)
    analysts = analyst_accounts(policy, spent=spent, first=first)
    played = []
    for run in runs:
        refused = _too_dear(run, policy=policy)
        held = [account for account in deciding if run.release.id in account.releases]
        refused += [a.cap.id for a in held if a.after(run.day, run.units) > a.limit]
        left_out = []
        if not refused:
            for account in (*held, *analysts):
                account.granted.append((run.day, run.units))
            left_out = _charge_profiles(shown, run=run)
        room = min(((a.limit - a.spent(run.day), a.cap.id) for a in held), default=(None, ""))
        played.append(
            Played(
                run=run,
                refused_by=tuple(dict.fromkeys(refused)),
                left=room[0],
                tightest=room[1],
                left_out=tuple(left_out),
            )
        )
    accounts = [*deciding, *shown]
    return Simulation(
        played=tuple(played),
        uses=tuple(use for account in accounts for use in account.uses()),
        any_year={
            account.cap.id: account.fullest()
            for account in reversed(accounts)
            if account.cap.window is Window.CALENDAR_YEAR
        },
        one_analyst={a.cap.id: max(use.spent for use in a.uses()) for a in analysts},
    )


def _too_dear(run: Run, *, policy: Policy) -> list[str]:
    """Return the caps on one release, and the ceiling of its tier, that a run would pass."""
    limits = {
        cap.id: release_limit(cap.limit, release=run.release, policy=policy)
        for cap in policy.caps
        if cap.scope is CapScope.RELEASE
    }
    limits[ceiling_name(run.release.tier)] = ceiling_limit(run.release, policy=policy)
    return [name for name, most in limits.items() if most is not None and run.units > most]


def _charge_profiles(shown: Sequence[Charged], *, run: Run) -> list[str]:
    """Charge each profile as one patient who is in all they can be; return who is left out."""
    left_out = []
    for account in shown:
        if run.release.id not in account.releases:
            continue
        drop = account.cap.enforce is Enforce.DROP
        if drop and account.after(run.day, run.units) > account.limit:
            left_out.append(account.whom)
        else:
            account.granted.append((run.day, run.units))
    return left_out
