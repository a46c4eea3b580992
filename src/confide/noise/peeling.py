"""Peeling: choose the best, take it away, choose the best of the others, k times.

*Law.*  Each round chooses one of the candidates left with probability ∝ exp(ε·u/R), exactly, where
R is the most by which one privacy unit raises one candidate's utility over another's.

*Privacy:* each round is ε-DP and ε²/8-zCDP (``set_selection.py``), and rounds compose: kε pure,
k·ε²/8 under zCDP [BS16, lem. 1.7].  Compared with one draw of a set at the same loss, whose reach
is R_k: under pure ε a set is never worse (its slope is kε/R_k, and R_k ≤ k·R), under zCDP peeling
is better as soon as R_k > √k·R.  The order is released with the candidates.

*Utility:* the utilities add up to at most (R/ε)·k·ln(nk/β) below those of the best k, except with
chance β: in each round, by [DR14, thm. 3.11], the choice is that close to the best left, which is
as good as the best of its rank.  A candidate that leads all others but k − 1 by g is chosen with
chance at least 1/(1 + (n−k)·exp(−εg/R)): rounds are the order of uᵢ + (R/ε)·Gumbel noise [DR19],
and to be among the last n − k it must be behind one of the n − k that trail it.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.4.
        https://doi.org/10.1561/0400000042
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [DR19] Durfee, Rogers. Practical differentially private top-k selection with pay-what-you-get
        composition. NeurIPS 2019, sec. 4. https://arxiv.org/abs/1905.04273
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.noise.entropy import Entropy
from confide.noise.set_selection import Choice, draw_set


@dataclass(frozen=True, slots=True, kw_only=True)
class Peeling(Choice):
    """Choice of several public candidates one after another, by private integer utilities.

    Attributes:
        epsilon: Of each round, in nats.
        reach: Most by which one privacy unit raises one utility over another.
        size: k, how many rounds.
        candidates: n, more than ``size``.

    Raises:
        InvalidParameterError: If a parameter is out of range.

    Example:
        >>> from fractions import Fraction
        >>> from confide.noise.entropy import SystemEntropy
        >>> top = Peeling(epsilon=Fraction(1), reach=2, size=2, candidates=4)
        >>> top.select((812, 2304, 640, 15), entropy=SystemEntropy())
        (1, 0)
    """

    def select(self, utilities: Sequence[int], *, entropy: Entropy) -> tuple[int, ...]:
        """Return the positions chosen, in the order of the rounds.

        Raises:
            InvalidParameterError: If there are not ``candidates`` utilities.
        """
        self.require_all(utilities)
        left, chosen = list(range(self.candidates)), []
        for _ in range(self.size):
            (place,) = draw_set(
                [utilities[i] for i in left], size=1, slope=self.slope, entropy=entropy
            )
            chosen.append(left.pop(place))
        return tuple(chosen)

    def shortfall(self, failure: float) -> float:
        """Return how far the utilities add up below the best, except with chance ``failure``."""
        each = math.log(self.candidates * self.size / failure) / float(self.slope)
        return self.size * each
