"""Key selection with the best possible chances: release a key of n persons with probability π(n).

Used when only the *names* of the keys are wanted.  Per key, with ε′ and δ′,

    π(0) = 0,   π(n + 1) = min(e^{ε′}π(n) + δ′,  1 − e^{−ε′}(1 − π(n) − δ′),  1),

the largest function that (ε′, δ′)-DP allows, for every n at once; it is that of a count with
truncated geometric noise [DVGM22, thm. 1].

*Privacy:* a person touches at most k keys (2k under substitution), so ε′ = ε/k and δ′ = δ/k
(ε/2k, δ/2k) add up to (ε, δ).  π is computed in integer brackets and each key is a coin of exactly
that probability: nothing is rounded.

*Utility:* no other rule with the same (ε′, δ′) releases any key more often.

References:
    [DVGM22] Desfontaines, Voss, Gipson, Mandayam. Differentially private partition selection.
        PoPETs 2022(1), thm. 1. https://arxiv.org/abs/2006.03684
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from confide.noise.bernoulli import Probability, bernoulli
from confide.noise.discrete_laplace import require_sensitivity
from confide.noise.entropy import Entropy
from confide.noise.exponential_bits import Bracket, ceil_ratio, exp_minus, rational
from confide.noise.threshold import require_positive_delta, touched_keys
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PureDP


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedGeometricSelection:
    """Release of keys, without counts, by the optimal chance for each number of persons.

    Attributes:
        epsilon: In nats.
        delta: In (0, 1).
        keys_per_person: k, the most keys a person has after bounding.
        adjacency: What the guarantee compares.

    Raises:
        InvalidParameterError: If a parameter is out of range.

    Example:
        Which wards occur in the data, at ε = ½, δ = 0.02 (large, to show the shape):

        >>> rule = TruncatedGeometricSelection(
        ...     epsilon=Fraction(1, 2),
        ...     delta=Fraction(1, 50),
        ...     keys_per_person=1,
        ...     adjacency=Adjacency.ADD_REMOVE,
        ... )
        >>> [round(rule.chance_of_release(n), 4) for n in (1, 6, 8, 20)]
        [0.02, 0.5884, 0.8681, 1.0]
    """

    epsilon: Fraction
    delta: Fraction
    keys_per_person: int
    adjacency: Adjacency

    def __post_init__(self) -> None:
        PureDP(epsilon=self.epsilon)
        require_sensitivity(self.keys_per_person, name="keys_per_person")
        require_positive_delta(self.delta)

    def loss(self) -> ApproxDP:
        """Return the privacy loss of the selection.

        Example:
            >>> TruncatedGeometricSelection(
            ...     epsilon=Fraction(1, 2),
            ...     delta=Fraction(1, 10**6),
            ...     keys_per_person=3,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... ).loss()
            ApproxDP(epsilon=Fraction(1, 2), delta=Fraction(1, 1000000))
        """
        return ApproxDP(epsilon=Fraction(self.epsilon), delta=Fraction(self.delta))

    def chance_of_release(self, persons: int) -> float:
        """Return π(n).

        Example:
            >>> rule = TruncatedGeometricSelection(
            ...     epsilon=Fraction(1, 2),
            ...     delta=Fraction(1, 50),
            ...     keys_per_person=1,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... )
            >>> round(rule.chance_of_release(6), 10)
            0.5884048446
        """
        lower, _ = self._chances(max(persons, 0), bits=96)[-1]
        return float(Fraction(lower, 1 << 96))

    def select(self, counts: NDArray[np.int64], *, entropy: Entropy) -> NDArray[np.int64]:
        """Return the positions of the released keys.

        Args:
            counts: Shape (keys,); distinct persons of each key in the data, after bounding.
            entropy: Source of the coins.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> rule = TruncatedGeometricSelection(
            ...     epsilon=Fraction(1, 2),
            ...     delta=Fraction(1, 50),
            ...     keys_per_person=1,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... )
            >>> rule.select(np.array([0, 900]), entropy=SystemEntropy())
            array([1])
        """
        released = np.zeros(counts.size, dtype=np.bool_)
        values, groups = np.unique(counts, return_inverse=True)
        chances = cache(lambda bits: self._chances(int(values.max(initial=0)), bits=bits))

        def chance(persons: int) -> Probability:
            return lambda bits: chances(bits)[min(persons, len(chances(bits)) - 1)]

        for group, persons in enumerate(values.tolist()):
            members = np.flatnonzero(groups == group)
            released[members] = bernoulli(
                chance(max(persons, 0)), count=members.size, entropy=entropy
            )
        return np.flatnonzero(released)

    def _chances(self, largest: int, *, bits: int) -> list[Bracket]:
        """Return brackets of 2^bits·π(n) for n = 0, 1, … up to ``largest`` or π = 1."""
        touched = touched_keys(self.keys_per_person, adjacency=self.adjacency)
        epsilon, delta = Fraction(self.epsilon) / touched, self.delta / touched
        # Enough that e^(−ε′) keeps ``bits`` significant digits, and room for the steps' rounding.
        work = bits + 3 * int(epsilon) + 2 * largest.bit_length() + 16
        fade, added, one = exp_minus(epsilon, bits=work), rational(delta, bits=work), 1 << work
        brackets = [(0, 0)]
        while len(brackets) <= largest and brackets[-1] != (one, one):
            brackets.append(_next(brackets[-1], fade=fade, added=added, work=work))
        down = work - bits
        return [(lower >> down, -(-upper >> down)) for lower, upper in brackets]


def _next(current: Bracket, *, fade: Bracket, added: Bracket, work: int) -> Bracket:
    """Return a bracket of 2^work·π(n + 1), given those of π(n), e^(−ε′) and δ′."""
    one = 1 << work
    rising_low = (current[0] << work) // fade[1] + added[0]
    rising_high = ceil_ratio(current[1] << work, fade[0]) + added[1]
    # 1 − π(n) − δ′ may be negative: then the bracket's other end makes the product least.
    missing_low, missing_high = one - current[1] - added[1], one - current[0] - added[0]
    products = [f * m for f in fade for m in (missing_low, missing_high)]
    falling_low = one - ceil_ratio(max(products), one)
    falling_high = one - min(products) // one
    return min(rising_low, falling_low, one), min(rising_high, falling_high, one)
