"""Audit of training in steps, for any trainer: sampled, clipped, noisy sums of gradients.

A trainer is a function from the gradients of its patients to the noisy sums of its steps.  Whoever
audits chooses the gradients, which no loss function of a real model could make worse: a loss of
−⟨θ, x⟩ has the gradient −x wherever the model stands, so any trainer of a model can be called this
way.  Two pairs of neighbouring data, as every loss can be far from its worst on a pair that is too
kind:

- *alone*: all others have gradient 0, the canary one of ten times the clip;
- *against*: all others pull the other way at the clip, so that a canary who takes somebody's place
  in a batch of fixed size, or who changes what the sum is divided by, moves it twice.

*Law.*  The claim is a list of events; their loss distribution gives the least δ(ε) that they can
promise at every ε.  For each of several ε the audit bounds δ from below, by events of the
likelihood ratio of a canary in Poisson samples and of the largest step: δ ≥ P − e^ε·Q.  One bound
above the claim refutes it.  Batches of fixed size, or shuffled, hold the canary surely once an
epoch, a Poisson sample does with chance 1 − (1 − q)^T [CGK24], and that is what tells them apart.

*Privacy:* gradients are made up.
*Utility:* with multiplier ½ and four steps of a quarter of 40 patients, 3,000 runs find a halved
noise, a doubled clip, wrong samplers and wrong normalisers; correct code fails with chance at most
``MISS`` a pair.

References:
    [CGK24] Chua et al. How private are DP-SGD implementations? ICML 2024.
        https://arxiv.org/abs/2403.17673
    [NHSBTJCT23] Nasr et al. Tight auditing of differentially private machine learning. USENIX
        Security 2023. https://arxiv.org/abs/2302.07956
"""

import enum
import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, assert_never

import numpy as np

from confide.arrays import Floats
from confide.attacks.audit.lower_bound import delta_bound
from confide.attacks.audit.outcome import AuditCheck, Layer
from confide.errors import InvalidParameterError, MissingExtraError
from confide.noise.entropy import Entropy
from confide.noise.gaussian import gaussian_delta

MISS = 1e-6
EPSILONS = tuple(map(Fraction, (0, 1, 2, 4, 6)))
LONG = 10
"""Length of the canary's gradient in units of the clip."""


class Trainer(Protocol):
    """Training of T steps, as the audit calls it."""

    def __call__(self, gradients: Floats, *, runs: int, entropy: Entropy) -> Floats:
        """Train anew so many times.

        Args:
            gradients: Of each patient at every step, in units of the clip; shape (patients, d).
            runs: Number of independent trainings.
            entropy: Of samples and noise.

        Returns:
            Noisy sums of clipped gradients of the sampled patients, in units of the clip (what was
            divided by a public number is multiplied by it); shape (runs, T, d).
        """


class CanaryPair(enum.Enum):
    """What the others do."""

    ALONE = "gradients of others are 0"
    AGAINST = "gradients of others oppose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A trainer with what it claims.

    Attributes:
        name: What is trained.
        train: The trainer.
        probability: q, with which each patient is in a step; 1 for the full batch.
        noise_multiplier: Scale of the noise of a step, in units of the clip.
        steps: T.
        patients: Public number of patients, for which a trainer of fixed batches or normalisers is
            set up; one fewer than with the canary.
        dimensions: d.
    """

    name: str
    train: Trainer
    probability: Fraction
    noise_multiplier: Fraction
    steps: int
    patients: int
    dimensions: int = 2


def audit_training(training: Training, *, runs: int, entropy: Entropy) -> tuple[AuditCheck, ...]:
    """Return whether the claim survives on either pair.

    Args:
        training: What is audited.
        runs: Trainings with, and as many without the canary.
        entropy: Of samples and noise.

    Raises:
        MissingExtraError: Without the extra ``accounting``, where batches are sampled.
        InvalidParameterError: If the trainer returns sums of another shape.
    """
    claimed = _promised(training.probability, training.noise_multiplier, training.steps)
    return tuple(_check(training, pair, claimed, runs=runs, entropy=entropy) for pair in CanaryPair)


@functools.cache
def _promised(probability: Fraction, noise_multiplier: Fraction, steps: int) -> tuple[float, ...]:
    """Return the least δ that the events promise at each ε; in closed form for full batches."""
    if probability == 1:
        together = float(noise_multiplier) / math.sqrt(steps)
        return tuple(gaussian_delta(together, epsilon=float(each)) for each in EPSILONS)
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError as error:
        raise MissingExtraError("dp-accounting", extra="accounting") from error
    step = privacy_loss_distribution.from_gaussian_mechanism(
        _float_at(noise_multiplier, toward=0.0), sampling_prob=_float_at(probability, toward=1.0)
    )
    together = step.self_compose(steps) if steps > 1 else step
    found = (together.get_delta_for_epsilon(_float_at(e, toward=0.0)) for e in EPSILONS)
    return tuple(map(float, found))


def _float_at(value: Fraction, *, toward: float) -> float:
    """Return the nearest float on the side of the value where the claim stays true."""
    nearest = float(value)
    right = nearest <= value if toward < value else nearest >= value
    return nearest if right else math.nextafter(nearest, toward)


def _check(
    training: Training, pair: CanaryPair, claimed: tuple[float, ...], *, runs: int, entropy: Entropy
) -> AuditCheck:
    others, canary = gradients(training, pair)
    groups = (np.vstack([others, canary]), others)
    told, hidden = (
        features(training, pair, training.train(group, runs=runs, entropy=entropy))
        for group in groups
    )
    found = [
        (epsilon, delta_bound(told, hidden, epsilon=float(epsilon), miss=MISS / len(EPSILONS)))
        for epsilon in EPSILONS
    ]
    worst = max(range(len(found)), key=lambda k: found[k][1].value / max(claimed[k], 1e-300))
    epsilon, bound = found[worst]
    return AuditCheck(
        name=f"{training.name}, {pair.value}",
        layer=Layer.LOWER_BOUND,
        passed=bound.value <= claimed[worst],
        measured=f"δ({float(epsilon):g}) ≥ {bound.value:.4g}",
        claimed=f"δ({float(epsilon):g}) = {claimed[worst]:.4g}",
    )


def gradients(training: Training, pair: CanaryPair) -> tuple[Floats, Floats]:
    """Return the gradients of the others, shape (patients, d), and of the canary, shape (1, d)."""
    others = np.zeros((training.patients, training.dimensions))
    canary = np.zeros((1, training.dimensions))
    canary[0, 0] = LONG
    match pair:
        case CanaryPair.ALONE:
            pass
        case CanaryPair.AGAINST:
            others[:, 0] = -1
        case _:
            assert_never(pair)
    return others, canary


def features(training: Training, pair: CanaryPair, sums: Floats) -> Floats:
    """Return the log-likelihood ratio and the largest step of each run; shape (runs, 2).

    Raises:
        InvalidParameterError: If the sums have another shape.
    """
    if sums.shape[1:] != (training.steps, training.dimensions):
        raise InvalidParameterError(
            f"Expected noisy sums of shape (runs, {training.steps}, {training.dimensions}), got "
            f"{sums.shape}."
        )
    q, variance = float(training.probability), float(training.noise_multiplier) ** 2
    match pair:
        case CanaryPair.ALONE:
            moved, expected = 1.0, 0.0
        case CanaryPair.AGAINST:
            moved, expected = 2.0, -q * training.patients
        case _:
            assert_never(pair)
    apart = sums[:, :, 0] - expected
    exponent = (moved * apart - moved**2 / 2) / variance
    rest = np.log1p(-q) if q < 1 else -np.inf
    ratio = np.logaddexp(rest, np.log(q) + exponent).sum(axis=1)
    return np.column_stack([ratio, apart.max(axis=1)])
