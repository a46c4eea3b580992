"""The exponential mechanism: choose a candidate with probability ∝ exp(ε·u/(2Δ)), exactly.

*Law.*  Utilities are integers and ε is a fraction, so candidate i has weight exp(−xᵢ) with the
rational xᵢ = ε(max u − uᵢ)/(2Δ).  One uniform number U is compared with the cumulative weights: i
is chosen if Wᵢ₋₁ ≤ U·W < Wᵢ.  All weights are integer brackets (``exponential_bits.py``); if U,
known to b bits, lies too close to a boundary to tell, U and the brackets are refined, about once in
2⁶⁴/n choices.  No floating-point Gumbel noise, whose low-order bits break the guarantee [Ilv20].

*Privacy:* ε-DP if one privacy unit moves each utility by at most Δ, in any directions, under the
adjacency for which Δ was derived [MT07, thm. 6].  The choice has bounded range ε, hence is also
ε²/8-zCDP [DDR20; CR21]; permute-and-flip and noisy maximum are not.  Only the candidate is
released, never its utility.

*Utility:* P[u ≤ OPT − (2Δ/ε)(ln|R| + t)] ≤ e^(−t) [DR14, cor. 3.12].

References:
    [MT07] McSherry, Talwar. Mechanism design via differential privacy. FOCS 2007, thm. 6.
        https://doi.org/10.1109/FOCS.2007.66
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.4.
        https://doi.org/10.1561/0400000042
    [DDR20] Dong, Durfee, Rogers. Optimal differential privacy composition for exponential
        mechanisms. ICML 2020. https://arxiv.org/abs/1909.13830
    [CR21] Cesar, Rogers. Bounding, concentrating, and truncating: unifying privacy loss composition
        for data analytics. ALT 2021. https://arxiv.org/abs/2004.07223
    [Ilv20] Ilvento. Implementing the exponential mechanism with base-2 differential privacy.
        CCS 2020. https://arxiv.org/abs/1912.04222
"""

import math
import operator
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from confide.errors import InvalidParameterError
from confide.noise.discrete_laplace import require_sensitivity
from confide.noise.entropy import Entropy
from confide.noise.exponential_bits import exp_minus
from confide.privacy.loss import PureDP, ZeroConcentratedDP

_STEP = 64
"""Bits by which U grows each time it is too close to a boundary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism:
    """Choice of one public candidate by a private utility.

    Attributes:
        epsilon: In nats.
        sensitivity: Δ, the most one privacy unit moves any one utility.

    Raises:
        InvalidParameterError: If ``epsilon`` is not an exact positive number or ``sensitivity``
            not an integer of at least 1.

    Example:
        Which of three ICD-10 codes is the commonest in a cohort, at ε = 1; a patient counts once
        for each code, so Δ = 1:

        >>> from confide.noise.entropy import SystemEntropy
        >>> choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
        >>> patients = {"E11": 812, "I10": 2304, "J45": 640}
        >>> list(patients)[choice.select(list(patients.values()), entropy=SystemEntropy())]
        'I10'
    """

    epsilon: Fraction
    sensitivity: int

    def __post_init__(self) -> None:
        PureDP(epsilon=self.epsilon)
        require_sensitivity(self.sensitivity, name="sensitivity")

    def loss(self) -> PureDP:
        """Return the privacy loss of one choice.

        Example:
            >>> ExponentialMechanism(epsilon=Fraction(1), sensitivity=1).loss()
            PureDP(epsilon=Fraction(1, 1))
        """
        return PureDP(epsilon=Fraction(self.epsilon))

    def zcdp(self) -> ZeroConcentratedDP:
        """Return the loss of one choice as zCDP, ε²/8.

        Example:
            >>> ExponentialMechanism(epsilon=Fraction(1), sensitivity=1).zcdp().rho
            Fraction(1, 8)
        """
        return ZeroConcentratedDP(rho=Fraction(self.epsilon) ** 2 / 8)

    def probabilities(self, utilities: Sequence[int]) -> tuple[float, ...]:
        """Return the chance of each candidate, for utilities that are not private.

        Example:
            >>> choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
            >>> [round(p, 3) for p in choice.probabilities([812, 810, 800])]
            [0.73, 0.268, 0.002]
        """
        slope = float(self._slope())
        weights = [math.exp(-slope * gap) for gap in _gaps(utilities)]
        total = math.fsum(weights)
        return tuple(weight / total for weight in weights)

    def shortfall(self, candidates: int, *, failure: float) -> float:
        """Return how far below the best utility the choice is, except with chance ``failure``.

        Raises:
            InvalidParameterError: If ``candidates`` < 1 or ``failure`` is not in (0, 1).

        Example:
            500 codes: within 18.4 patients of the commonest, 95 % of the time:

            >>> choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
            >>> round(choice.shortfall(500, failure=0.05), 1)
            18.4
        """
        if candidates < 1 or not 0 < failure < 1:
            raise InvalidParameterError(
                f"Expected candidates ≥ 1 and 0 < failure < 1, got candidates={candidates}, "
                f"failure={failure}."
            )
        return 2 * self.sensitivity / float(self.epsilon) * math.log(candidates / failure)

    def select(self, utilities: Sequence[int], *, entropy: Entropy) -> int:
        """Return the position of one candidate, drawn by the law above.

        Raises:
            InvalidParameterError: If there is no candidate.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> choice = ExponentialMechanism(epsilon=Fraction(8), sensitivity=1)
            >>> choice.select([3, 90, 2], entropy=SystemEntropy())  # 2·10⁻¹⁵¹ to err
            1
        """
        gaps, slope = _gaps(utilities), self._slope()
        drawn = bits = 0
        while True:
            drawn, bits = drawn << _STEP | entropy.below(1 << _STEP), bits + _STEP
            chosen = _locate(gaps, slope=slope, drawn=drawn, bits=bits)
            if chosen is not None:
                return chosen

    def _slope(self) -> Fraction:
        """Return ε/(2Δ)."""
        return Fraction(self.epsilon) / (2 * self.sensitivity)


def _gaps(utilities: Sequence[int]) -> list[int]:
    """Return how far each utility is below the best."""
    if not len(utilities):
        raise InvalidParameterError("Expected at least one candidate, got none.")
    exact = [operator.index(u) for u in utilities]
    best = max(exact)
    return [best - u for u in exact]


def _locate(gaps: Sequence[int], *, slope: Fraction, drawn: int, bits: int) -> int | None:
    """Return the candidate whose interval holds every number that begins with ``drawn``, if any."""
    work = bits + len(gaps).bit_length() + 16
    weights = {gap: exp_minus(slope * gap, bits=work) for gap in set(gaps)}
    lower = list(accumulate(weights[gap][0] for gap in gaps))
    upper = list(accumulate(weights[gap][1] for gap in gaps))

    def surely_above(i: int) -> bool:
        # Wᵢ/W is least when weights up to i are least and the others greatest.
        return lower[i] << bits >= (drawn + 1) * (lower[i] + upper[-1] - upper[i])

    def surely_not_above(i: int) -> bool:
        return upper[i] << bits <= drawn * (upper[i] + lower[-1] - lower[i])

    chosen = bisect_left(range(len(gaps)), True, key=surely_above)
    return chosen if chosen == 0 or surely_not_above(chosen - 1) else None
