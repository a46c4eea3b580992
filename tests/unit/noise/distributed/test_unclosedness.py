"""κ: published to ten digits, and above what exact convolutions show."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.noise.distributed.unclosedness import as_bound, unclosedness
from confide.privacy.loss import ZeroConcentratedDP

BY_TOTAL = {  # (m, σ of the sum): computed to 60 digits by another program
    (2, 2): "1.070115196e-8",
    (2, 20): "2.183302938e-857",
    (2, 100): "1.067603983e-21431",
    (3, 5): "7.634323781e-36",
    (5, 2): "0.001638327899",
    (10, 2): "0.1368858117",
    (10, 5): "7.698243405e-11",
    (10, 20): "1.410817353e-171",
    (20, 2): "2.894002524",
    (20, 5): "1.78955155e-5",
}
BY_PART = {  # (m, σ of each part)
    (2, "1/2"): "0.34274308",
    (50, "1/2"): "2.3450054",
    (10, "1"): "0.0002174097",
    (10, "2"): "2.8628719e-17",
    (2, "3"): "1.0598086e-38",
    (50, "3"): "1.0598086e-38",
    (50, "8"): "1.8963447e-274",
}


def close(found, published):
    return found == found and abs(found / Decimal(published) - 1) < Decimal("1e-7")


@pytest.mark.L4
@pytest.mark.parametrize(("m", "sigma"), BY_TOTAL)
def test_kappa_of_a_total_is_the_published_one(m, sigma):
    found = unclosedness(Fraction(sigma**2, m), parts=m)
    assert close(found, BY_TOTAL[m, sigma])


@pytest.mark.L4
@pytest.mark.parametrize(("m", "sigma"), BY_PART)
def test_kappa_of_a_part_is_the_published_one(m, sigma):
    assert close(unclosedness(Fraction(sigma) ** 2, parts=m), BY_PART[m, sigma])


def test_one_part_is_a_discrete_gaussian_and_nearly_no_noise_has_no_bound():
    assert unclosedness(Fraction(1), parts=1) == 0
    with pytest.raises(InvalidParameterError, match="larger σ"):
        unclosedness(Fraction(1, 20), parts=2)
    for larger in (10**6, 10**31):  # the second is beyond the smallest decimal
        assert as_bound(unclosedness(Fraction(larger), parts=9)) == Fraction(1, 10**45)


def law_of_sum(sigma_squared, m):
    """The exact law of a sum of parts, by convolution."""
    reach = 40
    part = np.array(
        [DiscreteGaussian(sigma_squared=sigma_squared).pmf(z) for z in range(-reach, reach + 1)]
    )
    law = part
    for _ in range(m - 1):
        law = np.convolve(law, part)
    return law


@pytest.mark.parametrize(
    ("each", "m", "rho_true"),
    [("1/2", 2, 0.5008273134), ("2/3", 3, 0.2500179933), ("4/5", 5, 0.1250009583)],
)
def test_the_bound_holds_for_exact_laws_which_are_no_discrete_gaussians(each, m, rho_true):
    each = Fraction(each)
    law = law_of_sum(each, m)
    law = law[law > 1e-250]
    here, there = law[1:], law[:-1]
    orders = np.concatenate([np.linspace(1.01, 4, 60), np.linspace(4, 24, 60)])
    rho = max(
        np.logaddexp.reduce(a * np.log(here) + (1 - a) * np.log(there)) / ((a - 1) * a)
        for a in orders
    )
    plain = 1 / (2 * m * float(each))
    bound = plain + float(unclosedness(each, parts=m))
    assert rho <= bound
    assert rho > plain  # so κ is not there for nothing
    assert rho == pytest.approx(rho_true, rel=2e-4)


def test_calibrated_parts_meet_the_target_and_hardly_more():
    for l2_squared, l0, parts in ((1, 1, 2), (5, 5, 7), (49, 1000, 30)):
        rho = Fraction(1, 1000)
        noise = GaussianParts.calibrate(
            ZeroConcentratedDP(rho=rho), l2_squared=l2_squared, l0=l0, parts=parts
        )
        spent = noise.loss(l2_squared=l2_squared, l0=l0).rho
        assert rho * (1 - Fraction(1, 10**30)) < spent <= rho
        total = DiscreteGaussian(sigma_squared=l2_squared / (2 * rho))
        assert noise.variance(alive=parts) == pytest.approx(total.variance())


def test_a_coarse_grid_is_refused():
    with pytest.raises(InvalidParameterError, match="3 grid points"):
        GaussianParts(sigma_squared_each=Fraction(89, 10), parts=3)
    with pytest.raises(InvalidParameterError, match="3 grid points"):
        GaussianParts.calibrate(ZeroConcentratedDP(rho=Fraction(1, 2)), l2_squared=1, l0=1, parts=3)
    with pytest.raises(InvalidParameterError, match="larger ρ"):
        GaussianParts.calibrate(
            ZeroConcentratedDP(rho=Fraction(1, 10**32)), l2_squared=1, l0=10**14, parts=3
        )
    for parts in (1, True, 2.0):
        with pytest.raises(InvalidParameterError, match="two parts"):
            GaussianParts(sigma_squared_each=Fraction(9), parts=parts)


def test_parts_of_noise_have_the_law_of_their_convolution():
    from goodness_of_fit import p_value
    from seeded import SeededEntropy

    noise = GaussianParts(sigma_squared_each=Fraction(9), parts=3)
    reach = 3 * 40
    table = np.cumsum(law_of_sum(Fraction(9), 3))
    draws = sum(noise.noise.sample(20_000, entropy=SeededEntropy(i)) for i in range(3))

    def cdf(z):
        return float(table[min(max(z + reach, 0), 2 * reach)])

    assert p_value(draws, cdf=cdf) > 1e-4
    assert p_value(draws[:], cdf=DiscreteGaussian(sigma_squared=Fraction(22)).cdf) < 1e-6
