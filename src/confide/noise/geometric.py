"""Exact geometric vectors, one independent bit at a time.

``geometric(n, scale=t, ...)`` draws G with P[G = g] = (1 − a)·aᵍ, g = 0, 1, 2, …, a = exp(−1/t).

*Law.*  Fix j and write g = Σ_{i<j} bᵢ2ⁱ + 2ʲh, with bits bᵢ and h ≥ 0; each g is written so in
exactly one way.  Then

    aᵍ = Π_{i<j} (a^{2ⁱ})^{bᵢ} · (a^{2ʲ})ʰ,

a product of functions of b₀, …, b_{j−1} and h apart.  A joint law that factorises is that of
independent variables, so

- bit i is 1 with probability a^{2ⁱ}/(1 + a^{2ⁱ}) = 1/(1 + exp(2ⁱ/t));
- h is geometric with ratio a^{2ʲ}: heads before the first tail of coins with P[heads] = exp(−2ʲ/t).

With 2ʲ ≥ 4t all but 1.8 % of the h are settled by one coin.  Every coin is exact
(``bernoulli.py``), hence so is G; no rejection, no division, no table.  The expansion into
independent bits is the discrete form of the one for the exponential law [Mar71].

*Privacy:* used by ``discrete_laplace.py``.  Scales are at most 2⁵⁵, so that P[G ≥ 2⁶³] ≤ e⁻²⁵⁶: in
that event alone, once in 2³⁶⁹ draws, the value is held at 2⁶³ − 1.

*Utility:* log₂(t) + 3 random bytes a draw; about 40 ns at t = 10³.

References:
    [Mar71] Marsaglia. Random variables with independent binary digits. Ann. Math. Statist. 42(6),
        1971. https://doi.org/10.1214/aoms/1177693058
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020,
        sec. 5. https://arxiv.org/abs/2004.00010
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import Probability, bernoulli, exponential, one_in_one_plus_exp
from confide.noise.entropy import Entropy

LEAST_SCALE = Fraction(1, 1 << 20)
LARGEST_SCALE = 1 << 55
BLOCK = 1 << 16
"""Elements drawn at a time: their bytes stay in cache, and memory does not grow with the batch."""

_LARGEST = (1 << 63) - 1


def require_scale(
    scale: object,
    *,
    name: str = "scale",
    least: Fraction = LEAST_SCALE,
    largest: int = LARGEST_SCALE,
) -> None:
    """Refuse a scale that is not an exact number in [least, largest].

    Raises:
        InvalidParameterError: If it is a float, not positive, too small to hide anything, or too
            large.

    Example:
        >>> require_scale(Fraction("2.5"))
    """
    if not isinstance(scale, Fraction | int) or isinstance(scale, bool):
        raise InvalidParameterError(
            f"Expected {name} as an exact Fraction or int, got a {type(scale).__name__}.",
            hint='Write Fraction("0.1"): the float 0.1 is not 1/10.',
        )
    if scale <= 0:
        raise InvalidParameterError(
            f"Expected {name} > 0, got {name}={scale}.", hint="No noise is never an option."
        )
    if scale < least:
        raise InvalidParameterError(
            f"Expected {name} ≥ 1/2**{least.denominator.bit_length() - 1}, got less.",
            hint="Noise of this size is 0 in every draw; state a smaller epsilon.",
        )
    if scale > largest:
        raise InvalidParameterError(
            f"Expected {name} ≤ 2**{largest.bit_length() - 1}, got about "
            f"2**{int(scale).bit_length() - 1}.",
            hint="Measure on a coarser grid: noise of this size hides the low-order digits anyway.",
        )


def geometric(count: int, *, scale: Fraction, entropy: Entropy) -> NDArray[np.int64]:
    """Return ``count`` independent geometric variables of ratio exp(−1/scale).

    Args:
        count: How many.
        scale: In [2⁻²⁰, 2⁵⁵]; the mean is a little below it.
        entropy: Source of the coins.

    Raises:
        InvalidParameterError: If ``scale`` is out of range or not exact.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> waits = geometric(4, scale=Fraction(5, 2), entropy=SystemEntropy())
        >>> waits.shape, bool((waits >= 0).all())
        ((4,), True)
    """
    require_scale(scale)
    drawn = np.empty(count, dtype=np.int64)
    low_bits = (4 * scale.numerator // scale.denominator).bit_length()
    bits = [one_in_one_plus_exp((1 << i) / Fraction(scale)) for i in range(low_bits)]
    more = exponential((1 << low_bits) / Fraction(scale))
    for block in blocks(count):
        size = block.stop - block.start
        drawn[block] = _low(bits, count=size, entropy=entropy)
        _add_high(drawn[block], more=more, step=1 << low_bits, entropy=entropy)
    return drawn


def blocks(count: int) -> Iterator[slice]:
    """Yield slices of at most ``BLOCK`` that cover ``range(count)``.

    Example:
        >>> [s.stop - s.start for s in blocks(70_000)]
        [65536, 4464]
    """
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def _low(bits: list[Probability], *, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return the sum of the independent bits, gathered a byte at a time for speed."""
    low = np.zeros(count, dtype=np.int64)
    for start in range(0, len(bits), 8):
        octet = np.zeros(count, dtype=np.uint8)
        for place, p in enumerate(bits[start : start + 8]):
            heads = bernoulli(p, count=count, entropy=entropy)
            octet |= heads.view(np.uint8) << np.uint8(place)
        low |= octet.astype(np.int64) << start
    return low


def _add_high(drawn: NDArray[np.int64], *, more: Probability, step: int, entropy: Entropy) -> None:
    """Add ``step`` for each head before the first tail, in place."""
    going = np.flatnonzero(bernoulli(more, count=drawn.size, entropy=entropy))
    while going.size:
        room = drawn[going] <= _LARGEST - step
        drawn[going] = np.where(room, drawn[going] + step * room, _LARGEST)
        going = going[bernoulli(more, count=going.size, entropy=entropy)]
