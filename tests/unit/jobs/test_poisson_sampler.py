"""The Poisson sampler draws each patient independently, and makes its own event."""

from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError
from confide.jobs.learning.poisson_sampler import PoissonSampler
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.entropy import SystemEntropy
from seeded import SeededEntropy


def test_each_patient_is_drawn_with_the_rate_and_batches_are_binomial():
    rate, patients, batches = Fraction(3, 10), 50, 4000
    sampler, entropy = PoissonSampler(rate=rate), SeededEntropy(1)
    drawn = np.zeros((batches, patients), dtype=bool)
    for row in drawn:
        row[sampler.draw(patients, entropy=entropy)] = True
    q = float(rate)
    each = (drawn.sum(axis=0) - batches * q) / np.sqrt(batches * q * (1 - q))
    assert (each**2).sum() < 104  # χ² of 50 degrees: p = 1e-5
    sizes = drawn.sum(axis=1)
    assert sizes.mean() == pytest.approx(
        patients * q, abs=4 * np.sqrt(patients * q * 0.7 / batches)
    )
    spread = patients * q * (1 - q)
    assert sizes.var() == pytest.approx(spread, rel=0.1)  # 0 for batches of a fixed size
    together = np.corrcoef(drawn.T.astype(float))[np.triu_indices(patients, 1)]
    assert np.abs(together).max() < 5.5 / np.sqrt(batches)


def test_rate_one_draws_everybody_and_nobody_gives_an_empty_batch():
    everybody = PoissonSampler(rate=Fraction(1))
    assert everybody.draw(4, entropy=SystemEntropy()).tolist() == [0, 1, 2, 3]
    assert everybody.draw(0, entropy=SystemEntropy()).size == 0
    rare = PoissonSampler(rate=Fraction(1, 10**9))
    assert rare.draw(3, entropy=SystemEntropy()).size == 0


def test_the_event_that_is_charged_has_the_rate_that_is_drawn_with():
    sampler = PoissonSampler(rate=Fraction(1, 7))
    event = sampler.event(
        DiscreteGaussian(sigma_squared=Fraction(4)), l1=1, l2_squared=1, steps=3, because="b"
    )
    assert (event.rate, event.count) == (Fraction(1, 7), 3)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(3, 2), 0.5])
def test_a_rate_that_is_no_exact_share_is_refused(rate):
    with pytest.raises(InvalidParameterError):
        PoissonSampler(rate=rate)
