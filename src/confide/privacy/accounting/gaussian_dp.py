"""Gaussian differential privacy: the exact (ε, δ) curve of continuous Gaussian noise.

Law: noise N(0, σ²) on a quantity of L2 sensitivity Δ is μ-GDP with μ = Δ/σ, and (ε, δ)-DP exactly
when δ ≥ Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) [BW18, thm. 8; DRS22, cor. 1].  k of them are √(Σμ²)-GDP.

The classical σ = Δ√(2 ln(1.25/δ))/ε [DR14, thm. A.1] is proved for ε ≤ 1 only; at ε = 10 it is not
private.  It stands here to be compared with, never to release.

*Privacy:* this is the law of **continuous** noise.  Our discrete Gaussian releases are billed as
ρ = Δ²/(2σ²) (:mod:`confide.privacy.accounting.concentrated`): a discrete Gaussian at the σ below
for (2, 1e-6) and Δ = 1 has δ = 1.10e-6, more than claimed.  For explanation and comparison.
*Utility:* floats, relative error about 1e-9; σ is returned from the private side of its bisection.

References:
    [BW18] Balle, Wang. Improving the Gaussian mechanism for differential privacy. ICML 2018.
        https://arxiv.org/abs/1805.06530
    [DRS22] Dong, Roth, Su. Gaussian differential privacy. JRSS B 84(1), 2022.
        https://doi.org/10.1111/rssb.12454
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014.
        https://doi.org/10.1561/0400000042
"""

import math
from collections.abc import Callable

from confide.errors import InvalidParameterError

_LARGEST_EPSILON = 700.0  # e^709 is the largest float


def delta_at(epsilon: float, *, noise_multiplier: float) -> float:
    """Return the exact δ at ``epsilon`` of Gaussian noise of σ/Δ = ``noise_multiplier``.

    Raises:
        InvalidParameterError: If ε is not in [0, 700] or the multiplier is not greater than 0.

    Example:
        Noise of one person's standard deviation on a count protects little:

        >>> round(delta_at(1.0, noise_multiplier=1.0), 4)
        0.1269
    """
    if not 0 <= epsilon <= _LARGEST_EPSILON:
        raise InvalidParameterError(f"Expected epsilon in [0, 700], got epsilon={epsilon}.")
    if not noise_multiplier > 0:
        raise InvalidParameterError(
            f"Expected noise_multiplier > 0, got noise_multiplier={noise_multiplier}."
        )
    shift, half = epsilon * noise_multiplier, 0.5 / noise_multiplier
    return max(0.0, _phi(half - shift) - math.exp(epsilon) * _phi(-half - shift))


def epsilon_for(delta: float, *, noise_multiplier: float) -> float:
    """Return the least ε, from above, at which the noise is (ε, ``delta``)-DP.

    Raises:
        InvalidParameterError: If ``delta`` is not in (0, 1), or ε would exceed 700.

    Example:
        >>> round(epsilon_for(1e-5, noise_multiplier=4.0), 4)
        0.9263
    """
    _require_delta(delta)
    if delta_at(0.0, noise_multiplier=noise_multiplier) <= delta:
        return 0.0
    return _first(
        lambda epsilon: delta_at(epsilon, noise_multiplier=noise_multiplier) <= delta,
        high=_LARGEST_EPSILON,
        name="epsilon",
    )


def noise_multiplier_for(epsilon: float, *, delta: float) -> float:
    """Return the least σ/Δ, from above, that is (``epsilon``, ``delta``)-DP: Balle and Wang's.

    Example:
        A blood-pressure mean at (0.5, 1e-6); the classical formula asks for 10.6:

        >>> round(noise_multiplier_for(0.5, delta=1e-6), 4)
        8.0576
    """
    _require_delta(delta)
    return _first(
        lambda multiplier: delta_at(epsilon, noise_multiplier=multiplier) <= delta,
        high=1e9,
        name="noise_multiplier",
    )


def classical_noise_multiplier(epsilon: float, *, delta: float) -> float:
    """Return √(2 ln(1.25/δ))/ε, the textbook σ/Δ.

    Raises:
        InvalidParameterError: If ε is not in (0, 1], where it is proved.

    Example:
        >>> round(classical_noise_multiplier(0.5, delta=1e-6), 4)
        10.5976
    """
    _require_delta(delta)
    if not 0 < epsilon <= 1:
        raise InvalidParameterError(
            f"Expected 0 < epsilon ≤ 1 for the classical formula, got epsilon={epsilon}.",
            hint="It is not private for large epsilon; use noise_multiplier_for.",
        )
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def _first(holds: Callable[[float], bool], *, high: float, name: str) -> float:
    """Return the least x > 0 at which the monotone ``holds`` is true, from above."""
    low = 0.0
    if not holds(high):
        raise InvalidParameterError(f"Expected a {name} of at most {high:g}; none is enough.")
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _phi(x: float) -> float:
    """Return the standard normal distribution function, accurate in the lower tail."""
    return math.erfc(-x / math.sqrt(2)) / 2


def _require_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise InvalidParameterError(f"Expected delta in (0, 1), got delta={delta}.")
