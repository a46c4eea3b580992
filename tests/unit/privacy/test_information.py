"""Bounds in bits against laws that are summed up exactly, and against every mechanism of a loss."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.privacy.information import bits_of_fact, bits_of_record, divergence
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP

EPSILONS = [Fraction(text) for text in ("0.0001", "0.01", "0.1", "0.5", "1", "2", "4", "10")]
ROUNDING = 1e-12  # of the sums below, over laws that attain a bound
RHOS = [Fraction(text) for text in ("0.001", "0.01", "0.125", "0.5", "2", "8")]


def kl(p, q):
    held = p > 1e-250  # what is less adds nothing, and a part of it is 0
    return float(np.sum(p[held] * np.log(p[held] / q[held])))


def information(prior, channel):
    """Mutual information, in bits, of a secret with what a channel says; shape (secrets, outputs)."""
    together = prior @ channel
    return sum(
        float(w) * kl(row, together) for w, row in zip(prior, channel, strict=True)
    ) / math.log(2)


def fact(p, q, prior=0.5):
    return information(np.array([prior, 1 - prior]), np.stack([p, q]))


def response(epsilon, delta=0.0):
    """The worst mechanism of (ε, δ): it tells all with probability δ, else a coin that is bent."""
    right = math.exp(epsilon) / (1 + math.exp(epsilon))
    p = np.array([delta, (1 - delta) * right, (1 - delta) * (1 - right), 0.0])
    return p, p[::-1].copy()


def gaussian(rho, shift=1):
    """Discrete Gaussian noise of sensitivity ``shift`` at ρ = shift²/(2σ²), on neighbours."""
    reach = shift + math.ceil(shift * math.sqrt(500 / float(rho)))  # further out is below 1e-217
    at = np.arange(-reach, reach + 1)
    mass = np.exp(-(at**2) * float(rho) / shift**2)
    mass /= mass.sum()
    return mass, np.roll(mass, shift)


def laplace(epsilon):
    reach = math.ceil(300 / float(epsilon))
    at = np.arange(-reach, reach + 1)
    mass = np.exp(-np.abs(at) * float(epsilon))
    mass /= mass.sum()
    return mass[:-1], np.roll(mass, 1)[:-1]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomised_response_attains_the_bounds_of_pure_losses(epsilon):
    p, q = (law[1:3] for law in response(float(epsilon)))
    loss = PureDP(epsilon=epsilon)
    assert kl(p, q) == pytest.approx(divergence([loss]), rel=1e-9, abs=1e-15)
    told = fact(p, q)
    assert told <= bits_of_fact([loss]) + ROUNDING
    assert told == pytest.approx(bits_of_fact([loss]), rel=1e-6, abs=1e-12)
    assert bits_of_record([loss]) == pytest.approx(kl(p, q) / math.log(2), rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS[2:])
@pytest.mark.parametrize("delta", ["0.3", "0.01", "1e-6"])
def test_a_coin_that_sometimes_tells_all_attains_the_bound_of_approximate_losses(epsilon, delta):
    p, q = response(float(epsilon), float(delta))
    told = bits_of_fact([ApproxDP(epsilon=epsilon, delta=Fraction(delta))])
    assert fact(p, q) <= told + ROUNDING
    assert fact(p, q) == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS[1:])
def test_laplace_noise_keeps_to_the_bounds(epsilon):
    p, q = laplace(epsilon)
    loss = PureDP(epsilon=epsilon)
    assert kl(p, q) <= divergence([loss]) * (1 + 1e-9)
    told = [fact(p, q, prior) for prior in (0.01, 0.3, 0.5)]
    assert max(told) <= bits_of_fact([loss]) + ROUNDING


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("shift", [1, 3])
def test_gaussian_noise_attains_the_divergence_and_keeps_to_the_bits_of_a_fact(rho, shift):
    p, q = gaussian(rho, shift)
    loss = ZeroConcentratedDP(rho=rho)
    at = np.arange(p.size) - p.size // 2
    exact = ((at - shift) ** 2 - at**2) * float(rho) / shift**2  # of p over q; q wraps at the end
    assert float(p @ exact) == pytest.approx(divergence([loss]), rel=1e-9)
    half = (p + q) / 2
    told = (kl(p, half) + kl(q, half)) / 2 / math.log(2)
    assert told <= bits_of_fact([loss])
    assert told >= bits_of_fact([loss]) / 3  # and the bound is of some use


@pytest.mark.parametrize("prior", [0.01, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("rho", RHOS)
def test_no_prior_makes_gaussian_noise_tell_more(prior, rho):
    p, q = gaussian(rho)
    mixed = prior * p + (1 - prior) * q
    told = (prior * kl(p, mixed) + (1 - prior) * kl(q, mixed)) / math.log(2)
    assert told <= bits_of_fact([ZeroConcentratedDP(rho=rho)])


@given(
    seed=st.integers(0, 2**32 - 1),
    epsilon=st.sampled_from([0.1, 0.7, 1.5, 3.0]),
    secrets=st.integers(2, 8),
    outputs=st.integers(2, 6),
)
def test_no_mechanism_of_a_pure_loss_tells_more_of_a_record(seed, epsilon, secrets, outputs):
    rng = np.random.default_rng(seed)
    ends = np.where(
        rng.random((secrets, outputs)) < 0.5, 0.0, epsilon / 2
    )  # row ratios ≤ ε/2 twice
    channel = np.exp(ends)
    channel /= channel.sum(axis=1, keepdims=True)
    ratios = np.log(channel[:, None, :] / channel[None, :, :])
    assert np.abs(ratios).max() <= epsilon + 1e-12
    prior = rng.dirichlet(np.ones(secrets))
    exact = Fraction(epsilon)
    assert information(prior, channel) <= bits_of_record([PureDP(epsilon=exact)]) + 1e-12
    assert fact(channel[0], channel[1], float(prior[0] / (prior[0] + prior[1]))) <= bits_of_fact(
        [PureDP(epsilon=exact)]
    )


def test_divergences_of_releases_add_up_and_so_do_those_of_both_measures():
    first, second = [law[1:3] for law in response(1.0)], gaussian(Fraction(1, 8))
    p, q = (np.outer(a, b).ravel() for a, b in zip(first, second, strict=True))
    losses = [PureDP(epsilon=Fraction(1)), ZeroConcentratedDP(rho=Fraction(1, 8))]
    assert kl(p, q) == pytest.approx(divergence(losses), rel=1e-6)
    assert divergence([]) == 0


@pytest.mark.parametrize(
    "loss",
    [
        ApproxDP(epsilon=Fraction(1), delta=Fraction(1, 10**6)),
        ZeroConcentratedDP(rho=Fraction(1, 10), delta=Fraction(1, 10**6)),
    ],
)
def test_a_delta_leaves_the_record_without_a_bound_and_one_fact_with_one(loss):
    assert divergence([loss]) is None
    assert bits_of_record([PureDP(epsilon=Fraction(1)), loss]) is None
    assert 0 < bits_of_fact([loss]) < 1


def test_a_delta_of_nothing_is_a_pure_loss():
    plain = ApproxDP(epsilon=Fraction(1), delta=Fraction(0))
    assert divergence([plain]) == divergence([PureDP(epsilon=Fraction(1))])


@pytest.mark.parametrize(
    "loss", [PureDP(epsilon=Fraction(699)), ZeroConcentratedDP(rho=Fraction(10**4))]
)
def test_a_fact_of_two_values_has_one_bit(loss):
    assert bits_of_fact([loss]) == 1


LISTS = [
    [PureDP(epsilon=Fraction(1, 2))] * 2,
    [PureDP(epsilon=Fraction(1, 2)), ApproxDP(epsilon=Fraction(1, 4), delta=Fraction(1, 100))],
    [ZeroConcentratedDP(rho=Fraction(1, 8))] * 3,
    [PureDP(epsilon=Fraction(1)), ZeroConcentratedDP(rho=Fraction(1, 8))],
]


def law_of(loss):
    match loss:
        case PureDP(epsilon=epsilon):
            return [law[1:3] for law in response(float(epsilon))]
        case ApproxDP(epsilon=epsilon, delta=delta):
            return response(float(epsilon), float(delta))
        case ZeroConcentratedDP(rho=rho):
            return gaussian(rho)


@pytest.mark.parametrize("losses", LISTS)
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_a_fact_learned_from_several_answers_keeps_to_their_bound(losses, prior):
    p, q = (np.ones(1), np.ones(1))
    for loss in losses:
        first, second = law_of(loss)
        if p.size * first.size > 10**6:
            keep = (first > 1e-9) | (second > 1e-9)
            first, second = first[keep], second[keep]
        p, q = np.outer(p, first).ravel(), np.outer(q, second).ravel()
    together = bits_of_fact(losses)
    mixed = prior * p + (1 - prior) * q
    told = (prior * kl(p, mixed) + (1 - prior) * kl(q, mixed)) / math.log(2)
    assert told <= together
    assert together <= sum(bits_of_fact([loss]) for loss in losses) + ROUNDING
