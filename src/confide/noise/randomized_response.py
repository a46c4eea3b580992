"""Randomised response: each person tells the truth with a stated chance, and a fair lie otherwise.

With k categories an answer is true with probability p, else one of the k − 1 others, each equally
likely.  The coin-flip survey (truth on heads; else a second coin answers) is k = 2, p = 3/4.

*Privacy:* ε-*local* DP under substitution of one's answer, ε = ln(p(k − 1)/(1 − p)): nobody need be
trusted, as the truth never leaves the person [War65].  Either p is an exact fraction, and the odds
e^ε are exact, or ε is, and p = 1/(1 + (k − 1)e^(−ε)) is sampled from integer brackets, never
rounded.  One answer per person: asking again adds up.

*Utility:* with q = (1 − p)/(k − 1), the share of category v is estimated without bias by
(c_v/n − q)/(p − q); its standard error is that of c_v/n, times 1/(p − q).  The interval covers
sampling of the persons and the coins; see :mod:`response_share`.

References:
    [War65] Warner. Randomized response: a survey technique for eliminating evasive answer bias.
        JASA 60(309), 1965. https://doi.org/10.1080/01621459.1965.10480775
    [KBR16] Kairouz, Bonawitz, Ramage. Discrete distribution estimation under local privacy.
        ICML 2016, sec. 4. https://arxiv.org/abs/1602.07387
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError, UnsupportedError
from confide.noise.bernoulli import Probability, bernoulli, share
from confide.noise.entropy import Entropy, uniform_below
from confide.noise.exponential_bits import Bracket, ceil_ratio, exp_minus
from confide.noise.response_share import ResponseShare, estimate_shares
from confide.privacy.loss import PureDP

_NANO = 10**15
"""Losses that are not rational are rounded up to 10⁻¹⁵ nats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponse:
    """A survey whose answers protect themselves.

    Attributes:
        truth: The chance of a true answer as an exact fraction, or the loss from which it follows.
        categories: k, at least 2.

    Raises:
        InvalidParameterError: If ``truth`` is a fraction not in (1/k, 1), or k < 2.
        UnsupportedError: If ``truth`` is neither an exact fraction nor pure ε.

    Example:
        "Have you ever shared a needle?": the coin-flip survey.

        >>> survey = RandomizedResponse(truth=Fraction(3, 4), categories=2)
        >>> survey.odds(), round(float(survey.loss().epsilon), 6)  # ln 3
        (3.0, 1.098612)
    """

    truth: Fraction | PureDP
    categories: int

    def __post_init__(self) -> None:
        if self.categories < 2:
            raise InvalidParameterError(
                f"Expected categories ≥ 2, got categories={self.categories}."
            )
        match self.truth:
            case PureDP():
                pass
            case Fraction() as keep:
                self._require_truthful(keep)
            case other:
                raise UnsupportedError(
                    f"Expected truth as an exact Fraction or PureDP, got {type(other).__name__}.",
                    hint="Write Fraction(3, 4): the float 0.1 is not 1/10.",
                )

    def keep_probability(self) -> float:
        """Return the chance of a true answer.

        Example:
            >>> target = PureDP(epsilon=Fraction(1))
            >>> round(RandomizedResponse(truth=target, categories=2).keep_probability(), 6)
            0.731059
        """
        if isinstance(self.truth, PureDP):
            return 1 / (1 + (self.categories - 1) * math.exp(-self.truth.epsilon))
        return float(self.truth)

    def lie_probability(self) -> float:
        """Return the chance of each one of the other answers.

        Example:
            >>> RandomizedResponse(truth=Fraction(1, 2), categories=6).lie_probability()
            0.1
        """
        return (1 - self.keep_probability()) / (self.categories - 1)

    def odds(self) -> float:
        """Return e^ε, the most that one answer can multiply anybody's odds by.

        Example:
            >>> RandomizedResponse(truth=Fraction(3, 4), categories=2).odds()
            3.0
        """
        if isinstance(self.truth, PureDP):
            return math.exp(self.truth.epsilon)
        return float(self._exact_odds(self.truth))

    def loss(self) -> PureDP:
        """Return the loss of one answer, rounded up to 10⁻¹⁵ nats if it is a logarithm.

        Example:
            >>> RandomizedResponse(truth=Fraction(3, 4), categories=2).loss().epsilon
            Fraction(109861228866811, 100000000000000)
        """
        if isinstance(self.truth, PureDP):
            return self.truth
        return PureDP(epsilon=_log_rounded_up(self._exact_odds(self.truth)))

    def encode(self, answers: NDArray[np.int64], *, entropy: Entropy) -> NDArray[np.int64]:
        """Return what the persons say, given what is true.

        Args:
            answers: Shape (n,); categories in [0, k).
            entropy: Source of the coins; on the person's side.

        Raises:
            InvalidParameterError: If an answer is not a category.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> survey = RandomizedResponse(truth=PureDP(epsilon=Fraction(60)), categories=3)
            >>> survey.encode(np.array([0, 2, 1]), entropy=SystemEntropy())  # e⁻⁶⁰: all true
            array([0, 2, 1])
        """
        self._require_categories(answers)
        count, k = answers.size, self.categories
        truthful = bernoulli(self._keep, count=count, entropy=entropy)
        shift = 1 + uniform_below(k - 1, count=count, entropy=entropy)
        return np.where(truthful, answers, (answers + shift) % k)

    def estimate(
        self, responses: NDArray[np.int64], *, level: float = 0.95
    ) -> tuple[ResponseShare, ...]:
        """Return the share of each category among the persons who responded.

        Raises:
            InvalidParameterError: If there is no response, one is not a category, or ``level`` is
                not in (0, 1).

        Example:
            1,000 patients, 400 of whom say yes, are 30 % yes:

            >>> survey = RandomizedResponse(truth=Fraction(3, 4), categories=2)
            >>> yes = survey.estimate(np.repeat([0, 1], [600, 400]))[1]
            >>> round(yes.estimate, 3), round(yes.standard_error, 3)
            (0.3, 0.031)
        """
        self._require_categories(responses)
        return estimate_shares(
            np.bincount(responses, minlength=self.categories).tolist(),
            asked=responses.size,
            truth=self.keep_probability(),
            lie=self.lie_probability(),
            level=level,
        )

    def _keep(self, bits: int) -> Bracket:
        """Return 2^bits·p, bracketed."""
        if not isinstance(self.truth, PureDP):
            exact: Probability = share(self.truth)
            return exact(bits)
        others, work = self.categories - 1, bits + self.categories.bit_length() + 2
        lower, upper = exp_minus(Fraction(self.truth.epsilon), bits=work)
        one = 1 << work  # p = 1/(1 + (k − 1)e^(−ε)) decreases with e^(−ε)
        scaled = one << bits
        return scaled // (one + others * upper), ceil_ratio(scaled, one + others * lower)

    def _exact_odds(self, keep: Fraction) -> Fraction:
        return keep * (self.categories - 1) / (1 - keep)

    def _require_truthful(self, keep: Fraction) -> None:
        if not Fraction(1, self.categories) < keep < 1:
            raise InvalidParameterError(
                f"Expected 1/{self.categories} < truth < 1, got truth={keep}.",
                hint="At 1/k the answers say nothing; at 1 they hide nothing.",
            )

    def _require_categories(self, answers: NDArray[np.int64]) -> None:
        if answers.dtype != np.int64 or ((answers < 0) | (answers >= self.categories)).any():
            raise InvalidParameterError(
                f"Expected int64 categories in [0, {self.categories})."
            )  # never the answer itself


def _log_rounded_up(odds: Fraction) -> Fraction:
    """Return the least multiple of 10⁻¹⁵ proved to be at least ln(odds), for odds > 1."""
    nano = max(1, math.floor(math.log(odds) * _NANO * (1 - 1e-15)))
    while True:
        _, upper = exp_minus(Fraction(nano, _NANO), bits=256)
        if upper * odds <= 1 << 256:
            return Fraction(nano, _NANO)
        nano += 1
