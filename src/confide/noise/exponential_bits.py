"""Exact brackets of exp(−x) and 1/(1 + exp(x)), in integers alone.

``exp_minus(x, bits=b)`` returns integers (lower, upper) with lower ≤ 2ᵇ·e^(−x) ≤ upper and
upper − lower ≤ 2, for a rational x ≥ 0 and any number of bits.  Samplers ask for as many bits as a
draw needs and no more, so a probability is never rounded: it is *known better on demand*.

*Law.*  y = x/2ᵏ ≤ 1/2 for the least such k.  The partial sums of Σ(−y)ⁿ/n! alternate around e^(−y)
and close in on it, because the terms decrease.  Each term is carried as a floor and a ceiling, so
rounding only widens the bracket; so does each of the k squarings that lead from e^(−y) to e^(−x).
Each squaring at most doubles a relative width, hence k guard bits and some to spare.

*Privacy:* a scale or probability that passed through a float would make the stated ε a claim about
another mechanism [Mir12]; integers make it a claim about this one.

*Utility:* about 10 µs for 64 bits.

References:
    [Mir12] Mironov. On significance of the least significant bits for differential privacy.
        CCS 2012. https://doi.org/10.1145/2382196.2382264
    [BZ10] Brent, Zimmermann. Modern computer arithmetic, sec. 4.3. 2010.
        https://doi.org/10.1017/CBO9780511921698
"""

from fractions import Fraction
from typing import TypeAlias

from confide.errors import InvalidParameterError

Bracket: TypeAlias = tuple[int, int]
"""(lower, upper) around 2^bits · p; equal only if 2^bits · p is an integer."""


def exp_minus(x: Fraction, *, bits: int) -> Bracket:
    """Return integers around 2^bits·exp(−x), at most 2 apart.

    Args:
        x: At least 0.
        bits: At least 1.

    Raises:
        InvalidParameterError: If ``x`` is negative or ``bits`` less than 1.

    Example:
        The chance that geometric noise of scale 2 exceeds 3 patients is exp(−2):

        >>> lower, upper = exp_minus(Fraction(2), bits=20)
        >>> lower <= 0.1353352832 * 2**20 <= upper
        True
    """
    _require(x, bits)
    if x == 0:
        return 1 << bits, 1 << bits
    if x >= bits:  # e^(−x) < 2^(−bits), for e > 2
        return 0, 1
    halvings = (2 * x.numerator // x.denominator).bit_length()
    guard = 2 * halvings + 16
    work = bits + guard
    lower, upper = _exp_minus_small(x, halvings=halvings, work=work)
    for _ in range(halvings):
        lower, upper = lower * lower >> work, _ceil_shift(upper * upper, work)
    return lower >> guard, _ceil_shift(upper, guard)


def logistic(x: Fraction, *, bits: int) -> Bracket:
    """Return integers around 2^bits/(1 + exp(x)), at most 3 apart.

    Args:
        x: At least 0.
        bits: At least 1.

    Example:
        The chance to lie in randomised response at ε = 1 is 0.2689:

        >>> lower, upper = logistic(Fraction(1), bits=20)
        >>> lower <= 0.2689414214 * 2**20 <= upper
        True
    """
    _require(x, bits)
    if x == 0:
        return 1 << (bits - 1), 1 << (bits - 1)
    lower, upper = exp_minus(x, bits=bits + 2)
    one = 1 << (bits + 2)  # p = e/(1 + e) increases with e = exp(−x)
    return (lower << bits) // (one + lower), ceil_ratio(upper << bits, one + upper)


def rational(p: Fraction, *, bits: int) -> Bracket:
    """Return the floor and ceiling of 2^bits·p.

    Example:
        >>> rational(Fraction(3, 4), bits=8)  # the truthful share of the coin-flip survey
        (192, 192)
    """
    scaled = p.numerator << bits
    return scaled // p.denominator, ceil_ratio(scaled, p.denominator)


def ceil_ratio(numerator: int, denominator: int) -> int:
    """Return ⌈numerator/denominator⌉ for a positive denominator.

    Example:
        >>> ceil_ratio(7, 2)
        4
    """
    return -(-numerator // denominator)


def _exp_minus_small(x: Fraction, *, halvings: int, work: int) -> Bracket:
    """Return a bracket of 2^work·exp(−x/2^halvings), for x/2^halvings ≤ 1/2."""
    numerator, denominator = x.numerator << work, x.denominator << halvings
    floor, ceiling = numerator // denominator, ceil_ratio(numerator, denominator)
    lower = upper = term_lower = term_upper = 1 << work
    n = 0
    while True:
        n += 1
        term_lower = term_lower * floor // (n << work)
        term_upper = ceil_ratio(term_upper * ceiling, n << work)
        if n % 2:
            lower, upper = lower - term_upper, upper - term_lower
        else:
            lower, upper = lower + term_lower, upper + term_upper
        if term_upper <= 1:
            # What is left of the alternating series is at most the last term, either way.
            return lower - term_upper, upper + term_upper


def _ceil_shift(value: int, bits: int) -> int:
    """Return ⌈value/2^bits⌉."""
    return -(-value >> bits)


def _require(x: Fraction, bits: int) -> None:
    if x < 0:
        raise InvalidParameterError(f"Expected x ≥ 0, got x={x}.")
    if bits < 1:
        raise InvalidParameterError(f"Expected bits ≥ 1, got bits={bits}.")
