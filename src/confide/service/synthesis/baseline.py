"""What is known of a baseline before it is trained: its noise, and why it is one."""

import math
from dataclasses import dataclass

from confide.jobs.learning.dp_sgd import REACH
from confide.jobs.synthesis.deep.generated import BASELINE, NO_INTERVALS
from confide.jobs.synthesis.deep.spec import DeepSynthesis
from confide.plans.job import JobPlan

UNSHARP = 1.0
"""Noise of a step, in clips of the patients expected in a batch, above which a plan warns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBaseline:
    """Training of a generator.

    Attributes:
        method: "vae" or "gan".
        says: That it is a baseline, and why.
        steps: Of DP-SGD.
        rate: Probability of each patient in a step.
        clip: Of a patient's gradient.
        noise_multiplier: Standard deviation of the noise, in clips.
        parameters: Weights whose gradients are noised.
        noise_of_step: Norm of a step's noise, in clips of the patients expected in it.
    """

    method: str
    says: str
    steps: int
    rate: float
    clip: float
    noise_multiplier: float
    parameters: int
    noise_of_step: float


def planned_baseline(job: DeepSynthesis, *, plan: JobPlan) -> PlannedBaseline:
    """Return what a plan tells of a training."""
    return PlannedBaseline(
        method=job.generator.value,
        says=BASELINE,
        steps=job.steps,
        rate=float(job.rate),
        clip=float(job.clip),
        noise_multiplier=math.sqrt(job.sigma_squared) / REACH,
        parameters=job.parameters(plan.dataset),
        noise_of_step=job.drowned(plan.dataset),
    )


def warnings_of(job: DeepSynthesis, *, plan: JobPlan) -> list[str]:
    """Return what to know before a training is run."""
    found = [BASELINE, NO_INTERVALS]
    noise = job.drowned(plan.dataset)
    if noise > UNSHARP:
        rows = math.ceil(job.rows * noise / UNSHARP)
        found.append(
            f"The noise of a step is {noise:.1f} times as long as all that its patients can add: "
            f"with {rows:,} rows it would be at most {UNSHARP:g} times."
        )
    return found
