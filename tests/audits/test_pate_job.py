"""The whole job on two databases that differ in one patient: rows, teachers, votes, noise."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from confide.attacks.audit.black_box import Scenario, audit_scenario
from confide.jobs.learning.pate.job import VOTES, read_votes
from confide.jobs.learning.pate.votes import NoisyVotes
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.rows.records import RecordRows
from models import world
from pate_world import Odd, job_of
from seeded import SeededEntropy

pytestmark = [pytest.mark.audit, pytest.mark.L3]

SIGMA = DiscreteGaussian(sigma_squared=Fraction(2))
COLUMNS = ("p", "fold", "e0", "e1", "e2")
OTHERS = [(1, 0, 0, 500, 0), (2, 0, 0, 500, 1), (3, 1, 0, 500, 0), (4, 1, 0, 500, 1)]
CANARY = (5, 1, 0, 500, 1)
"""One row more makes the number of rows odd, on which the teacher's vote depends."""


def rows(people):
    table = np.array(people, dtype=np.int64)
    found = dict(zip(COLUMNS, table.T, strict=True)) | {"rk": np.ones(len(table), dtype=np.int64)}
    return RecordRows(found, columns=3, most=1)


def whole_job(noise):
    """Return a scenario whose outputs are made by the job and whose claim is its plan's."""
    claimed = job_of(NoisyVotes(noise=SIGMA, queries=1, answers=1), teacher=Odd(), teachers=2)
    plan = plan_job(claimed, study=Study(id="pate"), dataset=world())
    job = replace(claimed, votes=replace(claimed.votes, noise=noise))

    def run(exact, samples, entropy):
        people = rows([*OTHERS, CANARY] if exact == (1, 1) else OTHERS)
        found = [
            read_votes(job.run(people, plan=plan, entropy=entropy, progress=lambda _: None)[VOTES])
            for _ in range(samples)
        ]
        return np.array([counts for (counts,) in found], dtype=float)

    return Scenario(name="pate", claim=plan.loss, first=(1, 1), second=(2, 0), run=run)


def passes(noise):
    return audit_scenario(whole_job(noise), samples=800, entropy=SeededEntropy(2)).passed


def test_one_patient_moves_the_whole_job_no_further_than_its_plan_says():
    assert passes(SIGMA)


def test_a_job_of_half_the_noise_that_its_plan_says_is_caught():
    assert not passes(DiscreteGaussian(sigma_squared=SIGMA.sigma_squared / 4))
