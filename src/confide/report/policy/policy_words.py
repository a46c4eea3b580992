"""A policy that can be met, in words: what each release may spend, and how full the caps are.

Amounts that are compared or added up (limits, needs, spends, what is free) are printed with every
digit: a limit rounded down beside a plan rounded up would seem to be passed.

*Privacy:* a policy is public.  Limits alone are printed rounded down, errors rounded up.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from confide.budget.policy.attained import error
from confide.budget.policy.change import utility_of
from confide.budget.policy.floors import demand, drawn
from confide.budget.policy.policy import (
    CapScope,
    Enforce,
    Limit,
    Metric,
    Participation,
    PlannedRelease,
    Policy,
)
from confide.budget.policy.rows import Row, broken, rows
from confide.budget.policy.solve import Solution
from confide.drawing.numbers import clean, epsilon_text, limit_of, percent
from confide.drawing.words import Words
from confide.privacy.amount import NANO, decimal_text
from confide.report.wording.explain import TextGrid


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A heading with sentences and a table.

    Attributes:
        title: Empty where it goes on with the part before.
        sentences: In order.
        grid: After them.
    """

    title: str = ""
    sentences: tuple[str, ...] = ()
    grid: TextGrid | None = None


def down(units: int | Fraction) -> str:
    """Return a limit in 1e-9 of the measure to four significant digits, rounded down.

    Example:
        >>> down(405_465_108), down(500_000_000), down(0)
        ('0.4054', '0.5', '0')
    """
    amount = Fraction(units) / NANO
    return epsilon_text(limit_of(amount)) if amount > 0 else "0"


def up(units: int | Fraction) -> str:
    """Return an amount in 1e-9 of the measure to four significant digits, rounded up."""
    return epsilon_text(Fraction(units) / NANO)


def exactly(units: int) -> str:
    """Return an amount in 1e-9 of the measure with every digit."""
    return decimal_text(units, per_one=NANO)


def title(policy: Policy, *, words: Words) -> str:
    """Return what a policy is called."""
    return words.say(
        "policy.title",
        id=clean(policy.id),
        version=str(policy.version),
        effective=policy.effective,
    )


def allocation_parts(solution: Solution, *, words: Words) -> tuple[Part, ...]:
    """Return the division of a policy that can be met."""
    policy = solution.policy
    sentences = [
        words.say("policy.met"),
        *planned_in(policy, words=words),
        words.say("policy.divided", grid=exactly(int(policy.round_down_to * NANO))),
        *notes(solution, words=words),
    ]
    return (
        Part(sentences=tuple(sentences)),
        Part(grid=_allocation(solution, words=words)),
        Part(grid=caps_grid(solution, words=words)),
    )


def planned_in(policy: Policy, *, words: Words, met: bool = True) -> tuple[str, ...]:
    """Return in what a policy over a mixed ledger is planned; nothing of another."""
    planned = policy.measure.value if met else "neither"
    return (words.say(f"policy.planned.{planned}"),) if policy.mixed else ()


def error_text(release: PlannedRelease, value: float | Fraction, *, words: Words) -> str:
    """Return an error in the metric of a release's utility, rounded up."""
    utility = utility_of(release)
    kind = f"policy.error.{utility.metric.value}"
    if utility.metric in (Metric.MDAPE, Metric.P95):
        count = f"{utility.planning_count:,}"
        return words.say(kind, value=percent(Fraction(value)), count=count)
    return words.say(kind, value=epsilon_text(Fraction(value)))


def row_text(row: Row, *, words: Words) -> str:
    """Return which cap a row is, for whom and when."""
    kind = "some" if row.whom else "everyone"
    parts = {"whom": clean(row.whom)} if row.whom else {}
    text = words.say(f"policy.row.{kind}", cap=clean(row.cap), **parts)
    return words.say("policy.row-window", row=text, window=row.window) if row.window else text


def limit_text(limit: Limit) -> str:
    """Return a limit as it is written, exactly."""
    match limit:
        case Limit(epsilon=Fraction() as amount):
            return f"ε = {_exact(amount)}"
        case Limit(rho=Fraction() as amount):
            return f"ρ = {_exact(amount)}"
        case Limit(odds_factor=Fraction() as amount):
            return f"odds × {_exact(amount)}"
        case _:
            raise AssertionError(limit)


def _exact(amount: Fraction) -> str:
    scaled = amount * NANO
    if scaled.denominator == 1:
        return exactly(int(scaled))
    return str(amount)


def _allocation(solution: Solution, *, words: Words) -> TextGrid:
    policy, division = solution.policy, solution.allocation
    assert division is not None  # noqa: S101 - told by the caller
    rows = []
    for release in policy.releases:
        spend, least = division.spends[release.id], solution.floors[release.id]
        told = words.say("policy.no-floor")
        if release.utility is not None:
            attained = error(release, units=spend, measure=policy.measure)
            told = words.say(
                "policy.asked",
                error=error_text(release, attained, words=words),
                asked=value_text(release, release.utility.at_most),
            )
        room = division.head_room.get(release.id)
        stopped = division.stopped_by.get(release.id)
        rows.append(
            (
                clean(release.id),
                clean(release.tier),
                exactly(least),
                exactly(spend),
                "–" if room is None else f"{math.floor(room * 100) / 100:.2f} ×",
                told,
                "–" if stopped is None else row_text(stopped, words=words),
            )
        )
    names = ("release", "tier", "needs", "spend", "room", "error", "stopped")
    return TextGrid(
        title=words.say("policy.allocation-title", letter=policy.measure.letter),
        head=tuple(words.say(f"policy.head.{name}") for name in names),
        rows=tuple(rows),
    )


def value_text(release: PlannedRelease, value: Fraction) -> str:
    """Return a value of a release's metric, rounded up."""
    relative = utility_of(release).metric in (Metric.MDAPE, Metric.P95)
    return percent(value) if relative else epsilon_text(value)


def caps_grid(solution: Solution, *, words: Words) -> TextGrid:
    """Return what every row holds at the division, or at the floors where there is none."""
    division = solution.allocation
    spends = solution.floors if division is None else division.spends
    rows = []
    for row in solution.rows:
        used = math.ceil(row.used(spends))
        rows.append(
            (
                clean(row.cap),
                clean(row.whom) or words.say("policy.everyone"),
                row.window or words.say("policy.no-window"),
                exactly(row.limit),
                exactly(row.spent),
                exactly(used),
                exactly(max(0, row.free - used)),
            )
        )
    names = ("cap", "whom", "window", "limit", "before", "planned", "free")
    shown = [n for n in names if n != "before" or any(row.spent for row in solution.rows)]
    return TextGrid(
        title=words.say("policy.caps-title", letter=solution.policy.measure.letter),
        head=tuple(words.say(f"policy.head.{name}") for name in shown),
        rows=tuple(tuple(row[names.index(name)] for name in shown) for row in rows),
    )


def notes(solution: Solution, *, words: Words) -> Iterator[str]:
    """Yield what a reader of a division has to know beside it."""
    policy, division = solution.policy, solution.allocation
    analysts = [cap.id for cap in policy.caps if cap.scope is CapScope.ANALYST]
    if analysts:
        yield words.say("policy.analyst-caps", caps=words.listed(analysts))
    if division is None:
        return
    for release in policy.releases:
        needs, spend = drawn(release, measure=policy.measure), division.spends[release.id]
        if needs > spend:
            asked = utility_of(release)
            yield words.say(
                "policy.drawn-needs",
                release=clean(release.id),
                reach=epsilon_text(demand(asked).reach),
                error=error_text(release, asked.at_most, words=words),
                letter=policy.measure.letter,
                needs=exactly(needs),
                spend=exactly(spend),
            )
    if policy.participation is Participation.PROFILES:
        yield from _charged_to_all(solution, words=words)


def _charged_to_all(solution: Solution, *, words: Words) -> Iterator[str]:
    """Yield the caps that the ledger, which knows no profiles, would refuse to pass."""
    policy, division = solution.policy, solution.allocation
    planned = {c.id for c in policy.caps if c.enforce is Enforce.PLAN}
    everyone = replace(policy, participation=Participation.EVERY_RELEASE)
    if division is None:
        return
    for row in broken(rows(everyone), division.spends):
        if row.cap in planned and not row.whom:
            yield words.say(
                "policy.ledger-differs",
                total=exactly(math.ceil(row.used(division.spends))),
                cap=row_text(row, words=words),
                limit=exactly(row.limit),
            )
