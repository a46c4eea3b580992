"""Random policies: conflicts are irreducible, repairs enough and least, divisions keep every cap.

The linear program behind a policy is stated a second time here and solved by HiGHS, from the noun
alone: a cap of which one patient is in k runs at most is written out for every choice of k runs.
"""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings

from confide.budget.policy.change import Change, with_count, with_error, with_limit, with_releases
from confide.budget.policy.floors import floors
from confide.budget.policy.policy import Limit
from confide.budget.policy.repairs import can_be_met
from confide.budget.policy.rows import NOTHING, fits, rows
from confide.budget.policy.solve import solve
from policies import policies

NANO = 10**9
STEP = Fraction(1, 10**6)

few = settings(
    max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
many = settings(few, max_examples=3000)


def conflict_is_irreducible(policy):
    solution = solve(policy)
    for conflict in solution.conflicts:
        zero = dict.fromkeys(solution.floors, 0)
        assert not fits([conflict.row], zero | conflict.floors)
        assert conflict.needs > conflict.row.free
        for name in conflict.floors:  # a proper subset lacks a floor, or the cap, and so all rows
            assert fits([conflict.row], zero | conflict.floors | {name: 0})
        assert all(solution.floors[name] == floor for name, floor in conflict.floors.items())


def repairs_are_enough_and_least(policy):
    for repair in solve(policy).repairs:
        assert can_be_met(repair.policy, spent=NOTHING)
        less = one_step_less(repair, policy)
        assert less is None or not can_be_met(less, spent=NOTHING), repair.change
        kept = {cap.id: cap for cap in repair.policy.caps}
        for cap in policy.caps:
            if cap.priority == 1:
                assert kept[cap.id].limit == cap.limit


def one_step_less(repair, policy):
    """The same change by 1e-6 less, or one patient or one run fewer; None where there is none."""
    named = {release.id: release for release in policy.releases}
    match repair.change:
        case Change.CAP:
            (cap,) = [cap for cap in repair.policy.caps if cap.id == repair.subjects[0]]
            form = "epsilon" if cap.limit.epsilon else "rho" if cap.limit.rho else "odds_factor"
            return with_limit(policy, cap.id, Limit(**{form: repair.after - STEP}))
        case Change.ERROR:
            (name,) = repair.subjects
            smaller = with_error(named[name], repair.after - STEP)
            return with_releases(policy, {name: smaller})
        case Change.COUNT:
            (name,) = repair.subjects
            return with_releases(policy, {name: with_count(named[name], int(repair.after) - 1)})
        case Change.ERRORS:
            factor = repair.after - STEP
            changed = {
                name: with_error(named[name], named[name].utility.at_most * factor)
                for name in repair.subjects
            }
            return with_releases(policy, changed)
        case Change.APPEARANCES:
            if repair.after + 1 == repair.before:
                return policy
            profiles = tuple(
                replace(p, at_most=p.at_most + 1) if p.at_most == repair.after else p
                for p in repair.policy.profiles[:1]
            )
            return replace(repair.policy, profiles=profiles + repair.policy.profiles[1:])
        case _:
            return None


def division_keeps_every_cap(policy):
    solution = solve(policy)
    division = solution.allocation
    if division is None:
        return
    assert fits(solution.rows, division.spends)
    bounded = {tier.id for tier in policy.tiers if tier.ceiling is not None}
    for release in policy.releases:  # what the ledger would refuse a run for
        if release.tier in bounded:
            assert division.spends[release.id] <= policy.ceiling(release.tier)
    for name, floor in solution.floors.items():
        assert division.spends[name] >= floor
    for name, row in division.stopped_by.items():  # nothing is left that could be given
        lost = sum(min(row.runs[n], row.most) for n in row.runs) * policy.round_down_to * NANO
        exact = {n: division.head_room.get(n, 0) * solution.floors[n] for n in row.runs}
        assert row.used(exact) == row.free
        assert row.free - row.used(division.spends) <= lost
        assert name in row.runs


@few
@given(policies())
def test_each_conflict_is_infeasible_and_each_proper_subset_feasible(policy):
    conflict_is_irreducible(policy)


@settings(few, max_examples=60)
@given(policies())
def test_each_repair_is_enough_and_less_is_not(policy):
    repairs_are_enough_and_least(policy)


@few
@given(policies())
def test_a_division_never_passes_a_cap_by_rounding(policy):
    division_keeps_every_cap(policy)


@pytest.mark.audit
@many
@given(policies())
def test_three_thousand_policies_are_solved_right(policy):
    conflict_is_irreducible(policy)
    repairs_are_enough_and_least(policy)
    division_keeps_every_cap(policy)


def matrix(policy):
    """Return A, b of A·x ≤ b with one column a release, every choice of runs written out."""
    names = [release.id for release in policy.releases]
    lines, limits = set(), []
    for row in rows(policy):
        pool = [name for name, times in row.runs.items() for _ in range(times)]
        for chosen in set(itertools.combinations(sorted(pool), row.most)):
            counted = Counter(chosen)
            line = tuple(counted[name] for name in names)
            lines.add((line, row.free / NANO))
    for line, limit in sorted(lines):
        limits.append((list(line), limit))
    return names, [line for line, _ in limits], [limit for _, limit in limits]


@settings(few, max_examples=50)
@given(policies(most=4))
def test_highs_finds_the_same_policies_feasible_and_the_same_levels(policy):
    linprog = pytest.importorskip("scipy.optimize").linprog
    names, lines, limits = matrix(policy)
    least = floors(policy)
    needs = [least[name] / NANO for name in names]
    solution = solve(policy)
    margin = min((abs(r.free - r.used(least)) for r in solution.rows), default=NANO)
    assume(margin > 100)  # within 1e-7 of the edge, floats cannot tell
    found = linprog([0] * len(names), A_ub=lines, b_ub=limits, bounds=[(f, None) for f in needs])
    assert (found.status == 0) == (solution.allocation is not None)
    if solution.allocation is None:
        return
    weights = {tier.id: tier.weight for tier in policy.tiers}
    rates = [float(weights[r.tier]) * needs[i] for i, r in enumerate(policy.releases)]
    levels = sequence_of_programs(linprog, lines, limits, needs, rates)
    for i, name in enumerate(names):
        if needs[i]:
            mine = float(solution.allocation.head_room[name]) * needs[i]
            assert mine == pytest.approx(max(needs[i], levels[i] * rates[i]), rel=1e-5)


def sequence_of_programs(linprog, lines, limits, needs, rates):
    """Lexicographic max-min by one program a level, and one more a release to see who is stopped."""
    count, fixed = len(needs), {i: 0.0 for i, rate in enumerate(rates) if not rate}
    while len(fixed) < count:
        bounds = [(max(needs[i], fixed.get(i, 0.0) * rates[i]), None) for i in range(count)]
        bounds = [
            (low, max(needs[i], fixed[i] * rates[i]) + 1e-12) if i in fixed else (low, None)
            for i, (low, _) in enumerate(bounds)
        ]
        free = [i for i in range(count) if i not in fixed]
        rises = [[-(j == i) for j in range(count)] + [rates[i]] for i in free]
        top = linprog(
            [0] * count + [-1],
            A_ub=[[*line, 0] for line in lines] + rises,
            b_ub=[*limits, *([0] * len(free))],
            bounds=[*bounds, (0, None)],
        )
        level = top.x[-1]
        held = [
            (max(low, level * rates[i]) - 1e-12 if i in free else low, high)
            for i, (low, high) in enumerate(bounds)
        ]
        for i in free:
            goal = [-(j == i) for j in range(count)]
            best = linprog(goal, A_ub=lines, b_ub=limits, bounds=held)
            if best.x[i] <= max(needs[i], level * rates[i]) * (1 + 1e-7) + 1e-10:
                fixed[i] = level
    return fixed
