"""Pólya noise in parts, for pure ε: m parts sum exactly to discrete Laplace noise.

*Law.*  A geometric variable of ratio a is a sum of m independent Pólya variables (negative binomial
of shape 1/m), P[G = k] proportional to aᵏ·Γ(k + 1/m)/k!.  So m parts G − G′ sum exactly to the
discrete Laplace of a = exp(−1/scale) [IK06], and more parts are post-processing.

*Sampler.*  k = 0; as long as a coin of probability a shows heads, k grows by one, and a second coin
of the rational probability (m(k − 1) + 1)/(mk) says whether to go on or to begin again from 0.  The
chance of ending at k is (1 − a)·aᵏ·Π_{j≤k} (j − 1 + 1/m)/j, and that product is the Pólya weight:
the law is exact, with the exact coins of ``bernoulli.py`` and integers alone.

*Utility:* the number of coins grows like scale^(1 − 1/m): 5 at scale 1, 21 at 10, 200 at 100.

References:
    [IK06] Inusah, Kozubowski. A discrete analogue of the Laplace distribution. J. Stat. Plan.
        Inference 136(3), 2006, prop. 2.1–2.2. https://doi.org/10.1016/j.jspi.2004.08.014
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.noise.addition import add_noise
from confide.noise.bernoulli import bernoulli, exponential
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.gaussian_parts import require_parts
from confide.noise.entropy import Entropy
from confide.noise.geometric import require_scale

LARGEST_POLYA_SCALE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PolyaParts:
    """Noise of which each site adds one part.

    Attributes:
        scale: Of the discrete Laplace law of m parts, in grid points, in [2⁻²⁰, 2²⁰].
        parts: m ≥ 2, how many parts are counted on.

    Raises:
        InvalidParameterError: If a number is out of its range.

    Example:
        A count at ε = ½ over five hospitals, three of them counted on:

        >>> noise = PolyaParts(scale=Fraction(2), parts=3)
        >>> noise.total.loss(l1=1)
        PureDP(epsilon=Fraction(1, 2))
        >>> round(noise.variance(alive=3), 4), round(noise.variance(alive=5), 4)
        (7.8354, 13.059)
    """

    scale: Fraction
    parts: int

    def __post_init__(self) -> None:
        require_parts(self.parts)
        require_scale(self.scale, largest=LARGEST_POLYA_SCALE)
        object.__setattr__(self, "scale", Fraction(self.scale))

    @property
    def total(self) -> DiscreteLaplace:
        """The law of the sum of m parts, whose loss is charged."""
        return DiscreteLaplace(scale=self.scale)

    def variance(self, *, alive: int) -> float:
        """Return the noise variance of a coordinate of a sum of so many sites."""
        return self.total.variance() * alive / self.parts

    def sample(self, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
        """Return ``count`` independent draws of one part.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> noise = PolyaParts(scale=Fraction(2), parts=3)
            >>> noise.sample(5, entropy=SystemEntropy()).shape
            (5,)
        """
        added = polya(count, scale=self.scale, parts=self.parts, entropy=entropy)
        return added - polya(count, scale=self.scale, parts=self.parts, entropy=entropy)

    def randomize(self, exact: Sequence[int], *, entropy: Entropy) -> tuple[int, ...]:
        """Return ``exact`` plus one part of fresh noise; the only method that sees exact values."""
        return add_noise(exact, noise=self.sample(len(exact), entropy=entropy))


def polya(count: int, *, scale: Fraction, parts: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return ``count`` independent Pólya variables of shape 1/parts and ratio exp(−1/scale).

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> bool((polya(9, scale=Fraction(2), parts=3, entropy=SystemEntropy()) >= 0).all())
        True
    """
    drawn = np.zeros(count, dtype=np.int64)
    going, more = np.arange(count), exponential(1 / Fraction(scale))
    while going.size:
        going = going[bernoulli(more, count=going.size, entropy=entropy)]
        drawn[going] += 1
        kept = _goes_on(drawn[going], parts=parts, entropy=entropy)
        drawn[going[~kept]] = 0
    return drawn


def _goes_on(k: NDArray[np.int64], *, parts: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Return coins, the j-th true with probability exactly (m(k_j − 1) + 1)/(m·k_j)."""
    bounds = (parts * k).astype(np.uint64)
    heads = bounds - np.uint64(parts - 1)
    unfair_above = ~((np.uint64(0) - bounds) % bounds)  # 2⁶⁴ − 1 − (2⁶⁴ mod bound)
    words = entropy.words(k.size).copy()
    again = np.flatnonzero(words > unfair_above)
    while again.size:
        words[again] = entropy.words(again.size)
        again = again[words[again] > unfair_above[again]]
    on: NDArray[np.bool_] = words % bounds < heads
    return on
