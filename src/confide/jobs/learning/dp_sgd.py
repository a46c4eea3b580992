"""DP-SGD: what a training by noisy gradients states of itself, exactly and before it reads.

A step draws patients by Poisson sampling, sums the gradients of each drawn patient's rows, clips
that sum once to norm C, rounds it to whole numbers of C/R, sums over patients, adds discrete
Gaussian noise and divides by the *public* number q·n of patients expected in a batch [ACGMMTZ16].

*Lemma.*  With one patient more or less, who else is drawn and what they add stay the same, and the
sum moves by a vector of whole numbers with L2 norm at most R (see :mod:`.per_patient_gradients`),
or not at all.  So each step is one Poisson-sampled Gaussian of multiplier σ/R, whatever the weights
are at which it is asked, and steps compose adaptively.  Under substitution two clipped vectors may
oppose, so the sum moves by at most 2R; that is claimed without sampling only.  ∎

*Privacy:* dividing by the actual size of a batch would tell it, and its average has no such bound;
n is a planning number, declared, and a wrong one makes steps too long or too short, never a charge
too small.  An empty batch is noise alone.

*Utility:* clipping pulls gradients of unusual patients; for a linear module C = ‖x‖ loses nothing,
since its residual is at most 1.

References:
    [ACGMMTZ16] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang. Deep learning with
        differential privacy. CCS 2016. https://arxiv.org/abs/1607.00133
    [MTZ19] Mironov, Talwar, Zhang. Rényi differential privacy of the sampled Gaussian mechanism.
        2019. https://arxiv.org/abs/1908.10530
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.jobs.learning.poisson_sampler import PoissonSampler
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.events import JobEvent
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.accounting.sampled_gaussian import (
    SampledSteps,
    least_multiplier,
    sampled_epsilon,
    sampled_rho,
)
from confide.privacy.adjacency import Adjacency
from confide.privacy.exact import takes_numbers
from confide.privacy.measure import Measure
from confide.tables.records import Records, check_records
from confide.tables.relation import domain
from confide.tables.schema import Dataset, Kind

REACH = 2**20
"""R: the clip in whole numbers."""
MOST_STEPS = 10**6
MOST_CHECKPOINTS = 1000


class Optimizer(enum.Enum):
    """What is made of noisy gradients; all of it is post-processing."""

    SGD = "sgd"
    MOMENTUM = "momentum"
    ADAM = "adam"


def optimizer_of(word: str) -> Optimizer:
    """Return the optimizer of a word.

    Raises:
        ContractError: If there is none.
    """
    kinds = {each.value: each for each in Optimizer}
    if word not in kinds:
        raise ContractError(f"Expected optimizer as one of {', '.join(kinds)}.")
    return kinds[word]


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class DPSGD:
    """A training by noisy gradients.

    Attributes:
        reads: Covariates, then the outcome; rows of each patient.
        architecture: SHA-256 of the module's structure and shapes.
        parameters: Number of its weights that are trained.
        clip: C, in the unit of the gradient.
        rate: q, probability of each patient in a batch.
        patients: n, public planning number of patients.
        steps: Number of batches.
        sigma_squared: Of the noise, in squares of C/R.
        optimizer: What is made of noisy gradients.
        learning_rate: Its step.
        checkpoints: Parts into which the training is cut; each ends with durable weights.
        program: SHA-256 of what the module does to a row, operation by operation; empty in plans
            from before it was written.
        first_weights: SHA-256 of the weights that the training starts from; empty likewise.
    """

    kind: ClassVar[str] = "dp-sgd"

    reads: Records
    architecture: str
    parameters: int
    clip: Fraction
    rate: Fraction
    patients: int
    steps: int
    sigma_squared: Fraction
    optimizer: Optimizer
    learning_rate: Fraction
    checkpoints: int
    program: str = ""
    first_weights: str = ""

    def __post_init__(self) -> None:
        for name, most in (
            ("parameters", 10**9),
            ("patients", 10**10),
            ("steps", MOST_STEPS),
            ("checkpoints", min(self.steps, MOST_CHECKPOINTS)),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or not 1 <= value <= most:
                raise InvalidParameterError(f"Expected {name} from 1 to {most}, got {value}.")
        for name in ("clip", "learning_rate"):
            value = getattr(self, name)
            if not isinstance(value, Fraction) or not 0 < value < 10**9:
                raise InvalidParameterError(f"Expected an exact {name} > 0, got {value}.")

    @property
    def sampler(self) -> PoissonSampler:
        """What draws patients."""
        return PoissonSampler(rate=self.rate)

    @property
    def noise(self) -> DiscreteGaussian:
        """What hides sums of gradients."""
        return DiscreteGaussian(sigma_squared=self.sigma_squared)

    @property
    def unit(self) -> Fraction:
        """What a whole number is worth in a gradient: C/(R·q·n), whatever the batch."""
        return self.clip / (REACH * self.rate * self.patients)

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return the one event: so many steps, each on a fresh sample.

        Raises:
            ContractError: If the job does not suit the data set.
        """
        require_classes(self.reads, dataset=dataset)
        reach = REACH * _times(dataset.adjacency)
        return (
            clipped_steps(
                self.sampler,
                noise=self.noise,
                parameters=self.parameters,
                steps=self.steps,
                reach=reach,
            ),
        )

    def step_of(self, part: int) -> int:
        """Return how many steps are done when so many parts are: all at the last one.

        Example:
            >>> [5 * part // 2 for part in range(3)]
            [0, 2, 5]
        """
        return self.steps * part // self.checkpoints


def require_classes(reads: Records, *, dataset: Dataset) -> None:
    """Refuse rows on which no classifier is trained.

    Args:
        reads: Covariates, then the outcome.
        dataset: Public facts.

    Raises:
        ContractError: If they do not suit the data set, or a covariate is a date.
    """
    check_records(reads, dataset=dataset)
    outcome = domain(reads.reads[-1], dataset=dataset)
    if len(reads.reads) < 2 or not outcome.keys:
        raise ContractError(
            "A classifier is trained on covariates and an outcome with public classes.",
            hint="Declare the categories of the outcome.",
        )
    for each in reads.reads[:-1]:
        if domain(each, dataset=dataset).kind is Kind.DATE:
            raise ContractError(
                "A covariate is a date.", hint="Use days between dates, or its year."
            )


def clipped_steps(
    sampler: PoissonSampler,
    *,
    noise: DiscreteGaussian,
    parameters: int,
    steps: int,
    reach: int = REACH,
) -> JobEvent:
    """Return the one event of a training: so many steps, each on a fresh sample of patients.

    Args:
        sampler: Of patients.
        noise: On each whole number.
        parameters: How many of them.
        steps: All together.
        reach: Most that one patient moves their sum by, in L2.
    """
    return sampler.event(
        noise,
        l1=math.isqrt(parameters * reach**2) + 1,
        l2_squared=reach**2,
        steps=steps,
        because="the gradients of a patient's rows are summed, clipped once and rounded "
        "towards zero to whole numbers whose norm is checked [ACGMMTZ16].",
    )


def _times(adjacency: Adjacency) -> int:
    return 2 if adjacency is Adjacency.SUBSTITUTE else 1


def noise_for(
    epsilon: Fraction,
    *,
    delta: Fraction,
    rate: Fraction,
    steps: int,
    adjacency: Adjacency,
    measure: Measure,
) -> Fraction:
    """Return the least σ², in squares of C/R, at which a training costs at most ε.

    Args:
        epsilon: At ``delta`` under ``pure``; under ``zcdp`` the ρ that gives it at ``delta``, with
            as much δ beside it where patients are sampled.
        delta: As above.
        rate: Probability of each patient in a batch.
        steps: Number of batches.
        adjacency: Of the data set.
        measure: Of the ledger.

    Raises:
        InvalidParameterError: If no noise brings so many steps to ε.

    Example:
        Full batches under add-remove:

        >>> squared = noise_for(Fraction(1), delta=Fraction(1, 10**5), rate=Fraction(1), steps=20,
        ...                     adjacency=Adjacency.ADD_REMOVE, measure=Measure.ZCDP)
        >>> round(math.sqrt(squared) / REACH, 1)
        18.1
    """
    if rate == 1:
        rho = rho_for(epsilon, delta=delta)
        return steps * (REACH * _times(adjacency)) ** 2 / (2 * rho)
    match measure:
        case Measure.PURE:
            most = epsilon
        case Measure.ZCDP:
            most = rho_for(epsilon, delta=delta)
        case _:
            assert_never(measure)
    return sampled_noise(most, delta=delta, rate=rate, steps=steps, measure=measure)


def sampled_noise(
    most: Fraction, *, delta: Fraction, rate: Fraction, steps: int, measure: Measure
) -> Fraction:
    """Return the least σ², in squares of C/R, at which steps on Poisson samples cost an amount.

    Args:
        most: ε under ``pure``, ρ under ``zcdp``.
        delta: Charged beside it.
        rate: Probability of each patient in a batch, below 1.
        steps: Number of batches.
        measure: Of the ledger.

    Raises:
        InvalidParameterError: If no noise brings so many steps to it.
    """

    def cost(each: SampledSteps) -> Fraction:
        match measure:
            case Measure.PURE:
                return sampled_epsilon([each], delta=delta)
            case Measure.ZCDP:
                return sampled_rho([each], delta=delta)

    return (least_multiplier(most, cost=cost, rate=rate, count=steps) * REACH) ** 2
