import math
from decimal import Decimal
from fractions import Fraction

import pytest

from accounting_checks import check_odds_cap_is_exact
from confide.errors import InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.odds import (
    concentrated_advantage,
    epsilon_for_odds,
    membership_advantage,
    odds_factor,
    of_100_outputs,
    posterior_bound,
    true_positive_bound,
)

HALF = PureDP(epsilon=Fraction(1, 2))


def test_odds_cap_is_the_largest_epsilon_whose_exact_odds_stay_within_it() -> None:
    check_odds_cap_is_exact(lambda factor: epsilon_for_odds(factor).epsilon)


@pytest.mark.parametrize(
    "factor", [Fraction(1), Fraction(1, 2), Fraction(-1), 1 + Fraction(1, 10**10)]
)
def test_an_odds_cap_that_forbids_everything_is_refused(factor: Fraction) -> None:
    with pytest.raises(InvalidParameterError, match="Expected an odds factor > 1"):
        epsilon_for_odds(factor)


def test_the_least_odds_cap_allows_one_step() -> None:
    assert epsilon_for_odds(1 + Fraction("1.5e-9")) == PureDP(epsilon=Fraction("1e-9"))


def test_odds_factor_is_rounded_up() -> None:
    factor = odds_factor(HALF)
    assert factor == pytest.approx(math.exp(0.5), rel=1e-15)
    assert Decimal(factor) >= Decimal("0.5").exp()


def test_posterior_of_certainty_stays_certain() -> None:
    assert posterior_bound(HALF, prior=Fraction(0)) == 0
    assert posterior_bound(HALF, prior=Fraction(1)) == 1


def test_posterior_is_rounded_up_at_the_asked_digits() -> None:
    exact = 0.01 * math.exp(0.5) / (1 + 0.01 * math.expm1(0.5))
    assert posterior_bound(HALF, prior=Fraction("0.01"), digits=6) == Decimal("0.016381")
    assert 0 <= float(posterior_bound(HALF, prior=Fraction("0.01"), digits=6)) - exact < 1e-6


def test_posterior_is_computed_up_to_epsilon_700_and_is_1_beyond() -> None:
    slight = Fraction(1, 10**310)
    assert posterior_bound(PureDP(epsilon=Fraction(700)), prior=slight) == Decimal("0.001")
    assert posterior_bound(PureDP(epsilon=Fraction(701)), prior=slight) == 1


@pytest.mark.parametrize("prior", [Fraction(-1, 2), Fraction(3, 2), 0.5])
def test_a_prior_that_is_no_exact_probability_is_refused(prior: Fraction) -> None:
    with pytest.raises(InvalidParameterError, match="Expected prior as an exact Fraction"):
        posterior_bound(HALF, prior=prior)


def test_the_two_counts_of_100_outputs_add_up() -> None:
    for tenths in range(1, 60):
        wrong, right = of_100_outputs(PureDP(epsilon=Fraction(tenths, 10)))
        assert wrong + right == 100
        assert abs(right - 100 / (1 + math.exp(-tenths / 10))) <= 0.5


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "5", "30"])
def test_membership_advantage_is_tanh_of_half_epsilon(epsilon: str) -> None:
    loss = PureDP(epsilon=Fraction(epsilon))
    assert membership_advantage(loss) == pytest.approx(math.tanh(float(epsilon) / 2), rel=1e-12)


def test_membership_advantage_is_the_largest_gap_of_the_true_positive_bound() -> None:
    loss = ApproxDP(epsilon=Fraction(1), delta=Fraction("0.05"))
    gaps = [
        true_positive_bound(loss, false_positive_rate=Fraction(n, 2000)) - n / 2000
        for n in range(2001)
    ]
    assert max(gaps) == pytest.approx(membership_advantage(loss), abs=1e-3)
    assert max(gaps) <= membership_advantage(loss)


def test_true_positive_bound_is_between_the_false_positive_rate_and_one() -> None:
    loss = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6"))
    for rate in (Fraction(0), Fraction("0.01"), Fraction("0.5"), Fraction(1)):
        assert rate <= true_positive_bound(loss, false_positive_rate=rate) <= 1
    exact = math.e * 0.01 + 1e-6
    bound = true_positive_bound(loss, false_positive_rate=Fraction("0.01"))
    assert bound == pytest.approx(exact, rel=1e-12)


def test_a_mechanism_that_prints_the_data_with_probability_p_has_advantage_p() -> None:
    loss = ApproxDP(epsilon=Fraction(0), delta=Fraction("0.25"))
    assert membership_advantage(loss) == 0.25


def test_an_absurd_epsilon_is_refused_not_overflowed() -> None:
    with pytest.raises(InvalidParameterError, match="Expected epsilon ≤ 700"):
        odds_factor(PureDP(epsilon=Fraction(701)))


@pytest.mark.parametrize("loss", [HALF, ApproxDP(epsilon=Fraction(1), delta=Fraction("0.05"))])
def test_true_positive_bound_is_the_lesser_of_two_lines_rounded_up(loss) -> None:
    factor = math.exp(loss.epsilon)
    delta = float(getattr(loss, "delta", 0))
    for n in range(101):
        rate = n / 100
        exact = min(factor * rate + delta, 1 - (1 - delta - rate) / factor, 1)
        bound = true_positive_bound(loss, false_positive_rate=Fraction(n, 100))
        assert bound == pytest.approx(exact, rel=1e-12)
    with pytest.raises(InvalidParameterError, match="Expected false_positive_rate as an exact"):
        true_positive_bound(loss, false_positive_rate=Fraction(-1, 100))


def test_membership_advantage_with_a_delta_is_its_closed_form() -> None:
    loss = ApproxDP(epsilon=Fraction(1), delta=Fraction("0.05"))
    exact = (math.e - 1 + 0.1) / (math.e + 1)
    assert membership_advantage(loss) == pytest.approx(exact, rel=1e-14)
    assert membership_advantage(ApproxDP(epsilon=Fraction(0), delta=Fraction(0))) == 0


@pytest.mark.parametrize("rho", ["1/200", "1/8", "1/2", "2", "8"])
def test_no_test_of_a_concentrated_release_passes_its_advantage(rho: str) -> None:
    """Gaussian noise and randomised response, whose best tests are known exactly."""
    loss = ZeroConcentratedDP(rho=Fraction(rho))
    noise, shift = DiscreteGaussian.calibrate(loss, l2_squared=8**2), 8
    apart = noise.cdf(shift // 2) - noise.cdf(-shift // 2 - 1)  # outputs nearer to 0 than to 8
    apart -= (noise.pmf(shift // 2) + noise.pmf(-shift // 2)) / 2
    coin = math.tanh(math.sqrt(2 * float(loss.rho)) / 2)  # ε²/2-zCDP, of advantage tanh(ε/2)
    bound = concentrated_advantage(loss)
    assert max(apart, coin) <= bound < 1
    assert bound < 1.01 * coin or loss.rho > Fraction(1, 100), "tight where losses are small"


def test_an_excluded_event_adds_to_a_concentrated_advantage() -> None:
    rho, delta = Fraction(1, 8), Fraction(1, 100)
    excluded = concentrated_advantage(ZeroConcentratedDP(rho=rho, delta=delta))
    assert excluded == pytest.approx(0.26)
    assert excluded >= concentrated_advantage(ZeroConcentratedDP(rho=rho)) + 0.01
