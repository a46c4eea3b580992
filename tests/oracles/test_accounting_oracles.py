"""Published and closed-form numbers of accounting, as literals with their source.

Numerical accounting agrees to 1e-3, closed forms to the digits given.
"""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from confide.privacy.accounting.compose import advanced, compose, optimal
from confide.privacy.accounting.concentrated import epsilon_at, rho_for, simple_epsilon_at
from confide.privacy.accounting.one_release import GaussianUse, epsilon_of_release
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.odds import epsilon_for_odds, odds_factor, of_100_outputs, posterior_bound

pytestmark = pytest.mark.L4


@pytest.fixture
def accountant() -> None:
    pytest.importorskip("dp_accounting", reason="needs the extra: pip install '.[accounting]'")


# zCDP: simple ρ + 2√(ρ ln 1/δ); optimal: Canonne, Kamath, Steinke 2020, Cor. 13


@pytest.mark.parametrize(
    ("rho", "delta", "simple", "tight"),
    [
        ("0.005", "1e-5", 0.484853, 0.375261),
        ("0.1", "1e-5", 2.245966, 1.914239),
        ("0.1", "1e-6", 2.450788, 2.141939),
        ("0.5", "1e-5", 5.298526, 4.728387),
        ("1", "1e-6", 8.433844, 7.766217),
    ],
)
def test_concentrated_loss_reads_as_published(
    rho: str, delta: str, simple: float, tight: float
) -> None:
    loss = ZeroConcentratedDP(rho=Fraction(rho))
    assert simple_epsilon_at(loss, delta=Fraction(delta)) == pytest.approx(simple, abs=1e-6)
    assert epsilon_at(loss, delta=Fraction(delta)) == pytest.approx(tight, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "simple", "tight"),
    [("1", "1e-6", 0.01747, 0.02436), ("0.5", "1e-6", 0.00444, 0.00664)],
)
def test_epsilon_reads_as_rho(epsilon: str, delta: str, simple: float, tight: float) -> None:
    assert float(rho_for(Fraction(epsilon), delta=Fraction(delta))) == pytest.approx(
        tight, abs=5e-6
    )
    log_inverse = -math.log(float(delta))
    root = math.sqrt(log_inverse + float(epsilon)) - math.sqrt(log_inverse)
    assert root**2 == pytest.approx(simple, abs=5e-6)
    inverse = ZeroConcentratedDP(rho=Fraction(root**2))
    assert simple_epsilon_at(inverse, delta=Fraction(delta)) == pytest.approx(float(epsilon))


@pytest.mark.parametrize(("epsilon", "sigma"), [("0.5", 8.6767), ("1", 4.5309)])
def test_discrete_gaussian_is_billed_at_the_published_multiplier(
    epsilon: str, sigma: float
) -> None:
    rho = rho_for(Fraction(epsilon), delta=Fraction("1e-6"))
    assert math.ceil(1e4 / math.sqrt(2 * rho)) / 1e4 == sigma  # published rounded up


# The exact Gaussian curve: Balle and Wang 2018, computed at 40 digits; sensitivity 1


def discrete_gaussian_delta(sigma: float, *, epsilon: float) -> float:
    """δ at ε of discrete Gaussian noise on a count, by its sum over the integers."""
    weights = {x: math.exp(-(x**2) / (2 * sigma**2)) for x in range(-200, 202)}
    mass = math.fsum(weights.values())
    gaps = (weights[x] - math.exp(epsilon) * weights[x - 1] for x in range(-199, 202))
    return math.fsum(gap for gap in gaps if gap > 0) / mass


# Composition


@pytest.mark.parametrize(
    ("count", "basic", "textbook", "best"), [(10, 1, 1.767429, 1.0), (100, 10, 6.308231, 4.77457)]
)
def test_composition_of_tenths(count: int, basic: int, textbook: float, best: float) -> None:
    loss = PureDP(epsilon=Fraction("0.1"))
    delta = Fraction("1e-6")
    assert compose([loss] * count) == PureDP(epsilon=Fraction(basic))
    assert float(advanced([loss] * count, delta=delta).epsilon) == pytest.approx(textbook, abs=1e-6)
    # The published optimum at k = 10 is the next point of its grid; ours, between, is below it.
    bound = float(optimal(loss, count=count, delta=delta).epsilon)
    assert bound == pytest.approx(best, rel=1e-3)
    assert bound <= best + 1e-5


# Rényi: dp_accounting 0.6, rdp_privacy_accountant_test; Opacus 1.5 accountants' tests


# Loss distributions: dp_accounting 0.6, pld_privacy_accountant_test


# Worked examples


def test_odds_factors() -> None:
    assert odds_factor(PureDP(epsilon=Fraction("0.01"))) == pytest.approx(1.01005, abs=5e-6)
    assert odds_factor(PureDP(epsilon=Fraction(1))) == pytest.approx(2.71828, abs=5e-6)


def test_legal_cap_on_odds() -> None:
    loss = epsilon_for_odds(Fraction("1.5"))
    assert loss == PureDP(epsilon=Fraction(405465108, 10**9))
    assert float(loss.epsilon) == pytest.approx(0.405465, abs=5e-7)


def test_coin_flip_survey_is_ln_three() -> None:
    factor = Fraction(3, 4) / Fraction(1, 4)  # yes given yes against yes given no
    assert float(epsilon_for_odds(factor).epsilon) == pytest.approx(math.log(3), abs=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "posterior"), [("0.5", "0.017"), ("1", "0.027"), ("2", "0.070")]
)
def test_posterior_from_one_percent_rounded_up(epsilon: str, posterior: str) -> None:
    loss = PureDP(epsilon=Fraction(epsilon))
    assert posterior_bound(loss, prior=Fraction("0.01")) == Decimal(posterior)


@pytest.mark.parametrize(("epsilon", "wrong"), [("0.5", 38), ("1", 27), ("2", 12)])
def test_of_100_outputs(epsilon: str, wrong: int) -> None:
    assert of_100_outputs(PureDP(epsilon=Fraction(epsilon))) == (wrong, 100 - wrong)


def test_of_100_outputs_at_the_legal_cap() -> None:
    assert of_100_outputs(epsilon_for_odds(Fraction("1.5"))) == (40, 60)


# One release by itself, from the laws of its noise: dp_accounting 0.6,
# from_discrete_gaussian_mechanism(sigma, ...).self_compose(count).get_epsilon_for_delta(delta)


@pytest.mark.parametrize(("sigma", "count"), [(1.0, 1), (4.5, 1), (2.5, 3), (12.0, 8), (14.5, 10)])
@pytest.mark.parametrize("delta", [1e-5, 1e-8])
def test_epsilon_of_one_release_is_that_of_its_privacy_loss_distribution(
    sigma: float, count: int, delta: float, accountant: None
) -> None:
    from dp_accounting.pld.privacy_loss_distribution import from_discrete_gaussian_mechanism

    exact = Fraction(sigma) ** 2
    use = GaussianUse(l1=1, l2_squared=1, sigma_squared=exact, count=count)
    most = epsilon_at(ZeroConcentratedDP(rho=count / (2 * exact)), delta=Fraction(str(delta)))
    found = epsilon_of_release([use], delta=Fraction(str(delta)), at_most=Fraction(most))
    low, high = (
        from_discrete_gaussian_mechanism(
            sigma, value_discretization_interval=1e-4, pessimistic_estimate=pessimistic
        )
        .self_compose(count)
        .get_epsilon_for_delta(delta)
        for pessimistic in (False, True)
    )
    assert low - 1e-6 <= found <= high + 1e-6
    assert found < 0.99 * most
