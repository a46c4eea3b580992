"""Privacy events: what an accountant is told about a release, in a closed list.

Every noise multiplier is noise scale ÷ sensitivity, with the sensitivity taken under the *ledger's*
adjacency, so an accountant is always asked about add-remove with sensitivity 1 and never has to
know what a neighbour is.

*Privacy:* ``GaussianEvent`` and ``LaplaceEvent`` are the laws of **continuous** noise.  Discrete
noise is not dominated by them: discrete Laplace on a count at ε is randomised response, whose δ
below ε is larger than continuous Laplace's.  Discrete Laplace and exponential mechanisms are
``PureEvent``s, discrete Gaussian releases ``ConcentratedEvent``s.  ``PoissonSampled`` is only for a
sampler that draws each person independently; fixed or shuffled batches have no event here and
are refused.

References:
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [CGK24] Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang. How private are DP-SGD
        implementations? ICML 2024. https://arxiv.org/abs/2403.17673
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from confide.errors import InvalidParameterError, UnsupportedError


def _require_positive(name: str, value: object) -> None:
    if not isinstance(value, Fraction | int) or isinstance(value, bool):
        raise InvalidParameterError(
            f"Expected {name} as an exact Fraction or int, got a {type(value).__name__}.",
            hint='Write Fraction("1.1").',
        )
    if value <= 0:
        raise InvalidParameterError(f"Expected {name} > 0, got {name}={value}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent:
    """Continuous Gaussian noise.

    Attributes:
        noise_multiplier: σ/Δ₂; round an irrational one down.
    """

    noise_multiplier: Fraction

    def __post_init__(self) -> None:
        _require_positive("noise_multiplier", self.noise_multiplier)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceEvent:
    """Continuous Laplace noise on one number.

    Attributes:
        noise_multiplier: b/Δ₁.
    """

    noise_multiplier: Fraction

    def __post_init__(self) -> None:
        _require_positive("noise_multiplier", self.noise_multiplier)


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent:
    """Any ε-DP mechanism: discrete Laplace, exponential, randomised response.

    Attributes:
        epsilon: In nats.
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        _require_positive("epsilon", self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedEvent:
    """Any ρ-zCDP mechanism: discrete Gaussian noise of any dimension.

    Attributes:
        rho: In nats.
    """

    rho: Fraction

    def __post_init__(self) -> None:
        _require_positive("rho", self.rho)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonSampled:
    """A mechanism on a sample that holds each person independently with one probability.

    Attributes:
        probability: In (0, 1]; public.
        event: The mechanism, with its loss on the sample.
    """

    probability: Fraction
    event: GaussianEvent | LaplaceEvent | PureEvent

    def __post_init__(self) -> None:
        _require_positive("probability", self.probability)
        if self.probability > 1:
            raise InvalidParameterError(f"Expected probability ≤ 1, got {self.probability}.")
        if not isinstance(self.event, GaussianEvent | LaplaceEvent | PureEvent):
            raise UnsupportedError(
                f"Expected a Gaussian, Laplace or pure event, got {type(self.event).__name__}.",
                hint="No amplification by sampling is known for it here; charge it unsampled.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same event several times, each with fresh noise (and a fresh sample).

    Attributes:
        event: What is repeated.
        count: At least 1.
    """

    event: "SingleEvent"
    count: int

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or isinstance(self.count, bool) or self.count < 1:
            raise InvalidParameterError(f"Expected count ≥ 1, got count={self.count}.")


SingleEvent: TypeAlias = (
    GaussianEvent | LaplaceEvent | PureEvent | ConcentratedEvent | PoissonSampled
)
Event: TypeAlias = SingleEvent | Repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredBatch:
    """Events that were all fixed in one plan before its first release.

    Only such batches may be accounted by privacy-loss distributions, whose composition is proved
    for mechanisms whose noise multipliers do not depend on earlier answers.

    Attributes:
        events: In any order.
        plan: Digest of the plan that declared them.

    Example:
        Three dashboards of one approved plan:

        >>> quarter = PureEvent(epsilon=Fraction("0.1"))
        >>> len(DeclaredBatch(events=(quarter,) * 3, plan="9f2c").events)
        3
    """

    events: tuple[Event, ...]
    plan: str

    def __post_init__(self) -> None:
        if not self.events or not self.plan:
            raise InvalidParameterError(
                "Expected events and the digest of the plan that declared them.",
                hint="Events chosen after seeing answers are accounted by adaptive_epsilon.",
            )
