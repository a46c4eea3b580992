"""Gaussian noise, as the textbooks calibrate it: numbers to explain and compare, nothing to draw.

Three σ for one promise (ε, δ) at L2 sensitivity Δ:

- classical: σ = Δ√(2 ln(1.25/δ))/ε, proved for ε ≤ 1 and false beyond: at (10, 10⁻⁵) its true δ
  is 2.3·10⁻⁵ [DR14, thm. A.1].  For small ε it is 30 % to 60 % larger than needed.
- analytic: the least σ of *continuous* noise, from the exact trade
  δ(ε) = Φ(Δ/(2σ) − εσ/Δ) − e^ε·Φ(−Δ/(2σ) − εσ/Δ) [BW18, thm. 8].
- what we release: discrete noise charged as ρ = Δ²/(2σ²) (``discrete_gaussian.py``).

*Privacy:* the analytic σ is a theorem about continuous noise.  Discrete noise of that σ can exceed
δ: 1.10·10⁻⁶ at the σ for (2, 10⁻⁶), Δ = 1, by :func:`discrete_gaussian_delta`.  Hence no mechanism
takes its σ from here.

*Utility:* bisection to a relative 10⁻¹², rounded up.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, app. A.
        https://doi.org/10.1561/0400000042
    [BW18] Balle, Wang. Improving the Gaussian mechanism for differential privacy. ICML 2018,
        thm. 8. https://arxiv.org/abs/1805.06530
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020,
        thm. 7. https://arxiv.org/abs/2004.00010
"""

import math

from confide.errors import InvalidParameterError

_LARGEST_EPSILON = 500.0


def classical_sigma(epsilon: float, *, delta: float, sensitivity: float = 1.0) -> float:
    """Return Δ√(2 ln(1.25/δ))/ε.

    Raises:
        InvalidParameterError: If ``epsilon`` is above 1, where the formula is not private.

    Example:
        Mean systolic pressure of 5,000 patients in [80, 200] mmHg: Δ = 0.024 mmHg:

        >>> round(classical_sigma(0.5, delta=1e-6, sensitivity=0.024), 5)
        0.25434
    """
    _require(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    if epsilon > 1:
        raise InvalidParameterError(
            f"Expected epsilon ≤ 1, got epsilon={epsilon}: the classical formula is proved up to 1 "
            "and false at 10.",
            hint="Use analytic_sigma for continuous noise, or zCDP for releases.",
        )
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def analytic_sigma(epsilon: float, *, delta: float, sensitivity: float = 1.0) -> float:
    """Return the least σ at which continuous Gaussian noise is (ε, δ)-DP, rounded up.

    Example:
        >>> round(analytic_sigma(0.5, delta=1e-6, sensitivity=0.024), 5)  # mmHg
        0.19338
    """
    _require(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    low = high = 1.0
    while gaussian_delta(high, epsilon=epsilon) > delta:
        high *= 2
    while gaussian_delta(low, epsilon=epsilon) <= delta:
        low /= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        enough = gaussian_delta(middle, epsilon=epsilon) <= delta
        low, high = (low, middle) if enough else (middle, high)
    return high * sensitivity


def gaussian_delta(sigma: float, *, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the exact δ of continuous Gaussian noise at ``epsilon``.

    Example:
        >>> round(gaussian_delta(1.0, epsilon=1.0), 6)
        0.126937
    """
    if sigma <= 0 or sensitivity <= 0 or not 0 <= epsilon <= _LARGEST_EPSILON:
        raise InvalidParameterError(
            f"Expected sigma > 0, sensitivity > 0 and 0 ≤ epsilon ≤ {_LARGEST_EPSILON:g}, got "
            f"sigma={sigma}, sensitivity={sensitivity}, epsilon={epsilon}."
        )
    multiplier = sigma / sensitivity
    half, shift = 0.5 / multiplier, epsilon * multiplier
    return max(0.0, _normal(half - shift) - math.exp(epsilon) * _normal(-half - shift))


def _normal(x: float) -> float:
    """Return Φ(x)."""
    return math.erfc(-x / math.sqrt(2)) / 2


def _require(*, epsilon: float, delta: float, sensitivity: float) -> None:
    if not (0 < epsilon <= _LARGEST_EPSILON and 0 < delta < 1 and sensitivity > 0):
        raise InvalidParameterError(
            f"Expected 0 < epsilon ≤ {_LARGEST_EPSILON:g}, 0 < delta < 1 and sensitivity > 0, got "
            f"epsilon={epsilon}, delta={delta}, sensitivity={sensitivity}."
        )
