"""Unary encoding: a person answers yes or no to each of k categories, each time with coins.

The true category is affirmed with probability p, each other one with q, independently [EPK14].

- *symmetric* (basic RAPPOR): p = e^(ε/2)/(e^(ε/2) + 1), q = 1 − p;
- *optimised* (OUE): p = 1/2, q = 1/(e^ε + 1): of all (p, q) with this ε the one that errs least on
  rare categories [WBLJ17, sec. 4.2].

*Privacy:* ε-*local* DP under substitution of one's answer.  *Proof.*  For two true categories v, w
the laws differ in the bits v and w alone.  The ratio of the probabilities of a report is largest
where bit v is 1 and bit w is 0: p/q · (1 − q)/(1 − p).  Symmetric: (p/(1 − p))² = e^ε.  Optimised:
(1 − q)/q = e^ε.  So ε is attained and never passed.  The coins come from integer brackets of the
exponential, never rounded.  One answer per person: asking again adds up.

*Utility:* c_v affirmations of category v by n persons estimate its share by (c_v/n − q)/(p − q);
see :mod:`response_share`.  A report is k bits long.

References:
    [EPK14] Erlingsson, Pihur, Korolova. RAPPOR: randomized aggregatable privacy-preserving ordinal
        response. CCS 2014. https://arxiv.org/abs/1407.6981
    [WBLJ17] Wang, Blocki, Li, Jha. Locally differentially private protocols for frequency
        estimation. USENIX Security 2017. https://arxiv.org/abs/1705.04421
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import Probability, bernoulli, one_in_one_plus_exp, share
from confide.noise.entropy import Entropy
from confide.noise.response_share import ResponseShare, estimate_shares
from confide.privacy.loss import PureDP


class Unary(enum.Enum):
    """How the loss is split between affirming the truth and affirming anything else."""

    SYMMETRIC = "symmetric-unary"
    OPTIMISED = "optimised-unary"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaryEncoding:
    """A survey question whose answer is one coin-flipped bit a category.

    Attributes:
        target: The loss of one answer, attained exactly.
        categories: k, at least 2.
        unary: Symmetric or optimised.

    Raises:
        InvalidParameterError: If k < 2.

    Example:
        Which of 40 districts a respondent lives in, at ε = 1:

        >>> home = UnaryEncoding(
        ...     target=PureDP(epsilon=Fraction(1)), categories=40, unary=Unary.OPTIMISED
        ... )
        >>> home.keep_probability(), round(home.lie_probability(), 4)
        (0.5, 0.2689)
    """

    target: PureDP
    categories: int
    unary: Unary

    def __post_init__(self) -> None:
        if self.categories < 2:
            raise InvalidParameterError(
                f"Expected categories ≥ 2, got categories={self.categories}."
            )

    def loss(self) -> PureDP:
        """Return the loss of one answer."""
        return self.target

    def odds(self) -> float:
        """Return e^ε, the most that one answer can multiply anybody's odds by."""
        return math.exp(self.target.epsilon)

    def keep_probability(self) -> float:
        """Return p, the chance that the true category is affirmed."""
        match self.unary:
            case Unary.SYMMETRIC:
                return 1 / (1 + math.exp(-self.target.epsilon / 2))
            case Unary.OPTIMISED:
                return 0.5
            case _:
                assert_never(self.unary)

    def lie_probability(self) -> float:
        """Return q, the chance that any other category is affirmed."""
        return 1 / (1 + math.exp(self._lie_exponent()))

    def encode(self, answers: NDArray[np.int64], *, entropy: Entropy) -> NDArray[np.bool_]:
        """Return what the persons say, given what is true.

        Args:
            answers: Shape (n,); categories in [0, k).
            entropy: Source of the coins; on the person's side.

        Returns:
            Shape (n, k); person × category.

        Raises:
            InvalidParameterError: If an answer is not a category.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> sure = PureDP(epsilon=Fraction(120))  # all true but for e⁻⁶⁰
            >>> colour = UnaryEncoding(target=sure, categories=3, unary=Unary.SYMMETRIC)
            >>> colour.encode(np.array([2]), entropy=SystemEntropy()).astype(int)
            array([[0, 0, 1]])
        """
        k = self.categories
        if answers.dtype != np.int64 or ((answers < 0) | (answers >= k)).any():
            raise InvalidParameterError(f"Expected int64 categories in [0, {k}).")
        lies, kept = self._coins()
        said = bernoulli(lies, count=answers.size * k, entropy=entropy).reshape(answers.size, k)
        truthful = bernoulli(kept, count=answers.size, entropy=entropy)
        said[np.arange(answers.size), answers] = truthful
        return said

    def estimate(
        self, responses: NDArray[np.bool_], *, level: float = 0.95
    ) -> tuple[ResponseShare, ...]:
        """Return the share of each category among the persons who responded.

        Args:
            responses: Shape (n, k).
            level: Coverage of each interval.

        Raises:
            InvalidParameterError: If the shape is another, or nobody responded.
        """
        if responses.ndim != 2 or responses.shape[1] != self.categories:
            raise InvalidParameterError(
                f"Expected responses of shape (n, {self.categories}), got {responses.shape}."
            )
        return estimate_shares(
            responses.sum(axis=0).tolist(),
            asked=len(responses),
            truth=self.keep_probability(),
            lie=self.lie_probability(),
            level=level,
        )

    def _coins(self) -> tuple[Probability, Probability]:
        """Return q and p, known on demand to any number of bits."""
        lies = one_in_one_plus_exp(self._lie_exponent())
        match self.unary:
            case Unary.SYMMETRIC:
                return lies, _complement(lies)
            case Unary.OPTIMISED:
                return lies, share(Fraction(1, 2))
            case _:
                assert_never(self.unary)

    def _lie_exponent(self) -> Fraction:
        epsilon = Fraction(self.target.epsilon)
        return epsilon / 2 if self.unary is Unary.SYMMETRIC else epsilon


def _complement(p: Probability) -> Probability:
    """Return 1 − p."""

    def known(bits: int) -> tuple[int, int]:
        lower, upper = p(bits)
        return (1 << bits) - upper, (1 << bits) - lower

    return known
