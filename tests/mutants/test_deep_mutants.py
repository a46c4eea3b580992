"""Broken trainings of generators: what bounds a patient, or is public, in the real one is not."""

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from confide.jobs.learning import per_patient_gradients
from confide.jobs.synthesis.deep import training
from confide.jobs.synthesis.deep.spec import DeepSynthesis
from confide.jobs.synthesis.deep.training import DeepTraining
from confide.plans.job import job_loss
from confide.privacy.measure import Measure
from deep_generators import DELTA, Watched, divisors, farthest, first_sums, people_of, trained
from synthesis_world import dataset

pytest.importorskip("torch", reason="needs the extra `learning`")
pytest.importorskip("safetensors", reason="needs the extra `learning`")

pytestmark = pytest.mark.mutant

EVERYBODY = {"rate": "999999999/1000000000", "steps": 1, "checkpoints": 1}


@pytest.mark.parametrize("generator", ["vae", "gan"])
def test_a_generator_whose_patients_are_not_clipped_is_caught(generator, monkeypatch):
    spec = trained(generator=generator, **EVERYBODY)
    assert farthest(spec, tries=2) <= 1
    monkeypatch.setattr(
        per_patient_gradients, "scaled", lambda g, *, clip: g * per_patient_gradients.REACH / clip
    )
    monkeypatch.setattr(per_patient_gradients, "whole", np.trunc)
    assert farthest(spec, tries=2) > 1


def test_latent_coins_by_the_place_in_a_batch_are_caught(monkeypatch):
    """The next row's coins are another's: whoever is drawn before moves those of all who follow."""

    def by_place(levels, *, key, latent):
        rng = np.random.default_rng(list(key))
        return rng.standard_normal((len(levels), latent))[::-1]

    spec = trained(**EVERYBODY)
    assert farthest(spec, tries=2) <= 1
    monkeypatch.setattr(training, "coins_of", by_place)
    assert farthest(spec, tries=2) > 1


def samples_are_charged(spec, *, watched=Watched):
    """Whether as many noisy sums leave as the events say."""
    (event,) = spec.events(dataset())
    return len(first_sums(replace(spec, checkpoints=1), people_of(9), training=watched)[0]) == (
        event.count
    )


class TwoForOne(DeepSynthesis):
    """States one sample for every two steps."""

    def events(self, dataset):
        (event,) = super().events(dataset)
        return (replace(event, count=-(-event.count // 2)),)


def test_two_steps_charged_as_one_sample_are_caught():
    spec = trained(steps=4, checkpoints=1)
    assert samples_are_charged(spec)
    cheap = TwoForOne(**{each.name: getattr(spec, each.name) for each in fields(spec)})
    assert not samples_are_charged(cheap)
    losses = [
        job_loss(each.events(dataset()), measure=Measure.ZCDP, delta=DELTA).rho
        for each in (cheap, spec)
    ]
    assert losses[0] < losses[1]


class ByActualNumber(DeepTraining):
    """Divides by the patients who were drawn."""

    def _noised(self, total, *, drawn, entropy):
        given = super()._noised(total, drawn=drawn, entropy=entropy)
        expected = float(self._spec.rate * self._spec.patients)
        return given * expected / max(1, drawn.patients)


def test_a_training_that_reads_the_number_of_patients_from_the_rows_is_caught():
    spec = trained()

    def public(of):
        one, other = (divisors(spec, people_of(many), training=of) for many in (5, 60))
        return np.allclose(one, other)

    assert public(DeepTraining)
    assert not public(ByActualNumber)


def test_a_rate_of_the_actual_number_of_patients_is_caught(monkeypatch):
    """A sampler that draws as many as were declared, of however many there are."""
    spec = trained(rate="1/10", steps=12, checkpoints=1)

    def drawn_share(many):
        rows, batches = people_of(many), []

        class Counting(Watched):
            def _noised(self, total, *, drawn, entropy):
                batches.append(drawn.patients)
                return super()._noised(total, drawn=drawn, entropy=entropy)

        first_sums(spec, rows, training=Counting)
        return sum(batches) / (12 * many)

    assert drawn_share(60) < 0.2
    real = training.DeepSynthesis.sampler.fget(spec)

    class Filled:
        event = real.event

        def draw(self, patients, *, entropy):
            whole = replace(real, rate=min(Fraction(1), Fraction(30, max(1, patients))))
            return whole.draw(patients, entropy=entropy)

    monkeypatch.setattr(training.DeepSynthesis, "sampler", Filled())
    assert drawn_share(60) > 0.2
