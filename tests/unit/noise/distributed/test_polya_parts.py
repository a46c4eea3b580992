"""Pólya parts: each has its law exactly, and m of them are discrete Laplace."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed import polya_parts
from confide.noise.distributed.polya_parts import PolyaParts, estimated, polya, weight
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


def chance(k, m):
    """w_k, exactly: the chance with which a proposed k is accepted."""
    return math.prod((Fraction(m * (j - 1) + 1, m * j) for j in range(1, k + 1)), start=Fraction(1))


@pytest.mark.parametrize("m", [2, 3, 10, 199])
@pytest.mark.parametrize("bits", [8, 32, 64])
def test_the_chance_of_acceptance_is_bracketed_in_integers(m, bits):
    for k in (0, 1, 2, 7, 40, 300):
        low, high = weight(k, parts=m)(bits)
        assert low <= chance(k, m) * 2**bits <= high <= low + 2


@pytest.mark.parametrize("m", [2, 3, 10, 50, 199])
def test_the_float_that_decides_acceptance_is_within_2_to_the_minus_30(m):
    """At the end of the table, beyond it, and far beyond; brackets say what is right."""
    ks = [0, 1, 2, 3, 50, 1000, 1023, 1024, 1025, 1500, 20_000]
    for k, found in zip(ks, estimated(np.array(ks), parts=m).tolist(), strict=True):
        low, high = weight(k, parts=m)(64)
        assert abs(found - (low + high) / 2**65) < 2**-36


class Scripted:
    """Coins that a test chooses; none are left over."""

    def __init__(self, octets):
        self.left = list(octets)

    def octets(self, count, /):
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint8)


def test_what_is_proposed_is_accepted_with_its_chance_and_no_other(monkeypatch):
    """m = 3: a proposed 1 has the chance 1/3, a 2 has 2/9, a 0 is always taken."""
    rolls = {Fraction(1, 3): 1, Fraction(2, 9): 2}
    for right, k in rolls.items():
        for number, kept in ((right - Fraction(1, 10**6), k), (right + Fraction(1, 10**6), 0)):
            proposals = np.array([k, *[0] * 40])
            monkeypatch.setattr(
                polya_parts, "geometric", lambda count, of=proposals, **_: of[:count]
            )
            drawn = int(number * 2**32).to_bytes(4, sys.byteorder)
            coins = Scripted([*drawn, *[9] * 400])
            assert polya(1, scale=Fraction(2), parts=3, entropy=coins).tolist() == [kept]


def test_what_would_be_no_noise_is_refused():
    for scale in (Fraction(0), 0.5, Fraction(1 << 21), Fraction(1, 1 << 21)):
        with pytest.raises(InvalidParameterError):
            PolyaParts(scale=scale, parts=2)
    for parts in (1, 0, True, 2.0):
        with pytest.raises(InvalidParameterError, match="two parts"):
            PolyaParts(scale=Fraction(2), parts=parts)
