"""Which releases add up under a cap: windows of time, profiles, projects, several runs."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.policy.policy import (
    CapScope,
    Enforce,
    Limit,
    Noise,
    Participation,
    PlannedRelease,
    Profile,
    Window,
)
from confide.budget.policy.rows import Row, broken, fits, rows
from confide.budget.policy.solve import solve
from confide.budget.policy.windows import span, windows
from confide.errors import ContractError
from confide.privacy.measure import Measure
from policies import ANNUAL, LEGAL, LIFE, textbook


def planned(*periods):
    return tuple(
        PlannedRelease(id=f"r{i}", tier="routine", period=p) for i, p in enumerate(periods)
    )


def held(releases, window):
    return {one.name: {r.id for r in one.releases} for one in windows(releases, window=window)}


def test_a_calendar_year_holds_what_can_fall_into_it():
    releases = planned("2027-03", "2027-12-01/2028-01-31", "2028", "")
    assert held(releases, Window.CALENDAR_YEAR) == {
        "2027": {"r0", "r1", "r3"},
        "2028": {"r1", "r2", "r3"},
    }


def test_a_rolling_window_reaches_over_the_turn_of_the_year():
    releases = planned("2026-11-15", "2027-02-01", "2027-11-14", "2027-11-15")
    found = held(releases, Window.ROLLING)
    assert {"r0", "r1", "r2"} in found.values()  # 365 days from 15 November 2026
    assert not any({"r0", "r3"} <= names for names in found.values())  # day 366


def test_a_release_of_a_long_period_may_come_late_in_it():
    """Some day of 2027 and 30 June 2028: less than 365 days apart if the first comes in July."""
    found = held(planned("2027", "2028-06-30", "2029-01"), Window.ROLLING)
    assert {"r0", "r1"} <= found["365 d from 2027-12-31"]
    assert {"r1", "r2"} in found.values()
    assert not any({"r0", "r2"} <= names for names in found.values())


def test_without_periods_everything_is_in_one_window():
    releases = planned("", "")
    for window in (Window.CALENDAR_YEAR, Window.ROLLING, Window.LIFETIME):
        assert held(releases, window) == {"": {"r0", "r1"}}


@pytest.mark.parametrize(
    "text", ["27", "2027-13", "2027-Q5", "2027-02-30", "2027-05/2027-04", "soon"]
)
def test_a_period_that_is_none_is_refused(text):
    with pytest.raises(ContractError, match="Expected a period"):
        span(text)


def patient_rows(policy):
    return {(r.whom, tuple(r.runs), r.most) for r in rows(policy) if r.cap == "ethics-annual"}


def test_a_declared_profile_lowers_nothing_under_plan_unless_the_policy_says_so():
    some = Profile(id="rare", releases=("rare-q1",), why="one visit")
    other = Profile(id="others", releases=("rare-q2", "rare-q3"), why="never in the first")
    policy = replace(textbook(), profiles=(some, other))
    everyone = ("", ("rare-q1", "rare-q2", "rare-q3"), 3)
    assert everyone in patient_rows(policy)
    trusted = replace(policy, participation=Participation.PROFILES)
    expected = {("rare", ("rare-q1",), 1), ("others", ("rare-q2", "rare-q3"), 2)}
    assert patient_rows(trusted) == expected
    dropped = replace(policy, caps=(LEGAL, replace(ANNUAL, enforce=Enforce.DROP), LIFE))
    assert patient_rows(dropped) == expected


def test_a_release_that_no_profile_names_is_in_all_of_them():
    policy = replace(
        textbook(),
        profiles=(Profile(id="rare", releases=("rare-q1",), why="one visit"),),
        participation=Participation.PROFILES,
    )
    assert patient_rows(policy) == {("rare", ("rare-q1", "rare-q2", "rare-q3"), 3)}


def test_a_project_has_a_cap_of_its_own():
    policy = textbook()
    cap = replace(ANNUAL, id="project", scope=CapScope.PROJECT)
    releases = tuple(replace(r, project="a" if r.id == "rare-q1" else "b") for r in policy.releases)
    found = rows(replace(policy, caps=(cap,), releases=releases))
    assert {(r.whom, tuple(r.runs)) for r in found} == {
        ("a", ("rare-q1",)),
        ("b", ("rare-q2", "rare-q3")),
    }


def test_runs_of_a_release_add_up():
    policy = textbook((4000,))
    monthly = replace(policy.releases[0], runs=12)
    (row,) = [r for r in rows(replace(policy, releases=(monthly,))) if r.cap == "ethics-annual"]
    assert row.used({"rare-q1": 7}) == 84
    assert replace(row, most=5).used({"rare-q1": 7}) == 35


def test_an_odds_cap_binds_pure_noise_under_zcdp_and_says_nothing_of_gaussian():
    policy = replace(textbook(), measure=Measure.ZCDP, report_delta=Fraction("1e-6"))
    mixed = replace(policy.releases[0], noise=Noise.GAUSSIAN)
    policy = replace(policy, releases=(mixed, *policy.releases[1:]), caps=(LEGAL, LIFE))
    limits = {r.whom: r.limit for r in rows(policy) if r.cap == "legal-release"}
    epsilon = Fraction(405_465_108, 10**9)
    assert limits == dict.fromkeys(("rare-q2", "rare-q3"), int(epsilon**2 / 2 * 10**9))


def test_a_tiny_odds_factor_leaves_a_pure_release_nothing_under_zcdp():
    cap = replace(LEGAL, limit=Limit(odds_factor=Fraction("1.000002")))
    policy = replace(textbook(), measure=Measure.ZCDP, report_delta=Fraction("1e-6"))
    assert {r.limit for r in rows(replace(policy, caps=(cap,)))} == {0}


def test_a_release_without_any_cap_is_refused():
    cap = replace(ANNUAL, scope=CapScope.ANALYST)
    with pytest.raises(ContractError, match="No cap holds"):
        solve(replace(textbook(), caps=(cap,)))


def test_spent_before_a_cap_that_is_unknown_is_refused():
    with pytest.raises(ContractError, match="ID=AMOUNT"):
        solve(textbook(), spent={"annual": 1})


def test_spent_in_one_window_counts_there():
    policy = replace(textbook((400, 400)), caps=(ANNUAL, LIFE))
    releases = tuple(
        replace(r, period=p) for r, p in zip(policy.releases, ("2027", "2028"), strict=True)
    )
    spent = {"ethics-annual@2028": 400_000_000}
    found = {
        r.window: r.free
        for r in rows(replace(policy, releases=releases), spent=spent)
        if r.cap == "ethics-annual"
    }
    assert found == {"2027": 500_000_000, "2028": 100_000_000}


def test_a_limit_in_rho_is_read_as_it_stands():
    cap = replace(ANNUAL, limit=Limit(rho=Fraction("0.02")))
    policy = replace(textbook(), measure=Measure.ZCDP, report_delta=Fraction("1e-6"), caps=(cap,))
    assert {r.limit for r in rows(policy)} == {20_000_000}


def test_a_row_that_is_used_up_to_the_last_unit_is_kept():
    row = Row(cap="c", whom="", window="", runs={"a": 2}, most=2, limit=10, spent=4)
    assert [fits((row,), {"a": units}) for units in (3, 4)] == [True, False]
    assert broken((row,), {"a": 3}) == ()
