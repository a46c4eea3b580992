"""Checks that the accounting suite and its mutants share: each takes the implementation to judge.

A mutant test hands in a broken implementation and asserts that the check fails; the real suite
hands in ours and asserts that it passes.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from confide.noise.gaussian import gaussian_delta
from confide.privacy.accounting.renyi import RenyiCurve
from confide.privacy.loss import PrivacyLoss, PureDP, ZeroConcentratedDP

RHOS = tuple(Fraction(n, 10_000) for n in (1, 50, 1000, 5000, 10_000, 80_000))
DELTAS = tuple(Fraction(1, 10**n) for n in (2, 5, 6, 9, 12))


def exact_epsilon(rho: Fraction, *, delta: Fraction, digits: int = 60) -> Decimal:
    """Corollary 13 at the best α, by ternary search in 60-digit decimals."""
    with localcontext(prec=digits):
        r = Decimal(rho.numerator) / rho.denominator
        log_inverse = -(Decimal(delta.numerator) / delta.denominator).ln()

        def bound(excess: Decimal) -> Decimal:
            alpha = 1 + excess
            return alpha * r + (log_inverse - alpha.ln()) / excess + (1 - 1 / alpha).ln()

        low, high = Decimal("1e-9"), (log_inverse / r).sqrt() + 1
        for _ in range(160):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if bound(left) < bound(right) else (left, high)
        return max(Decimal(0), bound((low + high) / 2))


def check_claimed_epsilon_is_true(
    epsilon_at: Callable[[ZeroConcentratedDP, Fraction], float],
) -> None:
    """No claimed ε is below Corollary 13's infimum, and each is within 1e-12 of it."""
    for rho, delta in itertools.product(RHOS, DELTAS):
        claimed = Decimal(epsilon_at(ZeroConcentratedDP(rho=rho), delta))
        exact = exact_epsilon(rho, delta=delta)
        assert exact <= claimed, (rho, delta)
        assert claimed <= exact + Decimal("1e-12"), (rho, delta)


def check_claim_covers_gaussian_noise(
    epsilon_at: Callable[[ZeroConcentratedDP, Fraction], float],
) -> None:
    """The Gaussian of ρ = 1/(2σ²) has, at the claimed ε, at most the claimed δ."""
    for rho, delta in itertools.product(RHOS, DELTAS):
        claimed = epsilon_at(ZeroConcentratedDP(rho=rho), delta)
        multiplier = 1 / math.sqrt(2 * float(rho))
        assert gaussian_delta(multiplier, epsilon=claimed) <= delta, (rho, delta)


def check_delta_already_spent_is_subtracted(
    epsilon_at: Callable[[ZeroConcentratedDP, Fraction], float],
) -> None:
    """With δ₀ spent, ε at δ is at least ε at the rest δ − δ₀."""
    spent, delta = Fraction("9e-7"), Fraction("1e-6")
    approximate = ZeroConcentratedDP(rho=Fraction("0.1"), delta=spent)
    rest = epsilon_at(ZeroConcentratedDP(rho=Fraction("0.1")), delta - spent)
    assert epsilon_at(approximate, delta) >= rest


def check_rho_covers_curve(rho: Fraction, *, curve: RenyiCurve) -> None:
    """ρ-zCDP means a divergence of at most ρα at every order."""
    for alpha in (1.001, 1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 50.0, 200.0):
        assert curve(alpha) <= float(rho) * alpha * (1 + 1e-9), alpha


def check_repeated_releases_add_up(
    compose: Callable[[Sequence[PrivacyLoss]], PrivacyLoss],
) -> None:
    """k releases cost k losses."""
    loss = PureDP(epsilon=Fraction("0.1"))
    for count in (1, 2, 7):
        assert compose([loss] * count) == PureDP(epsilon=count * Fraction("0.1"))


def check_odds_cap_is_exact(epsilon_for: Callable[[Fraction], Fraction]) -> None:
    """e^ε ≤ cap in real numbers, and 1e-9 more would pass it."""
    for factor in (Fraction("1.5"), Fraction(3), Fraction("1.0001"), Fraction(11, 10), Fraction(7)):
        epsilon = epsilon_for(factor)
        with localcontext(prec=80):
            limit = (Decimal(factor.numerator) / factor.denominator).ln()
            exact = Decimal(epsilon.numerator) / epsilon.denominator
            assert exact <= limit, factor
            assert exact + Decimal("1e-9") > limit, factor
