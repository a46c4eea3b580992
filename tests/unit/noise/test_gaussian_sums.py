"""Sums over the integers, against plain sums in 60-digit decimals or over enough terms."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from confide.noise.gaussian_sums import (
    _midpoint,
    mean_absolute,
    normaliser,
    survival,
    variance,
)

SIGMAS_SQUARED = ["0.0625", "0.3", "0.4999", "0.5", "0.7", "1", "2.5", "30"]


def sums(sigma_squared):
    """Σ e^(−z²/(2σ²)), Σ z²·e^…, Σ |z|·e^… and Σ_{z ≥ 2} e^… over the integers, exactly."""
    with localcontext(prec=60):
        rate, total = 1 / (2 * Decimal(sigma_squared)), [Decimal(0)] * 4
        for z in range(-120, 121):
            weight = (-z * z * rate).exp()
            for i, factor in enumerate((1, z * z, abs(z), int(z >= 2))):
                total[i] += factor * weight
        return total


@pytest.mark.parametrize("sigma_squared", SIGMAS_SQUARED)
def test_sums_agree_with_decimals_on_both_sides_of_every_switch(sigma_squared):
    mass, squares, sizes, upper = sums(sigma_squared)
    at = float(sigma_squared)
    assert normaliser(at) == pytest.approx(float(mass), rel=1e-14)
    assert variance(at) == pytest.approx(float(squares / mass), rel=1e-12)
    assert mean_absolute(at) == pytest.approx(float(sizes / mass), rel=1e-13)
    assert survival(2, sigma_squared=at) == pytest.approx(float(upper / mass), rel=1e-13)


@pytest.mark.parametrize("start", [1, 4, 9, 14, 20])
def test_the_midpoint_formula_has_all_its_terms(start):
    """At σ = 8 its last term is 10⁻⁹ of the sum, and what is left out 10⁻¹¹."""
    z = np.arange(start, start + 200, dtype=np.float64)
    direct = math.fsum(np.exp(-z * z / 128).tolist())
    assert _midpoint(start - 0.5, sigma=8.0) == pytest.approx(direct, rel=1e-11, abs=0)


def test_large_sums_continue_the_small_ones():
    for of in (normaliser, variance, mean_absolute):
        below, above = of(1e6), of(1e6 * (1 + 1e-9))
        assert above / below == pytest.approx(1, abs=2e-9)
        assert above > below
    below = survival(1500, sigma_squared=1e6)
    assert survival(1500, sigma_squared=1e6 * (1 + 1e-12)) == pytest.approx(below, rel=1e-11)
