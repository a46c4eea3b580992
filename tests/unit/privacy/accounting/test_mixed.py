"""A cap on every kind of loss: orders, budgets and charges, in integers that are rounded safely."""

import decimal
import math
from fractions import Fraction

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.accounting.mixed import (
    Lanes,
    MixedCap,
    best_order,
    charge,
    choice_charge,
    least_cap,
)
from confide.privacy.accounting.sampled_gaussian import SampledSteps
from confide.privacy.amount import NANO
from confide.privacy.loss import PureDP, ZeroConcentratedDP

CAP = MixedCap.of(Fraction(1), delta=Fraction("1e-6"))

# Worked out with 50 digits apart from this code: the greatest B/a over all whole a.
ORDERS = [
    ("1", "1e-6", 22, 535831058),
    ("0.5", "1e-6", 40, 265660600),
    ("3", "1e-6", 9, 1665497288),
    ("1", "1e-8", 31, 533233371),
    ("0.1", "1e-5", 125, 54124012),
]


def pure(epsilon: str) -> PureDP:
    return PureDP(epsilon=Fraction(epsilon))


def concentrated(rho_nano: int) -> ZeroConcentratedDP:
    return ZeroConcentratedDP(rho=Fraction(rho_nano, NANO))


@pytest.mark.parametrize(("epsilon", "delta", "order", "budget"), ORDERS)
def test_a_cap_has_the_order_and_the_budget_of_the_oracle(epsilon, delta, order, budget):
    cap = MixedCap.of(Fraction(epsilon), delta=Fraction(delta))
    assert (cap.order, cap.budget) == (order, budget)


@pytest.mark.parametrize("epsilon", ["0.05", "1", "15"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-5", "0.3"])
def test_no_other_order_has_room_for_more_rho(epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    best = best_order(epsilon, delta=delta)
    found = {
        order: MixedCap(epsilon=epsilon, delta=delta, order=order).budget / order
        for order in range(2, 4 * best)
    }
    assert found[best] >= max(found.values()) - 1


@pytest.mark.parametrize(
    ("epsilon", "nano"),
    [("0.01", 1091624), ("0.1", 69956223), ("1", 985082777), ("5", 4999680222)],
)
def test_a_pure_event_is_charged_the_divergence_of_randomised_response(epsilon, nano):
    order, e = 22, float(Fraction(epsilon))
    both = (order - 0.5) * e, e / 2
    expected = (math.log(math.cosh(both[0])) - math.log(math.cosh(both[1]))) / (order - 1)
    found = charge(pure(epsilon), order=order)
    assert found.pure == e * NANO
    assert found.ordered == pytest.approx(expected * NANO, abs=2)
    assert found.ordered == nano


@pytest.mark.parametrize("epsilon", ["0.000000001", "0.003", "0.7", "12", "900"])
@pytest.mark.parametrize("order", [2, 9, 250])
def test_a_pure_charge_is_at_most_epsilon_and_at_most_that_of_its_rho(epsilon, order):
    loss = pure(epsilon)
    rho = ZeroConcentratedDP(rho=loss.epsilon**2 / 2)
    least = min(charge(loss, order=order).pure, charge(rho, order=order).ordered)
    assert 0 < charge(loss, order=order).ordered <= least


def test_charges_are_rounded_up_and_budgets_down():
    with decimal.localcontext(decimal.Context(prec=80)):
        for thousandths in range(1, 1500, 7):
            e = decimal.Decimal(thousandths) / 1000
            exact = ((22 * e).exp() + (-21 * e).exp()) / (1 + e.exp())
            found = charge(PureDP(epsilon=Fraction(thousandths, 1000)), order=22).ordered
            assert 0 <= found - exact.ln() / 21 * NANO < 1
            budget = (
                e
                - (
                    (21 * (1 - 1 / decimal.Decimal(22)).ln())
                    - decimal.Decimal(22).ln()
                    + 6 * decimal.Decimal(10).ln()
                )
                / 21
            )
            cap = MixedCap(epsilon=Fraction(thousandths, 1000), delta=Fraction("1e-6"), order=22)
            assert 0 <= budget * NANO - cap.budget < 1
    assert charge(concentrated(1000001), order=22).ordered == 22000022
    assert charge(ZeroConcentratedDP(rho=Fraction(1, 3 * NANO)), order=2).ordered == 1


@pytest.mark.parametrize(
    ("rate", "sigma", "nano"), [("0.01", "1", 6175536075), ("0.01", "2", 333485)]
)
def test_a_step_on_a_sample_is_charged_the_divergence_of_its_order(rate, sigma, nano):
    step = SampledSteps(rate=Fraction(rate), multiplier_squared=Fraction(sigma) ** 2, count=1)
    assert charge(step, order=22) == Lanes(pure=None, ordered=nano)


@pytest.mark.parametrize(("each", "count"), [("0.1", 10), ("0.01", 490)])
def test_as_many_pure_events_fit_as_the_better_lane_takes(each, count):
    one = charge(pure(each), order=CAP.order)
    assert CAP.admits(sum([one] * count, Lanes()))
    assert not CAP.admits(sum([one] * (count + 1), Lanes()))


@pytest.mark.parametrize(("before", "left"), [(["0.1"] * 5, 8456815), (["0.5"], 2654825)])
def test_what_pure_events_leave_goes_to_concentrated_ones_to_the_last_step(before, left):
    so_far = sum((charge(pure(each), order=CAP.order) for each in before), Lanes())
    assert CAP.admits(so_far + charge(concentrated(left), order=CAP.order))
    assert not CAP.admits(so_far + charge(concentrated(left + 1), order=CAP.order))


def test_a_full_concentrated_ledger_takes_no_pure_event():
    full = charge(concentrated(24063698), order=CAP.order)
    assert CAP.admits(full)
    assert not CAP.admits(full + charge(pure("1"), order=CAP.order))
    assert not CAP.admits(charge(pure("1"), order=CAP.order) + full)


def test_a_pure_ledger_is_used_to_its_last_step_whatever_the_order():
    whole = sum([charge(pure("0.25"), order=CAP.order)] * 4, Lanes())
    assert whole.ordered > CAP.budget
    assert CAP.admits(whole)
    assert not CAP.admits(whole + charge(pure("0.000000001"), order=CAP.order))


@pytest.mark.parametrize(("epsilon", "delta", "order", "budget"), ORDERS)
def test_a_ledger_of_rho_alone_loses_only_the_rounding_of_the_order(epsilon, delta, order, budget):
    converted = rho_for(Fraction(epsilon), delta=Fraction(delta))
    assert 1 - 1e-3 < Fraction(budget, order * NANO) / converted <= 1


def test_a_changed_cap_keeps_the_order_of_its_first_event():
    raised = CAP.changed(Fraction(3))
    assert (raised.order, raised.delta) == (22, CAP.delta)
    assert raised.budget - CAP.budget == 2 * NANO
    assert CAP.changed(Fraction("0.1")).budget < 0
    assert not CAP.changed(Fraction("0.1")).admits(charge(concentrated(1), order=22))
    assert CAP.changed(Fraction("0.1")).admits(charge(pure("0.1"), order=22))


def test_a_choice_is_charged_for_the_range_of_its_loss():
    assert choice_charge(pure("0.1"), order=22).ordered == 27500000
    assert choice_charge(pure("5"), order=22) == charge(pure("5"), order=22)


def test_the_least_cap_admits_and_one_step_less_does_not():
    study = [*[pure("0.1")] * 5, concentrated(10_000_000)]
    least = least_cap(study, delta=Fraction("1e-6"))

    def admits(epsilon: Fraction) -> bool:
        cap = MixedCap.of(epsilon, delta=Fraction("1e-6"))
        return cap.admits(sum((charge(each, order=cap.order) for each in study), Lanes()))

    assert admits(least)
    assert not admits(least - Fraction(1, NANO))
    assert least_cap([pure("0.4"), pure("0.6")], delta=Fraction("1e-6")) == 1


def test_what_is_no_loss_or_no_order_is_refused():
    with pytest.raises(InvalidParameterError, match="whole order"):
        charge(pure("1"), order=1)
    with pytest.raises(InvalidParameterError, match="δ of its own"):
        charge(ZeroConcentratedDP(rho=Fraction(1), delta=Fraction("1e-9")), order=2)
    with pytest.raises(InvalidParameterError, match="exact delta"):
        MixedCap.of(Fraction(1), delta=Fraction(0))
    with pytest.raises(InvalidParameterError, match="at least one loss"):
        least_cap([], delta=Fraction("1e-6"))
