"""Broken training by noisy steps: each must fail the audit that the right one passes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.attacks.audit.trained.training import Training, audit_training
from confide.errors import InvalidParameterError
from seeded import SeededEntropy
from trainers import (
    MULTIPLIER,
    PATIENTS,
    PROBABILITY,
    STEPS,
    Steps,
    by_batch,
    by_patients,
    fixed,
    full,
    shuffled,
)

pytest.importorskip("dp_accounting", reason="needs the extra accounting")
pytestmark = pytest.mark.mutant

RUNS = 3_000
RIGHT = Training(
    name="noisy steps over Poisson samples",
    train=Steps(),
    probability=PROBABILITY,
    noise_multiplier=MULTIPLIER,
    steps=STEPS,
    patients=PATIENTS,
)
WHOLE = replace(RIGHT, train=Steps(sample=full, noise=Fraction(3)), probability=Fraction(1))
WHOLE = replace(WHOLE, noise_multiplier=Fraction(3), name="noisy steps over everybody")


def passes(training, *, seed=1, runs=RUNS) -> bool:
    checks = audit_training(training, runs=runs, entropy=SeededEntropy(seed))
    return all(check.passed for check in checks)


def test_steps_of_dp_sgd_pass_the_audit() -> None:
    from confide.learning.audited_steps import dp_sgd_steps

    assert passes(dp_sgd_steps())


def test_steps_of_dp_sgd_with_a_clip_of_twice_its_size_fail_it(monkeypatch) -> None:
    from confide.learning import audited_steps

    real = audited_steps.scaled
    monkeypatch.setattr(audited_steps, "scaled", lambda g, *, clip: real(g, clip=clip) * 2)
    monkeypatch.setattr(audited_steps, "whole", lambda g: np.trunc(g).astype(np.int64))
    assert not passes(audited_steps.dp_sgd_steps())


def test_training_over_poisson_samples_passes_the_audit() -> None:
    assert passes(RIGHT)
    assert passes(WHOLE)


BROKEN = {
    "half the noise": Steps(noise=MULTIPLIER / 2),
    "a clip of twice its size": Steps(clip=2.0),
    "no clip": Steps(clip=np.inf),
    "batches of fixed size": Steps(sample=fixed),
    "shuffled batches": Steps(sample=shuffled),
    "sums over the actual batch size": Steps(divide=by_batch),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_training_by_noisy_steps_is_caught(broken) -> None:
    assert not passes(replace(RIGHT, train=BROKEN[broken]))


def test_training_normalised_by_the_actual_number_of_patients_is_caught() -> None:
    steps = replace(WHOLE.train, divide=by_patients)
    assert not passes(replace(WHOLE, train=steps))


def test_sums_of_another_shape_are_refused() -> None:
    def one_step(gradients, *, runs, entropy):
        return np.zeros((runs, 1, 2))

    short = replace(RIGHT, train=one_step)
    with pytest.raises(InvalidParameterError, match="noisy sums"):
        passes(short)


@pytest.mark.audit
def test_correct_training_passes_ninety_nine_of_a_hundred_audits() -> None:
    assert sum(passes(RIGHT, seed=seed) for seed in range(100)) >= 99


@pytest.mark.audit
@pytest.mark.parametrize("broken", BROKEN)
def test_broken_training_fails_ninety_nine_of_a_hundred_audits(broken) -> None:
    training = replace(RIGHT, train=BROKEN[broken])
    assert sum(not passes(training, seed=seed) for seed in range(100)) >= 99
