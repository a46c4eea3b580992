"""A policy over a mixed ledger, planned as one of ε or one of ρ, whichever gives more."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.policy.epsilon_caps import EpsilonCaps, measure_for
from confide.budget.policy.one_measure import in_one_measure
from confide.budget.policy.policy import Limit, Metric, Noise, Policy, Profile, Tier
from confide.budget.policy.solve import solve
from confide.errors import BudgetExhaustedError, ContractError
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from ledger_policies import cap, over_both
from ledgers import LINEAGE, HandClock, terms
from mixed_ledgers import DELTA, asking, gaussian, opened, pure
from policies import textbook, utility

YEAR, LIFE = cap("year", "patient", "calendar-year", "3"), cap("life", "dataset", "lifetime", "10")


def planned(runs: int, *caps, at_most="10", ceiling=None) -> Policy:
    """So many counts of the same error in a year."""
    tier = Tier(id="routine", ceiling=ceiling)
    (release, *_) = textbook((40,)).releases
    asked = utility("u", at_most=at_most, metric=Metric.RMSE)
    release = replace(release, tier="routine", runs=runs, utility=asked, period="2027")
    return over_both(*(caps or (YEAR, LIFE)), tiers=(tier,), releases=(release,))


@pytest.mark.parametrize(
    ("runs", "measure"), [(1, Measure.PURE), (3, Measure.PURE), (50, Measure.ZCDP)]
)
def test_few_releases_are_planned_with_laplace_noise_and_many_with_gaussian(runs, measure):
    found = solve(planned(runs, at_most="40"))
    assert found.policy.measure is measure
    assert found.allocation is not None


@pytest.mark.parametrize("runs", [1, 12, 60])
@pytest.mark.parametrize("each", [None, "0.3"])
def test_a_ledger_grants_every_run_that_is_planned(tmp_path, runs, each):
    ceiling = None if each is None else Limit(epsilon=Fraction(each))
    policy = planned(runs, at_most="60", ceiling=ceiling)
    found = solve(policy)
    assert found.allocation is not None
    (units,) = found.allocation.spends.values()
    measure = measure_for(EpsilonCaps.of(policy), delta=DELTA)
    ledger: ChainedLedger = opened(tmp_path / "private", clock=HandClock())
    ledger.register(replace(terms(), caps=None, measure=measure))
    ledger.desk.adopt(LINEAGE, policy=policy, reason="first")
    make = pure if found.policy.measure is Measure.PURE else gaussian
    for number in range(runs):
        asked = asking(make(str(Fraction(units, NANO))), key=f"k{number}", tier="routine")
        held = ledger.reserve(asked)
        ledger.start_reading(held)
        ledger.publish(ledger.commit(held, payload=b"noisy"))
    ledger.close()


def test_limits_in_rho_are_what_the_orders_of_the_ledger_leave():
    policy = planned(12, YEAR, LIFE, cap("one", "release", "release", "1"))
    _, of_rho = in_one_measure(policy)
    orders = measure_for(EpsilonCaps.of(policy), delta=DELTA)
    for name, epsilon, order in (("year", 3, orders.yearly), ("life", 10, orders.lifetime)):
        budget = MixedCap(epsilon=Fraction(epsilon), delta=DELTA, order=order).budget
        limit = next(each.limit for each in of_rho.caps if each.id == name)
        assert limit.rho == Fraction(budget // order, NANO)
    best = MixedCap.of(Fraction(1), delta=DELTA)
    (one,) = (each.limit for each in of_rho.caps if each.id == "one")
    assert one.rho == Fraction(best.budget // best.order, NANO)
    assert [each.noise for each in of_rho.releases] == [Noise.GAUSSIAN]


def test_a_cap_that_leaves_no_rho_at_its_order_is_planned_in_epsilon_alone():
    policy = planned(2, YEAR, cap("month", "project", "calendar-year", "0.0000001"))
    assert [each.measure for each in in_one_measure(policy)] == [Measure.PURE]
    policy = planned(2, ceiling=Limit(epsilon=Fraction(1, 10**7)))
    assert [each.measure for each in in_one_measure(policy)] == [Measure.PURE]


def test_a_policy_that_cannot_be_met_with_either_noise_is_repaired_in_epsilon_and_stays_mixed():
    profiles = (Profile(id="all", releases=("rare-q1",), why="everybody"),)
    found = solve(replace(planned(60, at_most="2"), profiles=profiles))
    assert found.allocation is None
    assert found.policy.measure is Measure.PURE
    assert found.repairs
    changed = {each.change.value for each in found.repairs}
    assert not changed & {"measure", "appearances"}
    for repair in found.repairs:
        assert repair.policy.mixed
        assert solve(repair.policy).allocation is not None


def test_what_was_spent_of_a_mixed_ledger_is_no_one_amount():
    with pytest.raises(ContractError, match="in its lanes"):
        solve(planned(2), spent={"year": NANO})


def test_a_charge_past_what_was_planned_is_refused_by_the_cap_that_was_full(tmp_path):
    policy = planned(3, at_most="60")
    found = solve(policy)
    (units,) = found.allocation.spends.values()
    ledger = opened(tmp_path / "private", clock=HandClock())
    measure = measure_for(EpsilonCaps.of(policy), delta=DELTA)
    ledger.register(replace(terms(), caps=None, measure=measure))
    ledger.desk.adopt(LINEAGE, policy=policy, reason="first")
    for number in range(3):
        ledger.reserve(asking(pure(str(Fraction(units, NANO))), key=f"k{number}", tier="routine"))
    with pytest.raises(BudgetExhaustedError, match="cap year"):
        ledger.reserve(asking(pure("0.01"), key="more", tier="routine"))
    ledger.close()
