"""Broken accountants that the suite must catch: each fails the very check that ours passes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from accounting_checks import (
    check_claim_covers_gaussian_noise,
    check_claimed_epsilon_is_true,
    check_delta_already_spent_is_subtracted,
    check_odds_cap_is_exact,
    check_repeated_releases_add_up,
    check_rho_covers_curve,
)
from confide.noise.set_selection import SetSelection
from confide.plans.events import PrivacyEvent
from confide.privacy.accounting.concentrated import epsilon_at, pure_to_zcdp
from confide.privacy.accounting.renyi import RenyiCurve
from confide.privacy.loss import PrivacyLoss, PureDP, ZeroConcentratedDP
from exact_losses import laplace_curve

pytestmark = pytest.mark.mutant


def test_k_releases_charged_once() -> None:
    def broken(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
        return losses[0]

    with pytest.raises(AssertionError):
        check_repeated_releases_add_up(broken)


def test_epsilon_rounded_down_by_one_part_in_a_billion() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        return epsilon_at(loss, delta=delta) * (1 - 1e-9)

    with pytest.raises(AssertionError):
        check_claimed_epsilon_is_true(broken)


def test_simple_conversion_without_its_factor_two() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        rho, log_inverse = float(loss.rho), -math.log(delta)
        return rho + math.sqrt(rho * log_inverse)  # the 2 forgotten

    with pytest.raises(AssertionError):
        check_claim_covers_gaussian_noise(broken)
    with pytest.raises(AssertionError):
        check_claimed_epsilon_is_true(broken)


def test_sigma_in_place_of_sigma_squared() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        sigma_squared = 1 / (2 * loss.rho)
        mistaken = ZeroConcentratedDP(rho=1 / (2 * sigma_squared**2))
        return epsilon_at(mistaken, delta=delta)

    with pytest.raises(AssertionError):
        check_claim_covers_gaussian_noise(broken)


def test_delta_of_approximate_releases_forgotten() -> None:
    def broken(loss: ZeroConcentratedDP, delta: Fraction) -> float:
        return epsilon_at(replace(loss, delta=Fraction(0)), delta=delta)

    with pytest.raises(AssertionError):
        check_delta_already_spent_is_subtracted(broken)


def permute_and_flip_curve(epsilon: float) -> RenyiCurve:
    """Its curve for two candidates: tied in one world, two apart in the neighbouring one.

    One candidate gains 1 and the other loses 1, so the loser is taken only if it is drawn first
    (1/2) and then kept (e^{−ε}).
    """
    loser = math.exp(-epsilon) / 2
    worlds = ((0.5, 1 - loser), (0.5, loser))

    def curve(alpha: float) -> float:
        moments = (
            sum(p**alpha * q ** (1 - alpha) for p, q in worlds),
            sum(q**alpha * p ** (1 - alpha) for p, q in worlds),
        )
        return math.log(max(moments)) / (alpha - 1)

    return curve


def rho_of_choice(epsilon: Fraction) -> Fraction:
    """What a plan is charged for a choice of one of two at ε."""
    choice = SetSelection(epsilon=epsilon, reach=1, size=1, candidates=2)
    return PrivacyEvent(mechanism=choice, l1=1, l2_squared=1, set_reach=1).rho()


def test_permute_and_flip_billed_as_the_exponential_mechanism() -> None:
    for epsilon in (Fraction("0.1"), Fraction(1), Fraction(2)):
        curve = permute_and_flip_curve(float(epsilon))
        with pytest.raises(AssertionError):
            check_rho_covers_curve(rho_of_choice(epsilon), curve=curve)
        check_rho_covers_curve(pure_to_zcdp(PureDP(epsilon=epsilon)).rho, curve=curve)


def test_laplace_billed_as_the_exponential_mechanism() -> None:
    for epsilon in (Fraction("0.1"), Fraction(1), Fraction(4)):
        rho = rho_of_choice(epsilon)
        with pytest.raises(AssertionError):
            check_rho_covers_curve(rho, curve=laplace_curve(1 / float(epsilon)))


def test_odds_cap_rounded_to_the_nearest_step() -> None:
    def broken(factor: Fraction) -> Fraction:
        return Fraction(round(math.log(factor) * 10**9), 10**9)

    with pytest.raises(AssertionError):
        check_odds_cap_is_exact(broken)
