"""Steps of DP-SGD as an audit calls them: the sampler, clip and noise of real trainings.

Only the gradients are handed in, as the audit chooses them; so PyTorch is not needed.

*Privacy:* gradients are made up.
"""

from fractions import Fraction

import numpy as np

from confide.arrays import Floats
from confide.attacks.audit.trained.training import Training
from confide.jobs.learning.dp_sgd import REACH
from confide.jobs.learning.per_patient_gradients import scaled, whole
from confide.jobs.learning.poisson_sampler import PoissonSampler
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.entropy import Entropy

RATE, MULTIPLIER, STEPS, PATIENTS = Fraction(1, 4), Fraction(1, 2), 4, 40
"""Little noise and large samples, which show a wrong sampler best."""


def dp_sgd_steps() -> Training:
    """Return a short training by DP-SGD with its claim."""
    sampler = PoissonSampler(rate=RATE)
    noise = DiscreteGaussian(sigma_squared=(MULTIPLIER * REACH) ** 2)

    def train(gradients: Floats, *, runs: int, entropy: Entropy) -> Floats:
        clipped = whole(scaled(gradients, clip=1.0))
        patients, size = clipped.shape
        taken = np.zeros(runs * STEPS * patients, dtype=np.int64)
        taken[sampler.draw(taken.size, entropy=entropy)] = 1
        sums = taken.reshape(runs * STEPS, patients) @ clipped.astype(np.int64)
        noisy = noise.randomize(sums.ravel(), entropy=entropy)
        return np.asarray(noisy.reshape(runs, STEPS, size) / REACH, dtype=np.float64)

    return Training(
        name="DP-SGD",
        train=train,
        probability=RATE,
        noise_multiplier=MULTIPLIER,
        steps=STEPS,
        patients=PATIENTS,
    )
