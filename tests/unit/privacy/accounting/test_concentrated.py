import math
import subprocess
import sys
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from accounting_checks import (
    check_claim_covers_gaussian_noise,
    check_claimed_epsilon_is_true,
    check_delta_already_spent_is_subtracted,
    check_rho_covers_curve,
)
from confide.errors import InvalidParameterError
from confide.privacy.accounting.concentrated import (
    epsilon_at,
    epsilon_beside,
    pure_to_zcdp,
    pure_within,
    rho_for,
    simple_epsilon_at,
)
from confide.privacy.accounting.renyi import pure_curve
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from exact_losses import laplace_curve

STEP = Fraction(1, 10**9)


def test_claimed_epsilon_is_never_below_the_corollary_and_within_1e_12_of_it() -> None:
    check_claimed_epsilon_is_true(lambda loss, delta: epsilon_at(loss, delta=delta))


def test_claimed_epsilon_covers_gaussian_noise() -> None:
    check_claim_covers_gaussian_noise(lambda loss, delta: epsilon_at(loss, delta=delta))


def test_delta_that_approximate_releases_spent_is_subtracted() -> None:
    check_delta_already_spent_is_subtracted(lambda loss, delta: epsilon_at(loss, delta=delta))


@pytest.mark.parametrize("exponent", range(3, 19))
def test_a_delta_that_is_wholly_spent_is_refused_whatever_its_float_rounding(exponent: int) -> None:
    spent = Fraction(1, 10**exponent)
    with pytest.raises(InvalidParameterError, match="Expected an exact delta in"):
        epsilon_at(ZeroConcentratedDP(rho=Fraction(1), delta=spent), delta=spent)


def test_simple_conversion_is_never_below_the_tight_one() -> None:
    for exponent in range(-8, 3):
        loss = ZeroConcentratedDP(rho=Fraction(10) ** exponent)
        delta = Fraction("1e-6")
        assert epsilon_at(loss, delta=delta) < simple_epsilon_at(loss, delta=delta)


@pytest.mark.parametrize("exponent", range(-9, 4))
@pytest.mark.parametrize("delta", ["0.5", "1e-6", "1e-100"])
def test_simple_conversion_is_its_formula_rounded_up(exponent: int, delta: str) -> None:
    loss = ZeroConcentratedDP(rho=Fraction(10) ** exponent / 3)
    with localcontext(prec=50):
        rho = Decimal(loss.rho.numerator) / loss.rho.denominator
        exact = rho + 2 * (rho * -Decimal(delta).ln()).sqrt()
        claimed = Decimal(simple_epsilon_at(loss, delta=Fraction(delta)))
        assert exact <= claimed <= exact * (1 + Decimal("1e-14"))


@pytest.mark.parametrize("steps", [1, 2, 3, 1000, 10**9])
@pytest.mark.parametrize("delta", ["1e-6", "1e-12"])
def test_an_epsilon_read_back_is_the_rho_that_it_was_read_from(steps: int, delta: str) -> None:
    epsilon = epsilon_at(ZeroConcentratedDP(rho=steps * STEP), delta=Fraction(delta))
    assert rho_for(Fraction(epsilon), delta=Fraction(delta)) == steps * STEP


def test_no_rho_is_given_for_no_epsilon_however_large_the_delta() -> None:
    assert epsilon_at(ZeroConcentratedDP(rho=STEP), delta=Fraction(9, 10)) == 0
    with pytest.raises(InvalidParameterError, match="Expected an epsilon that some rho"):
        rho_for(Fraction(0), delta=Fraction(9, 10))


@pytest.mark.parametrize("rho", ["0.005", "1e-9", "1", "0.3333333", "5e-19"])
def test_pure_noise_within_a_rho_is_the_largest_step_whose_half_square_it_holds(rho: str) -> None:
    epsilon = pure_within(ZeroConcentratedDP(rho=Fraction(rho))).epsilon
    assert (epsilon / STEP).denominator == 1
    assert epsilon**2 / 2 <= Fraction(rho) < (epsilon + STEP) ** 2 / 2


def test_a_rho_that_holds_no_step_of_pure_noise_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="Expected a rho that allows"):
        pure_within(ZeroConcentratedDP(rho=Fraction("4.9e-19")))


def test_the_least_delta_is_one_that_floats_hold_in_full() -> None:
    loss, least = ZeroConcentratedDP(rho=Fraction("0.1")), Fraction(1, 10**300)
    assert epsilon_at(loss, delta=least) > 16
    with pytest.raises(InvalidParameterError, match="Expected an exact delta in"):
        epsilon_at(loss, delta=least - least / 1000)


def test_an_epsilon_stands_beside_a_rho_with_three_digits() -> None:
    assert epsilon_beside(Fraction("0.1"), delta=Fraction("1e-6")) == "2.14"
    assert epsilon_beside(Fraction(0), delta=Fraction("1e-6")) == "0"
    assert epsilon_beside(STEP, delta=Fraction("1e-6")) == "8.95e-05"


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "1", "3", "10"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_rho_for_is_the_largest_step_that_meets_epsilon(epsilon: str, delta: str) -> None:
    target, at = Fraction(epsilon), Fraction(delta)
    rho = rho_for(target, delta=at)
    assert rho % STEP == 0
    assert Fraction(epsilon_at(ZeroConcentratedDP(rho=rho), delta=at)) <= target
    assert Fraction(epsilon_at(ZeroConcentratedDP(rho=rho + STEP), delta=at)) > target


def test_every_pure_mechanism_is_covered_by_half_its_square() -> None:
    for epsilon in (0.1, 1.0, 4.0):
        rho = pure_to_zcdp(PureDP(epsilon=Fraction(epsilon))).rho
        check_rho_covers_curve(rho, curve=pure_curve(epsilon))
        check_rho_covers_curve(rho, curve=laplace_curve(1 / epsilon))


def test_exponential_mechanism_of_bounded_range_is_covered_by_an_eighth() -> None:
    # The worst mechanism of range ε: log-ratios t and t − ε for every t in [0, ε]
    for epsilon in (0.2, 1.0, 3.0):
        rho = epsilon**2 / 8
        for step in range(1, 20):
            high = epsilon * step / 20
            low = high - epsilon
            # q: P′-mass of the outcome with ratio e^high, from Σ P = 1
            q = -math.expm1(low) / (math.exp(high) - math.exp(low))
            for alpha in (1.01, 2.0, 10.0):
                moment = q * math.exp(alpha * high) + (1 - q) * math.exp(alpha * low)
                assert math.log(moment) / (alpha - 1) <= alpha * rho * (1 + 1e-9)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1), Fraction("1e-9"), 1e-6])
def test_a_delta_outside_its_domain_is_refused(delta: Fraction) -> None:
    loss = ZeroConcentratedDP(rho=Fraction(1), delta=Fraction("1e-9"))
    for convert in (epsilon_at, simple_epsilon_at):
        with pytest.raises(InvalidParameterError, match="Expected an exact delta in"):
            convert(loss, delta=delta)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), Fraction(1, 10**12)])
def test_an_epsilon_that_no_rho_meets_is_refused(epsilon: Fraction) -> None:
    with pytest.raises(InvalidParameterError, match="Expected an epsilon that some rho"):
        rho_for(epsilon, delta=Fraction("1e-6"))


@pytest.mark.parametrize("rho", [Fraction(1, 10**12), Fraction(10**6)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**300), Fraction(1, 2), 1 - Fraction(1, 10**12)])
def test_extreme_losses_give_finite_bounds(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_at(ZeroConcentratedDP(rho=rho), delta=delta)
    assert 0 <= epsilon <= simple_epsilon_at(ZeroConcentratedDP(rho=rho), delta=delta) * (1 + 1e-9)


def test_a_conversion_takes_less_than_a_millisecond() -> None:
    loss, delta = ZeroConcentratedDP(rho=Fraction("0.1")), Fraction("1e-6")

    def once() -> float:
        start = time.perf_counter()
        epsilon_at(loss, delta=delta)
        return time.perf_counter() - start

    assert min(once() for _ in range(20)) < 1e-3


def test_importing_it_brings_neither_scipy_nor_dp_accounting_nor_numpy() -> None:
    code = (
        "import sys, confide.privacy.accounting.concentrated as c\n"
        "heavy = {'scipy', 'dp_accounting', 'numpy'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) if heavy else 0)"
    )
    source = [path for path in sys.path if path]
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {source!r}\n{code}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
