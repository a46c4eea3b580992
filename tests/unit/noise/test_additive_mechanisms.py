"""Discrete Laplace and Gaussian mechanisms: calibration, law, neighbours, widths, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import InvalidParameterError, UnsupportedError
from confide.noise.addition import add_noise
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.noise.exponential_bits import exp_minus
from confide.noise.gaussian_sums import _midpoint
from confide.noise.mechanism import AddedNoise
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from seeded import SeededEntropy

positive = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)
sensitivities = st.integers(1, 1000)
MECHANISMS: list[AddedNoise] = [
    *(DiscreteLaplace(scale=Fraction(s)) for s in ("1/3", "1", "5/2", "40")),
    *(DiscreteGaussian(sigma_squared=Fraction(s)) for s in ("1/9", "1/4", "1", "5/2", "400")),
]
every_mechanism = pytest.mark.parametrize("noise", MECHANISMS, ids=str)


@given(epsilon=positive, l1=sensitivities)
def test_laplace_calibrate_then_loss_is_an_exact_round_trip(epsilon: Fraction, l1: int) -> None:
    target = PureDP(epsilon=epsilon)
    assert DiscreteLaplace.calibrate(target, l1=l1).loss(l1=l1) == target


@given(rho=positive, l2_squared=sensitivities)
def test_gaussian_calibrate_then_loss_is_an_exact_round_trip(
    rho: Fraction, l2_squared: int
) -> None:
    target = ZeroConcentratedDP(rho=rho)
    noise = DiscreteGaussian.calibrate(target, l2_squared=l2_squared)
    assert noise.sigma_squared == l2_squared / (2 * rho)
    assert noise.loss(l2_squared=l2_squared) == target


def test_halving_epsilon_doubles_the_scale_and_about_quadruples_the_variance() -> None:
    one, half = (
        DiscreteLaplace.calibrate(PureDP(epsilon=Fraction(e)), l1=1) for e in ("1/10", "1/20")
    )
    assert half.scale == 2 * one.scale
    assert half.variance() / one.variance() == pytest.approx(4, rel=1e-3)


@pytest.mark.parametrize(("l1", "scale"), [(1, "2"), (3, "5/2"), (5, "7"), (2, "1/3")])
def test_shifting_by_the_sensitivity_changes_no_laplace_probability_by_more_than_e_to_the_epsilon(
    l1: int, scale: str
) -> None:
    noise = DiscreteLaplace(scale=Fraction(scale))
    bound = float(noise.loss(l1=l1).epsilon)
    ratios = [math.log(noise.pmf(z) / noise.pmf(z + l1)) for z in range(-40, 41)]
    assert max(map(abs, ratios)) == pytest.approx(bound, rel=1e-12)  # never exceeded, attained


@pytest.mark.parametrize(("shift", "sigma_squared"), [(1, "1/2"), (1, "4"), (3, "9"), (2, "25/3")])
@pytest.mark.parametrize("alpha", [1.01, 2, 8])
def test_shifting_by_the_sensitivity_keeps_the_gaussian_renyi_divergence_below_rho_alpha(
    shift: int, sigma_squared: str, alpha: float
) -> None:
    noise = DiscreteGaussian(sigma_squared=Fraction(sigma_squared))
    bound = float(noise.loss(l2_squared=shift**2).rho) * alpha
    inverse = 1 / (2 * float(noise.sigma_squared))
    logs = [-inverse * (alpha * z * z + (1 - alpha) * (z - shift) ** 2) for z in range(-150, 150)]
    top = max(logs)
    norm = math.fsum(math.exp(-inverse * z * z) for z in range(-150, 150))
    divergence = (top + math.log(math.fsum(math.exp(x - top) for x in logs) / norm)) / (alpha - 1)
    assert divergence <= bound * (1 + 1e-9)
    if alpha == 2:
        assert divergence == pytest.approx(bound, rel=1e-9)  # integer orders attain it


@every_mechanism
def test_pmf_sums_to_one_and_to_the_cdf_and_has_the_stated_moments(noise: AddedNoise) -> None:
    z = range(-1500, 1501)
    pmf = [noise.pmf(k) for k in z]
    assert math.fsum(pmf) == pytest.approx(1, abs=1e-13)
    assert math.fsum(p * k * k for p, k in zip(pmf, z, strict=True)) == pytest.approx(
        noise.variance(), rel=1e-12
    )
    assert math.fsum(p * abs(k) for p, k in zip(pmf, z, strict=True)) == pytest.approx(
        noise.mean_absolute(), rel=1e-12
    )
    assert noise.standard_deviation() ** 2 == pytest.approx(noise.variance())
    for k in (-7, -1, 0, 2, 9):
        assert noise.cdf(k) == pytest.approx(math.fsum(pmf[: k + 1501]), rel=1e-12, abs=1e-300)
    for m in (-1, 0, 1, 6):
        outside = math.fsum(p for p, k in zip(pmf, z, strict=True) if abs(k) > m)
        assert noise.tail(m) == pytest.approx(outside, rel=1e-12, abs=1e-300)


@every_mechanism
@settings(max_examples=40)
@given(level=st.floats(0.001, 0.999999), coordinates=st.integers(1, 10_000))
def test_half_width_is_the_least_that_covers(
    noise: AddedNoise, level: float, coordinates: int
) -> None:
    w = noise.half_width(level, coordinates=coordinates)
    covered = (1 - noise.tail(w)) ** coordinates
    assert covered >= level - 1e-9
    assert w == 0 or (1 - noise.tail(w - 1)) ** coordinates < level + 1e-9


@every_mechanism
def test_median_absolute_splits_the_noise_in_half(noise: AddedNoise) -> None:
    m = noise.median_absolute()
    assert noise.tail(m) <= 0.5
    assert m == 0 or noise.tail(m - 1) > 0.5


@pytest.mark.parametrize("scale", ["1000", "1000000", str(2**55)])
def test_half_width_is_the_least_at_large_scales_too(scale: str) -> None:
    noise = DiscreteLaplace(scale=Fraction(scale))
    w = noise.half_width(0.95)
    assert noise.tail(w) <= 1 - 0.95 < noise.tail(w - max(1, w >> 50))


@pytest.mark.parametrize("m", [1, 700, 3000, 9000, 30_000])
def test_the_midpoint_formula_agrees_with_the_sum_at_the_switch(m: int) -> None:
    sigma = 1000.0
    z = np.arange(m, m + 12_000, dtype=np.float64)
    direct = math.fsum(np.exp(-z * z / (2 * sigma**2)).tolist())
    assert _midpoint(m - 0.5, sigma=sigma) == pytest.approx(direct, rel=1e-12, abs=0)


def test_large_gaussian_moments_continue_the_sums() -> None:
    below, above = (DiscreteGaussian(sigma_squared=Fraction(s)) for s in (10**6, 10**6 + 1))
    assert above.mean_absolute() / below.mean_absolute() == pytest.approx(
        math.sqrt(1 + 1e-6), rel=1e-12
    )
    assert above.variance() == 10**6 + 1
    assert DiscreteGaussian(sigma_squared=Fraction(2**108)).half_width(0.95) == pytest.approx(
        1.959963984540054 * 2**54, rel=1e-9
    )


@pytest.mark.parametrize(
    "sigma_squared", ["1/1000", "1/4", "1", "17/3", "1000003/7", str(2**80), str(2**108)]
)
def test_the_float_filter_errs_far_less_than_it_is_allowed(sigma_squared: str) -> None:
    noise = DiscreteGaussian(sigma_squared=Fraction(sigma_squared))
    scale = math.isqrt(int(noise.sigma_squared)) + 1
    sizes = np.unique([int(scale * k / 16) for k in range(0, 160, 3)]).astype(np.int64)
    off = sizes - float(noise.sigma_squared / scale)
    estimates = np.exp(off * off * (-0.5 / float(noise.sigma_squared)))
    for size, estimate in zip(sizes.tolist(), estimates.tolist(), strict=True):
        lower, upper = exp_minus(noise._exponent(size, scale=scale), bits=64)
        assert (lower - 2**17) / 2**64 <= estimate <= (upper + 2**17) / 2**64  # 2⁻⁴⁷


@every_mechanism
def test_randomize_keeps_shape_and_type(noise: AddedNoise) -> None:
    entropy = SystemEntropy()
    table = noise.randomize(np.zeros((3, 4), dtype=np.int64), entropy=entropy)
    assert (table.shape, table.dtype) == ((3, 4), np.int64)
    values = noise.randomize([2**126, -(2**126), 0], entropy=entropy)
    assert isinstance(values, tuple)
    assert all(type(v) is int for v in values)
    assert abs(values[0] - 2**126) < 10**6
    assert noise.randomize([], entropy=entropy) == ()


@every_mechanism
def test_randomize_adds_the_noise_that_sample_draws(noise: AddedNoise) -> None:
    exact = np.arange(1000, dtype=np.int64) - 500
    noisy = noise.randomize(exact, entropy=SeededEntropy(5))
    alone = noise.sample(1000, entropy=SeededEntropy(5))
    assert (noisy - exact == alone).all()
    assert noise.randomize(exact.tolist(), entropy=SeededEntropy(5)) == tuple(noisy.tolist())


def test_sums_at_the_ends_of_int64_are_held_not_wrapped() -> None:
    ends = np.array([2**63 - 1, 2**63 - 1, -(2**63), -(2**63), 0])
    noise = np.array([5, -5, -5, 5, 3])
    assert add_noise(ends, noise=noise).tolist() == [
        2**63 - 1, 2**63 - 6, -(2**63), -(2**63) + 5, 3,
    ]  # fmt: skip


def test_float_arrays_and_float_values_are_refused() -> None:
    noise = DiscreteLaplace(scale=Fraction(1))
    with pytest.raises(InvalidParameterError, match="Expected an int64 array, got float64"):
        noise.randomize(np.array([1.0]), entropy=SystemEntropy())
    with pytest.raises(TypeError):
        noise.randomize([1.5], entropy=SystemEntropy())  # type: ignore[list-item]


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), 0.5, "1", None])
def test_noise_that_is_not_exact_and_positive_is_refused(scale) -> None:
    with pytest.raises(InvalidParameterError, match="Expected scale"):
        DiscreteLaplace(scale=scale)
    with pytest.raises(InvalidParameterError, match="Expected sigma_squared"):
        DiscreteGaussian(sigma_squared=scale)


def test_a_whole_scale_is_kept_as_an_exact_fraction() -> None:
    assert type(DiscreteLaplace(scale=2).scale) is Fraction  # type: ignore[arg-type]
    assert type(DiscreteGaussian(sigma_squared=4).sigma_squared) is Fraction  # type: ignore[arg-type]


def test_gaussian_noise_has_a_sigma_between_2_to_the_minus_20_and_2_to_the_54() -> None:
    least, largest = Fraction(1, 2**40), Fraction(2**108)
    assert DiscreteGaussian(sigma_squared=least).variance() == 0
    assert DiscreteGaussian(sigma_squared=largest).sigma_squared == largest
    with pytest.raises(InvalidParameterError, match=r"Expected sigma_squared ≥ 1/2\*\*40"):
        DiscreteGaussian(sigma_squared=least * Fraction(999, 1000))
    with pytest.raises(InvalidParameterError, match=r"Expected sigma_squared ≤ 2\*\*108"):
        DiscreteGaussian(sigma_squared=largest + 1)


@pytest.mark.parametrize("sensitivity", [0, -1, 1.0, Fraction(1, 2), True])
def test_zero_or_inexact_sensitivity_is_refused(sensitivity) -> None:
    with pytest.raises(InvalidParameterError, match="Expected l1 as an integer ≥ 1"):
        DiscreteLaplace.calibrate(PureDP(epsilon=Fraction(1)), l1=sensitivity)
    with pytest.raises(InvalidParameterError, match="Expected l2_squared as an integer ≥ 1"):
        DiscreteGaussian.calibrate(ZeroConcentratedDP(rho=Fraction(1)), l2_squared=sensitivity)
    with pytest.raises(InvalidParameterError):
        DiscreteLaplace(scale=Fraction(1)).loss(l1=sensitivity)


def test_a_gaussian_for_epsilon_and_delta_is_refused_with_the_reason() -> None:
    target = ApproxDP(epsilon=Fraction(2), delta=Fraction(1, 10**6))
    with pytest.raises(UnsupportedError, match="proved for continuous noise"):
        DiscreteGaussian.calibrate(target, l2_squared=1)


@pytest.mark.parametrize(
    "target",
    [PureDP(epsilon=Fraction(1)), ZeroConcentratedDP(rho=Fraction(1), delta=Fraction(1, 9))],
)
def test_a_gaussian_for_anything_but_plain_zcdp_is_refused(target) -> None:
    with pytest.raises(UnsupportedError, match="with delta=0"):
        DiscreteGaussian.calibrate(target, l2_squared=1)


def test_a_laplace_for_anything_but_pure_epsilon_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Expected a PureDP target"):
        DiscreteLaplace.calibrate(ZeroConcentratedDP(rho=Fraction(1)), l1=1)


@pytest.mark.parametrize(("level", "coordinates"), [(0, 1), (1, 1), (1.5, 1), (0.9, 0)])
def test_levels_and_coordinates_out_of_range_are_refused(level: float, coordinates: int) -> None:
    with pytest.raises(InvalidParameterError, match=r"Expected (0 < level|coordinates)"):
        DiscreteLaplace(scale=Fraction(1)).half_width(level, coordinates=coordinates)
