"""DP-SGD over sites: in each step all sites add the clipped gradients of all their patients.

It is the training of one curator at rate 1 (:mod:`confide.jobs.learning.dp_sgd`), of which each
step's sum is a sum over sites, and each step's noise is drawn in parts.  What is protected is a
*patient*: all rows that one has, at all k sites where one may be a patient.

*Lemma.*  At weights that are public a site sums v over its patients, whole numbers with ‖v‖ ≤ R.
One patient more or less at one site moves that site's sum by Δ₂ = R at most (2R where one is
replaced), and no other's; at k sites by kΔ₂ (triangle inequality over sites).  So a step is one use
of noise in parts with ρ = (kΔ₂)²/(2mσᵢ²) + κ·kΔ₁ (:mod:`confide.plans.sites.shared_noise`),
whatever the weights are at which it is asked, which are a function of noisy sums before; and T
steps add up [BS16, lem. 2.3].  T times that is at most what the plan's event says, of σ², which
each site's ledger is charged.  Nobody is left out of a step, so no sampling is accounted for.  ∎

*Privacy:* a number of a site is below its patients' times R, plus its part of the noise, and n
sites share 63 bits: 10¹⁰ patients a site fit.  *Utility:* the noise's variance is n/m times (and
with k sites a person k² times) that of one curator who trains on everybody in each step.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from confide.errors import ContractError, UnsupportedError
from confide.jobs.learning.dp_sgd import DPSGD, REACH
from confide.noise.distributed.gaussian_parts import GaussianParts
from confide.plans.events import JobEvent
from confide.plans.job import JobPlan
from confide.plans.pricing.job_sums import JobSums
from confide.plans.pricing.over_sites import largest_number
from confide.plans.sites.federation import Federation
from confide.plans.sites.shared_noise import SharedNoise
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity
from confide.tables.records import Records
from confide.tables.schema import Dataset

_SIGMAS = 16
"""Widths of noise for which the range of sums leaves room; beyond is a chance below 10⁻⁵⁶."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DPSGDOverSites:
    """A training over sites.

    Attributes:
        training: As one curator would train, at rate 1 in one part; ``patients`` is the planning
            number of all sites together, and ``sigma_squared`` the noise that the charge buys.
        federation: Who takes part.
        shared: The noise of a step, of which each site adds a part.
    """

    kind: ClassVar[str] = "dp-sgd-over-sites"
    protects_sites: ClassVar[bool] = False

    training: DPSGD
    federation: Federation
    shared: SharedNoise

    @property
    def reads(self) -> Records:
        """The bounded rows that each site reads."""
        return self.training.reads

    @property
    def part(self) -> GaussianParts:
        """A site's part of the noise.

        Raises:
            ContractError: If it is not Gaussian.
        """
        return gaussian_part(self.shared)

    def events(self, dataset: Dataset) -> tuple[JobEvent, ...]:
        """Return the one event, as ledgers keep it: what the charge buys of one curator.

        Raises:
            ContractError: If the job does not suit the data set, or its parts of noise lose more
                than the event does, or sums may pass 63 bits.
            UnsupportedError: If the ledger does not count in ρ.
        """
        require_zcdp(dataset)
        training = self.training
        if training.rate != 1 or training.checkpoints != 1:
            raise ContractError(
                "Over sites every patient is in every step, and all steps are one run.",
                hint="Leave out batch, or write the number of patients.",
            )
        (event,) = training.events(dataset)
        moved = moved_by_patient(training, dataset=dataset)
        require_fitting(
            event,
            shared=self.shared,
            federation=self.federation,
            moved=moved,
            steps=training.steps,
        )
        most = dataset.population_at_most * moved.linf
        require_room(most, part=self.part, federation=self.federation)
        return (event,)

    def sums(self, plan: JobPlan) -> JobSums:
        """Return what sites add: a sum a step, of a number a weight."""
        training = self.training
        lengths = (training.parameters,) * training.steps
        return JobSums(plan=plan, federation=self.federation, lengths=lengths)

    @property
    def drowned(self) -> float:
        """How long the noise of all steps is, as a multiple of the longest path of gradients.

        In the mean over the planning number of patients N, a step's gradient is C at most, so T
        steps are TC; the noise of T steps has norm √(pT)·σC/(RN), where p weights are trained and
        σ² is that of all n parts.  The quotient is √(pn/(2ρm))·k/N, whatever C and T are: a
        function of public numbers alone.
        """
        training = self.training
        sigma = self.shared.total.standard_deviation() / REACH
        longest = math.sqrt(training.steps) * training.patients
        return math.sqrt(training.parameters) * sigma / longest


def gaussian_part(shared: SharedNoise) -> GaussianParts:
    """Return a site's part of the noise of a training.

    Raises:
        ContractError: If it is not Gaussian.
    """
    if not isinstance(shared.part, GaussianParts):
        raise ContractError("Trainings over sites are hidden by Gaussian noise.")
    return shared.part


def require_zcdp(dataset: Dataset) -> None:
    """Refuse a ledger that does not count in ρ.

    Raises:
        UnsupportedError: If it does not.
    """
    if dataset.measure is not Measure.ZCDP:
        raise UnsupportedError(
            "Over sites noise is Gaussian and counts as ρ.", hint='Write measure="zcdp".'
        )


def require_fitting(
    event: JobEvent, *, shared: SharedNoise, federation: Federation, moved: Sensitivity, steps: int
) -> None:
    """Refuse noise that is not of a federation, or whose parts lose more than is charged.

    Args:
        event: What is charged, for all steps.
        shared: The noise of a step.
        federation: Who takes part.
        moved: What one patient moves in a step.
        steps: Their number.

    Raises:
        ContractError: If they do not fit together.
    """
    fits = shared.grid == 1 and shared.is_of(federation)
    if not fits or not keeps_charge(event, shared=shared, moved=moved, steps=steps):
        raise ContractError("Noise, charge and members of the training do not fit together.")


def require_room(most: int, *, part: GaussianParts, federation: Federation) -> None:
    """Refuse sums that may pass 63 bits.

    Args:
        most: Of one exact number of a site.
        part: Of its noise.
        federation: Who takes part.

    Raises:
        ContractError: If they may.
    """
    width = _SIGMAS * (math.isqrt(math.ceil(part.sigma_squared_each)) + 1)
    if most + width > largest_number(federation):
        raise ContractError(
            "Sums of a training over sites may pass 63 bits.",
            hint="Write population-at-most: the most patients that a site has.",
        )


def keeps_charge(event: JobEvent, *, shared: SharedNoise, moved: Sensitivity, steps: int) -> bool:
    """Return whether so many steps with parts of noise lose no more than an event says."""
    return bool(steps * shared.loses(moved) <= event.event.rho())


def moved_by_patient(training: DPSGD, *, dataset: Dataset) -> Sensitivity:
    """Return how far a patient of one site moves the sum of one step."""
    reach = REACH * (2 if dataset.adjacency is Adjacency.SUBSTITUTE else 1)
    return Sensitivity(
        l1=math.isqrt(training.parameters * reach**2) + 1,
        l2_squared=reach**2,
        linf=reach,
        entity=training.reads.unit,
        unit="parts of the clip",
        because="gradients of a patient's rows are summed, clipped once and rounded towards zero.",
    )


def shared_out(training: DPSGD, *, federation: Federation, dataset: Dataset) -> DPSGDOverSites:
    """Return a training shared out among sites, at the charge of one curator's.

    Args:
        training: At rate 1, in one part.
        federation: Who takes part.
        dataset: Public facts, the same at every site.

    Raises:
        ContractError: If the noise of the whole run is longer than what all gradients together can
            be, so that nothing would be learnt; says how many patients would do.
    """
    moved = moved_by_patient(training, dataset=dataset)
    each = Fraction(moved.l2_squared) / (2 * training.sigma_squared)
    shared = SharedNoise.bought(each, sensitivity=moved, federation=federation)
    made = DPSGDOverSites(training=training, federation=federation, shared=shared)
    if made.drowned > 1:
        need = math.ceil(training.patients * made.drowned)
        raise ContractError(
            f"The noise of the whole training is {made.drowned:.3g} times as long as the clipped "
            f"gradients of {training.patients} patients can be, so nothing would be learnt.",
            hint=f"It takes {need} patients over all sites at the very least, fewer weights than "
            f"{training.parameters}, or a larger epsilon.",
        )
    return made
