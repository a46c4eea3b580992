from fractions import Fraction

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.accounting.calibrate import (
    concentrated_for,
    exponential_within,
    on_grid,
    pure_within,
)
from confide.privacy.accounting.concentrated import epsilon_at, exponential_to_zcdp, pure_to_zcdp
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

STEP = Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (PureDP(epsilon=Fraction(1, 3)), PureDP(epsilon=Fraction(333_333_333, 10**9))),
        (
            ApproxDP(epsilon=Fraction(2, 3), delta=Fraction(2, 3 * 10**6)),
            ApproxDP(epsilon=Fraction(666_666_666, 10**9), delta=Fraction(666_666_666_666, 10**18)),
        ),
        (
            ZeroConcentratedDP(rho=Fraction(1, 7)),
            ZeroConcentratedDP(rho=Fraction(142857142, 10**9)),
        ),
    ],
)
def test_losses_are_rounded_down_to_the_grid(loss: PrivacyLoss, expected: PrivacyLoss) -> None:
    assert on_grid(loss) == expected
    assert on_grid(expected) == expected


def test_concentrated_cap_reads_as_the_target_or_less_and_one_step_more_does_not() -> None:
    target = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6"))
    reserved = Fraction("3e-7")
    cap = concentrated_for(target, reserved_delta=reserved)
    assert cap.delta == reserved
    assert Fraction(epsilon_at(cap, delta=target.delta)) <= target.epsilon
    above = ZeroConcentratedDP(rho=cap.rho + STEP, delta=reserved)
    assert Fraction(epsilon_at(above, delta=target.delta)) > target.epsilon


@pytest.mark.parametrize("reserved", [Fraction("1e-6"), Fraction(1, 2), Fraction(-1)])
def test_a_reserve_that_leaves_no_delta_is_refused(reserved: Fraction) -> None:
    target = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6"))
    with pytest.raises(InvalidParameterError, match="Expected 0 ≤ reserved_delta"):
        concentrated_for(target, reserved_delta=reserved)


@pytest.mark.parametrize("rho", [STEP, Fraction(1, 3), Fraction("0.005"), Fraction(2)])
def test_the_epsilon_of_a_share_is_the_largest_whose_rho_fits_it(rho: Fraction) -> None:
    share = ZeroConcentratedDP(rho=rho)
    for within, cost in ((pure_within, pure_to_zcdp), (exponential_within, exponential_to_zcdp)):
        epsilon = within(share).epsilon
        assert cost(PureDP(epsilon=epsilon)).rho <= rho
        assert cost(PureDP(epsilon=epsilon + STEP)).rho > rho


def test_a_share_too_small_for_any_epsilon_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="Expected a rho that allows"):
        pure_within(ZeroConcentratedDP(rho=Fraction(1, 10**20)))
