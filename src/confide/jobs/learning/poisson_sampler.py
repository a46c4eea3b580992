"""The Poisson sampler: each patient is in a batch independently, with exactly one probability.

Law.  One exact coin a patient and step (:mod:`confide.noise.bernoulli`); the number of patients in
a batch is binomial and secret, and may be 0.  Drawing a binomial number first and then that many
patients is the same law; coins are as fast (about 2 ns a patient) and need no exact binomial.

*Privacy:* accounting for Poisson samples holds for this sampler alone.  Shuffled batches, batches
of a fixed size and weighted samplers have other losses, which may be larger [CGK24]; so the event
that is charged is made here, from the rate that is drawn with, and there is no other way to one.

References:
    [CGK24] Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang. How private are DP-SGD
        implementations? ICML 2024. https://arxiv.org/abs/2403.17673
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.bernoulli import bernoulli, share
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.entropy import Entropy
from confide.plans.events import JobEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonSampler:
    """Draws patients; at rate 1 everybody, always.

    Attributes:
        rate: Probability of each patient, in (0, 1]; public.
    """

    rate: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.rate, Fraction) or not 0 < self.rate <= 1:
            raise InvalidParameterError(f"Expected an exact rate in (0, 1], got {self.rate}.")

    def draw(self, patients: int, *, entropy: Entropy) -> NDArray[np.int64]:
        """Return the numbers of the patients in a batch, ascending; shape (secret,).

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> PoissonSampler(rate=Fraction(1)).draw(3, entropy=SystemEntropy())
            array([0, 1, 2])
        """
        coins = bernoulli(share(self.rate), count=patients, entropy=entropy)
        return np.flatnonzero(coins).astype(np.int64)

    def event(
        self, noise: DiscreteGaussian, *, l1: int, l2_squared: int, steps: int, because: str
    ) -> JobEvent:
        """Return what so many steps with this sampler draw.

        Args:
            noise: Added to the sum over the batch.
            l1: Most that one patient in the batch moves the sum, in the L1 norm.
            l2_squared: The same in the squared L2 norm.
            steps: Number of batches.
            because: Why it holds.
        """
        return JobEvent(
            name="gradients",
            noise=noise,
            l1=l1,
            l2_squared=l2_squared,
            count=steps,
            because=because,
            rate=self.rate,
        )
