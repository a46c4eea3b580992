"""Published and independently computed numbers that the noise room must reproduce.

Sources: closed forms at 40 digits; Balle and Wang (2018) at 40 digits; the test tables of Google's
differential-privacy library (Gaussian delta, partition selection); textbook worked examples.
"""

import math
from fractions import Fraction

import pytest

from confide.errors import InvalidParameterError, UnsupportedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.gaussian import analytic_sigma, classical_sigma, gaussian_delta
from confide.noise.laplace import ContinuousLaplace
from confide.noise.randomized_response import RandomizedResponse
from confide.noise.threshold import KeyThreshold
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PureDP

pytestmark = pytest.mark.L4


@pytest.mark.parametrize(
    ("epsilon", "p0", "p1", "variance"),
    [
        ("0.1", 0.0499583749579, 0.0452042070062, 199.833416634),
        ("0.5", 0.244918662404, 0.148550677884, 7.83539617807),
        ("1", 0.46211715726, 0.170003401569, 1.84134718842),
    ],
)
def test_discrete_laplace(epsilon: str, p0: float, p1: float, variance: float) -> None:
    noise = DiscreteLaplace.calibrate(PureDP(epsilon=Fraction(epsilon)), l1=1)
    assert noise.pmf(0) == pytest.approx(p0, rel=1e-11)
    assert noise.pmf(1) == pytest.approx(p1, rel=1e-11)
    assert noise.pmf(-1) == noise.pmf(1)
    assert noise.variance() == pytest.approx(variance, rel=1e-11)


@pytest.mark.parametrize(
    ("sigma_squared", "p0", "p1", "variance"),
    [
        ("0.25", 0.786570707041948, 0.106450769423145, 0.215012675088138),
        ("1", 0.398942278266862, 0.241970723224461, 0.999999788767728),
        ("4", 0.199471140200716, 0.17603266338215, 4.0),
    ],
)
def test_discrete_gaussian(sigma_squared: str, p0: float, p1: float, variance: float) -> None:
    noise = DiscreteGaussian(sigma_squared=Fraction(sigma_squared))
    assert noise.pmf(0) == pytest.approx(p0, rel=1e-13)
    assert noise.pmf(1) == pytest.approx(p1, rel=1e-13)
    assert noise.variance() == pytest.approx(variance, rel=1e-13)


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
def test_analytic_sigma(epsilon: float, delta: float, sigma: float) -> None:
    assert analytic_sigma(epsilon, delta=delta) == pytest.approx(sigma, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 0.382924922548), (0.5, 0.238421708135), (1, 0.126936737507), (2, 0.0209236358211)],
)
def test_gaussian_profile_at_sigma_one(epsilon: float, delta: float) -> None:
    assert gaussian_delta(1.0, epsilon=epsilon) == pytest.approx(delta, rel=1e-10)


@pytest.mark.parametrize(
    ("sigma", "sensitivity", "epsilon", "delta"),
    [
        (10, 1, 0.1, 0.00875176814581),
        (10, 5, 1.0986122886681098, 0.004159742234000802),
        (0.5, 1, 0, 0.6826894921370859),
    ],
)
def test_gaussian_delta_of_google_go(
    sigma: float, sensitivity: float, epsilon: float, delta: float
) -> None:
    computed = gaussian_delta(sigma, epsilon=epsilon, sensitivity=sensitivity)
    assert computed == pytest.approx(delta, rel=1e-11)


def test_classical_sigma_wastes_privacy_at_one_and_breaks_it_at_ten() -> None:
    assert classical_sigma(1, delta=1e-5) == pytest.approx(4.844805263, rel=1e-9)
    assert gaussian_delta(4.844805263, epsilon=1) == pytest.approx(4.114e-8, rel=1e-3)
    assert gaussian_delta(0.4844805263, epsilon=10) == pytest.approx(2.265e-5, rel=1e-3)  # > 1e-5
    with pytest.raises(InvalidParameterError, match="Expected epsilon ≤ 1"):
        classical_sigma(10, delta=1e-5)


def test_mean_systolic_pressure_worked_example() -> None:
    sensitivity = (200 - 80) / 5000  # mm[Hg]
    assert sensitivity == 0.024
    classical = classical_sigma(0.5, delta=1e-6, sensitivity=sensitivity)
    assert classical == pytest.approx(0.25434252, abs=1e-8)
    analytic = analytic_sigma(0.5, delta=1e-6, sensitivity=sensitivity)
    assert analytic == pytest.approx(0.19338284, abs=1e-8)


def test_discrete_gaussian_at_the_balle_wang_sigma_exceeds_delta_and_is_refused() -> None:
    sigma = Fraction(analytic_sigma(2, delta=1e-6))
    noise = DiscreteGaussian(sigma_squared=sigma**2)
    first = math.floor(2 * noise.sigma_squared - Fraction(1, 2)) + 1  # P[z] > e²·P[z + 1] from it
    delta = noise.cdf(-first) - math.exp(2) * noise.cdf(-first - 1)
    assert delta == pytest.approx(1.10e-6, rel=0.005)
    with pytest.raises(UnsupportedError, match="discrete noise of that σ can exceed δ"):
        DiscreteGaussian.calibrate(
            ApproxDP(epsilon=Fraction(2), delta=Fraction(1, 10**6)), l2_squared=1
        )


@pytest.mark.parametrize(("truth", "keep"), [(Fraction(3, 4), 0.75), ("1", 0.7310585786)])
def test_randomized_response_keep_probability(truth: Fraction | str, keep: float) -> None:
    law = PureDP(epsilon=Fraction(truth)) if isinstance(truth, str) else truth
    survey = RandomizedResponse(truth=law, categories=2)
    assert survey.keep_probability() == pytest.approx(keep, abs=1e-10)


def test_coin_flip_survey_says_yes_with_three_quarters_or_one_quarter_and_costs_ln_3() -> None:
    survey = RandomizedResponse(truth=Fraction(3, 4), categories=2)
    assert (survey.keep_probability(), 1 - survey.keep_probability()) == (0.75, 0.25)
    assert float(survey.loss().epsilon) == pytest.approx(math.log(3), abs=2e-15)


@pytest.mark.parametrize(
    ("epsilon", "delta", "k", "tau"),
    [("1", "0.00001", 1, 13), ("0.5", "0.000001", 1, 28), ("1", "0.000001", 5, 76)],
)
def test_discrete_laplace_threshold(epsilon: str, delta: str, k: int, tau: int) -> None:
    rule = KeyThreshold(
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        keys_per_person=k,
        adjacency=Adjacency.ADD_REMOVE,
    )
    assert rule.threshold() == tau


@pytest.mark.parametrize(
    ("m", "epsilon"), [(1, "0.4457"), (2, "0.2736"), (4, "0.1534"), (10, "0.0660")]
)
def test_least_epsilon_for_a_median_error(m: int, epsilon: str) -> None:
    enough = DiscreteLaplace(scale=1 / Fraction(epsilon))
    too_little = DiscreteLaplace(scale=1 / (Fraction(epsilon) - Fraction("0.0001")))
    assert enough.median_absolute() <= m < too_little.median_absolute()


def test_positive_tests_worked_example() -> None:
    textbook = ContinuousLaplace.calibrate(PureDP(epsilon=Fraction("0.8")), l1=1)
    assert textbook.scale == Fraction("1.25")
    assert textbook.mean_absolute() == 1.25
    assert textbook.median_absolute() == pytest.approx(1.25 * math.log(2))
    assert DiscreteLaplace.calibrate(PureDP(epsilon=Fraction("0.8")), l1=1).scale == Fraction(
        "1.25"
    )


def test_odds_of_one_hundredth_and_of_one() -> None:
    def odds(epsilon: str) -> float:
        return RandomizedResponse(truth=PureDP(epsilon=Fraction(epsilon)), categories=2).odds()

    assert odds("0.01") == pytest.approx(1.01005, abs=5e-6)
    assert odds("1") == pytest.approx(2.71828, abs=5e-6)
