"""Goodness of fit of every sampler, each with the power to see a wrong scale.

Quick: 2·10⁴ seeded draws must fit (p > 10⁻⁴, one retry) and must not fit a scale 10 % off.
Audit: 10⁶ draws of the system's entropy must fit, and 10⁶ seeded ones must not fit a scale 1 % off;
moments and serial correlation besides.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy, SystemEntropy
from confide.noise.geometric import geometric
from confide.noise.mechanism import AddedNoise
from confide.plans.estimation.chi_squared import chi_squared_tail
from goodness_of_fit import p_value
from seeded import SeededEntropy

pytestmark = pytest.mark.L2

LAPLACE = [DiscreteLaplace(scale=Fraction(s)) for s in ("1/2", "1", "5/2", "10", "1000", "45000")]
GAUSSIAN = [
    DiscreteGaussian(sigma_squared=Fraction(s))
    for s in ("1/4", "1", "5/2", "100", "1000000", "2025000000")
]
every_sampler = pytest.mark.parametrize("noise", [*LAPLACE, *GAUSSIAN], ids=str)


def rescaled(noise: AddedNoise, factor: Fraction) -> AddedNoise:
    """Return noise whose scale (σ) is ``factor`` times as large."""
    if isinstance(noise, DiscreteLaplace):
        return DiscreteLaplace(scale=noise.scale * factor)
    return DiscreteGaussian(sigma_squared=noise.sigma_squared * factor**2)


def fits(noise: AddedNoise, *, count: int, sources: Callable[[int], Entropy]) -> bool:
    """Return whether a sample fits the stated law, with one retry."""
    return any(
        p_value(noise.sample(count, entropy=sources(attempt)), cdf=noise.cdf) > 1e-4
        for attempt in (1, 2)
    )


def test_the_chi_squared_survival_function_is_right() -> None:
    published = [(3.841458821, 1, 0.05), (18.30703805, 10, 0.05)]
    for x, freedom, p in published:
        assert chi_squared_tail(np.array(x), degrees=freedom) == pytest.approx(p, rel=1e-8)
    assert chi_squared_tail(np.array(0.0), degrees=4) == 1


@every_sampler
def test_draws_fit_the_stated_law(noise: AddedNoise) -> None:
    assert fits(noise, count=20_000, sources=SeededEntropy)


@every_sampler
@pytest.mark.parametrize("factor", [Fraction(11, 10), Fraction(10, 11)])
def test_draws_do_not_fit_a_scale_ten_percent_off(noise: AddedNoise, factor: Fraction) -> None:
    draws = noise.sample(20_000, entropy=SeededEntropy(3))
    assert p_value(draws, cdf=rescaled(noise, factor).cdf) < 1e-6


@pytest.mark.parametrize("scale", ["1/3", "7", "4096", str(2**40)])
def test_geometric_draws_fit_and_their_bits_are_independent(scale: str) -> None:
    draws = geometric(20_000, scale=Fraction(scale), entropy=SeededEntropy(5))
    decay = 1 / Fraction(scale)

    def cdf(g: int) -> float:
        return -float(np.expm1(-float(decay * (g + 1)))) if g >= 0 else 0.0

    assert p_value(draws, cdf=cdf, symmetric=False) > 1e-4
    bits = np.stack([(draws >> i) & 1 for i in range(12)])
    varying = bits[bits.std(axis=1) > 0.05]
    correlation = np.corrcoef(varying) - np.eye(len(varying))
    assert np.abs(correlation).max(initial=0) < 0.04


def law_of_two(gap: int, *, noise: DiscreteLaplace) -> float:
    """Return P[the first wins] of two candidates, the second ``gap`` above."""
    return sum(noise.pmf(z) * noise.cdf(z - gap) for z in range(-200, 201))


@pytest.mark.audit
@every_sampler
def test_a_million_draws_fit_the_stated_law(noise: AddedNoise) -> None:
    assert fits(noise, count=1_000_000, sources=lambda _: SystemEntropy())


@pytest.mark.audit
@every_sampler
@pytest.mark.parametrize("factor", [Fraction(101, 100), Fraction(100, 101)])
def test_a_million_draws_do_not_fit_a_scale_one_percent_off(
    noise: AddedNoise, factor: Fraction
) -> None:
    draws = noise.sample(1_000_000, entropy=SeededEntropy(3))  # power is shown once, for all
    assert p_value(draws, cdf=rescaled(noise, factor).cdf) < 1e-4


@pytest.mark.audit
@every_sampler
def test_a_million_draws_have_the_stated_moments_and_no_memory(noise: AddedNoise) -> None:
    n = 1_000_000
    draws = noise.sample(n, entropy=SystemEntropy()).astype(np.float64)
    sd = noise.standard_deviation()
    assert abs(draws.mean()) < 5 * sd / n**0.5
    fourth = float(np.mean(draws**4))
    assert abs((draws**2).mean() - noise.variance()) < 5 * (fourth / n) ** 0.5
    assert abs(np.abs(draws).mean() - noise.mean_absolute()) < 5 * sd / n**0.5
    assert abs((draws**3).mean()) < 5 * (float(np.mean(draws**6)) / n) ** 0.5
    for lag in (1, 2, 8, 65_536):
        correlation = float(np.mean(draws[lag:] * draws[:-lag])) / noise.variance()
        assert abs(correlation) < 5 / (n - lag) ** 0.5


@pytest.mark.audit
@pytest.mark.parametrize("scale", ["1/3", "7", "4096", str(2**40)])
def test_a_million_geometric_draws_fit_and_not_a_scale_one_percent_off(scale: str) -> None:
    def cdf(factor: float) -> Callable[[int], float]:
        rate = factor / float(Fraction(scale))
        return lambda g: -float(np.expm1(-rate * (g + 1))) if g >= 0 else 0.0

    def p(entropy: Entropy, factor: float) -> float:
        draws = geometric(1_000_000, scale=Fraction(scale), entropy=entropy)
        return p_value(draws, cdf=cdf(factor), symmetric=False)

    assert any(p(SystemEntropy(), 1.0) > 1e-4 for _ in range(2))
    assert p(SeededEntropy(3), 1.01) < 1e-4
