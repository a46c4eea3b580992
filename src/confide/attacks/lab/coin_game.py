"""The game that every attack plays against differential privacy: one patient, in or out by a coin.

Everybody else is fixed and known to the attacker.  A fair coin says whether one patient is in the
data; the attacker sees what is released and says which.  An attacker without the release is right
half of the time.  One who finds a share a of all patients for certain, and tosses a coin about the
others, is right with (1 + a)/2; so we call a, true positives less false positives, the share
*exposed*.  Any attack on an ε-DP release exposes at most tanh(ε/2) [KOV15], whatever is known
beforehand, and on a ρ-zCDP release at most √(ρ/2) and √(1 − e^−ρ) (``privacy/odds.py``).

*Law.*  Games are independent, so the share found has the standard error
2·√(p(1 − p)/games) of p right ones; where several guesses are made about one release, the release
is the sample.  The bound is refuted beyond ``TOO_FAR_ABOVE`` standard errors.

References:
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats, Ints
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import Entropy

TOO_FAR_ABOVE = 3.0  # standard errors
_LEAST_ERROR = 1e-9

Verdicts = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedShare:
    """What an attack found in games with fair coins.

    Attributes:
        share: Of patients, as if for certain; chance is 0 and may fall below it.
        standard_error: Of it.
        games: How many guesses were made.
    """

    share: float
    standard_error: float
    games: int

    def respects(self, bound: float) -> bool:
        """Return whether the share is at most the bound, but for chance."""
        return self.share <= bound + TOO_FAR_ABOVE * self.standard_error


def coin_tosses(count: int, *, entropy: Entropy) -> Verdicts:
    """Return fair coins; shape (count,)."""
    return np.asarray(entropy.octets(count) & 1, dtype=bool)


def share_of(right: Floats, *, each: int = 1) -> ExposedShare:
    """Return the share exposed, of the part of guesses that was right in each release.

    Args:
        right: Parts in [0, 1]; shape (releases,).
        each: Guesses about one release.

    Example:
        >>> share_of(np.array([1.0, 1.0, 0.0, 1.0])).share
        0.5
    """
    spread = float(right.std(ddof=1)) if len(right) > 1 else 0.5
    error = max(_LEAST_ERROR, 2 * spread / math.sqrt(len(right)))
    share = 2 * float(right.mean()) - 1
    return ExposedShare(share=share, standard_error=error, games=each * len(right))


def play_counts(
    others: Ints,
    own: Ints,
    *,
    noise: DiscreteLaplace | None,
    believes: Callable[[Ints, Ints], Verdicts],
    entropy: Entropy,
) -> ExposedShare:
    """Play games about counts.

    Args:
        others: What everybody else counts; shape (games, counts).
        own: What the patient adds to each count; shape (counts,).
        noise: Of each count; None for exact ones.
        believes: Says from what is told and those of others whether the patient is in.
        entropy: Of coins and noise.
    """
    coins = coin_tosses(len(others), entropy=entropy)
    exact = np.ascontiguousarray(others + coins[:, None] * own, dtype=np.int64)
    told = exact
    if noise is not None:
        told = noise.randomize(exact.ravel(), entropy=entropy).reshape(exact.shape)
    return share_of((believes(told, others) == coins).astype(float))


def likelier(noisy: Ints, others: Ints) -> Verdicts:
    """Say that a patient is in where that makes the counts likelier, each holding the patient once.

    Of one noisy count it is the best attack there is, and exposes tanh(ε/2).
    """
    beyond = noisy - others
    votes = np.where(beyond >= 1, 1, -1).sum(axis=1)
    return np.asarray(np.where(votes == 0, 2 * beyond.sum(axis=1) > beyond.shape[1], votes > 0))
