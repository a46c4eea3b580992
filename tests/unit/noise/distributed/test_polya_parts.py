"""Pólya parts: each has its law exactly, and m of them are discrete Laplace."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import exponential
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_parts import PolyaParts, polya
from goodness_of_fit import p_value
from seeded import SeededEntropy

CASES = [("1/2", 3), ("1", 10), ("5", 2), ("10", 10), ("40", 4)]


def weights(scale, m, terms):
    """P[G = k] for k below ``terms``: negative binomial of shape 1/m."""
    a, shape = math.exp(-1 / Fraction(scale)), 1 / m
    k = np.arange(terms)
    logs = [math.lgamma(j + shape) - math.lgamma(shape) - math.lgamma(j + 1) for j in k]
    return np.exp(np.array(logs) + k * math.log(a) + shape * math.log1p(-a))


def table(law, *, start):
    """The distribution function of enumerated probabilities."""
    sums = np.cumsum(law)
    return lambda z: 0.0 if z < start else float(min(1.0, sums[min(z - start, len(sums) - 1)]))


@pytest.mark.parametrize(("scale", "m"), CASES)
def test_m_parts_are_discrete_laplace(scale, m):
    """Enumerated: the m-th convolution of Pólya weights is the geometric law, term by term."""
    terms = 400
    law = one = weights(scale, m, terms)
    for _ in range(m - 1):
        law = np.convolve(law, one)[:terms]
    a = math.exp(-1 / Fraction(scale))
    assert law == pytest.approx((1 - a) * a ** np.arange(terms), abs=1e-12)


@pytest.mark.parametrize(("scale", "m"), CASES)
def test_one_draw_has_the_polya_law_and_no_other(scale, m):
    draws = polya(20_000, scale=Fraction(scale), parts=m, entropy=SeededEntropy(1))
    law = table(weights(scale, m, 3000), start=0)
    assert p_value(draws, cdf=law, symmetric=False) > 1e-4
    other = table(weights(scale, m + 1 if m < 5 else m // 2, 3000), start=0)
    assert p_value(draws, cdf=other, symmetric=False) < 1e-6


@pytest.mark.parametrize(("scale", "m"), CASES)
def test_sums_of_drawn_parts_fit_discrete_laplace_and_not_a_scale_ten_percent_off(scale, m):
    noise = PolyaParts(scale=Fraction(scale), parts=m)
    draws = sum(noise.sample(20_000, entropy=SeededEntropy(7 + i)) for i in range(m))
    assert p_value(draws, cdf=noise.total.cdf) > 1e-4
    for factor in (Fraction(10, 11), Fraction(11, 10)):
        wrong = DiscreteLaplace(scale=Fraction(scale) * factor)
        assert p_value(draws, cdf=wrong.cdf) < 1e-4
    assert draws.var() == pytest.approx(noise.variance(alive=m), rel=0.1)


class Scripted:
    """Coins and words that a test chooses."""

    def __init__(self, octets, words):
        self._octets, self._words = iter(octets), iter(words)

    def octets(self, count, /):
        return np.array([next(self._octets) for _ in range(count)], dtype=np.uint8)

    def words(self, count, /):
        return np.array([next(self._words) for _ in range(count)], dtype=np.uint64)


def test_the_coins_are_those_of_the_law():
    """a = e^(−1/2) is 0.6065, so an octet up to 154 is heads; at k the second coin has m·k sides."""
    assert exponential(Fraction(1, 2))(8)[0] == 155
    heads, tails = 0, 255

    def drawn(octets, words):
        return polya(1, scale=Fraction(2), parts=3, entropy=Scripted(octets, words))[0]

    assert drawn([tails], []) == 0
    assert drawn([heads, tails], [3]) == 1  # 3 mod 3 = 0, below 1
    assert drawn([heads, tails], [1]) == 0  # begin again
    assert drawn([heads, heads, tails], [0, 3]) == 2  # 3 of 6 sides: 0 to 3 go on
    assert drawn([heads, heads, tails], [0, 4]) == 0
    assert drawn([heads, heads, heads, tails], [0, 0, 6]) == 3  # 7 of 9 sides
    assert drawn([heads, heads, heads, tails], [0, 0, 7]) == 0
    assert drawn([heads, tails], [2**64 - 1, 0]) == 1  # 2⁶⁴ mod 3 = 1: the last word is unfair
    assert drawn([heads, tails], [2**64 - 2, 3]) == 0


def test_what_would_be_no_noise_is_refused():
    for scale in (Fraction(0), 0.5, Fraction(1 << 21), Fraction(1, 1 << 21)):
        with pytest.raises(InvalidParameterError):
            PolyaParts(scale=scale, parts=2)
    for parts in (1, 0, True, 2.0):
        with pytest.raises(InvalidParameterError, match="two parts"):
            PolyaParts(scale=Fraction(2), parts=parts)
