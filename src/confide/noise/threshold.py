"""Keys that exist only in the data: release a key if its noisy number of persons reaches τ.

A person has at most k keys.  Each key's number of *distinct persons* gets discrete Laplace noise of
scale b = k/ε; the key and its noisy count are released if that is at least τ.  With a = exp(−1/b),

    τ = 1 + ⌈b·ln(k/(δ(1 + a)))⌉,  the least integer with k·a^(τ−1)/(1 + a) ≤ δ.

*Privacy:* (ε, δ)-DP under add-remove adjacency.  A key with c ≥ 1 persons in both data sets is
1/b-DP.  A key that one person alone has is released with chance q = P[1 + Z ≥ τ] = a^(τ−1)/(1 + a)
in one data set and never in the other, which is (1/b, q)-DP in both directions.  A person touches
at most k keys, noise is independent, so losses add up to (k/b, kq) = (ε, δ) [KKMN09, sec. 4].

Under substitution b = 2k/ε and τ follows by the same formula: at most k keys vanish, each adding q;
at most k appear, and for those the hockey-stick divergence 1 − e^(1/b)(1 − q) is not positive as
long as q ≤ 1 − a, which is checked.  So the sum is again (ε, δ).

The ceiling is proved with integer brackets, not rounded from a float: a τ that is 1 too small would
exceed δ.  The order in which keys are listed must not come from the data: sort them afterwards.

*Utility:* a key of c persons is released with chance P[Z ≥ τ − c]; at least half the time at c = τ.

References:
    [KKMN09] Korolova, Kenthapadi, Mishra, Ntoulas. Releasing search queries and clicks privately.
        WWW 2009, thm. 1. https://doi.org/10.1145/1526709.1526733
    [DVGM22] Desfontaines, Voss, Gipson, Mandayam. Differentially private partition selection.
        PoPETs 2022(1), sec. 2. https://arxiv.org/abs/2006.03684
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.discrete_laplace import DiscreteLaplace, require_sensitivity
from confide.noise.entropy import Entropy
from confide.noise.exponential_bits import exp_minus
from confide.noise.half_width import least_width
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PureDP


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SelectedKeys:
    """Keys that passed, with their noisy counts.

    Attributes:
        positions: Shape (s,); where they stand in the list that was given.
        noisy: Shape (s,); noisy numbers of persons, each at least τ.
    """

    positions: NDArray[np.int64]
    noisy: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyThreshold:
    """Release of keys and their counts by a threshold on noisy counts of distinct persons.

    Attributes:
        epsilon: In nats.
        delta: Chance that a key of one person alone slips through, over the person's keys.
        keys_per_person: k, the most keys a person has after bounding.
        adjacency: What the guarantee compares.

    Raises:
        InvalidParameterError: If a parameter is out of range, or ``delta`` is so large that the
            guarantee under substitution would not hold.

    Example:
        Free-text occupations, one a patient, at ε = 1 and δ = 10⁻⁵:

        >>> rule = KeyThreshold(
        ...     epsilon=Fraction(1),
        ...     delta=Fraction(1, 10**5),
        ...     keys_per_person=1,
        ...     adjacency=Adjacency.ADD_REMOVE,
        ... )
        >>> rule.threshold()
        13
        >>> [round(rule.chance_of_release(c), 3) for c in (1, 10, 13, 20)]
        [0.0, 0.036, 0.731, 1.0]
    """

    epsilon: Fraction
    delta: Fraction
    keys_per_person: int
    adjacency: Adjacency

    def __post_init__(self) -> None:
        PureDP(epsilon=self.epsilon)
        require_sensitivity(self.keys_per_person, name="keys_per_person")
        require_positive_delta(self.delta)
        if self.adjacency is Adjacency.SUBSTITUTE and not self._appearing_keys_cost_nothing():
            raise InvalidParameterError(
                f"Expected delta well below epsilon, got delta={self.delta}, "
                f"epsilon={self.epsilon}.",
                hint="State delta ≤ 1e-6.",
            )

    def noise(self) -> DiscreteLaplace:
        """Return the noise of each key's count.

        Example:
            >>> KeyThreshold(
            ...     epsilon=Fraction(1),
            ...     delta=Fraction(1, 10**6),
            ...     keys_per_person=5,
            ...     adjacency=Adjacency.SUBSTITUTE,
            ... ).noise().scale
            Fraction(10, 1)
        """
        l1 = touched_keys(self.keys_per_person, adjacency=self.adjacency)
        return DiscreteLaplace(scale=l1 / Fraction(self.epsilon))

    def threshold(self) -> int:
        """Return τ, in persons, by a proved ceiling.

        Example:
            >>> KeyThreshold(
            ...     epsilon=Fraction(1, 2),
            ...     delta=Fraction(1, 10**6),
            ...     keys_per_person=1,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... ).threshold()
            28
        """
        scale = self.noise().scale
        start = float(scale) * math.log(self.keys_per_person / (float(self.delta) * 2))
        return 1 + least_width(lambda m: float(not self._enough(m)), miss=0.5, guess=start)

    def loss(self) -> ApproxDP:
        """Return the privacy loss of the selection and the released counts together.

        Example:
            >>> KeyThreshold(
            ...     epsilon=Fraction(1),
            ...     delta=Fraction(1, 10**6),
            ...     keys_per_person=1,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... ).loss()
            ApproxDP(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
        """
        return ApproxDP(epsilon=Fraction(self.epsilon), delta=Fraction(self.delta))

    def chance_of_release(self, persons: int) -> float:
        """Return the chance that a key of so many persons is released.

        Example:
            >>> rule = KeyThreshold(
            ...     epsilon=Fraction(1),
            ...     delta=Fraction(1, 10**5),
            ...     keys_per_person=1,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... )
            >>> round(rule.chance_of_release(13), 3)
            0.731
        """
        if persons < 1:
            return 0.0
        return self.noise().cdf(persons - self.threshold())  # Z is symmetric

    def expected_missed(self, persons: Iterable[int]) -> float:
        """Return how many keys of the given public numbers of persons are expected to be missed.

        Example:
            >>> rule = KeyThreshold(
            ...     epsilon=Fraction(1),
            ...     delta=Fraction(1, 10**5),
            ...     keys_per_person=1,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... )
            >>> round(rule.expected_missed([10, 15, 40]), 2)
            1.0
        """
        return math.fsum(1 - self.chance_of_release(count) for count in persons)

    def select(self, counts: NDArray[np.int64], *, entropy: Entropy) -> SelectedKeys:
        """Add noise to each count and keep those that reach τ.

        Args:
            counts: Shape (keys,); distinct persons of each key in the data, after bounding.
            entropy: Source of the coins.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> rule = KeyThreshold(
            ...     epsilon=Fraction(1),
            ...     delta=Fraction(1, 10**5),
            ...     keys_per_person=1,
            ...     adjacency=Adjacency.ADD_REMOVE,
            ... )
            >>> rule.select(np.array([1, 900]), entropy=SystemEntropy()).positions.tolist()[-1]
            1
        """
        noisy = self.noise().randomize(counts, entropy=entropy)
        # A key that nobody has must not appear, whatever the noise: it is not in the data's list.
        positions = np.flatnonzero((noisy >= self.threshold()) & (counts >= 1))
        return SelectedKeys(positions=positions, noisy=noisy[positions])

    def _enough(self, m: int) -> bool:
        """Return whether k·a^m ≤ δ(1 + a), by brackets refined until it is certain."""
        scale, delta, bits = self.noise().scale, Fraction(self.delta), 64
        while True:
            low, high = exp_minus(m / scale, bits=bits)
            low_a, high_a = exp_minus(1 / scale, bits=bits)
            one = 1 << bits
            if self.keys_per_person * high <= delta * (one + low_a):
                return True
            if self.keys_per_person * low > delta * (one + high_a):
                return False
            bits *= 2

    def _appearing_keys_cost_nothing(self) -> bool:
        """Return whether q ≤ 1 − a is certain, as a^(τ−1) ≤ 1 − a²."""
        scale = self.noise().scale
        _, high = exp_minus((self.threshold() - 1) / scale, bits=128)
        _, high_square = exp_minus(2 / scale, bits=128)
        return high <= (1 << 128) - high_square


def touched_keys(keys_per_person: int, *, adjacency: Adjacency) -> int:
    """Return how many keys' counts neighbours can differ in.

    Example:
        >>> touched_keys(5, adjacency=Adjacency.SUBSTITUTE)
        10
    """
    return keys_per_person if adjacency is Adjacency.ADD_REMOVE else 2 * keys_per_person


def require_positive_delta(delta: object) -> None:
    """Refuse a δ with which no key of the data can be released, or that protects nobody.

    Raises:
        InvalidParameterError: If it is not an exact number in (0, 1).

    Example:
        >>> require_positive_delta(Fraction(1, 10**6))
    """
    if not isinstance(delta, Fraction) or not 0 < delta < 1:
        raise InvalidParameterError(
            f"Expected delta as an exact Fraction in (0, 1), got delta={delta!r}.",
            hint="Keys that exist only in the data cost δ > 0; declare public keys to avoid it.",
        )
