"""The law of more Pólya parts than are counted on, against convolutions, closed forms and draws."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.distributed.polya_parts import PolyaParts
from goodness_of_fit import p_value
from seeded import SeededEntropy

LAWS = [
    (scale, shape)
    for scale in ("1/20", "3/10", "1", "2", "15/2", "40")
    for shape in ("1", "5/4", "3/2", "7/2", "20")
    if (scale, shape) != ("40", "20")
] + [("1/20", "100"), ("2", "100")]


def enumerated(scale, shape):
    """P[Z = z] for z from 0, term by term: G − G′ of negative binomial weights."""
    scale, r = float(Fraction(scale)), float(Fraction(shape))
    terms = int(60 * scale * math.sqrt(r) + 4 * r * scale + 300)
    k = np.arange(terms)
    logs = np.concatenate(([0.0], np.cumsum(np.log((k[:-1] + r) / (k[:-1] + 1)))))
    one = np.exp(logs - k / scale + r * math.log(-math.expm1(-1 / scale)))
    return np.correlate(one, one, "full")[terms - 1 :]


def law(scale, shape):
    return PolyaDifference(scale=Fraction(scale), shape=Fraction(shape))


@pytest.mark.parametrize(("scale", "shape"), LAWS)
def test_probabilities_are_those_of_the_convolution_within_1e_10(scale, shape):
    noise, exact = law(scale, shape), enumerated(scale, shape)
    above = np.cumsum(exact[::-1])[::-1]  # P[Z ≥ z]
    for z in (0, 1, 2, 5, 13, 40, 160, 640, 1200):
        if z + 1 < len(exact) and above[z + 1] > 1e-15:
            assert noise.tail(z) == pytest.approx(2 * above[z + 1], rel=1e-10)
            assert noise.pmf(z) == noise.pmf(-z) == pytest.approx(exact[z], rel=1e-10)
            assert noise.cdf(z) == pytest.approx(1 - above[z + 1], rel=1e-10)
            assert noise.cdf(-z - 1) == pytest.approx(above[z + 1], rel=1e-10)
            more = np.arange(len(exact) - z) @ exact[z:]
            assert noise.excess(z) == pytest.approx(more, rel=1e-10)
    assert noise.mean_absolute() == pytest.approx(2 * np.arange(len(exact)) @ exact, rel=1e-10)
    assert noise.variance() == pytest.approx(2 * np.arange(len(exact)) ** 2 @ exact, rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("scale", "shape"), LAWS[::3])
def test_half_widths_are_the_least_that_hold_the_level(scale, shape, level):
    found, exact = law(scale, shape).half_width(level), enumerated(scale, shape)

    def inside(w):
        return exact[0] + 2 * exact[1 : w + 1].sum() if w >= 0 else 0.0

    assert inside(found) >= level - 1e-12
    assert inside(found - 1) < level


@pytest.mark.parametrize("scale", ["1/100", "2", "1000", "1048576"])
def test_at_shape_1_it_is_discrete_laplace(scale):
    found, closed = law(scale, "1"), DiscreteLaplace(scale=Fraction(scale))
    for m in (0, 1, 10, math.ceil(Fraction(scale)), 30 * math.ceil(Fraction(scale))):
        assert found.tail(m) == pytest.approx(closed.tail(m), rel=1e-10, abs=1e-300)
        assert found.pmf(m) == pytest.approx(closed.pmf(m), rel=1e-10, abs=1e-300)
    assert found.mean_absolute() == pytest.approx(closed.mean_absolute(), rel=1e-10, abs=1e-40)
    assert found.half_width(0.95) == closed.half_width(0.95)
    assert found.median_absolute() == closed.median_absolute()


@pytest.mark.parametrize("shape", ["2", "100"])
def test_at_the_largest_scale_it_is_near_its_continuous_limit(shape):
    """Shape 2: two Laplace variables have P[|Z| > x] = e^−x(1 + x/2); shape 100: a normal one."""
    noise = law(1 << 20, shape)
    if shape == "2":
        for x in (0.5, 3.0, 20.0):
            found = noise.tail(round(x * 2**20))
            assert found == pytest.approx(math.exp(-x) * (1 + x / 2), rel=1e-5)
    else:
        assert noise.half_width(0.95) / noise.standard_deviation() == pytest.approx(1.96, rel=0.01)


@pytest.mark.parametrize(("scale", "m", "n"), [("2", 2, 3), ("7/2", 3, 5), ("6", 7, 10)])
def test_sums_of_all_drawn_parts_fit_the_law_and_not_that_of_one_part_less(scale, m, n):
    parts = PolyaParts(scale=Fraction(scale), parts=m)
    draws = sum(parts.sample(20_000, entropy=SeededEntropy(40 + i)) for i in range(n))
    assert p_value(draws, cdf=law(scale, Fraction(n, m)).cdf) > 1e-4
    assert p_value(draws, cdf=law(scale, Fraction(n - 1, m)).cdf) < 1e-6


def test_intervals_for_all_parts_hold_sums_of_fewer_as_well():
    """P[|Z| > w] grows with the number of parts, at every w."""
    for scale in ("1/2", "3", "50"):
        laws = [law(scale, Fraction(n, 4)) for n in range(4, 14)]
        for w in (0, 1, 2, 5, 20, 100):
            tails = [each.tail(w) for each in laws]
            assert tails == sorted(tails)
        widths = [each.half_width(0.95) for each in laws]
        assert widths == sorted(widths)


@pytest.mark.parametrize(
    ("scale", "shape"),
    [(2.0, Fraction(1)), (Fraction(1 << 21), Fraction(1)), (Fraction(0), Fraction(1)),
     (Fraction(2), Fraction(1, 2)), (Fraction(2), 1.5), (Fraction(2), Fraction(101))],
)  # fmt: skip
def test_what_is_no_law_of_enough_parts_is_refused(scale, shape):
    with pytest.raises(InvalidParameterError):
        PolyaDifference(scale=scale, shape=shape)
