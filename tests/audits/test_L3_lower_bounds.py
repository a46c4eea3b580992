"""L3: black-box lower bounds stay below every claim, and find losses that are larger than claimed."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.black_box import (
    GAUSSIAN_RHO,
    ONE,
    Scenario,
    adding,
    audit_scenario,
    scenarios,
)
from confide.attacks.audit.confidence import incomplete_beta, lower_bound, upper_bound
from confide.attacks.audit.end_to_end import audit_trial, trials
from confide.attacks.audit.lower_bound import delta_bound, epsilon_bound, mu_bound
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from seeded import SeededEntropy

pytestmark = pytest.mark.L3

every_scenario = pytest.mark.parametrize("scenario", scenarios(), ids=lambda s: s.name)
every_trial = pytest.mark.parametrize("trial", trials(), ids=lambda t: t.name)


def laplace_scenario(scale: str) -> Scenario:
    """A count that is claimed to be 1-DP, with noise of another scale."""
    return Scenario(
        name="count",
        claim=ONE,
        first=(1,),
        second=(0,),
        run=adding(DiscreteLaplace(scale=Fraction(scale))),
    )


def gaussian_scenario(sigma: str) -> Scenario:
    """A sum that is claimed to be ½-zCDP with Δ = 10, so that σ should be 10."""
    return Scenario(
        name="sum",
        claim=GAUSSIAN_RHO,
        first=(10,),
        second=(0,),
        run=adding(DiscreteGaussian(sigma_squared=Fraction(sigma) ** 2)),
    )


def caught(scenario: Scenario, *, samples: int, runs: int) -> int:
    """Return in how many of ``runs`` seeded audits the scenario fails."""
    return sum(
        not audit_scenario(scenario, samples=samples, entropy=SeededEntropy(seed)).passed
        for seed in range(runs)
    )


@every_scenario
def test_no_mechanism_loses_more_than_it_claims(scenario: Scenario) -> None:
    samples = 1_500 if scenario.slow else 20_000
    assert audit_scenario(scenario, samples=samples, entropy=SeededEntropy(1)).passed


@pytest.mark.audit
@every_scenario
def test_no_mechanism_loses_more_than_it_claims_in_a_hundred_thousand_samples(
    scenario: Scenario,
) -> None:
    samples = 20_000 if scenario.slow else 300_000
    assert audit_scenario(scenario, samples=samples, entropy=SystemEntropy()).passed


@every_trial
def test_no_whole_release_loses_more_than_it_claims(trial) -> None:
    assert audit_trial(trial, copies=4_000, entropy=SeededEntropy(1)).passed


@pytest.mark.audit
@every_trial
def test_no_whole_release_loses_more_than_it_claims_in_fifty_thousand_samples(trial) -> None:
    assert audit_trial(trial, copies=50_000, entropy=SystemEntropy()).passed


def test_half_the_scale_is_found_in_twenty_thousand_samples() -> None:
    assert caught(laplace_scenario("1/2"), samples=20_000, runs=100) >= 99
    assert caught(gaussian_scenario("5"), samples=20_000, runs=30) == 30


def test_a_fifth_of_the_loss_too_much_is_found_in_a_hundred_thousand_samples() -> None:
    assert caught(laplace_scenario("5/6"), samples=100_000, runs=20) == 20


@pytest.mark.audit
def test_five_percent_of_sigma_too_little_is_found_in_a_million_samples() -> None:
    assert caught(gaussian_scenario("9.5"), samples=1_000_000, runs=20) >= 19


def test_honest_noise_raises_no_false_alarm() -> None:
    assert caught(laplace_scenario("1"), samples=20_000, runs=60) == 0
    assert caught(gaussian_scenario("10"), samples=20_000, runs=60) == 0


@pytest.mark.audit
def test_honest_noise_raises_no_false_alarm_in_a_thousand_audits() -> None:
    assert caught(laplace_scenario("1"), samples=20_000, runs=1_000) == 0
    assert caught(gaussian_scenario("10"), samples=20_000, runs=1_000) == 0


def test_the_bound_comes_close_to_the_loss() -> None:
    noise, n = DiscreteLaplace(scale=Fraction(1)), 200_000
    told = noise.sample(n, entropy=SeededEntropy(1)) + 1.0
    hidden = noise.sample(n, entropy=SeededEntropy(2)) * 1.0
    bound = epsilon_bound(told[:, None], hidden[:, None], delta=0.0, miss=1e-6)
    assert 0.96 < bound.value < 1
    gaussian = DiscreteGaussian(sigma_squared=Fraction(100))
    told = gaussian.sample(n, entropy=SeededEntropy(1)) + 10.0
    hidden = gaussian.sample(n, entropy=SeededEntropy(2)) * 1.0
    assert 0.96 < mu_bound(told, hidden, cut=5.0, miss=1e-6).value < 1


def test_a_delta_that_is_ten_times_too_large_is_found() -> None:
    rng = np.random.default_rng(1)
    told = (rng.random(20_000) < 0.05).astype(float)[:, None]
    hidden = np.zeros((20_000, 1))
    assert 0.03 < delta_bound(told, hidden, epsilon=1.0, miss=1e-6).value < 0.05
    assert delta_bound(told, told, epsilon=1.0, miss=1e-6).value == 0


def test_a_difference_in_a_rare_atom_alone_is_found() -> None:
    rng = np.random.default_rng(1)
    common = rng.integers(0, 20, size=50_000).astype(float)
    marked = np.where((common == 7) & (rng.random(50_000) < 0.9), 8.0, common)
    assert epsilon_bound(common[:, None], marked[:, None], delta=0.0, miss=1e-6).value > 1.8


def test_confidence_bounds_agree_with_another_implementation() -> None:
    beta = pytest.importorskip("scipy.stats").beta  # scipy.stats.beta.ppf, the textbook form
    for successes, trials_made in ((1, 10), (9, 10), (300_000, 750_000), (3, 750_000)):
        low = lower_bound(successes, trials=trials_made, miss=5e-7)
        high = upper_bound(successes, trials=trials_made, miss=5e-7)
        assert low == pytest.approx(
            beta.ppf(5e-7, successes, trials_made - successes + 1), rel=1e-8
        )
        assert high == pytest.approx(
            beta.isf(5e-7, successes + 1, trials_made - successes), rel=1e-8
        )
    assert lower_bound(0, trials=9, miss=0.1) == 0
    assert upper_bound(9, trials=9, miss=0.1) == 1
    assert incomplete_beta(0.3, a=1, b=1) == pytest.approx(0.3)
    assert math.isclose(upper_bound(0, trials=100, miss=0.05), 1 - 0.05 ** (1 / 100))
