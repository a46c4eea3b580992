"""Selection of k of n candidates: a set with probability ∝ exp(ε·u(S)/R), exactly.

*Law.*  u(S) is the sum of the integer utilities of S; R, the *reach*, is the most by which one
privacy unit raises the utility of one set over that of another.

*Sampling.*  Let η = ε/R, and let candidate i show heads with probability 1/(1 + exp(−η(uᵢ − t))),
independently, until exactly k candidates do.  Given that, the odds of the coins multiply, so a set
S appears with probability ∝ Π_{i∈S} exp(η(uᵢ − t)) ∝ exp(η·u(S)): the law above, *whatever t*.  The
coins are exact (``bernoulli.py``), so nothing is rounded: no elementary symmetric polynomials,
whose brackets would need as many bits as the utilities are apart, and no floating-point Gumbel
noise.  t is chosen so that k heads are expected; k is then the likeliest number of heads [Dar64],
so a try succeeds with chance about 3/(4(4√k + 1)) or more, by Chebyshev.

*Privacy:* ε-DP, with bounded range ε, hence ε²/8-zCDP.  *Proof.*  For neighbours D, D′ write
δ(S) = u_D(S) − u_D′(S).  The log-ratio of the chances of S is η·δ(S) plus a constant of (D, D′), so
it has range at most η·R = ε; it is not always of one sign, as both laws add up to 1, so it lies in
[−ε, ε].  For zCDP let L be the log-ratio, Q the law on D′ and Λ(s) = ln E_Q exp(sL).  Λ(0) = Λ(1)
= 0, and Λ″(s) is a variance of L under a tilted law, at most ε²/4 as L has range ε.  So
Λ(s) − s(s−1)ε²/8 is concave and 0 at 0 and 1, hence not positive at any α > 1: the Rényi divergence
Λ(α)/(α−1) is at most αε²/8.  ∎  (The argument of [DDR20] and [CR21]; the usual factor 2 is R = 2Δ
for utilities that move either way by Δ, and R = Δ for counts, which move in one direction.)

*Utility:* the set falls short of the best by more than (R/ε)·(ln C(n, k) + ln(1/β)) with chance at
most β [DR14, thm. 3.11].  A candidate that leads all others but k − 1 by g is in the set with
chance at least 1/(1 + (n−k)·exp(−εg/R)): replacing some trailing member of a set without it by it
multiplies the weight by exp(εg/R), and at most n − k sets lead to the same one.

References:
    [MT07] McSherry, Talwar. Mechanism design via differential privacy. FOCS 2007, thm. 6.
        https://doi.org/10.1109/FOCS.2007.66
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.4.
        https://doi.org/10.1561/0400000042
    [DDR20] Dong, Durfee, Rogers. Optimal differential privacy composition for exponential
        mechanisms. ICML 2020. https://arxiv.org/abs/1909.13830
    [CR21] Cesar, Rogers. Bounding, concentrating, and truncating: unifying privacy loss composition
        for data analytics. ALT 2021. https://arxiv.org/abs/2004.07223
    [Dar64] Darroch. On the distribution of the number of successes in independent trials. Annals
        of Mathematical Statistics 35, 1964. https://doi.org/10.1214/aoms/1177703287
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import Probability, bernoulli_each, one_in_one_plus_exp
from confide.noise.discrete_laplace import require_sensitivity
from confide.noise.entropy import Entropy
from confide.privacy.loss import PureDP

_HALVINGS = 30
_GRID = 2**20
_TRIES = 8
_FARTHEST = 600.0  # exp(600 + 2 ln n) is still a float


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a choice of some public candidates is given, whatever its law.

    Attributes:
        epsilon: In nats: of a set, or of each round of peeling.
        reach: Most by which one privacy unit raises one choice over another.
        size: k, how many are chosen.
        candidates: n, more than ``size``.

    Raises:
        InvalidParameterError: If a parameter is out of range.
    """

    epsilon: Fraction
    reach: int
    size: int
    candidates: int

    def __post_init__(self) -> None:
        PureDP(epsilon=self.epsilon)
        require_sensitivity(self.reach, name="reach")
        require_size(self.size, candidates=self.candidates)

    @property
    def slope(self) -> Fraction:
        """Return η = ε/R, per unit of utility."""
        return Fraction(self.epsilon) / self.reach

    def require_all(self, utilities: Sequence[int]) -> None:
        """Refuse utilities of fewer or more than the candidates.

        Raises:
            InvalidParameterError: If there are not ``candidates`` utilities.
        """
        if len(utilities) != self.candidates:
            raise InvalidParameterError(
                f"Expected {self.candidates} utilities, got {len(utilities)}."
            )

    def lead(self, chance: float) -> float:
        """Return the lead over all others but k − 1 that is enough for this chance to be chosen.

        Example:
            >>> top = Choice(epsilon=Fraction(1), reach=1, size=1, candidates=500)
            >>> round(top.lead(0.95), 1)  # patients
            9.2
        """
        odds = (self.candidates - self.size) * chance / (1 - chance)
        return max(0.0, math.log(odds) / float(self.slope))

    def chance(self, leading: float) -> float:
        """Return the least chance to be chosen of a candidate with this lead.

        Example:
            >>> top = Choice(epsilon=Fraction(1), reach=1, size=1, candidates=500)
            >>> round(top.chance(10), 2)
            0.98
        """
        behind = math.exp(-max(float(self.slope) * leading, -_FARTHEST))
        return 1 / (1 + (self.candidates - self.size) * behind)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSelection(Choice):
    """Choice of a set of public candidates by private integer utilities, in one draw.

    Attributes:
        epsilon: In nats.
        reach: Most by which one privacy unit raises the utility of one set over another's.
        size: k, how many are chosen; the order is not released.
        candidates: n, more than ``size``.

    Raises:
        InvalidParameterError: If a parameter is out of range.

    Example:
        The two commonest of four ICD-10 codes at ε = 1.  A patient counts for one code, and is
        added or removed, so a set gains at most 1 on another:

        >>> from confide.noise.entropy import SystemEntropy
        >>> top = SetSelection(epsilon=Fraction(1), reach=1, size=2, candidates=4)
        >>> patients = {"E11": 812, "I10": 2304, "J45": 640, "N18": 15}
        >>> [list(patients)[i] for i in top.select(tuple(patients.values()),
        ...                                        entropy=SystemEntropy())]
        ['E11', 'I10']
    """

    def select(self, utilities: Sequence[int], *, entropy: Entropy) -> tuple[int, ...]:
        """Return the positions of one set, ascending, drawn by the law above.

        Raises:
            InvalidParameterError: If there are not ``candidates`` utilities.
        """
        self.require_all(utilities)
        return draw_set(utilities, size=self.size, slope=self.slope, entropy=entropy)

    def shortfall(self, failure: float) -> float:
        """Return how far below the best the set's utility is, except with chance ``failure``.

        Example:
            >>> top = SetSelection(epsilon=Fraction(1), reach=1, size=1, candidates=500)
            >>> round(top.shortfall(0.05), 1)  # patients
            9.2
        """
        sets = math.lgamma(self.candidates + 1) - math.lgamma(self.size + 1)
        sets -= math.lgamma(self.candidates - self.size + 1)
        return (sets + math.log(1 / failure)) / float(self.slope)


def require_size(size: int, *, candidates: int) -> None:
    """Refuse to choose none or all.

    Raises:
        InvalidParameterError: Unless 1 ≤ ``size`` < ``candidates``.
    """
    if not 1 <= size < candidates:
        raise InvalidParameterError(
            f"Expected 1 ≤ size < candidates, got size={size}, candidates={candidates}.",
            hint="Ask for fewer, or name more candidates.",
        )


def draw_set(
    utilities: Sequence[int], *, size: int, slope: Fraction, entropy: Entropy
) -> tuple[int, ...]:
    """Return the positions of ``size`` candidates, with probability ∝ exp(slope·their sum).

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> draw_set((0, 90, 91), size=2, slope=Fraction(1), entropy=SystemEntropy())
        (1, 2)
    """
    (drawn,) = draw_sets(utilities, size=size, slope=slope, count=1, entropy=entropy)
    return tuple(drawn.tolist())


def draw_sets(
    utilities: Sequence[int], *, size: int, slope: Fraction, count: int, entropy: Entropy
) -> NDArray[np.intp]:
    """Return independent sets, shape (count, size), positions ascending; for audits."""
    exact = [operator.index(u) for u in utilities]
    last = sorted(exact, reverse=True)[size - 1]
    distinct = sorted(set(exact))  # of many candidates without rows few are
    places = {u: place for place, u in enumerate(distinct)}
    of = np.array([places[u] for u in exact])
    gaps = [slope * (u - last) for u in distinct]
    middle = _middle(np.array([_clipped(gap) for gap in gaps])[of], size=size)
    x = [gap - middle for gap in gaps]
    rarer = np.array([1 / (1 + math.exp(abs(_clipped(each)))) for each in x])[of]
    likely = np.array([each > 0 for each in x])[of]

    def rarer_exactly(i: int) -> Probability:
        return one_in_one_plus_exp(abs(x[of[i % len(of)]]))

    found = np.empty((0, size), dtype=np.intp)
    while len(found) < count:
        tries = max(_TRIES, count - len(found))
        rare = bernoulli_each(np.tile(rarer, tries), exact=rarer_exactly, entropy=entropy)
        heads = rare.reshape(tries, -1) ^ likely
        wanted = heads[heads.sum(axis=1) == size]
        found = np.vstack([found, np.nonzero(wanted)[1].reshape(len(wanted), size)])
    return found[:count]


def _middle(gaps: NDArray[np.float64], *, size: int) -> Fraction:
    """Return t with about ``size`` heads expected; any t gives the same law, other ones are slow.

    Gaps are from the size-th largest.  At t = ln n + 1 fewer heads are expected; at −ln n − 1 more,
    or the others are so far behind that the best ``size`` show heads alone in most tries.
    """
    high = math.log(gaps.size) + 1
    low = -high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        heads = float((1 / (1 + np.exp(middle - gaps))).sum())
        low, high = (middle, high) if heads > size else (low, middle)
    return Fraction(round(low * _GRID), _GRID)


def _clipped(x: Fraction) -> float:
    """Return a float that is 0 or 1 under the logistic function wherever ``x`` is, to 2⁻³⁰."""
    return min(_FARTHEST, max(-_FARTHEST, float(x)))
