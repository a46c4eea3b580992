"""A year of releases against the caps, and who is left out."""

import datetime as dt
import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.policy.dropping import losses, read_frequencies
from confide.budget.policy.floors import floors
from confide.budget.policy.policy import CapScope, Enforce, Limit, Profile, Window
from confide.budget.policy.simulate import runs_of, simulate
from confide.budget.policy.solve import solve
from confide.errors import ContractError
from policies import ANNUAL, LEGAL, LIFE, textbook

NANO = 10**9


def play(policy, *, years=1, spent=None):
    solution = solve(policy)
    spends = solution.floors if solution.allocation is None else solution.allocation.spends
    return simulate(policy, spends=spends, years=years, spent=spent or {})


def test_a_policy_that_can_be_met_is_granted_whole():
    found = play(textbook((40, 40, 400)))
    assert [each.refused_by for each in found.played] == [()] * 3


def test_a_policy_that_cannot_be_met_is_granted_until_a_cap_is_reached():
    found = play(textbook())
    assert [each.refused_by for each in found.played] == [(), (), ("ethics-annual",)]
    (annual,) = [use for use in found.uses if use.cap == "ethics-annual"]
    assert annual.spent == 2 * 173_286_796  # a refusal charges nothing


def test_a_lifetime_cap_runs_out_over_the_years():
    life = replace(LIFE, limit=Limit(epsilon=Fraction("1.2")))
    found = play(replace(textbook((40, 40, 400)), caps=(LEGAL, ANNUAL, life)), years=3)
    refused = [each.run.day.year for each in found.played if each.refused_by]
    assert set(refused) == {2029}
    assert all(use.spent <= use.limit for use in found.uses)


def test_any_twelve_months_may_hold_twice_a_calendar_years_cap():
    policy = textbook((40, 40))
    days = ("2027-12-30", "2028-01-02")
    releases = tuple(replace(r, period=d) for r, d in zip(policy.releases, days, strict=True))
    near = replace(policy, releases=releases, caps=(ANNUAL,))
    found = play(near)
    assert found.any_year["ethics-annual"] == 2 * 500_000_000
    rolling = replace(near, caps=(replace(ANNUAL, window=Window.ROLLING),))
    spends = play(near).played[0].run.units
    refused = simulate(rolling, spends={"rare-q1": spends, "rare-q2": spends})
    assert [each.refused_by for each in refused.played] == [(), ("ethics-annual",)]


@pytest.mark.parametrize("years", [1, 2, 4])
def test_a_rolling_cap_that_was_kept_is_not_shown_as_passed(years):
    rolling = replace(ANNUAL, window=Window.ROLLING)
    policy = replace(textbook((40, 40, 400)), caps=(rolling,))
    found = play(policy, years=years)
    assert len([each for each in found.played if not each.refused_by]) >= 2 * years
    assert all(use.spent <= use.limit for use in found.uses)


def test_a_cap_that_drops_refuses_nothing_and_says_which_profile_is_left_out():
    drop = replace(ANNUAL, enforce=Enforce.DROP)
    profile = Profile(id="frequent", releases=("rare-q1", "rare-q2", "rare-q3"), why="recall")
    policy = replace(textbook(), caps=(LEGAL, drop, LIFE), profiles=(profile,))
    found = simulate(policy, spends=floors(policy))
    assert [each.refused_by for each in found.played] == [(), (), ()]
    assert [each.left_out for each in found.played] == [(), (), ("frequent",)]
    twice = replace(policy, profiles=(replace(profile, at_most=2),))
    again = simulate(twice, spends=floors(twice))
    assert [each.left_out for each in again.played] == [(), (), ()]


def test_what_was_spent_before_counts_in_the_first_year_alone():
    found = play(textbook((40, 40, 400)), years=2, spent={"ethics-annual": 400_000_000})
    by_year = {2027: [], 2028: []}
    for each in found.played:
        by_year[each.run.day.year].append(bool(each.refused_by))
    assert by_year == {2027: [True, True, False], 2028: [False, False, False]}


def test_projects_are_kept_apart():
    cap = replace(ANNUAL, scope=CapScope.PROJECT, limit=Limit(epsilon=Fraction("0.2")))
    policy = textbook()
    releases = tuple(replace(r, project=r.id[-1]) for r in policy.releases)
    found = simulate(replace(policy, releases=releases, caps=(cap,)), spends=floors(policy))
    assert not any(each.refused_by for each in found.played)


def test_runs_come_evenly_and_a_leap_day_repeats():
    policy = textbook((40,))
    monthly = replace(policy.releases[0], runs=12, period="2028")
    days = [r.day for r in runs_of(replace(policy, releases=(monthly,)), spends={"rare-q1": 1})]
    assert len(set(days)) == 12
    assert days[-1] == dt.date(2028, 12, 31)
    leap = replace(policy.releases[0], period="2028-02-29")
    days = [
        r.day for r in runs_of(replace(policy, releases=(leap,)), spends={"rare-q1": 1}, years=2)
    ]
    assert days == [dt.date(2028, 2, 29), dt.date(2029, 2, 28)]


def by_hand(spends, *, limit, appearing):
    """Every set of runs, equally likely."""
    sets = list(itertools.combinations(range(len(spends)), appearing))
    kept = [0] * len(spends)
    for chosen in sets:
        spent = 0
        for run in chosen:
            if spent + spends[run] <= limit:
                spent += spends[run]
                kept[run] += 1
    return [Fraction(k, len(sets)) for k in kept]


@pytest.mark.parametrize("spends", [(3, 3, 3, 3, 3), (1, 2, 3, 4, 5), (5, 1, 4, 1, 3)])
@pytest.mark.parametrize("limit", [3, 6, 9])
def test_the_expected_loss_is_that_of_every_path(spends, limit):
    frequencies = {1: Fraction(1, 2), 3: Fraction(3, 10), 5: Fraction(1, 5)}
    found = losses(spends, limit=limit, frequencies=frequencies)
    tables = {v: by_hand(spends, limit=limit, appearing=v) for v in frequencies}
    for run, loss in enumerate(found):
        here = sum(share * Fraction(v, 5) for v, share in frequencies.items())
        kept = sum(share * tables[v][run] for v, share in frequencies.items())
        assert loss.patients == here
        assert loss.counted == kept / here
        assert loss.undercount == 1 - kept / here


def test_visit_frequencies_are_read_as_shares_or_as_patients(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("appearances,patients\n1,30\n4,10\n")
    assert read_frequencies(path) == {1: Fraction(3, 4), 4: Fraction(1, 4)}
    path.write_text("appearances,share\n1,0.51\n4,0.5\n")  # a hundredth off, as rounded ones are
    assert read_frequencies(path) == {1: Fraction(51, 101), 4: Fraction(50, 101)}


@pytest.mark.parametrize(
    "text",
    ["appearances,share\n1,0.5\n", "visits,share\n1,1\n", "appearances,share\n1,0.5\n1,0.5\n",
     "appearances,share\nx,1\n", "appearances,share\n1,-1\n2,2\n", ""],
)  # fmt: skip
def test_a_table_that_is_none_is_refused(tmp_path, text):
    path = tmp_path / "visits.csv"
    path.write_text(text)
    with pytest.raises(ContractError, match=r"visits\.csv"):
        read_frequencies(path)
