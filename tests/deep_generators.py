"""Trainings of small generators on the made-up clinic, for tests."""

from fractions import Fraction

import numpy as np

from confide.jobs.learning.dp_sgd import REACH
from confide.jobs.synthesis.deep.spec import DeepSynthesis, Generator
from confide.jobs.synthesis.deep.training import CHECKPOINT, DeepTraining
from confide.plans.job import plan_job
from confide.plans.plan import Study
from seeded import SeededEntropy
from synthesis_world import dataset, job, records

DELTA = Fraction(1, 10**7)
SIZES = (5, 2, 4, 3, 2)


def trained(*, generator="vae", sigma=1, steps=4, checkpoints=2, rate="1/2", most=1, **given):
    """Return a training of a generator on the clinic; noise of ``sigma`` clips."""
    base = job(most=most)
    return DeepSynthesis(
        reads=base.reads,
        columns=base.columns,
        generator=Generator(generator),
        **{
            "rows": 300,
            "hidden": 4,
            "latent": 2,
            "clip": Fraction(1, 2),
            "rate": Fraction(rate),
            "patients": 300,
            "steps": steps,
            "sigma_squared": (Fraction(sigma) * REACH) ** 2,
            "learning_rate": Fraction(1, 50),
            "checkpoints": checkpoints,
        }
        | given,
    )


def plan_of(spec, **given):
    return plan_job(spec, study=Study(id="s"), dataset=dataset(**given), delta=DELTA)


def files_after(spec, table, *, seed=1, training=DeepTraining, parts=None, told=lambda _: None):
    """Return the files after some parts of a training on rows of (patient, levels)."""
    runner = training(spec, plan=plan_of(spec))
    files = runner.opened()
    for part in range(1, (parts or runner.parts) + 1):
        files = runner.advanced(
            records(spec, table),
            part=part,
            before=files,
            entropy=SeededEntropy(seed + part),
            progress=told,
        )
    return files


class Watched(DeepTraining):
    """A training whose noise is off, and which keeps sums as they leave and steps as taken."""

    sums: list
    steps: list

    def _noised(self, total, *, drawn, entropy):
        del drawn, entropy
        given = total * float(self._spec.unit)
        self.sums.append(np.array(total))
        self.steps.append(given)
        return given


def first_sums(spec, table, *, training=Watched, seed=1):
    """Return sums of the first part of a training and what was learnt from them."""

    class Mine(training):
        sums, steps = [], []

    files_after(spec, table, training=Mine, seed=seed, parts=1)
    return Mine.sums, Mine.steps


def divisors(spec, table, *, training=DeepTraining):
    """Return what each whole number of a noisy sum is worth in the step that is taken."""
    found = []

    class Mine(training):
        def _noised(self, total, *, drawn, entropy):
            one = np.full_like(total, 2**40)  # of which noise is nothing
            given = super()._noised(one, drawn=drawn, entropy=entropy)
            found.append(float(given.mean()) / 2**40)
            return given

    files_after(spec, table, training=Mine)
    return found


def people_of(many, *, most=1, start=3):
    """Return rows of (patient, levels) drawn evenly; ``most`` rows a patient."""
    rng = np.random.default_rng(start)
    levels = [rng.integers(0, size, many * most) for size in SIZES]
    return np.column_stack([np.repeat(np.arange(many), most), *levels])


def farthest(spec, *, training=Watched, tries=4):
    """Return how far one patient moves the first sum, in R; everybody is drawn, noise is off."""
    found, most = 0.0, spec.reads.bounds.max_rows
    for start in range(tries):
        whole = people_of(12, most=most, start=start)
        part = whole[:-most]
        one, other = (first_sums(spec, rows, training=training)[0][0] for rows in (whole, part))
        found = max(found, float(np.linalg.norm(one - other)) / REACH)
    return found


def checkpoint_names(files):
    from safetensors.numpy import load

    return {name: each.shape for name, each in load(files[CHECKPOINT]).items()}
