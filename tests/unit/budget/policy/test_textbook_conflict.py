"""The textbook's policy: three counts of 40 within 10 %, and half an ε a year.

Floor ln 2/(0.10·40) = 0.17329; three of them 0.51986; worked by hand, and the variants too.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.policy.attained import chance
from confide.budget.policy.change import Change
from confide.budget.policy.floors import floor_of
from confide.budget.policy.policy import Limit, Noise
from confide.budget.policy.repairs import can_be_met
from confide.budget.policy.rows import NOTHING
from confide.budget.policy.solve import solve
from confide.privacy.measure import Measure
from policies import ANNUAL, LEGAL, LIFE, textbook

NANO = 10**9


def _after(solution, change):
    return [repair.after for repair in solution.repairs if repair.change is change]


@pytest.fixture(scope="module")
def solution():
    return solve(textbook())


def test_the_annual_cap_and_the_three_floors_contradict(solution):
    assert solution.allocation is None
    (conflict,) = solution.conflicts
    assert conflict.row.cap == "ethics-annual"
    assert dict(conflict.weights) == {"rare-q1": 1, "rare-q2": 1, "rare-q3": 1}
    assert set(conflict.floors.values()) == {173_286_796}  # 10⁹·ln 2/4, rounded up
    assert (conflict.needs, conflict.row.free) == (519_860_388, 500_000_000)


def test_the_smallest_repairs_are_those_of_the_textbook(solution):
    assert [round(float(x), 4) for x in _after(solution, Change.CAP)] == [0.5199]
    assert [round(float(x), 3) for x in _after(solution, Change.ERROR)] == [0.113] * 3
    assert _after(solution, Change.COUNT) == [46] * 3
    (factor,) = _after(solution, Change.ERRORS)
    assert round(float(factor) / 10, 3) == 0.104
    assert _after(solution, Change.APPEARANCES) == [2]


def test_floors_give_way_before_the_ethics_cap_and_the_law_never(solution):
    changed = [repair.change for repair in solution.repairs]
    assert changed.index(Change.ERROR) < changed.index(Change.CAP)
    assert all("legal-release" not in repair.subjects for repair in solution.repairs)
    strict = replace(textbook(), caps=(LEGAL, replace(ANNUAL, priority=1), LIFE))
    assert not _after(solve(strict), Change.CAP)


def test_discrete_laplace_meets_it_with_nothing_relaxed(solution):
    (repair,) = [r for r in solution.repairs if r.change is Change.MECHANISM]
    assert {r.noise for r in repair.policy.releases} == {Noise.DISCRETE_LAPLACE}
    assert can_be_met(repair.policy, spent=NOTHING)
    third = NANO // 6
    reach, kept = chance(repair.policy.releases[0], units=third, measure=Measure.PURE)
    assert (reach, round(kept, 3)) == (4, 0.529)
    assert floor_of(repair.policy.releases[0], measure=Measure.PURE) < third


def test_every_structural_repair_is_enough(solution):
    found = {r.change: r for r in solution.repairs}
    assert {Change.MERGE, Change.CELLS, Change.REUSE} <= found.keys()
    assert all(can_be_met(r.policy, spent=NOTHING) for r in solution.repairs)
    merged = found[Change.MERGE].policy
    assert [r.utility.planning_count for r in merged.releases] == [40, 80]
    assert len(found[Change.REUSE].policy.releases) == 2


@pytest.mark.parametrize(
    ("counts", "spends", "levels"),
    [
        ((40, 40, 400), (0.2380, 0.2380, 0.0238), [1.374]),
        ((40, 400, 4000), (0.4054, 0.0859, 0.0085), [2.34, 4.96]),
    ],
)
def test_head_room_is_shared_out_lexicographically(counts, spends, levels):
    found = solve(textbook(counts)).allocation
    assert tuple(units / NANO for units in found.spends.values()) == spends
    rooms = sorted(
        {round(float(room), 3 if len(levels) == 1 else 2) for room in found.head_room.values()}
    )
    assert rooms == levels


def test_what_was_spent_before_counts():
    policy = textbook((40, 40, 400))
    assert solve(policy, spent={"ethics-annual": 136_000_000}).allocation is not None
    refused = solve(policy, spent={"ethics-annual": 137_000_000})
    assert refused.conflicts[0].row.free == 363_000_000


def test_zcdp_is_offered_where_many_small_releases_add_up():
    """Two hundred runs at ε = 0.0099 add up to 1.98, but to ρ = 0.0098, which is ε = 0.62."""
    (weekly,) = textbook((1000,)).releases
    weekly = replace(weekly, runs=200, utility=replace(weekly.utility, at_most=Fraction("0.07")))
    half = replace(ANNUAL, limit=Limit(epsilon=Fraction("1.5")))
    policy = replace(textbook((1000,)), releases=(weekly,), caps=(LEGAL, half, LIFE))
    (moved,) = [r for r in solve(policy).repairs if r.change is Change.MEASURE]
    assert moved.policy.measure is Measure.ZCDP
    assert can_be_met(moved.policy, spent=NOTHING)
    # the law bounds the odds of every release: Gaussian noise would have no such bound
    assert {release.noise for release in moved.policy.releases} == {Noise.LAPLACE}
    law_in_epsilon = replace(LEGAL, limit=Limit(epsilon=Fraction("0.4")))
    kept = replace(policy, caps=(law_in_epsilon, half, LIFE))
    assert not [r for r in solve(kept).repairs if r.change is Change.MEASURE]
