"""Published and closed-form numbers of accounting, as literals with their source.

Numerical accounting agrees to 1e-3, closed forms to the digits given.
"""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.accounting.compose import advanced, compose, optimal
from confide.privacy.accounting.concentrated import epsilon_at, rho_for, simple_epsilon_at
from confide.privacy.accounting.events import (
    DeclaredBatch,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampled,
    PureEvent,
    Repeated,
)
from confide.privacy.accounting.filters import AdaptiveFilter
from confide.privacy.accounting.gaussian_dp import (
    classical_noise_multiplier,
    delta_at,
    epsilon_for,
    noise_multiplier_for,
)
from confide.privacy.accounting.numerical import (
    basic_epsilon,
    loss_distribution_delta,
    loss_distribution_epsilon,
    renyi_divergences,
    renyi_epsilon,
)
from confide.privacy.accounting.renyi import gaussian_curve, improved_epsilon, textbook_epsilon
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.odds import (
    epsilon_for_odds,
    gaussian_advantage,
    odds_factor,
    of_100_outputs,
    posterior_bound,
)

pytestmark = pytest.mark.L4


@pytest.fixture
def accountant() -> None:
    pytest.importorskip("dp_accounting", reason="needs the extra: pip install '.[accounting]'")


def declared(event: Event) -> DeclaredBatch:
    return DeclaredBatch(events=(event,), plan="9f2c")


def sampled_gaussian(q: str, *, sigma: str, steps: int) -> Event:
    gaussian = GaussianEvent(noise_multiplier=Fraction(sigma))
    sampled = PoissonSampled(probability=Fraction(q), event=gaussian)
    return Repeated(event=gaussian if q == "1" else sampled, count=steps)


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


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (0.1, 1e-5, 30.749566132),
        (0.405, 1e-5, 8.53173492508),
        (0.5, 1e-6, 8.05761848073),
        (1, 1e-5, 3.73063163482),
        (2, 1e-6, 2.23047627119),
        (4, 1e-5, 1.08116184952),
        (10, 1e-5, 0.499888619709),
    ],
)
def test_analytic_gaussian_sigma(epsilon: float, delta: float, sigma: float) -> None:
    assert noise_multiplier_for(epsilon, delta=delta) == pytest.approx(sigma, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 0.382924922548), (0.5, 0.238421708135), (1, 0.126936737507), (2, 0.0209236358211)],
)
def test_profile_of_sigma_one(epsilon: float, delta: float) -> None:
    assert delta_at(epsilon, noise_multiplier=1.0) == pytest.approx(delta, rel=1e-9)


def test_advantage_of_one_gaussian_is_the_profile_at_zero() -> None:
    assert gaussian_advantage(1.0) == pytest.approx(0.382924922548, rel=1e-9)


@pytest.mark.parametrize(
    ("sigma", "l2", "epsilon", "delta"),
    [
        (10, 1, 0.1, 0.00875176814581),
        (10, 5, 1.0986122886681098, 0.004159742234000802),
        (0.5, 1, 0, 0.6826894921370859),
    ],
)
def test_profiles_of_the_google_go_library(
    sigma: float, l2: float, epsilon: float, delta: float
) -> None:
    assert delta_at(epsilon, noise_multiplier=sigma / l2) == pytest.approx(delta, rel=1e-9)


def test_classical_sigma_is_private_at_one_and_not_at_ten() -> None:
    assert classical_noise_multiplier(1, delta=1e-5) == pytest.approx(4.844805263, rel=1e-9)
    assert delta_at(1, noise_multiplier=4.844805263) == pytest.approx(4.114e-8, rel=2e-4)
    assert delta_at(10, noise_multiplier=0.4844805263) == pytest.approx(2.265e-5, rel=3e-4)
    with pytest.raises(InvalidParameterError, match="0 < epsilon ≤ 1"):
        classical_noise_multiplier(10, delta=1e-5)


def test_blood_pressure_mean_of_5000_patients() -> None:
    sensitivity = (200 - 80) / 5000
    assert sensitivity == 0.024
    classical = sensitivity * classical_noise_multiplier(0.5, delta=1e-6)
    assert classical == pytest.approx(0.25434252, abs=1e-8)
    analytic = sensitivity * noise_multiplier_for(0.5, delta=1e-6)
    assert analytic == pytest.approx(0.19338284, abs=1e-8)


def discrete_gaussian_delta(sigma: float, *, epsilon: float) -> float:
    """δ at ε of discrete Gaussian noise on a count, by its sum over the integers."""
    weights = {x: math.exp(-(x**2) / (2 * sigma**2)) for x in range(-200, 202)}
    mass = math.fsum(weights.values())
    gaps = (weights[x] - math.exp(epsilon) * weights[x - 1] for x in range(-199, 202))
    return math.fsum(gap for gap in gaps if gap > 0) / mass


def test_discrete_gaussian_at_the_analytic_sigma_is_not_private_and_ours_is() -> None:
    broken = noise_multiplier_for(2.0, delta=1e-6)
    assert discrete_gaussian_delta(broken, epsilon=2.0) == pytest.approx(1.10e-6, rel=5e-3)
    rho = rho_for(Fraction(2), delta=Fraction("1e-6"))
    billed = 1 / math.sqrt(2 * rho)
    assert discrete_gaussian_delta(billed, epsilon=2.0) <= 1e-6


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


@pytest.mark.usefixtures("accountant")
@pytest.mark.parametrize(("count", "expected"), [(10, 0.99898), (100, 4.69267)])
def test_loss_distribution_of_laplace_tenths(count: int, expected: float) -> None:
    event = Repeated(event=LaplaceEvent(noise_multiplier=Fraction(10)), count=count)
    epsilon = loss_distribution_epsilon(declared(event), delta=Fraction("1e-6"))
    assert epsilon == pytest.approx(expected, rel=1e-3)


@pytest.mark.usefixtures("accountant")
@pytest.mark.parametrize("count", [10, 100])
def test_loss_distribution_of_pure_tenths_is_the_optimal_composition(count: int) -> None:
    event = Repeated(event=PureEvent(epsilon=Fraction("0.1")), count=count)
    ours = optimal(PureDP(epsilon=Fraction("0.1")), count=count, delta=Fraction("1e-6"))
    theirs = loss_distribution_epsilon(declared(event), delta=Fraction("1e-6"))
    assert theirs == pytest.approx(float(ours.epsilon), rel=1e-6)


def test_fully_adaptive_filter_at_a_hundred_tenths() -> None:
    cap = ApproxDP(epsilon=Fraction(6), delta=Fraction("1e-6"))
    spent = AdaptiveFilter(cap=cap, slack=Fraction("1e-6"))
    for _ in range(100):
        spent = spent.after(PureDP(epsilon=Fraction("0.1")))
    assert float(spent.epsilon) == pytest.approx(5.757, abs=5e-4)


# Rényi: dp_accounting 0.6, rdp_privacy_accountant_test; Opacus 1.5 accountants' tests


@pytest.mark.usefixtures("accountant")
def test_divergences_of_the_sampled_gaussian() -> None:
    event = sampled_gaussian("0.01", sigma="2.5", steps=50)
    divergences = renyi_divergences([event], orders=(1.5, 2.5, 5, 50, 100))
    published = (0.000670579741, 0.0010854871, 0.00218075656, 0.0238460375, 167.416308)
    assert divergences == pytest.approx(published, rel=1e-8)


@pytest.mark.usefixtures("accountant")
def test_renyi_reading_of_one_gaussian_and_its_exact_epsilon() -> None:
    event = GaussianEvent(noise_multiplier=Fraction("4.530877117"))
    assert renyi_epsilon([event], delta=Fraction("1e-6")) == pytest.approx(1, rel=1e-3)
    exact = epsilon_for(1e-6, noise_multiplier=4.530877117)
    assert exact == pytest.approx(0.92739, abs=5e-6)


def test_three_readings_of_sigma_four() -> None:
    curve = gaussian_curve(4.0)
    assert textbook_epsilon(curve, delta=1e-5) == pytest.approx(1.2309, abs=2e-4)
    assert improved_epsilon(curve, delta=1e-5) == pytest.approx(1.0123, abs=2e-4)
    assert epsilon_for(1e-5, noise_multiplier=4.0) == pytest.approx(0.9263, abs=5e-5)


@pytest.mark.usefixtures("accountant")
@pytest.mark.parametrize(
    ("q", "sigma", "steps", "renyi", "loss_distribution"),
    [
        (f"{256 / 60_000}", "1.1", 14062, 2.5966, 2.3817),
        ("0.01", "1", 1000, 2.1014, 1.8282),
        ("0.01", "4", 10000, 1.0355, 0.947),
        ("1", "10", 100, 4.7285, 4.3772),
    ],
)
def test_poisson_sampled_training(
    q: str, sigma: str, steps: int, renyi: float, loss_distribution: float
) -> None:
    event = sampled_gaussian(q, sigma=sigma, steps=steps)
    delta = Fraction("1e-5")
    assert renyi_epsilon([event], delta=delta) == pytest.approx(renyi, rel=1e-3)
    epsilon = loss_distribution_epsilon(declared(event), delta=delta)
    assert epsilon == pytest.approx(loss_distribution, rel=1e-3)


@pytest.mark.usefixtures("accountant")
def test_opacus_training_run() -> None:
    event, delta = sampled_gaussian("0.04", sigma="1.5", steps=2250), Fraction("1e-5")
    assert renyi_epsilon([event], delta=delta) == pytest.approx(7.32911117143, rel=1e-3)
    # Its PRV accountant answers the upper end of an interval of ±0.01 around the estimate.
    assert loss_distribution_epsilon(declared(event), delta=delta) == pytest.approx(
        6.777395712150674, abs=0.01
    )


# Loss distributions: dp_accounting 0.6, pld_privacy_accountant_test


@pytest.mark.usefixtures("accountant")
def test_loss_distribution_of_three_gaussians() -> None:
    event = Repeated(event=GaussianEvent(noise_multiplier=Fraction("1.7320508075688772")), count=3)
    delta = loss_distribution_delta(declared(event), epsilon=Fraction(1))
    assert delta == pytest.approx(0.126936, rel=1e-3)


@pytest.mark.usefixtures("accountant")
def test_loss_distribution_of_three_sampled_laplaces() -> None:
    laplace = LaplaceEvent(noise_multiplier=Fraction("0.5"))
    event = Repeated(event=PoissonSampled(probability=Fraction("0.2"), event=laplace), count=3)
    assert basic_epsilon([event]) == pytest.approx(2.46964, abs=1e-5)  # δ = 0 exactly
    # The library cuts tails of 1e-15, so "δ = 0" is read just above.
    near_zero = loss_distribution_epsilon(declared(event), delta=Fraction("1e-14"))
    assert near_zero == pytest.approx(2.46964, rel=1e-3)


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
