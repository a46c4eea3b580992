"""Discrete Gaussian noise on a vector, of which only the norm of what moves is known.

Law.  Continuous Gaussian noise of σ hides a shift of norm Δ, whatever its direction, as μ = Δ/σ:
δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) [BW18, thm. 8].  Discrete noise depends on the direction,
and its δ may be larger.

*Lemma.*  A person moves at most m cells of an integer vector, and at most Δ in norm.  For any τ²
below σ² let q = e^{−2π²τ²}, e = 2q/(1 − q) < 1.  Then discrete Gaussian noise of σ² has, for every
ε, at most the δ
    (1 + e)^m · δ_c(ε − m·ln((1 + e)/(1 − e))),
where δ_c is that of continuous noise of variance σ² − τ² for a shift of norm Δ.
*Proof.*  Round a continuous y to the integers by discrete Gaussian noise of τ² about y, cell by
cell.  Its normaliser Σ_z e^{−(z−y)²/(2τ²)} is √(2πτ²)·(1 + 2Σ_k q^{k²} cos 2πky), by Poisson, so
within a factor 1 ± e of √(2πτ²).  The product of the two densities, integrated over y, is that of
variance σ²; so continuous noise of variance σ² − τ² about an integer, rounded so, has at z the
chance φ(z)/(1 ± e), φ the density of N(0, σ²) about that integer; and the discrete law has φ(z)/(1
+ e′) with 0 ≤ e′ ≤ e.  So in each of the m cells the discrete law is at most 1 + e times the
rounded one, and at least (1 − e)/(1 + e′) of it.  Cells that do not move have one law on both sides
and do not count.  Hence Σ(p − e^ε·p′)₊ ≤ ((1 + e)/(1 + e′))^m·Σ(r − e^{ε}((1 − e)/(1 + e))^m·r′)₊,
r and r′ the rounded laws; and rounding is post-processing.  ∎

It holds for transcripts as well: the inequalities are between chances of single outcomes, given
what came before, so they multiply; and continuous shifts add up as Σμ².  All integers have m ≤ Δ²,
and m ≤ Δ₁.

*Privacy:* floats, raised by more than their errors; any τ² is valid.
*Utility:* at the τ² of :func:`smoothed` ε is larger than for continuous noise by about ε·τ²/(2σ²),
τ² near ½: 1 % at σ = 4.5 for one count, 0.1 % for ten.

References:
    [BW18] Balle, Wang. Improving the Gaussian mechanism for differential privacy. ICML 2018.
        https://arxiv.org/abs/1805.06530
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020,
        sec. 3. https://arxiv.org/abs/2004.00010
    [MR07] Micciancio, Regev. Worst-case to average-case reductions based on Gaussian measures.
        SIAM J. Computing 37(1), 2007, lem. 4.4. https://doi.org/10.1137/S0097539705447360
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

_ULP = sys.float_info.epsilon
_LARGEST = 700.0  # e^709 is the largest float
_LEAST = 1e-300  # more than what erfc loses where floats are subnormal
_LEAST_WIDTH = 0.2  # τ²; below it e nears 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoothed:
    """Continuous noise that stands for discrete noise.

    Attributes:
        mu_squared: Δ²/(σ² − τ²), rounded up.
        shift: m·ln((1 + e)/(1 − e)) in nats, rounded up.
        factor: m·ln(1 + e) in nats, rounded up.
    """

    mu_squared: float
    shift: float
    factor: float


def smoothed(
    sigma_squared: Fraction, *, l2_squared: int, moved: int, epsilon: float
) -> Smoothed | None:
    """Return continuous noise that stands for discrete noise; None where it is too narrow.

    Args:
        sigma_squared: Of the discrete noise, in squared units.
        l2_squared: Most that a person moves the vector, squared.
        moved: Most cells that a person moves.
        epsilon: About which part of ε is due to it; decides τ² alone.
    """
    s2 = float(sigma_squared)
    width = max(_LEAST_WIDTH, math.log(16 * math.pi**2 * moved * s2 / epsilon) / (2 * math.pi**2))
    if not width < s2 / 2:
        return None
    q = math.exp(-2 * math.pi**2 * width) * (1 + 1e-12)
    e = 2 * q / (1 - q) * (1 + 1e-12)
    return Smoothed(
        mu_squared=l2_squared / (s2 - width) * (1 + 1e-12),
        shift=2 * moved * e / (1 - e * e) * (1 + 1e-12),
        factor=moved * e * (1 + 1e-12),
    )


def gaussian_delta_above(epsilon: float, *, mu: float) -> float:
    """Return δ_c(ε) of continuous noise, for any real ε, from above.

    Example:
        >>> f"{gaussian_delta_above(1.0, mu=0.2358):.4g}"
        '9.24e-07'
    """
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    first = _upper(near) * (1 + _error(near, epsilon / mu, mu)) + _LEAST
    if epsilon > _LARGEST:
        return first
    error = _error(far, epsilon / mu, mu) + abs(epsilon) * 4 * _ULP
    return max(0.0, first - math.exp(epsilon) * _upper(far) * (1 - error))


def _upper(x: float) -> float:
    """Return 1 − Φ(x)."""
    return math.erfc(x / math.sqrt(2)) / 2


def _error(x: float, *terms: float) -> float:
    """Return more than the relative error of :func:`_upper` at a rounded sum of terms.

    The logarithm of 1 − Φ has a slope of at most 1 + |x|.
    """
    size = abs(x) + sum(map(abs, terms))
    return _ULP * (64 + 8 * (1 + abs(x)) * size)
