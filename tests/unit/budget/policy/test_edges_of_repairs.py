"""Single parts of the solver of policies at their edges."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.policy.change import Change
from confide.budget.policy.conflict import conflict_of
from confide.budget.policy.floors import floors
from confide.budget.policy.policy import Limit, Metric, Noise, PlannedRelease
from confide.budget.policy.repairs import single_repairs
from confide.budget.policy.rows import NOTHING, broken, rows
from confide.budget.policy.solve import solve
from confide.privacy.measure import Measure
from policies import ANNUAL, LEGAL, LIFE, textbook, utility

NANO = 10**9


def test_a_release_that_promises_nothing_is_given_nothing():
    policy = textbook(caps=(LEGAL, LIFE))
    free = PlannedRelease(id="free", tier="routine", noise=Noise.LAPLACE)
    policy = replace(policy, releases=(*policy.releases, free), round_down_to=Fraction(1, NANO))
    allocation = solve(policy).allocation
    assert allocation is not None
    assert allocation.spends["free"] == 0


def test_a_cap_in_rho_is_repaired_in_rho():
    annual = replace(ANNUAL, limit=Limit(rho=Fraction("0.01")))
    life = replace(LIFE, limit=Limit(rho=Fraction(4)))
    policy = replace(textbook(caps=(annual, life)), measure=Measure.ZCDP)
    (repair,) = [each for each in solve(policy).repairs if each.change is Change.CAP]
    (raised, _) = repair.policy.caps
    assert repair.before == Fraction("0.01")
    assert raised.limit == Limit(rho=repair.after)


def absolute(*, factor):
    """A release a year with a standard deviation of a thousandth; errors would need a factor."""
    policy = textbook((40, 40))
    releases = tuple(
        replace(each, period=year, utility=utility(year, at_most="0.001", metric=Metric.RMSE))
        for year, each in zip(("2027", "2028"), policy.releases, strict=True)
    )
    limit = Limit(epsilon=Fraction(round(NANO * 2**0.5 / 0.001 / factor), NANO))
    return replace(policy, caps=(replace(ANNUAL, limit=limit),), releases=releases)


@pytest.mark.parametrize(("factor", "found"), [(999.5, [999.5]), (1000.5, [])])
def test_errors_a_thousand_times_as_large_are_no_repair(factor, found):
    policy = absolute(factor=factor)
    least, written = floors(policy), rows(policy, spent=NOTHING)
    each_year = tuple(conflict_of(row, floors=least) for row in broken(written, least))
    assert len(each_year) == 2
    made = single_repairs(policy, found=each_year, spent=NOTHING)
    after = [float(repair.after) for repair in made if repair.change is Change.ERRORS]
    assert after == pytest.approx(found, rel=1e-6)


def test_periods_are_merged_where_all_of_them_promise_the_same():
    policy = textbook(caps=(ANNUAL,))
    changes = [each.change for each in solve(policy).repairs]
    assert Change.MERGE in changes
    *others, last = policy.releases
    finer = replace(last, utility=utility(last.id, at_most="0.099"))
    changes = [each.change for each in solve(replace(policy, releases=(*others, finer))).repairs]
    assert changes
    assert Change.MERGE not in changes
