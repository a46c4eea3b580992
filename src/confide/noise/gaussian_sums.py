"""Sums of exp(−z²/(2σ²)) over the integers, to twelve significant digits, for any σ.

*Law.*  θ(σ²) = Σ_z exp(−z²/(2σ²)) is summed directly for small σ and, for σ² ≥ ½, by Poisson's
formula θ = √(2πσ²)·(1 + 2Σ_k exp(−2π²σ²k²)), whose second term is already below 10⁻⁴ and whose
third, below 10⁻¹⁶, is left out.  The variance is −θ′/θ in the variable 1/(2σ²).  Upper sums are
taken term by term up to σ = 1000, and by Euler and Maclaurin's midpoint formula above, where the
first term left out is below 10⁻¹³ of the sum out to 38σ, where float64 ends.

References:
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020,
        sec. 3. https://arxiv.org/abs/2004.00010
    [DLMF] NIST Digital Library of Mathematical Functions, sec. 2.10(i), 20.7(viii).
        https://dlmf.nist.gov/2.10
"""

import math

import numpy as np

_DIRECT_UP_TO = 1e6  # σ²
_SMALL = 0.5  # σ² below which the direct sum is the shorter one


def normaliser(sigma_squared: float) -> float:
    """Return Σ_z exp(−z²/(2σ²)).

    Example:
        >>> round(normaliser(1.0), 6)  # √(2π) and a little more
        2.506628
    """
    if sigma_squared < _SMALL:
        return 1 + 2 * math.fsum(_weight(z, sigma_squared) for z in range(1, 13))
    return math.sqrt(2 * math.pi * sigma_squared) * (1 + 2 * _dual(sigma_squared))


def variance(sigma_squared: float) -> float:
    """Return the variance of the discrete Gaussian.

    Example:
        >>> round(variance(0.25), 9)
        0.215012675
    """
    if sigma_squared < _SMALL:
        squares = math.fsum(z * z * _weight(z, sigma_squared) for z in range(1, 13))
        return 2 * squares / normaliser(sigma_squared)
    dual = _dual(sigma_squared)
    return sigma_squared - 8 * (math.pi * sigma_squared) ** 2 * dual / (1 + 2 * dual)


def mean_absolute(sigma_squared: float) -> float:
    """Return E|Z| for the discrete Gaussian.

    Example:
        >>> round(mean_absolute(25.0), 4)
        3.9761
    """
    if sigma_squared > _DIRECT_UP_TO:
        half = sigma_squared - 1 / 12  # and less than 1e-8 besides
    else:
        z = np.arange(1, _reach(sigma_squared), dtype=np.float64)
        half = float(np.sum(z * np.exp(-z * z / (2 * sigma_squared))))
    return 2 * half / normaliser(sigma_squared)


def survival(m: int, *, sigma_squared: float) -> float:
    """Return P[Z ≥ m] for the discrete Gaussian and m ≥ 1.

    Example:
        >>> round(survival(10, sigma_squared=25.0), 4)
        0.0285
    """
    if sigma_squared > _DIRECT_UP_TO:
        return _midpoint(m - 0.5, sigma=math.sqrt(sigma_squared)) / normaliser(sigma_squared)
    z = np.arange(m, m + _reach(sigma_squared), dtype=np.float64)
    return float(np.sum(np.exp(-z * z / (2 * sigma_squared)))) / normaliser(sigma_squared)


def _midpoint(start: float, *, sigma: float) -> float:
    """Return Σ exp(−z²/(2σ²)) over z = start + ½, start + 3/2, …, by the midpoint formula."""
    u = start / sigma
    integral = sigma * math.sqrt(math.pi / 2) * math.erfc(u / math.sqrt(2))
    first, third = u, u**3 - 3 * u  # Hermite: −f′σ/f, −f‴σ³/f
    fifth = u**5 - 10 * u**3 + 15 * u
    series = (
        -first / (24 * sigma) + 7 * third / (5760 * sigma**3) - 31 * fifth / (967680 * sigma**5)
    )
    return integral + series * math.exp(-u * u / 2)


def _dual(sigma_squared: float) -> float:
    return math.exp(-2 * sigma_squared * math.pi**2)


def _weight(z: int, sigma_squared: float) -> float:
    return math.exp(-z * z / (2 * sigma_squared))


def _reach(sigma_squared: float) -> int:
    """Return how many terms matter beyond the first: e^(−50) is left out."""
    return math.ceil(10 * math.sqrt(sigma_squared)) + 10
