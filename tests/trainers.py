"""Trainers of clipped, sampled, noisy sums of gradients, one of them right: many runs at once."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from confide.noise.discrete_gaussian import DiscreteGaussian

UNIT = 2**12
"""The clip, in the whole numbers that are summed."""
PROBABILITY, MULTIPLIER, STEPS, PATIENTS = Fraction(1, 4), Fraction(1, 2), 4, 40


def uniforms(count, entropy):
    return entropy.words(count).astype(np.float64) / 2.0**64


def poisson(n, runs, entropy):
    """Return who is in which step; shape (runs, steps, patients)."""
    drawn = uniforms(runs * STEPS * n, entropy).reshape(runs, STEPS, n)
    return drawn < float(PROBABILITY)


def fixed(n, runs, entropy):
    """A batch of qn, drawn anew for each step; n is the public one, whoever is there."""
    size = round(float(PROBABILITY) * PATIENTS)
    order = uniforms(runs * STEPS * n, entropy).reshape(runs, STEPS, n).argsort(axis=2)
    return order.argsort(axis=2) < size


def shuffled(n, runs, entropy):
    """One order for all steps, cut into batches, the rest in the last one."""
    size = round(float(PROBABILITY) * PATIENTS)
    place = uniforms(runs * n, entropy).reshape(runs, n).argsort(axis=1).argsort(axis=1)
    batch = np.minimum(place // size, STEPS - 1)
    return batch[:, None, :] == np.arange(STEPS)[None, :, None]


def full(n, runs, entropy):
    return np.ones((runs, STEPS, n), bool)


def by_nothing(sums, taken):
    return sums


def by_batch(sums, taken):
    """Means over the actual batch, times its public expected size."""
    return sums / np.maximum(taken.sum(axis=2), 1)[:, :, None] * float(PROBABILITY) * PATIENTS


def by_patients(sums, taken):
    """Means over the actual patients, times their public number."""
    return sums / taken.shape[2] * PATIENTS


@dataclass(frozen=True)
class Steps:
    """A trainer: who is sampled, how long a gradient may be, what is divided by, how much noise."""

    sample: object = poisson
    clip: float = 1.0
    divide: object = by_nothing
    noise: Fraction = MULTIPLIER

    def __call__(self, gradients, *, runs, entropy):
        long = np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / self.clip)
        clipped = np.trunc(gradients / long * UNIT)
        taken = self.sample(len(gradients), runs, entropy)
        sums = self.divide(taken.astype(np.float64) @ clipped, taken)
        law = DiscreteGaussian(sigma_squared=(self.noise * UNIT) ** 2)
        drawn = law.sample(sums.size, entropy=entropy).reshape(sums.shape)
        return (np.rint(sums) + drawn) / UNIT
