"""Entropy: where every random bit of the noise comes from.

A sampler asks for bytes, words or integers and gets independent uniform ones.  There is one source
in this package, the operating system's generator, and it takes no seed: noise that somebody can
repeat is noise that somebody can subtract.

*Privacy:* every guarantee is proved for ideal coins; with the operating system's generator it holds
against readers who cannot tell its output from ideal coins [SP90A].  Nothing is buffered in this
process: each request goes to the kernel, which reseeds itself when a virtual machine is cloned and
keeps its state outside the process.  So a forked worker, a restored snapshot and a second thread
never repeat each other's noise, as they would with a generator held in memory [EZJRS14].

*Utility:* about 2 ns a byte on one core.

References:
    [SP90A] Barker, Kelsey. Recommendation for random number generation using deterministic random
        bit generators. NIST SP 800-90A rev. 1, 2015. https://doi.org/10.6028/NIST.SP.800-90Ar1
    [EZJRS14] Everspaugh, Zhai, Jellinek, Ristenpart, Swift. Not-so-random numbers in virtualized
        Linux and the Whirlwind RNG. IEEE S&P 2014. https://doi.org/10.1109/SP.2014.42
"""

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError


class Entropy(Protocol):
    """A source of independent, uniform random bits."""

    def octets(self, count: int, /) -> NDArray[np.uint8]:
        """Return ``count`` uniform bytes."""

    def words(self, count: int, /) -> NDArray[np.uint64]:
        """Return ``count`` uniform 64-bit words."""

    def below(self, bound: int, /) -> int:
        """Return a uniform integer in [0, bound), of any size."""


class SystemEntropy:
    """The operating system's cryptographic generator, unbuffered and unseeded.

    Example:
        >>> SystemEntropy().octets(3).shape
        (3,)
        >>> 0 <= SystemEntropy().below(1000) < 1000
        True
    """

    __slots__ = ()

    def octets(self, count: int, /) -> NDArray[np.uint8]:
        """Return ``count`` uniform bytes."""
        return np.frombuffer(os.urandom(count), dtype=np.uint8)

    def words(self, count: int, /) -> NDArray[np.uint64]:
        """Return ``count`` uniform 64-bit words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def below(self, bound: int, /) -> int:
        """Return a uniform integer in [0, bound), by rejection.

        Raises:
            InvalidParameterError: If ``bound`` is less than 1.
        """
        require_bound(bound)
        bits = (bound - 1).bit_length()
        while True:
            octets = -(-bits // 8)
            drawn = int.from_bytes(os.urandom(octets), "big") >> (8 * octets - bits)
            if drawn < bound:
                return drawn


def require_bound(bound: int) -> None:
    """Refuse an empty range.

    Raises:
        InvalidParameterError: If ``bound`` is less than 1.

    Example:
        >>> require_bound(12)  # twelve wards to choose from
    """
    if bound < 1:
        raise InvalidParameterError(f"Expected bound ≥ 1, got bound={bound}.")


def uniform_below(bound: int, *, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return ``count`` independent uniform integers in [0, bound), exactly.

    A word is accepted only below the largest multiple of ``bound`` that fits, so that the
    remainder favours nobody; the rest are drawn again.

    Args:
        bound: In [1, 2⁶³].
        count: How many.
        entropy: Source of the coins.

    Example:
        Assign three survey answers to one of four categories each:

        >>> uniform_below(4, count=3, entropy=SystemEntropy()).shape
        (3,)
    """
    require_bound(bound)
    if bound > 1 << 63:
        raise InvalidParameterError(f"Expected bound ≤ 2**63, got bound={bound}.")
    last_fair = (1 << 64) - (1 << 64) % bound - 1
    drawn = entropy.words(count).copy()
    unfair = np.flatnonzero(drawn > np.uint64(last_fair))
    while unfair.size:
        drawn[unfair] = entropy.words(unfair.size)
        unfair = unfair[drawn[unfair] > np.uint64(last_fair)]
    return (drawn % np.uint64(bound)).astype(np.int64)
