"""Federated averaging: in each round sites add whole updates of the weights, each clipped once.

In a round every site starts from the public weights, trains by itself on its own rows, without
noise, and takes the difference to where it ended; that is clipped *once*, to norm C, rounded to
whole numbers of C/R, and hidden with the site's part of the noise [MMRHA17, MRTZ18].  The mean over
the *public* number n of sites is the server's gradient [RCZGRKKM21]; large sites weigh as small
ones, since a weight by the secret number of patients would be a number more to hide.

*Lemma.*  Whatever a site's rows are, whatever its training made of them and at whatever weights it
was asked, it adds a vector v of whole numbers with ‖v‖ ≤ R, checked on the integers
(:func:`~confide.jobs.learning.per_patient_gradients.whole`); v is 0 where no finite number came
out.  Who the sites are is public, so a neighbour of a site is the same site with *other rows*: v
becomes v′, and ‖v − v′‖ ≤ ‖v‖ + ‖v′‖ ≤ 2R = Δ₂.  One patient more, less or replaced at a site is
one way of having other rows, so the same Δ₂ bounds each patient; it is *not* R under either
adjacency, since a patient may turn a site's whole update round.  Whoever is a patient of k sites
moves the sum by kΔ₂ at most (triangle inequality over sites).  So a round is one use of noise in
parts with ρ = (kΔ₂)²/(2mσᵢ²) + κ·kΔ₁ (:mod:`confide.plans.sites.shared_noise`), and T rounds add
up [BS16, lem. 2.3], which is at most what the plan's event says, of σ².  ∎

*Privacy:* protected is a whole site, at 1/k² of the charge, and each patient of up to k sites at
the charge, which so stands rightly in ledgers that count patients.  It is of this training alone:
nothing else that a site releases protects the site.  *Utility:* the noise does not fall with the
number of patients, only with that of sites (:attr:`FedAvg.drowned`).

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [MMRHA17] McMahan, Moore, Ramage, Hampson, Agüera y Arcas. Communication-efficient learning of
        deep networks from decentralized data. AISTATS 2017. https://arxiv.org/abs/1602.05629
    [MRTZ18] McMahan, Ramage, Talwar, Zhang. Learning differentially private recurrent language
        models. ICLR 2018. https://arxiv.org/abs/1710.06963
    [RCZGRKKM21] Reddi, Charles, Zaheer, Garrett, Rush, Konečný, Kumar, McMahan. Adaptive federated
        optimization. ICLR 2021. https://arxiv.org/abs/2003.00295
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from confide.errors import ContractError, InvalidParameterError
from confide.jobs.federated.training.spec import (
    gaussian_part,
    require_fitting,
    require_room,
    require_zcdp,
)
from confide.jobs.learning.dp_sgd import MOST_STEPS, REACH, Optimizer, require_classes
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.plans.events import JobEvent
from confide.plans.job import JobPlan
from confide.plans.pricing.job_sums import JobSums
from confide.plans.sites.federation import Federation
from confide.plans.sites.shared_noise import SharedNoise
from confide.plans.sites.tolerance import MOST_SITES
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.exact import takes_numbers
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.tables.records import Records
from confide.tables.schema import Dataset

_BECAUSE = (
    "what a site adds is clipped once and rounded towards zero to whole numbers whose norm is "
    "checked, whatever its rows are; other rows move it by twice the clip at most [MRTZ18]."
)
_MARGIN = 1 + 1e-5
"""Of hints: noise in parts is rounded up by less."""


@takes_numbers
@dataclass(frozen=True, slots=True, kw_only=True)
class FedAvg:
    """A training by updates of whole sites.

    Attributes:
        reads: Covariates, then the outcome; rows of each patient.
        architecture: SHA-256 of the module's structure and shapes.
        parameters: Number of its weights that are trained.
        clip: C, the most norm of a site's update, in the unit of weights.
        steps: Number of rounds.
        local_steps: Steps of full batches that a site takes by itself in a round.
        local_rate: Their length.
        sigma_squared: Of the noise that the charge buys of one curator, in squares of C/R.
        optimizer: What the server makes of the noisy mean update.
        learning_rate: Its step; 1 of plain averaging by "sgd".
        program: SHA-256 of what the module does to a row, operation by operation.
        first_weights: SHA-256 of the weights that the training starts from.
        federation: Who takes part.
        shared: The noise of a round, of which each site adds a part.
    """

    kind: ClassVar[str] = "fedavg"
    protects_sites: ClassVar[bool] = True

    reads: Records
    architecture: str
    parameters: int
    clip: Fraction
    steps: int
    local_steps: int
    local_rate: Fraction
    sigma_squared: Fraction
    optimizer: Optimizer
    learning_rate: Fraction
    program: str
    first_weights: str
    federation: Federation
    shared: SharedNoise

    def __post_init__(self) -> None:
        counts = (("parameters", 10**9), ("steps", MOST_STEPS), ("local_steps", MOST_STEPS))
        for name, most in counts:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
                raise InvalidParameterError(f"Expected {name} from 1 to {most}, got {value}.")
        for name in ("clip", "learning_rate", "local_rate"):
            value = getattr(self, name)
            if not isinstance(value, Fraction) or not 0 < value < 10**9:
                raise InvalidParameterError(f"Expected an exact {name} > 0, got {value}.")

    @property
    def part(self) -> GaussianParts:
        """A site's part of the noise.

        Raises:
            ContractError: If it is not Gaussian.
        """
        return gaussian_part(self.shared)

    @property
    def unit(self) -> Fraction:
        """What a whole number is worth in the mean update: C/(R·n), whoever dropped out."""
        return self.clip / (REACH * len(self.federation.sites))

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return the one event, as ledgers keep it: what the charge buys of one curator.

        Raises:
            ContractError: If the job does not suit the data set, or its parts of noise lose more
                than the event does, or sums may pass 63 bits.
            UnsupportedError: If the ledger does not count in ρ.
        """
        require_zcdp(dataset)
        require_classes(self.reads, dataset=dataset)
        moved = moved_by_site(self.parameters, entity=self.reads.unit)
        event = JobEvent(
            name="updates",
            noise=DiscreteGaussian(sigma_squared=self.sigma_squared),
            l1=moved.l1,
            l2_squared=moved.l2_squared,
            count=self.steps,
            because=moved.because,
        )
        require_fitting(
            event, shared=self.shared, federation=self.federation, moved=moved, steps=self.steps
        )
        require_room(REACH, part=self.part, federation=self.federation)
        return (event,)

    def sums(self, plan: JobPlan) -> JobSums:
        """Return what sites add: a sum a round, of a number a weight."""
        lengths = (self.parameters,) * self.steps
        return JobSums(plan=plan, federation=self.federation, lengths=lengths)

    @property
    def drowned(self) -> float:
        """How long the noise of all rounds is, as a multiple of the longest path of updates.

        In the mean over n sites a round's update is C at most, so T rounds are TC; the noise of T
        rounds has norm √(pT)·σC/(Rn), where p weights are trained and σ² is that of all n parts.
        The quotient is 2k·√(p/(2ρmn)), whatever C and T are: a function of public numbers alone.
        """
        sigma = self.shared.total.standard_deviation() / REACH
        longest = math.sqrt(self.steps) * len(self.federation.sites)
        return math.sqrt(self.parameters) * sigma / longest


def moved_by_site(parameters: int, *, entity: Entity) -> Sensitivity:
    """Return how far one site with other rows moves the sum of a round: 2R, and no adjacency less.

    Example:
        >>> moved_by_site(9, entity=Entity.PATIENT).l2_squared == (2 * REACH) ** 2
        True
    """
    reach = 2 * REACH
    return Sensitivity(
        l1=math.isqrt(parameters * reach**2) + 1,
        l2_squared=reach**2,
        linf=reach,
        entity=entity,
        unit="parts of the clip",
        because=_BECAUSE,
    )


def bought_by(
    rho: Fraction, *, parameters: int, steps: int, federation: Federation
) -> tuple[Fraction, SharedNoise]:
    """Return σ² of one curator and the parts of sites that so many rounds at ρ together pay for.

    Args:
        rho: Of all rounds.
        parameters: Number of weights that are trained.
        steps: Number of rounds.
        federation: Who takes part.
    """
    moved = moved_by_site(parameters, entity=Entity.PATIENT)
    squared = steps * Fraction(moved.l2_squared) / (2 * rho)
    each = Fraction(moved.l2_squared) / (2 * squared)
    return squared, SharedNoise.bought(each, sensitivity=moved, federation=federation)


def require_not_drowned(spec: FedAvg, *, delta: Fraction) -> None:
    """Refuse a training whose noise is longer than all updates together can be.

    Args:
        spec: What is planned.
        delta: At which ε is told.

    Raises:
        ContractError: If nothing would be learnt; says how many sites, or what ε, would do.
    """
    if spec.drowned <= 1:
        return
    sites = len(spec.federation.sites)
    raise ContractError(
        f"The noise of the whole training is {spec.drowned:.3g} times as long as the clipped "
        f"updates of {sites} sites can be, so nothing would be learnt.",
        hint=f"To protect patients, leave out unit: few sites do that well. To protect whole sites "
        f"it takes {_enough(spec, delta=delta)} at the very least, or fewer weights than "
        f"{spec.parameters}.",
    )


def _enough(spec: FedAvg, *, delta: Fraction) -> str:
    """Return how many sites would do, if so many may be, and what ε with the sites there are."""
    held = spec.federation.tolerance
    lost, short = held.drops + held.colluders, (spec.drowned * _MARGIN) ** 2
    need = short * held.sites * held.honest
    many = (n for n in range(held.sites + 1, MOST_SITES + 1) if n * (n - lost) >= need)
    rho = spec.steps * Fraction((2 * REACH) ** 2) / (2 * spec.sigma_squared) * Fraction(short)
    epsilon = epsilon_at(ZeroConcentratedDP(rho=rho), delta=delta)
    enough = next(many, None)
    with_more = f"{enough} sites or " if enough else ""
    return f"{with_more}epsilon={math.ceil(epsilon * 100) / 100:g}"
