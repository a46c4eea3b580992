"""Why a policy cannot be met, in words: the contradiction as a sum, and the repairs.

*Privacy:* a policy is public.  Every digit of a sum is printed; a repair is rounded to the side on
which it is still enough.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from confide.budget.policy.attained import chance
from confide.budget.policy.change import Change, Repair, utility_of
from confide.budget.policy.conflict import Conflict
from confide.budget.policy.policy import Limit, Noise, PlannedRelease, Policy
from confide.budget.policy.solve import Solution, solve
from confide.drawing.numbers import clean, epsilon_text, power_text
from confide.drawing.words import Words
from confide.report.policy.policy_words import (
    Part,
    error_text,
    exactly,
    notes,
    planned_in,
    row_text,
    up,
    value_text,
)

SINGLE = (Change.ERROR, Change.COUNT, Change.ERRORS, Change.APPEARANCES, Change.CAP)


def refused_parts(solution: Solution, *, words: Words) -> Iterator[Part]:
    """Yield why a policy cannot be met, and what to do."""
    policy, found = solution.policy, solution.conflicts
    legal = [cap.id for cap in policy.caps if cap.priority == 1]
    sentences = [words.say_count("policy.not-met", len(found)), *notes(solution, words=words)]
    sentences[1:1] = planned_in(policy, words=words, met=False)
    yield Part(sentences=tuple(sentences))
    for conflict in found:
        yield _conflict(conflict, policy=policy, words=words)
    single = [r for r in solution.repairs if r.change in SINGLE]
    other = [r for r in solution.repairs if r.change not in SINGLE]
    kept = [words.say("policy.never-relaxed", caps=words.listed(legal))] if legal else []
    yield Part(
        title=words.say("policy.repairs-title"),
        sentences=(
            *_single_lines(single, solution=solution, words=words),
            *kept,
        ),
    )
    if other:
        yield Part(
            title=words.say("policy.structural-title"),
            sentences=tuple(repair_text(r, solution=solution, words=words) for r in other),
        )


def _single_lines(repairs: Sequence[Repair], *, solution: Solution, words: Words) -> Iterator[str]:
    """Yield single repairs; those that differ in the release alone are one line."""
    alike: dict[str, list[str]] = {}
    for repair in repairs:
        one = repair.change in (Change.ERROR, Change.COUNT)
        text = repair_text(repair, solution=solution, words=words)
        name = clean(repair.subjects[0]) if one else ""
        line = words.say(
            "policy.repair.priority",
            repair=text.removeprefix(name),
            priority=str(repair.priority),
        )
        alike.setdefault(line, []).append(name)
    for line, names in alike.items():
        yield words.listed(names, joint="or") + line


def _conflict(conflict: Conflict, *, policy: Policy, words: Words) -> Part:
    named = {release.id: release for release in policy.releases}
    lines = []
    for name, times in conflict.weights.items():
        release = named[name]
        asked = error_text(release, utility_of(release).at_most, words=words)
        noise = words.say(f"policy.noise.{release.noise.value}")
        lines.append(
            words.say(
                "policy.conflict-line",
                times=str(times),
                release=clean(name),
                floor=exactly(conflict.floors[name]),
                error=asked,
                noise=noise,
            )
        )
    letter = policy.measure.letter
    return Part(
        title=words.say("policy.conflict-title", cap=row_text(conflict.row, words=words)),
        sentences=(
            words.say("policy.conflict-lines"),
            *lines,
            words.say(
                "policy.conflict-sum",
                needs=f"{letter} = {exactly(conflict.needs)}",
                row=row_text(conflict.row, words=words),
                free=f"{letter} = {exactly(conflict.row.free)}",
            ),
            words.say("policy.conflict-minimal"),
        ),
    )


def repair_text(repair: Repair, *, solution: Solution, words: Words) -> str:
    """Return what to change, as a sentence; numbers are rounded so that it is still enough."""
    policy = solution.policy
    named = {release.id: release for release in policy.releases}
    releases = [named[name] for name in repair.subjects if name in named]
    key = f"policy.repair.{repair.change.value}"
    listed = words.listed([clean(r.id) for r in releases]) if releases else ""
    before, after = str(repair.before), str(repair.after)
    match repair.change:
        case Change.CAP:
            old, new = (_cap_limit(p, repair.subjects[0]) for p in (policy, repair.policy))
            return words.say(key, cap=clean(repair.subjects[0]), before=old, after=new)
        case Change.ERROR:
            (release,) = releases
            old, new = (error_text(release, v, words=words) for v in (repair.before, repair.after))
            return words.say(key, release=listed, before=old, after=new)
        case Change.COUNT:
            return words.say(key, release=listed, before=before, after=after)
        case Change.ERRORS:
            return _all_errors(repair, releases=releases, listed=listed, words=words)
        case Change.APPEARANCES:
            return words.say(key, before=before, after=after)
        case Change.MECHANISM:
            return _mechanism(repair, listed=listed, spent=solution.spent, words=words)
        case Change.MERGE | Change.REUSE:
            return words.say(key, before=before, after=after, releases=listed)
        case Change.CELLS:
            return words.say(key, after=after, releases=listed)
        case Change.MEASURE:
            changed = {r.noise for r in repair.policy.releases if r.id in repair.subjects}
            kinds = sorted(words.say(f"policy.noise.{noise.value}") for noise in changed)
            noise = words.listed(kinds) if kinds else words.say("policy.no-window")
            return words.say(key, delta=power_text(repair.policy.report_delta), noise=noise)


def _cap_limit(policy: Policy, cap: str) -> str:
    """Return a cap's limit, rounded up to four digits: a raise that is printed is enough."""
    limit = next(each.limit for each in policy.caps if each.id == cap)
    match limit:
        case Limit(epsilon=Fraction() as amount):
            return f"ε = {epsilon_text(amount)}"
        case Limit(rho=Fraction() as amount):
            return f"ρ = {epsilon_text(amount)}"
        case Limit(odds_factor=Fraction() as amount):
            return f"odds × {epsilon_text(amount)}"
        case _:
            raise AssertionError(limit)


def _all_errors(
    repair: Repair, *, releases: Sequence[PlannedRelease], listed: str, words: Words
) -> str:
    asked = {(utility_of(r).metric, utility_of(r).at_most) for r in releases}
    if len(asked) > 1:
        factor = epsilon_text(repair.after)
        return words.say("policy.repair.all-errors-by", releases=listed, factor=factor)
    first = releases[0]
    before = utility_of(first).at_most
    return words.say(
        "policy.repair.all-errors",
        releases=listed,
        before=value_text(first, before),
        after=error_text(first, before * repair.after, words=words),
    )


def _mechanism(repair: Repair, *, listed: str, spent: Mapping[str, int], words: Words) -> str:
    changed = solve(repair.policy, spent=spent)
    named = {release.id: release for release in repair.policy.releases}
    first = named[repair.subjects[0]]
    needs = max(changed.floors[name] for name in repair.subjects)
    told = ""
    if changed.allocation is not None and first.noise is Noise.DISCRETE_LAPLACE:
        spend = changed.allocation.spends[first.id]
        found = chance(first, units=spend, measure=repair.policy.measure)
        if found is not None:
            told = words.say(
                "policy.repair.chance",
                spend=exactly(spend),
                reach=str(found[0]),
                chance=f"{math.floor(found[1] * 1000) / 1000:g}",
            )
    letter = repair.policy.measure.letter
    return words.say(
        "policy.repair.mechanism",
        releases=listed,
        noise=words.say(f"policy.noise.{first.noise.value}"),
        floor=f"{letter} = {up(needs)}",
        chance=told,
    )
