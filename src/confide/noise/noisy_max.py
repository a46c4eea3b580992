"""Report noisy maximum: add discrete Laplace noise to every utility, say which is largest.

*Theorem.*  Let one privacy unit move each integer utility by at most Δ.  With discrete Laplace
noise of scale b, and the *lowest position* of a public order winning ties, the position of the
maximum is ε-DP with ε = 2Δ/b; with ε = Δ/b if a privacy unit moves all utilities in one direction.

*Proof.*  Fix the noise of all candidates but i.  Candidate i wins if and only if Zᵢ ≥ m, where
m = max(max_{j>i}(uⱼ + Zⱼ), max_{j<i}(uⱼ + Zⱼ) + 1) − uᵢ: it needs a draw against the later ones
and a lead of 1 over the earlier ones.  The rule for ties is part of m and does not depend on data,
so nothing else is at stake when noise is discrete.  On a neighbour m′ ≤ m + s with s = 2Δ (others
up by Δ, i down by Δ), or s = Δ if all move in one direction: either the others rise by at most Δ
and i does not fall, or i falls by at most Δ and the others do not rise.  And P[Z ≥ m + s] =
Σ_{z≥m} P[Z = z + s] ≥ e^(−s/b)·P[Z ≥ m].  Average over the fixed noise.  ∎

A random choice among ties would need its own argument, and the noisy *value* of the winner is not
covered by it: neither is offered.  Counts under add-remove adjacency move in one direction; under
substitution, or for signed utilities, they do not.

*Privacy:* as stated, pure ε only: noisy maximum has no bounded range and does not get ε²/8-zCDP.

*Utility:* the winner is below the best by more than 2b·ln(n/β) with chance at most β: then the
winner's noise is above b·ln(n/β) or the best's below its negative, one of n events of chance ≤ β/n.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, claim 3.9.
        https://doi.org/10.1561/0400000042
"""

import enum
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from confide.errors import InvalidParameterError
from confide.noise.discrete_laplace import DiscreteLaplace, require_sensitivity
from confide.noise.entropy import Entropy
from confide.privacy.loss import PureDP


class Movement(enum.Enum):
    """How one privacy unit may move the utilities."""

    ANY = "any"
    ONE_DIRECTION = "one-direction"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMax:
    """Choice of one public candidate by the largest noisy utility.

    Attributes:
        noise: What is added to each utility.
        sensitivity: Δ, the most one privacy unit moves any one utility.
        movement: Whether all utilities move in the same direction.

    Example:
        The commonest of three wards under add-remove adjacency, at ε = 1:

        >>> from fractions import Fraction
        >>> from confide.noise.entropy import SystemEntropy
        >>> choice = NoisyMax.calibrate(
        ...     PureDP(epsilon=Fraction(1)), sensitivity=1, movement=Movement.ONE_DIRECTION
        ... )
        >>> choice.noise.scale
        Fraction(1, 1)
        >>> choice.select([120, 640, 98], entropy=SystemEntropy())
        1
    """

    noise: DiscreteLaplace
    sensitivity: int
    movement: Movement

    def __post_init__(self) -> None:
        require_sensitivity(self.sensitivity, name="sensitivity")

    @classmethod
    def calibrate(cls, target: PureDP, *, sensitivity: int, movement: Movement) -> "NoisyMax":
        """Return the least noise that meets ``target``.

        Example:
            Under substitution one count may rise while another falls:

            >>> from fractions import Fraction
            >>> target = PureDP(epsilon=Fraction(1))
            >>> NoisyMax.calibrate(target, sensitivity=1, movement=Movement.ANY).noise.scale
            Fraction(2, 1)
        """
        require_sensitivity(sensitivity, name="sensitivity")
        noise = DiscreteLaplace.calibrate(target, l1=_reach(movement) * sensitivity)
        return cls(noise=noise, sensitivity=sensitivity, movement=movement)

    def loss(self) -> PureDP:
        """Return the privacy loss of one choice.

        Example:
            >>> from fractions import Fraction
            >>> noise = DiscreteLaplace(scale=Fraction(4))
            >>> NoisyMax(noise=noise, sensitivity=1, movement=Movement.ANY).loss()
            PureDP(epsilon=Fraction(1, 2))
        """
        return self.noise.loss(l1=_reach(self.movement) * self.sensitivity)

    def shortfall(self, candidates: int, *, failure: float) -> float:
        """Return how far below the best utility the winner is, except with chance ``failure``.

        Raises:
            InvalidParameterError: If ``candidates`` < 1 or ``failure`` is not in (0, 1).

        Example:
            >>> from fractions import Fraction
            >>> noise = DiscreteLaplace(scale=Fraction(1))
            >>> choice = NoisyMax(noise=noise, sensitivity=1, movement=Movement.ONE_DIRECTION)
            >>> round(choice.shortfall(500, failure=0.05), 1)  # persons
            18.4
        """
        if candidates < 1 or not 0 < failure < 1:
            raise InvalidParameterError(
                f"Expected candidates ≥ 1 and 0 < failure < 1, got candidates={candidates}, "
                f"failure={failure}."
            )
        return 2 * float(self.noise.scale) * math.log(candidates / failure)

    def select(self, utilities: Sequence[int], *, entropy: Entropy) -> int:
        """Return the lowest position with the largest noisy utility; never the utility.

        Raises:
            InvalidParameterError: If there is no candidate.

        Example:
            >>> from fractions import Fraction
            >>> from confide.noise.entropy import SystemEntropy
            >>> noise = DiscreteLaplace(scale=Fraction(1))
            >>> choice = NoisyMax(noise=noise, sensitivity=1, movement=Movement.ANY)
            >>> choice.select([0, 900], entropy=SystemEntropy())
            1
        """
        if not len(utilities):
            raise InvalidParameterError("Expected at least one candidate, got none.")
        exact = tuple(operator.index(u) for u in utilities)  # unbounded: a clamp could make ties
        noisy = self.noise.randomize(exact, entropy=entropy)
        return max(range(len(noisy)), key=noisy.__getitem__)  # the first of equals


def _reach(movement: Movement) -> int:
    """Return s/Δ of the proof."""
    match movement:
        case Movement.ANY:
            return 2
        case Movement.ONE_DIRECTION:
            return 1
        case _:
            assert_never(movement)
