"""How far a sum of discrete Gaussians is from a discrete Gaussian: κ, rounded up.

*Law.*  Z₁ + … + Z_m, independent, each discrete Gaussian of parameter σᵢ², is nearly and not quite
discrete Gaussian of parameter σ² = mσᵢ².  By Poisson's formula the k-th convolution is a discrete
Gaussian times a factor within 1 ± c_k,

    c_k = 2·Σ_{j≥1} exp(−2π²·s_k²·j²),   s_k² = σᵢ²·k/(k + 1),   k = 1, …, m − 1,

so the log ratio of the laws of x + ΣZ and y + ΣZ is that of discrete Gaussians up to

    κ = Σ_k 2·artanh(c_k)

for each coordinate in which integer vectors x and y differ; constants cancel.  Hence for every
α > 1 the Rényi divergence is at most α·‖x − y‖₂²/(2σ²) + κ·‖x − y‖₀.  The same idea bounds the sum
in [KLS21, thm. 1]; κ is about 0.4 of τ there.

*Privacy:* κ falls like exp(−π²σᵢ²): 1.1·10⁻³⁸ at σᵢ = 3, 0.0002 at 1, and at small σᵢ it is of no
use.  More parts than m are post-processing.

References:
    [KLS21] Kairouz, Liu, Steinke. The distributed discrete Gaussian mechanism for federated
        learning with secure aggregation. ICML 2021. https://arxiv.org/abs/2102.06387
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

from confide.errors import InvalidParameterError

_DIGITS = 60
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_LESS = Decimal(1) - Decimal(10) ** -40
"""Exponents are taken a little too small, so that rounding makes κ larger and never smaller."""

_MORE = Decimal(1) + Decimal(10) ** -30
_TINY = Decimal(10) ** -20
_CONTEXT = Context(prec=_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)


def unclosedness(sigma_squared: Fraction, *, parts: int) -> Decimal:
    """Return κ for so many parts of one σᵢ², rounded up in the 30th digit.

    Args:
        sigma_squared: Of each part.
        parts: m ≥ 1; for one part κ is 0.

    Raises:
        InvalidParameterError: If the noise is so small that some c_k is 1 or more.

    Example:
        Seven honest sites with σᵢ = 3 grid points:

        >>> f"{unclosedness(Fraction(9), parts=7):.4e}"
        '1.0598e-38'
    """
    with localcontext(_CONTEXT):
        each = Decimal(sigma_squared.numerator) / Decimal(sigma_squared.denominator)
        total = Decimal(0)
        for k in range(1, parts):
            total += _twice_artanh(_factor(each * k / (k + 1)))
        return total * _MORE


def as_bound(kappa: Decimal) -> Fraction:
    """Return κ as a fraction, rounded up to a multiple of 10⁻⁴⁵ and never 0.

    A κ too small for decimals was rounded to 0 before.

    Example:
        >>> as_bound(Decimal("1e-99")) == Fraction(1, 10**45)
        True
    """
    with localcontext(_CONTEXT):
        steps = (kappa * Decimal(10) ** 45).to_integral_value(rounding=ROUND_CEILING)
    return Fraction(max(int(steps), 1), 10**45)


def _factor(s_squared: Decimal) -> Decimal:
    """Return c = 2·Σ exp(−2π²s²j²), rounded up."""
    rate = 2 * _PI * _PI * s_squared * _LESS
    total, j = Decimal(0), 1
    while True:
        term = (-rate * j * j).exp()
        total += term
        if term <= total * Decimal(10) ** -_DIGITS:
            break
        j += 1
    if 2 * total >= 1:
        raise InvalidParameterError(
            "Expected parts of noise with a larger σ.",
            hint="Measure on a finer grid, so that each part's σ is 3 grid points or more.",
        )
    return 2 * total * _MORE


def _twice_artanh(c: Decimal) -> Decimal:
    if c < _TINY:
        return 2 * c * (1 + c * c)  # the series, and more than its rest
    return ((1 + c) / (1 - c)).ln()
