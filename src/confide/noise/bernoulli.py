"""Exact Bernoulli vectors: a uniform number is compared with p digit by digit, as far as needed.

*Law.*  Let U = 0.u₁u₂u₃… have independent uniform bytes as digits.  P[U < p] = p exactly, and the
comparison is over at the first digit where U and p differ.  So one random byte a draw and the first
byte of p decide 255 of 256 draws, for the whole vector at once; the ties draw another byte.  The
digits of p come from integer brackets that are refined until they agree, so p is never rounded.

When every element has its own probability (:func:`bernoulli_each`), a float decides what a float
can: U, known to 32 bits, is compared with an estimate p̂.  If they are further apart than 2⁻²⁴ the
answer is certain; else, about once in 2²³ draws, *the same* U is refined by further random bits
against the integer bracket of that element's p.  This is the floating-point filter of computational
geometry [Shew97].  The law is exact given |p̂ − p| ≤ 2⁻²⁴ − 2⁻³².  Callers show 2⁻³⁰, assuming only
that ``numpy.exp`` errs by less than 2⁻³¹, a million times its documented error; a test compares it
with the integer brackets.

*Privacy:* no probability is rounded, so a mechanism built on these coins has the stated ε, and its
low-order bits tell nothing [Mir12].  How often a draw is refined depends on coins, not on data.

*Utility:* a byte and about 2 ns a draw for one p, 4 bytes and about 15 ns for a vector of them.

References:
    [KY76] Knuth, Yao. The complexity of nonuniform random number generation. In: Algorithms and
        complexity, 1976, sec. 2.
    [Shew97] Shewchuk. Adaptive precision floating-point arithmetic and fast robust geometric
        predicates. Discrete Comput. Geom. 18, 1997, sec. 3. https://doi.org/10.1007/PL00009321
    [Mir12] Mironov. On significance of the least significant bits for differential privacy.
        CCS 2012. https://doi.org/10.1145/2382196.2382264
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.entropy import Entropy
from confide.noise.exponential_bits import Bracket, exp_minus, logistic, rational

Probability: TypeAlias = Callable[[int], Bracket]
"""bits ↦ integers around 2^bits·p that close in on it; in the end exact, if p is dyadic."""

_MARGIN = 2.0**-24


def exponential(x: Fraction) -> Probability:
    """Return exp(−x), for x ≥ 0, as a probability known on demand.

    Example:
        >>> exponential(Fraction(2))(8)  # 0.1353 · 256 = 34.6
        (34, 35)
    """
    return cache(partial(_exp_minus, x))


def exponential_times(x: Fraction, *, times: int) -> Probability:
    """Return times·exp(−x), which has to be at most 1, as a probability known on demand.

    Example:
        >>> exponential_times(Fraction(2), times=3)(8)  # 0.4060 · 256 = 103.9
        (103, 105)
    """
    return cache(partial(_exp_minus_times, x, times))


def one_in_one_plus_exp(x: Fraction) -> Probability:
    """Return 1/(1 + exp(x)), for x ≥ 0, as a probability known on demand.

    Example:
        >>> one_in_one_plus_exp(Fraction(1))(8)  # 0.2689 · 256 = 68.8
        (68, 69)
    """
    return cache(partial(_logistic, x))


def share(p: Fraction) -> Probability:
    """Return a rational probability, for 0 ≤ p ≤ 1.

    Raises:
        InvalidParameterError: If ``p`` is not in [0, 1].

    Example:
        >>> share(Fraction(3, 4))(8)  # the truthful share of the coin-flip survey
        (192, 192)
    """
    if not 0 <= p <= 1:
        raise InvalidParameterError(f"Expected a probability in [0, 1], got {p}.")
    return partial(_rational, p)


def bernoulli(p: Probability, *, count: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Return ``count`` independent coins that are true with probability exactly ``p``.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> bernoulli(share(Fraction(1)), count=2, entropy=SystemEntropy())
        array([ True,  True])
    """
    octets = entropy.octets(count)
    leading = digit(p, place=0)
    heads: NDArray[np.bool_] = octets < leading
    ties = np.flatnonzero(octets == leading)
    place = 1
    while ties.size:
        octets, wanted = entropy.octets(ties.size), digit(p, place=place)
        heads[ties] = octets < wanted
        ties = ties[octets == wanted]
        place += 1
    return heads


def bernoulli_each(
    estimates: NDArray[np.float64], *, exact: Callable[[int], Probability], entropy: Entropy
) -> NDArray[np.bool_]:
    """Return independent coins, the j-th true with probability exactly ``exact(j)``.

    Args:
        estimates: Shape (n,); within 2⁻³⁰ of the probabilities.
        exact: Index ↦ its probability; called about once in 2²³ elements.
        entropy: Source of the coins.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> halves = np.full(3, 0.5)
        >>> bernoulli_each(
        ...     halves, exact=lambda j: share(Fraction(1, 2)), entropy=SystemEntropy()
        ... ).shape
        (3,)
    """
    drawn = entropy.octets(4 * estimates.size).view(np.uint32)
    distance = drawn * 2.0**-32 - estimates
    heads: NDArray[np.bool_] = distance < 0
    for j in np.flatnonzero(np.abs(distance) <= _MARGIN).tolist():
        heads[j] = is_below(exact(j), drawn=int(drawn[j]), bits=32, entropy=entropy)
    return heads


def is_below(p: Probability, *, drawn: int, bits: int, entropy: Entropy) -> bool:
    """Return whether the uniform number that begins with the bits ``drawn`` is below ``p``.

    More bits are appended to the same number until it and ``p`` are apart.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> is_below(share(Fraction(3, 4)), drawn=191, bits=8, entropy=SystemEntropy())
        True
    """
    while True:
        lower, upper = p(bits)
        if drawn + 1 <= lower:
            return True
        if drawn >= upper:
            return False
        drawn, bits = drawn << 32 | entropy.below(1 << 32), bits + 32


def digit(p: Probability, *, place: int) -> int:
    """Return the digit number ``place`` (from 0) of ``p`` to base 256; 256 at place 0 if p = 1.

    Example:
        >>> digit(exponential(Fraction(2)), place=0)
        34
    """
    bits = 8 * (place + 1)
    extra = 24
    while True:
        lower, upper = p(bits + extra)
        if lower >> extra == upper >> extra:
            leading = lower >> extra
            return leading if place == 0 else leading & 255
        extra *= 2


def _exp_minus(x: Fraction, bits: int) -> Bracket:
    return exp_minus(x, bits=bits)


def _exp_minus_times(x: Fraction, times: int, bits: int) -> Bracket:
    guard = times.bit_length()
    lower, upper = exp_minus(x, bits=bits + guard)
    return lower * times >> guard, -(-upper * times >> guard)


def _logistic(x: Fraction, bits: int) -> Bracket:
    return logistic(x, bits=bits)


def _rational(p: Fraction, bits: int) -> Bracket:
    return rational(p, bits=bits)
